"""OpenEnv's validator, graders and clients against environments that `agentgym env serve` serves.

The test that runs this file serves them; AGENTGYM_SERVED says where: a JSON object with, by name, the address, the folder
that `agentgym env manifest` wrote, and the number of tools.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from openenv import GenericEnvClient
from openenv.cli._cli_utils import validate_env_structure
from openenv.core.mcp_client import MCPToolClient
from openenv.validation.graders.runtime import (
    ObservationSchemaGrader,
    RewardWellFormedGrader,
    StateContractGrader,
)
from openenv.validation.manifest import ExecutionDeclaration
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import load_runtime_plan
from openenv.validation.types import CheckStatus

SERVED: dict[str, dict[str, Any]] = json.loads(os.environ["AGENTGYM_SERVED"])
NAMES = sorted(SERVED)
OPENENV = Path(sys.executable).parent / "openenv"


def validate(*arguments: str) -> dict[str, Any]:
    """The report of `openenv validate`; its exit status is 0, which means that it passed."""
    done = subprocess.run([OPENENV, "validate", *arguments, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_running_server_is_valid(name: str) -> None:
    report = validate("--url", SERVED[name]["url"])
    assert report["passed"] is True
    assert len(report["criteria"]) == 6
    assert all(criterion["passed"] for criterion in report["criteria"])


@pytest.mark.parametrize("name", NAMES)
def test_package_is_valid(name: str) -> None:
    report = validate(SERVED[name]["folder"], "--level", "static", "--skip-build")
    assert [result["status"] for result in report["results"]] == ["pass"]
    # What `openenv push` wants beside a server.
    assert validate_env_structure(Path(SERVED[name]["folder"])) == ["Recommended directory missing: outputs/"]


@pytest.mark.parametrize("name", NAMES)
def test_runtime_graders_pass(name: str) -> None:
    root = Path(SERVED[name]["folder"])
    manifest = OpenEnvYamlParser().parse(root)
    plan = load_runtime_plan(root, ExecutionDeclaration())
    evidence = collect_runtime_evidence(
        SERVED[name]["url"], plan, episode_timeout_s=manifest.resources.episode_timeout_s
    )
    assert evidence.failure_reason is None
    assert sum(exchange.operation == "step" for exchange in evidence.exchanges) >= 1
    subject = SimpleNamespace(runtime_evidence=evidence, manifest=manifest)
    for grader in (RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()):
        result = grader.run(subject)
        assert result.status is CheckStatus.PASS, (grader.check_id, result.evidence)


def test_a_grader_can_fail() -> None:
    """The rewards of an environment are outside of a range that is not its own."""
    root = Path(SERVED["cart-pole"]["folder"])
    manifest = OpenEnvYamlParser().parse(root)
    manifest.reward.range = (5.0, 6.0)
    evidence = collect_runtime_evidence(
        SERVED["cart-pole"]["url"], load_runtime_plan(root, ExecutionDeclaration()), episode_timeout_s=60
    )
    subject = SimpleNamespace(runtime_evidence=evidence, manifest=manifest)
    assert RewardWellFormedGrader().run(subject).status is CheckStatus.FAIL


def probe(name: str) -> dict[str, Any]:
    """The probe that `agentgym env manifest` wrote: a reset and actions that are legal after it."""
    return json.loads((Path(SERVED[name]["folder"]) / "validation/runtime.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_generic_client_plays_alike_from_a_seed(name: str) -> None:
    plan = probe(name)
    played = []
    for _ in range(2):
        with GenericEnvClient(base_url=SERVED[name]["url"]).sync() as client:
            first = client.reset(seed=plan["reset"]["seed"], episode_id="alike")
            assert first.reward is None and first.done is False
            assert first.observation["task"] and first.observation["text"]
            results = []
            for action in plan["actions"]:
                result = client.step(action)
                assert result.observation["error"] is None
                assert isinstance(result.reward, (int, float)) and isinstance(result.done, bool)
                assert result.metadata["truncated"] is False
                results.append((result.observation, result.reward, result.done))
                if result.done:
                    break
            state = client.state()
            assert (state["episode_id"], state["step_count"]) == ("alike", len(results))
            played.append((first.observation["data"], results))
    assert played[0] == played[1]


@pytest.mark.parametrize("name", NAMES)
def test_two_clients_at_once_play_their_own_episodes(name: str) -> None:
    with (
        GenericEnvClient(base_url=SERVED[name]["url"]).sync() as one,
        GenericEnvClient(base_url=SERVED[name]["url"]).sync() as other,
    ):
        for client in (one, other):
            client.reset(seed=1, episode_id="a")
        one.step(probe(name)["actions"][0])
        assert (one.state()["step_count"], other.state()["step_count"]) == (1, 0)


@pytest.mark.parametrize("name", NAMES)
def test_tool_client_lists_and_calls_tools(name: str) -> None:
    plan = probe(name)
    with MCPToolClient(base_url=SERVED[name]["url"]).sync() as client:
        tools = client.list_tools()
        # A client that could not list them returns an empty list and says nothing.
        assert len(tools) == SERVED[name]["tools"]
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
        client.reset(seed=plan["reset"]["seed"])
        action = plan["actions"][0]
        if "tool_name" in action:
            result = client.call_tool(action["tool_name"], **action["arguments"])
        else:
            result = client.call_tool("act", action=action["action"])
        assert isinstance(result, str) and result
        assert client.state().step_count == 1


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_played_by_split_and_index(name: str) -> None:
    url = SERVED[name]["url"]
    with httpx.Client(base_url=url, trust_env=False) as http:
        [environment] = http.get("/list_environments").json()
        splits = [split["name"] for split in http.get(f"/{environment}/splits").json()]
        assert "train" in splits and "test" in splits
        for split in splits:
            assert http.post(f"/{environment}/num_tasks", json={"split": split}).json()["num_tasks"] > 1
        body = {"split": "test", "start": 0, "stop": 2}
        tasks = http.post(f"/{environment}/task_range", json=body).json()["tasks"]
    with GenericEnvClient(base_url=url).sync() as client:
        first, second = (client.reset(**task).observation["data"] for task in tasks)
        assert first != second
        assert client.reset(**tasks[0]).observation["data"] == first


def test_client_reads_why_it_was_refused() -> None:
    url = os.environ["AGENTGYM_SMALL_SERVER"]
    with GenericEnvClient(base_url=url).sync() as client:
        client.reset()
        with pytest.raises(Exception, match="1 are in use"):
            with GenericEnvClient(base_url=url).sync() as late:
                late.reset()
        assert client.step({"action": "left"}).reward == 1


def test_client_sends_a_key() -> None:
    url = os.environ["AGENTGYM_SMALL_SERVER"]
    headers = {"Authorization": "Bearer a secret"}
    with GenericEnvClient(base_url=url, headers=headers).sync() as client:
        assert client.reset(seed=1).observation["text"]
