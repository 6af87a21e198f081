"""Loads agents: folders, and packages of a registry."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ._packages.client import Progress, ResolvedVersion, download_package, resolve_version
from ._packages.connection import Connection, find_connection
from ._packages.store import find_locked, find_stored, recall_versions, remember_version, store_package
from ._policy.manifest import parse_json, read_agent
from .agent import Agent, AgentPackage
from .errors import AgentGymError

_NAME = re.compile(r"(@[^@/\s]+/[^@/\s]+)(?:@(.*))?", re.DOTALL)
"""`@scope/name[@range|tag|version]`. Whether the name is allowed is the server's to say."""


def load(
    source: str | os.PathLike[str],
    *,
    server: str | None = None,
    token: str | None = None,
    offline: bool = False,
    on_progress: Progress | None = None,
    seed: int = 0,
) -> Agent[Any, Any, Any]:
    """Loads an agent: a folder that `agentgym train` wrote, or the name of a published one, such as `@ann/support@^1`.

    A name is resolved by `agentgym.lock` in the working folder if it has the agent, else by the server: `server`,
    `AGENTGYM_SERVER`, that of `agentgym login`, or http://localhost:4477. `token` is by default `AGENTGYM_TOKEN`, or that of
    `agentgym login` at that server; public, free agents need none. The package's integrity is verified, and it is kept on this
    machine for the next time, where the command and the TypeScript library keep theirs. Where the server cannot be reached, or
    with `offline`, the newest version on this machine that fits is used.

    `on_progress` gets the bytes of the download so far, and of all if the server says. `seed` is that of the random numbers of
    `act(…, deterministic=False)`.

    Raises AgentGymError: `file_not_found`, `manifest_invalid`, `agent_invalid`, `package_not_found`, `payment_required` for an
    agent that has to be bought, `integrity_mismatch`, `server_unreachable`, `encoder_unavailable` and the codes `model_…`.
    """
    target = _NAME.fullmatch(source.strip()) if isinstance(source, str) else None
    if target is None:
        folder = Path(source)
    else:
        version_range = (target[2] or "").strip() or None
        folder = _obtain(target[1], version_range, find_connection(server, token), offline, on_progress)
    return Agent(read_agent(folder), package=_package_of(folder), seed=seed)


def _obtain(
    name: str, version_range: str | None, connection: Connection, offline: bool, on_progress: Progress | None
) -> Path:
    """The folder of a published package on this machine."""
    locked = find_locked(name, version_range)
    if locked is not None:
        stored = find_stored(locked.integrity)
        if stored is not None:
            return stored
        version_range = locked.version
    if offline:
        return _recall(name, version_range, connection.server)
    try:
        resolved = resolve_version(connection, name, version_range)
        if locked is not None:
            resolved = ResolvedVersion(resolved.version, locked.integrity, resolved.tarball)
        what = f"{name}@{resolved.version}"
        found = find_stored(resolved.integrity)
        if found is None:
            tarball = download_package(connection, what, resolved, on_progress)
            found = store_package(tarball, resolved.integrity)
        remember_version(connection.server, name, resolved.version, resolved.integrity)
        return found
    except AgentGymError as error:
        if error.code != "server_unreachable" and error.data.get("status") != 503:
            raise
        return _recall(name, version_range, connection.server, error)


def _recall(name: str, version_range: str | None, server: str, cause: AgentGymError | None = None) -> Path:
    """The newest version on this machine that fits."""
    for integrity in recall_versions(server, name, version_range):
        folder = find_stored(integrity)
        if folder is not None:
            return folder
    label = name if version_range is None else f"{name}@{version_range}"
    raise AgentGymError(
        "server_unreachable",
        f"{label} is not on this machine{'' if cause is None else f', and {server} does not answer'}.",
        hint="Load it once while the server can be reached; from then on it works offline.",
        data={"package": label, "server": server},
    ) from cause


def _package_of(folder: Path) -> AgentPackage | None:
    try:
        package: Any = parse_json((folder / "package.json").read_bytes())
        name, version = package["name"], package["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return AgentPackage(name, version) if isinstance(name, str) and isinstance(version, str) else None
