"""Names of scenarios that `gymnasium.make` knows."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import gymnasium

#: The id for any scenario: `gymnasium.make("agentgym:agentgym/Scenario-v0", scenario="@acme/cart-pole@1.2.0")`.
GENERIC_ID = "agentgym/Scenario-v0"
LOCK_FILE = "agentgym.lock"
_TARGET = re.compile(r"@?(?P<scope>[^@/\s]+)/(?P<name>[^@/\s]+)(?:@(?P<range>\S+))?")
_MAJOR = re.compile(r"[\^~>=v\s]*(\d+)")


def register_scenarios() -> None:
    """Registers the generic id, the packages of agentgym.lock in the working folder, and those that AGENTGYM_ENVS names.

    AGENTGYM_ENVS has scenarios as the command names them, separated by spaces or commas. `@acme/cart-pole@1.2.0` becomes
    `acme/cart-pole-v1`: the version of an id is the major version. A name without a version becomes `acme/cart-pole`.
    """
    _register(GENERIC_ID, None)
    for target in [*_locked(Path.cwd() / LOCK_FILE), *re.split(r"[\s,]+", os.environ.get("AGENTGYM_ENVS", ""))]:
        environment_id = id_of(target)
        if environment_id is not None:
            _register(environment_id, target)


def id_of(target: str) -> str | None:
    """`@acme/cart-pole@1.2.0` → `acme/cart-pole-v1`; None for what is no name of a scenario."""
    match = _TARGET.fullmatch(target)
    if match is None:
        return None
    major = _MAJOR.match(match["range"] or "")
    version = "" if major is None else f"-v{major[1]}"
    return f"{match['scope']}/{match['name']}{version}"


def _register(environment_id: str, scenario: str | None) -> None:
    if environment_id in gymnasium.registry:
        return
    gymnasium.register(
        environment_id,
        entry_point="agentgym.envs:ScenarioEnv",
        vector_entry_point="agentgym.envs:ScenarioVectorEnv",
        kwargs={} if scenario is None else {"scenario": scenario},
    )


def _locked(path: Path) -> Iterator[str]:
    try:
        packages = json.loads(path.read_text("utf8"))["packages"]
        yield from [f"{name}@{locked['version']}" for name, locked in packages.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # No lock file, or a damaged one: the command says so; an import should not fail by it.
        return
