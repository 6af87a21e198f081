"""Scenarios as Gymnasium environments, against a server at AGENTGYM_ENV_SERVER."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from agentgym._registration import id_of
from agentgym.envs import ScenarioEnv
from agentgym.errors import AgentGymError

ANY = "agentgym:agentgym/Scenario-v0"
CART_POLE = "@agentgym/cart-pole"

#: Box → Discrete, rank 3 → Discrete, Dict with a text → Dict of a tool and its arguments, masked Dict → Discrete, Box → Box.
SCENARIOS = ["cart-pole", "breakout", "text-craft", "grid-maze", "pendulum"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_gymnasiums_checker_has_no_complaint(name: str) -> None:
    env = gymnasium.make(ANY, scenario=f"@agentgym/{name}", illegal_actions="replace", render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gymnasium recommends torques from -1 to 1, also to its own Pendulum; the scenario's are from -2 to 2.
        warnings.filterwarnings("ignore", message=".*symmetric and normalized space" if name == "pendulum" else "^$")
        check_env(env.unwrapped)


def test_ansi_shows_the_current_state_and_at_the_end_the_last_one() -> None:
    env = gymnasium.make(ANY, scenario="@agentgym/pendulum", render_mode="ansi")
    assert env.metadata["render_modes"] == ["ansi"]
    env.reset(seed=1)
    first = env.render()
    assert isinstance(first, str) and first.count("\n") > 5 and max(map(len, first.split("\n"))) <= 80
    assert env.render() == first
    env.reset(seed=2)
    assert env.render() != first
    env.action_space.seed(3)
    ended = False
    while not ended:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        ended = terminated or truncated
    # The next episode begins with a reset, and until then the last state is shown.
    last = env.render()
    env.reset()
    assert env.render() != last
    env.close()
    with pytest.raises(AgentGymError, match="neither 'ansi' nor None"):
        ScenarioEnv(CART_POLE, render_mode="human")


def test_a_vector_is_what_gymnasium_makes_of_single_environments() -> None:
    """Same seeds and actions: our NEXT_STEP and SAME_STEP are those of SyncVectorEnv."""
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        ours = gymnasium.make_vec(ANY, num_envs=3, scenario=CART_POLE, autoreset_mode=mode)
        theirs = gymnasium.make_vec(
            ANY, num_envs=3, scenario=CART_POLE, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
        )
        assert ours.metadata["autoreset_mode"] is mode
        assert ours.observation_space == theirs.observation_space
        assert ours.action_space == theirs.action_space
        np.testing.assert_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
        actions = np.random.default_rng(1).integers(0, 2, (150, 3))
        ended = 0
        for action in actions:
            mine, other = ours.step(action), theirs.step(action)
            for left, right in zip(mine[:4], other[:4], strict=True):
                np.testing.assert_array_equal(left, right)
                assert left.dtype == right.dtype
            assert data_equivalence(mine[4], other[4]), (mine[4], other[4])
            ended += int((mine[2] | mine[3]).sum())
        assert ended > 5
        ours.close()
        theirs.close()


Episodes = list[list[list[Any]]]


def played(mode: AutoresetMode, scenario: str, actions: np.ndarray) -> Episodes:
    """Whole episodes of each environment: of each step what it gave, and the observation after it."""
    count = actions.shape[1]
    envs: VectorEnv = gymnasium.make_vec(ANY, num_envs=count, scenario=scenario, autoreset_mode=mode)
    observations, _ = envs.reset(seed=3)
    running: list[list[Any]] = [[observations[i].tolist()] for i in range(count)]
    done: Episodes = [[] for _ in range(count)]
    taken = np.zeros(count, int)
    ended = np.zeros(count, np.bool_)
    while (taken < len(actions)).any():
        ignored = ended if mode is AutoresetMode.NEXT_STEP else np.zeros(count, np.bool_)
        if mode is AutoresetMode.DISABLED and ended.any():
            observations, _ = envs.reset(options={"reset_mask": ended})
            for i in np.flatnonzero(ended):
                running[i] = [observations[i].tolist()]
        chosen = np.stack([actions[min(taken[i], len(actions) - 1), i] for i in range(count)])
        observations, rewards, terminated, truncated, infos = envs.step(chosen)
        ended = terminated | truncated
        for i in range(count):
            if ignored[i]:
                running[i] = [observations[i].tolist()]
                continue
            last = infos["final_obs"][i] if ended[i] and mode is AutoresetMode.SAME_STEP else observations[i]
            running[i].append([rewards[i], bool(terminated[i]), bool(truncated[i]), np.asarray(last).tolist()])
            taken[i] += 1
            if ended[i]:
                done[i].append(running[i])
                running[i] = [observations[i].tolist()]
    envs.close()
    return done


@pytest.mark.parametrize("scenario", [CART_POLE, "@agentgym/pendulum"])
def test_episodes_are_the_same_in_every_autoreset_mode(scenario: str) -> None:
    random = np.random.default_rng(7)
    discrete = scenario == CART_POLE
    steps = 120 if discrete else 450
    actions = random.integers(0, 2, (steps, 3)) if discrete else random.uniform(-2, 2, (steps, 3, 1)).astype(np.float32)
    episodes = {mode: played(mode, scenario, actions) for mode in AutoresetMode}
    for environment in range(3):
        each = [episodes[mode][environment] for mode in AutoresetMode]
        count = min(len(one) for one in each)
        assert count >= 2
        assert each[0][:count] == each[1][:count] == each[2][:count]
        # The pendulum only ever runs out of time.
        assert {(step[1], step[2]) for step in [one[-1] for one in each[0]]} == ({(True, False)} if discrete else {(False, True)})


def test_masks_and_metrics_are_in_the_infos() -> None:
    env = gymnasium.make(ANY, scenario="@agentgym/grid-maze")
    _, info = env.reset(seed=1)
    ended = False
    for _ in range(500):
        mask = info["action_mask"]
        assert (mask.dtype, mask.shape) == (np.int8, (4,))
        _, _, terminated, truncated, info = env.step(env.action_space.sample(mask))
        ended = terminated or truncated
        if ended:
            break
        forbidden = np.flatnonzero(info["action_mask"] == 0)
        if forbidden.size:
            with pytest.raises(AgentGymError, match="the mask of the last reply forbids") as caught:
                env.step(forbidden[0])
            assert caught.value.code == "request_invalid"
    assert ended
    assert all(isinstance(value, float) for value in info["metrics"].values()) and info["metrics"]
    env.close()


def test_texts_and_arguments_of_tools() -> None:
    envs = gymnasium.make_vec(ANY, num_envs=2, scenario="@agentgym/text-craft", illegal_actions="replace")
    observations, _ = envs.reset(seed=1)
    assert all(isinstance(text, str) and text for text in observations["message"])
    assert observations in envs.observation_space
    envs.action_space.seed(1)
    for _ in range(30):
        observations, *_ = envs.step(envs.action_space.sample())
    assert observations in envs.observation_space
    envs.close()


def test_a_wrapper_of_gymnasium_counts_every_episode_once() -> None:
    envs = RecordEpisodeStatistics(gymnasium.make_vec(ANY, num_envs=4, scenario=CART_POLE))
    envs.reset(seed=0)
    counted = returns = 0.0
    for action in np.random.default_rng(0).integers(0, 2, (200, 4)):
        _, rewards, _, _, infos = envs.step(action)
        returns += rewards.sum()
        if "episode" in infos:
            counted += infos["episode"]["r"][infos["_episode"]].sum()
    assert 0 < counted <= returns
    envs.close()


def test_ids_come_from_the_lock_file_and_the_environment(tmp_path: Path) -> None:
    packages = {"@agentgym/cart-pole": {"version": "1.0.0", "range": "^1", "resolved": "", "integrity": ""}}
    (tmp_path / "agentgym.lock").write_text(json.dumps({"lock_version": 1, "packages": packages}))
    code = """
import gymnasium
env = gymnasium.make("agentgym:agentgym/cart-pole-v1")
assert env.spec.kwargs["scenario"] == "@agentgym/cart-pole@1.0.0"
assert env.reset(seed=0)[0].shape == (4,)
assert "acme/maze-v2" in gymnasium.registry and "acme/word" in gymnasium.registry
print(env.unwrapped.scenario["version"])
"""
    environment = {**os.environ, "AGENTGYM_ENVS": "acme/maze@^2.1, @acme/word"}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "1.0.0"
    assert [id_of(name) for name in ("@a/b@1.2.3", "a/b@~0.4", "a/b", "cart-pole", "")] == ["a/b-v1", "a/b-v0", "a/b", None, None]


def test_without_a_server_one_is_started_and_ended(tmp_path: Path) -> None:
    code = """
import gymnasium
from agentgym.envs.server import _own_servers
env = gymnasium.make("agentgym:agentgym/Scenario-v0", scenario="cart-pole")
other = gymnasium.make("agentgym:agentgym/Scenario-v0", scenario="cart-pole")
assert len(_own_servers) == 1
process = next(iter(_own_servers.values()))._process
env.reset(seed=1); env.step(0); env.close(); env.close()
assert process.poll() is None
other.reset(seed=1); other.close()
assert process.poll() == 0, process.poll()
try:
    gymnasium.make("agentgym:agentgym/Scenario-v0", scenario="no-such-scenario")
except Exception as error:
    print(error.code)
"""
    environment = {name: value for name, value in os.environ.items() if name != "AGENTGYM_ENV_SERVER"}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "file_not_found"
