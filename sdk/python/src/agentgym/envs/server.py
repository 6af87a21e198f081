"""The server of scenarios that environments of this process use: one that runs already, or one of their own."""

from __future__ import annotations

import atexit
import json
import os
import shlex
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agentgym.errors import AgentGymError


@dataclass(frozen=True)
class ServerLease:
    """The address of a server, for as long as one environment needs it."""

    address: str
    #: How to name the scenario to it; None for a server of this scenario alone.
    scenario: str | None
    #: The own server to give back, if it is one.
    _own: _OwnServer | None = None

    def release(self) -> None:
        if self._own is not None:
            self._own.release()


def obtain_server(scenario: str, server: str | None) -> ServerLease:
    """`server`, else AGENTGYM_ENV_SERVER, else `agentgym env serve SCENARIO` as a child of this process.

    Environments of one scenario share a child. It ends with the last of them, and with this process, however that ends. Raises
    AgentGymError: what the command reports, or `setup_incomplete` where there is no command.
    """
    address = server or os.environ.get("AGENTGYM_ENV_SERVER")
    if address:
        return ServerLease(address, scenario)
    with _lock:
        own = _own_servers.get(scenario)
        if own is None or not own.usable():
            own = _OwnServer(scenario)
            _own_servers[scenario] = own
        own.users += 1
    return ServerLease(own.address, None, own)


class _OwnServer:
    """A child that serves one scenario."""

    def __init__(self, scenario: str) -> None:
        self.users = 0
        self._scenario = scenario
        self._owner = os.getpid()
        # It ends when its standard input does: the kernel closes the pipe also for a parent that was killed.
        parameters = [*_command(), "env", "serve", _target(scenario), "--port", "0", "--exit-with-stdin", "--json"]
        self._process = subprocess.Popen(parameters, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self._listening()
        # What it prints later is of no use, but a full pipe would stop it.
        threading.Thread(target=_drain, args=(self._process.stdout,), daemon=True).start()

    def usable(self) -> bool:
        """A process that was forked from ours may use the server as well, and never ends it."""
        return os.getpid() != self._owner or self._process.poll() is None

    def release(self) -> None:
        if os.getpid() != self._owner:
            return
        with _lock:
            self.users -= 1
            if self.users > 0:
                return
            if _own_servers.get(self._scenario) is self:
                del _own_servers[self._scenario]
        self.end()

    def end(self) -> None:
        if os.getpid() != self._owner:
            return
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listening(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("event") == "listening":
                return str(event["url"])
            if "error" in event:
                self.end()
                raise _reported(event["error"])
        self.end()
        raise AgentGymError(
            "server_unreachable",
            f"`agentgym env serve {self._scenario}` ended with status {self._process.returncode} before it listened.",
        )


_lock = threading.RLock()
_own_servers: dict[str, _OwnServer] = {}


def _end_servers() -> None:
    for own in list(_own_servers.values()):
        own.end()


atexit.register(_end_servers)


def _target(scenario: str) -> str:
    """As the command takes it: `acme/cart-pole` is a package, unless it is a folder."""
    is_path = scenario.startswith((".", "/", "~", "@")) or Path(scenario).is_dir()
    return scenario if is_path or "/" not in scenario else f"@{scenario}"


def _command() -> list[str]:
    given = os.environ.get("AGENTGYM_COMMAND")
    if given:
        return shlex.split(given)
    found = shutil.which("agentgym")
    if found is not None:
        return [found]
    raise AgentGymError(
        "setup_incomplete",
        "There is no command `agentgym` on the PATH to start a server of the scenario with.",
        hint="Install it, set AGENTGYM_COMMAND to it, or set AGENTGYM_ENV_SERVER to the address of a running `agentgym env serve`.",
    )


def _reported(report: dict[str, object]) -> AgentGymError:
    hint, data = report.get("hint"), report.get("data")
    return AgentGymError(
        str(report.get("code")),
        str(report.get("message")),
        hint=hint if isinstance(hint, str) else None,
        data=data if isinstance(data, dict) else None,
    )


def _drain(output: IO[str]) -> None:
    for _ in output:
        pass
