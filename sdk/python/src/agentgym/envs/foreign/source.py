"""Where a served environment comes from."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import gymnasium

from agentgym.errors import AgentGymError

Maker = Callable[[], "gymnasium.Env[Any, Any]"]


@dataclass(frozen=True)
class Source:
    """`gymnasium:ID`, or `python:module:function` for a function that returns an environment. Picklable, for worker processes."""

    target: str
    #: Keyword arguments of `gymnasium.make`, or of the function.
    arguments: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def read(target: str, arguments: str) -> Source:
        try:
            read = json.loads(arguments)
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise AgentGymError("usage_invalid", f"--kwargs is no JSON object: {arguments}")
        kind, _, rest = target.partition(":")
        if kind not in ("gymnasium", "python") or rest == "":
            raise AgentGymError(
                "usage_invalid",
                f"{target} is neither gymnasium:ID nor python:MODULE:FUNCTION.",
                hint="For example gymnasium:CartPole-v1, or python:my_package.envs:make_env.",
            )
        return Source(target, read)

    @property
    def name(self) -> str:
        return self.target.partition(":")[2]

    @property
    def version(self) -> str:
        """What the environment comes from, such as `gymnasium 1.4.0`."""
        return f"gymnasium {metadata.version('gymnasium')}"

    def make(self) -> gymnasium.Env[Any, Any]:
        """Makes one environment. Raises AgentGymError `environment_failed` with what was raised."""
        try:
            env = self._maker()(**self.arguments)
        except AgentGymError:
            raise
        except Exception as error:  # noqa: BLE001 - it is the user's code
            raise AgentGymError(
                "environment_failed", f"{self.target} could not be made: {type(error).__name__}: {error}"
            ) from error
        if isinstance(env, gymnasium.vector.VectorEnv):
            raise AgentGymError(
                "environment_failed",
                f"{self.target} is a vector environment, which resets its environments by a convention of its own.",
                hint="Serve one that makes a single environment; the server makes as many as the trainer asks for.",
            )
        if not isinstance(env, gymnasium.Env):
            raise AgentGymError("environment_failed", f"{self.target} made a {type(env).__name__}, not a gymnasium.Env.")
        return env

    def _maker(self) -> Callable[..., Any]:
        kind, _, rest = self.target.partition(":")
        if kind == "gymnasium":
            return lambda **arguments: gymnasium.make(rest, **arguments)
        module, _, function = rest.partition(":")
        return getattr(importlib.import_module(module), function or "make")  # type: ignore[no-any-return]
