"""A client of the vector protocol: one socket, one vector of environments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from agentgym._vector.frames import (
    MAX_BINARY_FRAME,
    PATH,
    PROTOCOL,
    Autoreset,
    Field,
    Layout,
    Reply,
    Reset,
    Step,
    decode_reply,
    encode_reset,
    encode_step,
    frame_invalid,
)
from agentgym.errors import AgentGymError


@dataclass(frozen=True)
class Opened:
    """What the server says of the environments."""

    #: `@acme/cart-pole`, or the name of an environment that is no scenario.
    name: str
    version: str
    #: SHA-256 (hex) of the scenario's bundle; None for an environment that is no scenario.
    hash: str | None
    layout: Layout
    #: The contract's JSON of the spaces.
    observation: Mapping[str, Any]
    action: Mapping[str, Any]
    max_steps: int | None
    render_modes: tuple[str, ...]


class VectorClient:
    """Steps the environments of one connection. Methods raise AgentGymError: the server's own errors, `server_unreachable`, and
    `request_timeout` after `timeout` seconds without an answer. After a fatal one the client is closed."""

    def __init__(
        self,
        server: str,
        *,
        scenario: str | None,
        environments: int,
        seed: int = 0,
        split: str = "train",
        autoreset: Autoreset,
        timeout: float = 120.0,
        key: str | None = None,
    ) -> None:
        self._server = server
        self._timeout = timeout
        self._request = 0
        self._stack = ExitStack()
        self._socket = _connect(server, timeout, key or os.environ.get("AGENTGYM_ENV_KEY"), self._stack)
        try:
            opening = {"type": "open", "protocol": PROTOCOL, "environments": environments, "seed": seed}
            opening |= {"split": split, "autoreset": autoreset}
            answer = self._ask_json(opening if scenario is None else {**opening, "scenario": scenario}, "opened")
            self.opened = _read_opened(answer, environments, autoreset)
        except BaseException:
            self.close()
            raise

    def reset(self, reset: Reset) -> Reply:
        """Begins episodes; `reset.request` is set here."""
        reset.request = self._next_request()
        return self._ask(encode_reset(reset), reset.request)

    def step(self, step: Step) -> Reply:
        """Steps all environments; `step.request` is set here."""
        step.request = self._next_request()
        return self._ask(encode_step(self.opened.layout, step), step.request)

    def render(self, environment: int = 0) -> str:
        answer = self._ask_json({"type": "render", "mode": "ansi", "environment": environment}, "rendered")
        return str(answer["text"])

    def close(self) -> None:
        """Ends the environments. May be called twice."""
        self._stack.close()

    def _next_request(self) -> int:
        self._request = (self._request + 1) % 2**32
        return self._request

    def _ask(self, frame: bytes, request: int) -> Reply:
        answer = self._exchange(frame)
        if isinstance(answer, str):
            raise self._error(answer)
        reply = decode_reply(self.opened.layout, answer)
        if reply.request != request:
            raise frame_invalid(f"it answers request {reply.request}, not {request}")
        return reply

    def _ask_json(self, message: Mapping[str, Any], expected: str) -> dict[str, Any]:
        answer = self._exchange(json.dumps(message))
        if not isinstance(answer, str):
            raise frame_invalid(f"it is binary where {expected} belongs")
        read = _parse(answer)
        if read.get("type") != expected:
            raise self._error(answer)
        return read

    def _exchange(self, frame: str | bytes) -> str | bytes:
        try:
            try:
                self._socket.send(frame)
            except ConnectionClosed:
                # The server's reason for ending may lie unread.
                return self._socket.recv(0)
            return self._socket.recv(self._timeout)
        except TimeoutError:
            self.close()
            raise AgentGymError(
                "request_timeout",
                f"{self._server} did not answer within {self._timeout:g} seconds.",
                hint="Raise `timeout`, if a step may take so long.",
            ) from None
        except ConnectionClosed as error:
            raise AgentGymError(
                "server_unreachable",
                f"{self._server} closed the connection: {error}.",
                hint="Make the environment anew; the server's own output says why it ended this one.",
            ) from None

    def _error(self, answer: str) -> AgentGymError:
        read = _parse(answer)
        if read.get("type") != "error":
            return frame_invalid(f"it is of the type {read.get('type')!r}")
        if read.get("fatal") is True:
            self.close()
        report = read.get("error", {})
        return AgentGymError(
            str(report.get("code")), str(report.get("message")), hint=report.get("hint"), data=report.get("data")
        )


def _connect(server: str, timeout: float, key: str | None, stack: ExitStack) -> ClientConnection:
    address = _socket_address(server)
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        opening = connect(
            address,
            additional_headers=headers,
            compression=None,
            max_size=MAX_BINARY_FRAME,
            open_timeout=min(timeout, 30.0),
            # The server pings, and `timeout` bounds each answer.
            ping_interval=None,
            close_timeout=2.0,
            # A proxy of the environment is not meant for the own machine.
            proxy=None if _is_local(address) else True,
        )
        return stack.enter_context(opening)
    except InvalidStatus as error:
        status = error.response.status_code
        code = {401: "unauthenticated", 403: "forbidden", 404: "endpoint_not_found"}.get(status, "server_unreachable")
        raise AgentGymError(code, f"{server} refused the connection with status {status}.") from None
    except (OSError, WebSocketException) as error:
        raise AgentGymError(
            "server_unreachable",
            f"There is no vector server at {server}: {error}.",
            hint="Start one with `agentgym env serve NAME`, and set AGENTGYM_ENV_SERVER to its address.",
        ) from None


def _socket_address(server: str) -> str:
    """`http://host:port`, with or without path, as the address of the socket."""
    scheme, separator, rest = server.partition("://")
    if not separator:
        scheme, rest = "http", server
    if scheme not in ("http", "https", "ws", "wss"):
        raise AgentGymError("config_invalid", f"{server} is no address of a server: it begins with {scheme}://.")
    secure = scheme in ("https", "wss")
    rest = rest.rstrip("/")
    return f"{'wss' if secure else 'ws'}://{rest if rest.endswith(PATH) else rest + PATH}"


def _is_local(address: str) -> bool:
    host = address.partition("://")[2].partition("/")[0]
    return host.rsplit(":", 1)[0] in ("localhost", "127.0.0.1", "[::1]")


def _parse(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise frame_invalid("it is no JSON object")
    return read


def _read_opened(answer: Mapping[str, Any], environments: int, autoreset: Autoreset) -> Opened:
    try:
        fields = {
            side: tuple(Field.read(field) for field in answer["fields"][side]) for side in ("observation", "action")
        }
        layout = Layout(environments, autoreset, fields["observation"], fields["action"], int(answer["mask"]))
        if answer["environments"] != environments or answer["autoreset"] != autoreset:
            raise frame_invalid("it opens other environments than requested")
        return Opened(
            name=str(answer["name"]),
            version=str(answer["version"]),
            hash=answer["hash"],
            layout=layout,
            observation=answer["spaces"]["observation"],
            action=answer["spaces"]["action"],
            max_steps=answer["max_steps"],
            render_modes=tuple(answer["render_modes"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise frame_invalid(f"opened lacks {error}") from None
