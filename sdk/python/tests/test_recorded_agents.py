"""Agents decide as the TypeScript library does upon the same observations: infra/e2e/python-agents.test.ts records them."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import agentgym
import pytest

RECORDINGS = sorted(Path(os.environ["AGENTGYM_TEST_RECORDINGS"]).glob("*.json"))


def test_there_are_recordings() -> None:
    assert len(RECORDINGS) > 5


@pytest.fixture(params=RECORDINGS, ids=lambda path: path.stem)
def recording(request: pytest.FixtureRequest) -> tuple[Path, dict[str, Any]]:
    path: Path = request.param
    return path.with_suffix(""), json.loads(path.read_text())


def assert_same(decision: agentgym.Decision[Any, Any], expected: dict[str, Any]) -> None:
    """Bit for bit what the model gave; what exponentials of the platform made of it, within 1e-6."""
    found = dataclasses.asdict(decision)
    exact = ("action", "label", "arguments", "value", "state")
    assert {name: found[name] for name in exact} == {name: expected[name] for name in exact}
    assert_close(found, expected)


def test_it_acts_bit_for_bit(recording: tuple[Path, dict[str, Any]]) -> None:
    folder, recorded = recording
    agent = agentgym.load(folder)
    state = None
    for step, expected in zip(recorded["steps"], recorded["decisions"], strict=True):
        decision = agent.act(step["observation"], mask=step["mask"], state=None if step["begins"] else state)
        state = decision.state
        assert_same(decision, expected)


def test_a_batch_gives_the_same_decisions(recording: tuple[Path, dict[str, Any]]) -> None:
    folder, recorded = recording
    agent = agentgym.load(folder)
    steps = recorded["steps"]
    states = [
        None if step["begins"] else before["state"]
        for step, before in zip(steps, [None, *recorded["decisions"]], strict=False)
    ]
    decisions = agent.act_batch(
        [step["observation"] for step in steps], masks=[step["mask"] for step in steps], states=states
    )
    for decision, expected in zip(decisions, recorded["decisions"], strict=True):
        assert_same(decision, expected)


def test_it_draws_the_same_actions(recording: tuple[Path, dict[str, Any]]) -> None:
    folder, recorded = recording
    agent = agentgym.load(folder, seed=7)
    steps = recorded["steps"]
    if not recorded["drawn"]:
        with pytest.raises(agentgym.AgentGymError, match="values of actions and no probabilities"):
            agent.act(steps[0]["observation"], deterministic=False)
        return
    drawn = [agent.act(step["observation"], mask=step["mask"], deterministic=False) for step in steps]
    observations, masks = [step["observation"] for step in steps], [step["mask"] for step in steps]
    batch = agent.act_batch(observations, masks=masks, deterministic=False)
    for decision, expected in zip([*drawn, *batch], [*recorded["drawn"], *recorded["batch"]], strict=True):
        # The platform's exponentials and logarithms decide the last bit of a number.
        assert_close(dataclasses.asdict(decision), expected)


def assert_close(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_close(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    else:
        assert found == expected
