"""Scenarios as environments of TRL's GRPOTrainer: `environment_factory=agentgym.trl.environment(url)`.

Needs `pip install "agentgym[trl]"` and a running `agentgym env serve NAME`.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, Callable

try:
    from openenv import GenericEnvClient
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError('agentgym.trl needs OpenEnv\'s client: pip install "agentgym[trl]"') from missing

_TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def environment(url: str, reset_keys: tuple[str, ...] = ("split", "index", "seed")) -> type:
    """Makes the class of an environment from the tools of the scenario at `url`.

    TRL makes one instance a rollout and uses it again: `reset(**row)` begins an episode with those columns of the row that are in
    `reset_keys`, and returns the task and the first observation, which become the end of the prompt. Every public method is a tool.
    `get_reward()` is the return of the episode so far, and None where it failed: a failure is no reward of 0, and TRL leaves such a
    rollout out.

    Raises ConnectionError where no server answers.
    """

    class Environment(_Environment):
        _url = url
        _reset_keys = reset_keys

    # The name is what TRL logs the reward by.
    Environment.__name__ = Environment.__qualname__ = "AgentGymEnvironment"
    for tool in _tools_at(url):
        setattr(Environment, tool["name"], _method(tool))
    return Environment


def conversation_prompt(url: str) -> list[dict[str, str]]:
    """The prompt of a row of the data set: what the scenario is about. `reset` adds the observation."""
    with GenericEnvClient(base_url=url).sync() as client:
        return [{"role": "user", "content": client.reset().observation["task"]}]


class _Environment:
    _url: str
    _reset_keys: tuple[str, ...]

    def __init__(self) -> None:
        self._client: Any = None
        self._return: float | None = None
        self._done = False

    def reset(self, **row: Any) -> str:
        given = {key: row[key] for key in self._reset_keys if row.get(key) is not None}
        self._return, self._done = None, False
        try:
            result = self._connected().reset(**given)
        except Exception:
            self._disconnect()
            raise
        self._return = 0.0
        return _text(result.observation)

    def get_reward(self) -> float | None:
        return self._return

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        if self._return is None:
            return "The episode has failed."
        if self._done:
            return "The episode has ended."
        try:
            result = self._connected().step({"type": "call_tool", "tool_name": name, "arguments": arguments})
        except Exception as failure:
            # TRL would show the error to the model and score what came before.
            self._return = None
            self._disconnect()
            return f"The episode has failed: {failure}"
        self._return += result.reward or 0.0
        self._done = result.done
        return _text(result.observation)

    def _connected(self) -> Any:
        if self._client is None:
            self._client = GenericEnvClient(base_url=self._url).sync()
            self._client.connect()
        return self._client

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            try:
                client.close()
            except Exception:
                pass  # It is gone: that is why it is closed.


def _tools_at(url: str) -> list[dict[str, Any]]:
    with GenericEnvClient(base_url=url).sync() as client:
        return client.step({"type": "list_tools"}).observation["tools"]


def _method(tool: dict[str, Any]) -> Callable[..., str]:
    """A method with annotations and a docstring in Google's style, from which transformers makes the tool's schema."""
    name: str = tool["name"]
    properties: dict[str, dict[str, Any]] = tool["input_schema"].get("properties", {})

    def call(self: _Environment, **given: Any) -> str:
        return self._call(name, given)

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = [tool["description"] or name]
    if properties:
        lines += ["", "Args:"]
    for key, schema in properties.items():
        kind = _TYPES.get(schema.get("type", "string"), str)
        parameters.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=kind))
        lines.append(f"    {key}: {_described(key, schema)}")
    lines += ["", "Returns:", "    What the call brought, and what may be done next."]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n".join(lines)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters[1:]} | {"return": str}
    call.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    return call


def _described(key: str, schema: dict[str, Any]) -> str:
    said = str(schema.get("description", key)).replace("\n", " ")
    if "minimum" in schema or "maximum" in schema:
        said += f", from {schema.get('minimum', 'no limit')} to {schema.get('maximum', 'no limit')}"
    return f"{said} (choices: {json.dumps(schema['enum'])})" if "enum" in schema else said


def _text(observation: dict[str, Any]) -> str:
    """What a language model reads: the task after a reset, the observation, the error of a call, what is legal."""
    error = observation.get("error") or {}
    seen = observation.get("text") or observation.get("result") or ""
    parts = [observation.get("task"), error.get("message"), seen]
    legal = observation.get("legal_actions")
    if legal:
        parts.append("Legal actions: " + "; ".join(legal))
    return "\n".join(part for part in parts if part)
