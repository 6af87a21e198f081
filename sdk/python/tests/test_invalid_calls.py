"""What is wrong with a call is named as the TypeScript library names it, with the field."""

from __future__ import annotations

from typing import Any

import agentgym
import numpy
import pytest

from recorded import read_recorded

RECORDED = read_recorded()


def in_python(message: str) -> str:
    """JavaScript's words for values."""
    for there, here in (
        ("null", "None"),
        ("is true", "is True"),
        ("undefined", "None"),
        ("is an array where an object", "is a list where a dict"),
        ("an object", "a dict"),
        ("an array where", "a list where"),
    ):
        message = message.replace(there, here)
    return message


def test_calls_have_the_same_outcome() -> None:
    accepted = 0
    for recorded in RECORDED:
        agent = agentgym.load(recorded["folder"])
        for call in recorded["calls"]:
            outcome: Any = "accepted"
            try:
                agent.act(**{name: given for name, given in call.items() if name != "outcome"})
                accepted += 1
            except agentgym.AgentGymError as error:
                assert error.hint
                outcome = {"code": error.code, "field": error.data["field"], "message": error.message}
            expected = call["outcome"]
            if expected != "accepted":
                expected = {**expected, "message": in_python(expected["message"])}
            assert outcome == expected
    assert accepted >= 8


def test_arrays_of_numpy_are_lists_of_numbers() -> None:
    agent = agentgym.load(next(each["folder"] for each in RECORDED if each["folder"].endswith("images")))
    nested = [[0.0, 1.0], [0.25, 0.5]]
    decision = agent.act(nested)
    for dtype in (numpy.float64, numpy.float32):
        assert agent.act(numpy.array(nested, dtype)) == decision
        assert agent.act(numpy.array(nested, dtype).reshape(-1)) == decision
    masks = [numpy.array([False, True]), numpy.array([True, False, False])]
    assert agent.act(nested, mask=masks).action == [1, 0]
    for wrong in (numpy.zeros((4, 1)), numpy.array(nested) > 0, numpy.zeros(3), numpy.full((2, 2), numpy.nan)):
        with pytest.raises(agentgym.AgentGymError) as raised:
            agent.act(wrong)
        assert raised.value.data["field"] == "observation"


def test_a_batch_names_the_row() -> None:
    agent = agentgym.load(next(each["folder"] for each in RECORDED if each["folder"].endswith("numbers")))
    observations = [[0, 0]] * 300
    assert len(agent.act_batch(observations)) == 300
    assert agent.act_batch([]) == []
    with pytest.raises(agentgym.AgentGymError, match="^Observation 270: observation has 1 numbers") as raised:
        agent.act_batch([*observations[:270], [0], *observations[271:]])
    assert raised.value.data["row"] == 270
    with pytest.raises(agentgym.AgentGymError, match="act_batch got 1 observations and 0 masks"):
        agent.act_batch([[0, 0]], masks=[])
