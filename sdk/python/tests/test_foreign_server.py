"""`python -m agentgym.envs`: Gymnasium's environments by the vector protocol."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from agentgym._vector.client import VectorClient
from agentgym._vector.frames import Autoreset, Reply, Reset, Step
from agentgym._vector.spaces import SampleCodec, gymnasium_space
from agentgym.envs.foreign.serving import ServingOptions, listen
from agentgym.envs.foreign.source import Source
from agentgym.errors import AgentGymError

HERE = Path(__file__).parent
FAULTY = "python:foreign_environments:Faulty"
MODES: list[Autoreset] = ["same_step", "next_step", "disabled"]


@contextmanager
def served(target: str, arguments: dict[str, Any] | None = None, **options: Any) -> Iterator[str]:
    server, url, _ = listen(Source(target, arguments or {}), ServingOptions(**options))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def client(url: str, environments: int, autoreset: Autoreset, seed: int = 0, **options: Any) -> Iterator[VectorClient]:
    opened = VectorClient(url, scenario=None, environments=environments, autoreset=autoreset, seed=seed, **options)
    try:
        yield opened
    finally:
        opened.close()


def everything(count: int, seed: int = -1) -> Reset:
    return Reset(0, np.ones(count, np.bool_), np.full(count, seed))


Episode = list[tuple[Any, ...]]


def episodes(connection: VectorClient, mode: Autoreset, actions: np.random.Generator, steps: int) -> list[list[Episode]]:
    """All whole episodes of each environment: actions, what followed them, and the last observation."""
    count = connection.opened.layout.environments
    choices = np.random.default_rng(5).integers(0, connection.opened.action["n"], (count, steps)).astype(np.int32)
    reply = connection.reset(everything(count))
    running: list[Episode] = [[("first", observation_of(reply, i))] for i in range(count)]
    done: list[list[Episode]] = [[] for _ in range(count)]
    taken = [0] * count
    ended = np.zeros(count, np.bool_)
    while min(taken) < steps:
        if mode == "disabled" and ended.any():
            reply = connection.reset(Reset(0, ended, np.full(count, -1)))
            for i in np.flatnonzero(ended):
                running[i] = [("first", observation_of(reply, i))]
        ignored = ended if mode == "next_step" else np.zeros(count, np.bool_)
        chosen = np.array([choices[i, min(taken[i], steps - 1)] for i in range(count)], np.int32)
        reply = connection.step(Step(0, [chosen]))
        ended = reply.terminated | reply.truncated
        finals = iter(range(len(reply.ended)))
        for i in range(count):
            if ignored[i]:
                assert (reply.rewards[i], ended[i]) == (0, False)
                running[i] = [("first", observation_of(reply, i))]
                continue
            last = reply.final[0][next(finals)].tolist() if ended[i] and mode == "same_step" else observation_of(reply, i)
            flags = (bool(reply.terminated[i]), bool(reply.truncated[i]))
            running[i].append((int(chosen[i]), float(reply.rewards[i]), *flags, last))
            taken[i] += 1
            if ended[i]:
                done[i].append(running[i])
                if mode == "same_step":
                    running[i] = [("first", observation_of(reply, i))]
    return done


def observation_of(reply: Reply, environment: int) -> Any:
    return np.asarray(reply.observations[0])[environment].tolist()


def test_all_three_conventions_play_the_episodes_that_gymnasium_plays() -> None:
    with served("gymnasium:CartPole-v1") as url:
        played = {}
        for mode in MODES:
            with client(url, 3, mode, seed=11) as connection:
                played[mode] = episodes(connection, mode, np.random.default_rng(0), 120)
    choices = np.random.default_rng(5).integers(0, 2, (3, 120))
    for environment in range(3):
        env = gymnasium.make("CartPole-v1")
        expected: list[Episode] = []
        observation, _ = env.reset(seed=11 + environment)
        running: Episode = [("first", observation.tolist())]
        for action in choices[environment]:
            observation, reward, terminated, truncated, _ = env.step(action)
            running.append((int(action), float(reward), terminated, truncated, observation.tolist()))
            if terminated or truncated:
                expected.append(running)
                observation, _ = env.reset()
                running = [("first", observation.tolist())]
        env.close()
        assert len(expected) > 2
        for mode in MODES:
            assert played[mode][environment][: len(expected)] == expected, mode


def test_truncation_is_no_termination_and_the_last_observation_is_there() -> None:
    with served("gymnasium:CartPole-v1", {"max_episode_steps": 3}) as url, client(url, 2, "same_step") as connection:
        assert connection.opened.max_steps == 3
        connection.reset(everything(2))
        replies = [connection.step(Step(0, [np.array([0, 1], np.int32)])) for _ in range(3)]
        assert replies[2].truncated.tolist() == [True, True]
        assert not replies[2].terminated.any()
        assert np.abs(replies[2].final[0] - replies[2].observations[0]).max() > 1e-4
        assert np.abs(replies[2].final[0] - replies[1].observations[0]).max() > 1e-4


def test_equal_seeds_give_equal_episodes_in_every_environment() -> None:
    with served("gymnasium:CartPole-v1") as url, client(url, 3, "next_step", seed=1) as connection:
        first = connection.reset(everything(3))
        assert len({str(row) for row in np.asarray(first.observations[0]).tolist()}) == 3
        again = connection.reset(Reset(0, np.array([True, True, False]), np.array([9, 9, -1])))
        rows = np.asarray(again.observations[0]).tolist()
        assert rows[0] == rows[1] == gymnasium.make("CartPole-v1").reset(seed=9)[0].tolist()
        assert rows[2] == np.asarray(first.observations[0]).tolist()[2]


@pytest.mark.parametrize("workers", [0, 2])
def test_every_space_arrives_as_it_was_sent(workers: int) -> None:
    with served("python:foreign_environments:Everything", workers=workers) as url, client(url, 3, "same_step") as connection:
        opened = connection.opened
        observations, actions = SampleCodec(opened.observation), SampleCodec(opened.action)
        spaces = gymnasium_space(opened.observation, opened.layout.observation, acts=False)
        act = gymnasium_space(opened.action, opened.layout.action, acts=True)
        act.seed(3)
        import foreign_environments

        local = [foreign_environments.Everything() for _ in range(3)]
        expected = [env.reset(seed=index)[0] for index, env in enumerate(local)]
        reply = connection.reset(everything(3))
        for step in range(4):
            for i in range(3):
                row = observations.row(reply.observations, i)
                assert row in spaces
                sent = expected[i]
                np.testing.assert_equal(row["camera"], sent["camera"])
                np.testing.assert_equal(row["count"], sent["count"])
                np.testing.assert_equal(row["flags"], sent["flags"])
                assert (row["kind"], row["words"]) == (sent["kind"], sent["words"])
                np.testing.assert_equal(row["pair"]["item0"], sent["pair"][0])
                np.testing.assert_allclose(row["pair"]["item1"], sent["pair"][1], rtol=1e-6)
            chosen = [act.sample() for _ in range(3)]
            batch = [
                np.concatenate(parts)
                for parts in zip(*(actions.arrays(each, opened.layout.action, None) for each in chosen), strict=True)
            ]
            reply = connection.step(Step(0, batch))
            results = [
                env.step({**each, "gas": each["gas"].astype(np.float64), "lights": each["lights"].astype(np.int8)})
                for env, each in zip(local, chosen, strict=True)
            ]
            expected = [result[0] for result in results]
            np.testing.assert_allclose(reply.rewards, [result[1] for result in results], rtol=1e-6)
        assert reply.truncated.all() and reply.metric_names == ["is_success"]
        assert reply.final[0].shape == (3, 4, 3, 2)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raise", "ZeroDivisionError: the robot fell over"),
        ("nan", "obs is not finite"),
        ("shape", "obs has the shape (3,) where (2,) belongs"),
        ("reward", "the reward is inf"),
    ],
)
def test_a_fault_is_an_error_that_names_environment_and_step(how: str, said: str) -> None:
    with served(FAULTY, {"how": how}) as url, client(url, 2, "same_step") as connection:
        connection.reset(everything(2))
        zeros = [np.zeros(2, np.int32)]
        connection.step(Step(0, zeros))
        connection.step(Step(0, zeros))
        with pytest.raises(AgentGymError) as caught:
            connection.step(Step(0, zeros))
        assert caught.value.code == "environment_failed"
        assert said in caught.value.message
        assert caught.value.data["environment"] == 0
        assert caught.value.data["step"] in (2, 3)
        with pytest.raises(AgentGymError, match="closed the connection"):
            connection.step(Step(0, zeros))


def test_a_refused_action_changes_nothing() -> None:
    with served("gymnasium:CartPole-v1") as url, client(url, 2, "disabled") as connection:
        with pytest.raises(AgentGymError, match="Environment 0 has no episode") as caught:
            connection.step(Step(0, [np.zeros(2, np.int32)]))
        assert caught.value.code == "request_invalid"
        connection.reset(everything(2, seed=4))
        with pytest.raises(AgentGymError, match="Environment 1 was given an action whose action is not one of 2"):
            connection.step(Step(0, [np.array([0, 2], np.int32)]))
        env = gymnasium.make("CartPole-v1")
        env.reset(seed=4)
        reply = connection.step(Step(0, [np.array([0, 1], np.int32)]))
        assert np.asarray(reply.observations[0])[0].tolist() == env.step(0)[0].tolist()
        while not reply.ended.size:
            reply = connection.step(Step(0, [np.zeros(2, np.int32)]))
        with pytest.raises(AgentGymError, match="reset it first"):
            connection.step(Step(0, [np.zeros(2, np.int32)]))


def test_masks_of_an_environment_are_those_of_its_info() -> None:
    with served("gymnasium:Taxi-v4", action_mask=True) as url, client(url, 2, "next_step") as connection:
        reply = connection.reset(everything(2, seed=3))
        _, info = gymnasium.make("Taxi-v4").reset(seed=3)
        assert reply.masks is not None
        assert reply.masks[0].tolist() == info["action_mask"].astype(bool).tolist()


@pytest.mark.parametrize(("how", "said"), [("hang", "did not answer within 1 seconds"), ("exit", "ended with status 3")])
def test_a_worker_that_hangs_or_dies_ends_its_connection_alone(how: str, said: str) -> None:
    with served(FAULTY, {"how": how}, workers=2, step_timeout=1.0) as url:
        with client(url, 4, "same_step") as healthy, client(url, 4, "same_step") as connection:
            healthy.reset(everything(4))
            connection.reset(everything(4))
            zeros = [np.zeros(4, np.int32)]
            connection.step(Step(0, zeros))
            connection.step(Step(0, zeros))
            with pytest.raises(AgentGymError, match=said) as caught:
                connection.step(Step(0, zeros))
            assert caught.value.code == "environment_failed"
            healthy.step(Step(0, zeros))


def test_an_environment_that_renders_text_is_shown() -> None:
    with served("gymnasium:FrozenLake-v1", {"render_mode": "ansi", "is_slippery": False}) as url:
        with client(url, 2, "same_step") as connection:
            connection.reset(everything(2))
            connection.step(Step(0, [np.array([1, 2], np.int32)]))
            assert "(Down)" in connection.render(0)
            assert "(Right)" in connection.render(1)
    with served("gymnasium:CartPole-v1") as url, client(url, 1, "same_step") as connection:
        with pytest.raises(AgentGymError, match="does not render text") as caught:
            connection.render()
        assert caught.value.code == "request_invalid"
        connection.reset(everything(1))


def test_what_cannot_be_served_is_refused_in_words() -> None:
    for target, said in [
        ("python:foreign_environments:sequence", "is a Sequence, which has no counterpart"),
        ("gymnasium:NoSuch-v0", "could not be made"),
        ("python:no_such_module:make", "could not be made: ModuleNotFoundError"),
    ]:
        with pytest.raises(AgentGymError, match=said):
            listen(Source(target), ServingOptions())
    with pytest.raises(AgentGymError, match="neither gymnasium:ID nor"):
        Source.read("CartPole-v1", "{}")


def test_clients_need_the_key_and_pages_of_browsers_get_nothing() -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    with served("gymnasium:CartPole-v1", key="secret") as url:
        with pytest.raises(AgentGymError) as caught, client(url, 1, "same_step", key="wrong"):
            pass
        assert caught.value.code == "unauthenticated"
        with client(url, 1, "same_step", key="secret"):
            pass
    with served("gymnasium:CartPole-v1") as url:
        address = f"{url.replace('http', 'ws')}/v1/vector"
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, origin="https://evil.example")
        with pytest.raises(AgentGymError, match="environments is 5000"), client(url, 5000, "same_step"):
            pass


def test_the_command_serves_until_its_standard_input_ends() -> None:
    command = [sys.executable, "-m", "agentgym.envs", "gymnasium:CartPole-v1", "--json", "--exit-with-stdin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        event = json.loads(process.stdout.readline())
        assert (event["event"], event["name"]) == ("listening", "CartPole-v1")
        with client(event["url"], 2, "next_step") as connection:
            connection.reset(everything(2))
            process.stdin.close()
            assert process.wait() == 0
    wrong = subprocess.run([*command[:3], "gymnasium:NoSuch-v0", "--json"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["error"]["code"] == "environment_failed"


def test_a_step_of_this_process_that_does_not_end_ends_the_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agentgym.envs", FAULTY, "--kwargs", '{"how": "hang"}', "--step-timeout", "1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        with client(url, 2, "same_step") as connection:
            connection.reset(everything(2))
            for _ in range(2):
                connection.step(Step(0, [np.zeros(2, np.int32)]))
            with pytest.raises(AgentGymError, match="did not finish a step within 1 seconds") as caught:
                connection.step(Step(0, [np.zeros(2, np.int32)]))
            assert caught.value.data == {"environment": 0, "step": 2}
        assert process.wait() == 1
