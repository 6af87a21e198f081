"""Scenarios as agents of Agent Lightning 1.0, and a client of the events by which it learns of rewards.

`agentgym env serve` plays each episode with the model of the rollout; the agent says which task, and posts the return as the reward.
Needs nothing but a running server: neither Agent Lightning nor a client of language models is imported.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from .errors import AgentGymError

_AGENT = "agentgym.agentlightning.ScenarioAgent"
_TASK = "AGENTGYM_TASK"
_DEFAULT_SERVER = "http://127.0.0.1:8000"


class EventClient:
    """Posts events of one attempt at a rollout, to the address that Agent Lightning gives its agent.

    Agent Lightning trains on the last event of the type `reward`. A rollout without one has failed: end with another exit code than 0.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 10.0, tries: int = 6) -> None:
        """`timeout` is in seconds, for each of the `tries`; pauses between them grow from 0.5 s to 8 s."""
        self._url = url
        self._key = key or None
        self._timeout = timeout
        self._tries = tries

    @classmethod
    def from_environment(cls) -> EventClient:
        """From `AGL_EVENT_URL` and `AGL_KEY`, which Agent Lightning sets. Raises `config_invalid` outside a rollout."""
        return cls(_given("AGL_EVENT_URL"), os.environ.get("AGL_KEY"))

    def post(self, event_type: str, data: Mapping[str, Any]) -> None:
        """Appends an event; `data` is JSON without NaN and infinity.

        A server that does not answer, or answers 429 or 5xx, is asked again: an event may then be recorded twice, which
        changes nothing for a reward. Raises `server_unreachable` where none of the `tries` is answered with success.
        """
        body = {"event_type": event_type, "data": dict(data)}
        for tried in range(1, self._tries + 1):
            try:
                _post(self._url, body, key=self._key, timeout=self._timeout)
                return
            except _Refused as refused:
                if tried == self._tries or refused.is_final:
                    raise AgentGymError(
                        "server_unreachable",
                        f"Agent Lightning's server did not take the event {event_type}: {refused}.",
                        hint="Look at the log of agl-server.",
                        data={"url": self._url},
                    ) from refused
                time.sleep(min(8.0, 0.25 * 2**tried))

    def reward(self, value: float, *, message: str | None = None) -> None:
        """The reward of the whole rollout. Raises `reward_not_finite`, and what `post` raises."""
        if not math.isfinite(value):
            raise AgentGymError("reward_not_finite", f"The reward is {value}, which is not a finite number.")
        said = {} if message is None else {"message": message}
        self.post("reward", {"value": float(value), "source": "agent", **said})


class ScenarioAgent:
    """The class for `agentlightning.local.agent_class`: one instance plays one episode. `local_config` has its settings."""

    def run(self) -> None:
        """Plays the task in `AGENTGYM_TASK` and posts its reward.

        An episode that failed has no reward: it raises the error of the server, so the process of the rollout fails.
        """
        events = EventClient.from_environment()
        rollout = _play(_task())
        about = {key: value for key, value in rollout.items() if key not in ("messages", "reward")}
        # Not for the trainer, but for its hooks and its log. The reward is last: it says that the rollout is whole.
        events.post("agentgym_episode", about)
        events.reward(rollout["reward"], message=f"{rollout['end']} after {rollout['steps']} steps")


def local_config(
    url: str = _DEFAULT_SERVER, *, tools: bool = False, max_round: int = 30, max_tokens: int | None = None
) -> dict[str, Any]:
    """The value of `agentlightning.local`: episodes are played in processes that agl-controller starts.

    `url` is the address of `agentgym env serve`, as the controller's machine reaches it. `tools` offers the scenario's tools to the
    model as such, else it writes its action as text; it has `max_round` replies an episode, of at most `max_tokens` tokens each.
    """
    return {"agent_class": _AGENT, "env_map": {**_settings(url, tools, max_round, max_tokens), _TASK: "input"}}


def job_template(
    url: str, image: str, *, key_secret: str | None = None, tools: bool = False, max_round: int = 30, max_tokens: int | None = None
) -> str:
    """The file for `agentlightning.k8s.job_template_path`: the same episodes, as Jobs of Kubernetes.

    `image` has Python with this package. `key_secret` is the name of a secret whose entry `key` is the server's key.
    """
    settings = _settings(url, tools, max_round, max_tokens)
    variables = [f"            - {{name: {name}, value: {json.dumps(value)}}}" for name, value in settings.items()]
    # Its filter makes a string of YAML from text, and a row is text once it is JSON.
    variables.append(f"            - {{name: {_TASK}, value: {{{{ input | tojson | string | yaml_escape }}}}}}")
    if key_secret is not None:
        secret = f"{{name: {json.dumps(key_secret)}, key: key}}"
        variables.append(f"            - {{name: AGENTGYM_ENV_KEY, valueFrom: {{secretKeyRef: {secret}}}}}")
    return f"""apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      containers:
        - name: agent
          image: {json.dumps(image)}
          command: ["python", "-m", "agentgym.agentlightning"]
          env:
{chr(10).join(variables)}
          resources: {{requests: {{cpu: 100m, memory: 128Mi}}}}
"""


def rows(env: str, count: int, *, split: str = "train", first: int = 0) -> list[dict[str, Any]]:
    """Rows of a data set: tasks `first` to `first + count - 1` of a split (train, validation, test) of the scenario called `env`.

    Not `index`, which Agent Lightning overwrites.
    """
    tasks = range(first, first + count)
    return [{"data_id": f"{env}/{split}/{task}", "env": env, "split": split, "task": task} for task in tasks]


def _settings(url: str, tools: bool, max_round: int, max_tokens: int | None) -> dict[str, str]:
    played = {"tools": tools, "max_round": max_round, **({} if max_tokens is None else {"max_tokens": max_tokens})}
    return {"AGENTGYM_ENV_SERVER": url.rstrip("/"), "AGENTGYM_ROLLOUT": json.dumps(played)}


def _task() -> dict[str, Any]:
    row = json.loads(_given(_TASK))
    try:
        return {"env": row["env"], "split": row["split"], "ids": [int(row["task"])]}
    except (KeyError, TypeError, ValueError) as error:
        raise AgentGymError(
            "config_invalid",
            f"{_TASK} is no row with env, split and task: {json.dumps(row)[:200]}",
            hint="Make the rows of the data set with agentgym.agentlightning.rows.",
            data={"field": _TASK},
        ) from error


def _play(task: dict[str, Any]) -> dict[str, Any]:
    """The one rollout of a request, which has a reward. Raises the error that it has instead."""
    server = os.environ.get("AGENTGYM_ENV_SERVER") or _DEFAULT_SERVER
    body = {
        **task,
        **json.loads(os.environ.get("AGENTGYM_ROLLOUT") or "{}"),
        # The gateway puts the name of its model here.
        "model": "auto",
        "base_url": _given("AGL_OPENAI_BASE_URL"),
        **({"api_key": os.environ["AGL_KEY"]} if os.environ.get("AGL_KEY") else {}),
    }
    try:
        # As long as the episode takes: Agent Lightning ends rollouts that take too long, and the server then ends the episode.
        answer = _post(f"{server}/rollouts", body, key=os.environ.get("AGENTGYM_ENV_KEY"), timeout=None)
    except _Refused as refused:
        if refused.report is not None:
            raise _reported(refused.report) from refused
        raise AgentGymError(
            "server_unreachable",
            f"The environment server at {server} did not play the episode: {refused}.",
            hint="Start one with `agentgym env serve NAME`, and give its address as `url`.",
            data={"url": server},
        ) from refused
    (rollout,) = answer["rollouts"]
    if "error" in rollout:
        raise _reported(rollout["error"])
    return rollout


def _reported(report: dict[str, Any]) -> AgentGymError:
    return AgentGymError(report["code"], report["message"], hint=report.get("hint"), data=report.get("data"))


def _given(name: str) -> str:
    value = os.environ.get(name)
    if value:
        return value
    raise AgentGymError(
        "config_invalid",
        f"{name} is not set",
        hint="Agent Lightning sets it for the process of a rollout: run agl-controller, or see docs/language-model-trainers.md.",
        data={"field": name},
    )


class _Refused(Exception):
    """No answer, or one that is no success; then with its status, and the report of an error where the server is AgentGym's."""

    def __init__(self, why: str, status: int | None = None, report: dict[str, Any] | None = None) -> None:
        super().__init__(why)
        self.is_final = status is not None and status < 500 and status != 429
        self.report = report


def _post(url: str, body: Mapping[str, Any], *, key: str | None, timeout: float | None) -> Any:
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    # A proxy of the environment is not meant for the own machine.
    is_own = (urllib.parse.urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1")
    opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if is_own else []))
    request = urllib.request.Request(url, json.dumps(body, allow_nan=False).encode(), headers)
    try:
        with opener.open(request, timeout=timeout) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        text = error.read(100_000).decode(errors="replace")
        raise _Refused(f"it answers {error.code}: {text[:300]}", error.code, _report_in(text)) from error
    except (OSError, ValueError) as error:
        raise _Refused(str(getattr(error, "reason", error))) from error


def _report_in(text: str) -> dict[str, Any] | None:
    try:
        report = json.loads(text)["error"]
        return report if isinstance(report["code"], str) and isinstance(report["message"], str) else None
    except (ValueError, TypeError, KeyError):
        return None


if __name__ == "__main__":
    try:
        ScenarioAgent().run()
    except AgentGymError as error:
        sys.exit(f"agentgym: {error}")
