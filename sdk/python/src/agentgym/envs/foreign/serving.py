"""The server: one socket, one batch of environments."""

from __future__ import annotations

import hmac
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from agentgym._vector.frames import (
    MAX_BINARY_FRAME,
    PATH,
    PROTOCOL,
    SEED_LIMIT,
    Layout,
    Reset,
    decode_request,
    encode_reply,
)
from agentgym.envs.foreign.batch import Batch, BatchOptions, Description, LocalBatch, Turns
from agentgym.envs.foreign.source import Source
from agentgym.envs.foreign.workers import WorkerBatch
from agentgym.errors import AgentGymError

#: Closing codes of RFC 6455.
_INTERNAL_ERROR = 1011
_POLICY = 1008
_AUTORESETS = ("same_step", "next_step", "disabled")
_LARGEST_BATCH = 65_536


@dataclass(frozen=True)
class ServingOptions:
    host: str = "127.0.0.1"
    port: int = 0
    #: Processes of each connection's environments; 0: this process steps them.
    workers: int = 0
    step_timeout: float = 60.0
    max_environments: int = 4096
    action_mask: bool = False
    #: What clients send as `Authorization: Bearer KEY`; None: nothing.
    key: str | None = None


def listen(source: Source, options: ServingOptions) -> tuple[Server, str, Description]:
    """Binds the server; `serve_forever` of it serves. Returns its address as well. Raises AgentGymError where the environment cannot
    be made, or has spaces that have no counterpart."""
    description = Description(source, action_mask=options.action_mask)
    handler = _Handler(source, description, options)
    try:
        server = serve(
            handler.serve,
            options.host,
            options.port,
            compression=None,
            max_size=MAX_BINARY_FRAME,
            # A page of a browser on this machine could open a socket to it: programs send no origin.
            origins=[None],
            process_request=handler.admit,
        )
    except OSError as error:
        raise AgentGymError("config_invalid", f"{options.host}:{options.port} cannot be listened on: {error}") from None
    host, port = server.socket.getsockname()[:2]
    return server, f"http://{f'[{host}]' if ':' in host else host}:{port}", description


class _Handler:
    def __init__(self, source: Source, description: Description, options: ServingOptions) -> None:
        self._source = source
        self._description = description
        self._options = options

    def admit(self, socket: ServerConnection, request: Request) -> Response | None:
        if request.path.partition("?")[0] != PATH:
            return socket.respond(HTTPStatus.NOT_FOUND, f"The vector protocol is at {PATH}.\n")
        key = self._options.key
        if key is not None:
            given = request.headers.get("Authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {key}".encode()):
                return socket.respond(HTTPStatus.UNAUTHORIZED, "Send the key as Authorization: Bearer KEY.\n")
        return None

    def serve(self, socket: ServerConnection) -> None:
        session = _Session(socket, self._source, self._description, self._options)
        try:
            session.run()
        except ConnectionClosed:
            pass
        except Exception:  # noqa: BLE001 - a bug of ours ends this connection alone
            traceback.print_exc()
            session.fail(AgentGymError("internal_error", "The server failed; its output has the traceback."), None)
        finally:
            session.close()


class _Session:
    def __init__(
        self, socket: ServerConnection, source: Source, description: Description, options: ServingOptions
    ) -> None:
        self._socket = socket
        self._source = source
        self._description = description
        self._options = options
        self._batch: Batch | None = None
        self._layout: Layout | None = None
        self._turns: Turns | None = None
        self._watch: _Watch | None = None

    def run(self) -> None:
        for frame in self._socket:
            request = None if isinstance(frame, str) else int.from_bytes(frame[4:8], "little")
            try:
                self._socket.send(self._answer_text(frame) if isinstance(frame, str) else self._answer(frame))
            except AgentGymError as error:
                # Without environments there is nothing that could go on.
                if error.code == "request_invalid" and self._batch is not None:
                    self._socket.send(_error_frame(error, request, fatal=False))
                    continue
                if error.__cause__ is not None:
                    traceback.print_exception(error.__cause__)
                return self.fail(error, request)

    def fail(self, error: AgentGymError, request: int | None) -> None:
        try:
            self._socket.send(_error_frame(error, request, fatal=True))
            self._socket.close(_INTERNAL_ERROR, error.code)
        except ConnectionClosed:
            pass

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._batch is not None:
            self._batch.close()

    def _answer_text(self, frame: str) -> str:
        try:
            message = json.loads(frame)
            kind = message["type"]
        except (ValueError, KeyError, TypeError):
            raise AgentGymError("frame_invalid", "A text frame is no JSON object with a type.") from None
        if kind == "open" and self._batch is None:
            return self._open(message)
        if kind == "render" and self._batch is not None:
            return self._render(self._batch, message)
        raise AgentGymError("frame_invalid", f"A text frame has the type {kind!r}, which does not belong here.")

    def _open(self, message: dict[str, Any]) -> str:
        if message.get("protocol") != PROTOCOL:
            raise AgentGymError("frame_invalid", f"This server speaks version {PROTOCOL} of the vector protocol.")
        options = BatchOptions(
            environments=_integer(message, "environments", 1, min(self._options.max_environments, _LARGEST_BATCH)),
            seed=_integer(message, "seed", 0, SEED_LIMIT - 1, 0),
            first_environment=_integer(message, "first_environment", 0, SEED_LIMIT - 1, 0),
            autoreset=message.get("autoreset", "next_step"),
            action_mask=self._options.action_mask,
        )
        if options.autoreset not in _AUTORESETS:
            raise AgentGymError("config_invalid", f"autoreset is one of {', '.join(_AUTORESETS)}.")
        scenario = message.get("scenario")
        if scenario not in (None, self._source.name, self._source.target):
            raise AgentGymError("config_invalid", f"This server has {self._source.target}, not {scenario!r}.")
        self._batch = self._make(options)
        self._turns = Turns(self._description, options)
        description = self._description
        layout = self._layout = description.layout(options.environments, options.autoreset)
        opened = {
            "type": "opened",
            "protocol": PROTOCOL,
            "name": self._source.name,
            "version": self._source.version,
            "hash": None,
            "environments": options.environments,
            "autoreset": options.autoreset,
            "spaces": {"observation": description.observation.json, "action": description.action.json},
            "max_steps": description.max_steps,
            "fields": {
                "observation": [field.to_json() for field in layout.observation],
                "action": [field.to_json() for field in layout.action],
            },
            "mask": layout.mask,
            "render_modes": description.render_modes,
        }
        return json.dumps(opened)

    def _make(self, options: BatchOptions) -> Batch:
        serving = self._options
        if serving.workers > 0:
            return WorkerBatch(self._source, options, workers=serving.workers, timeout=serving.step_timeout)
        batch = LocalBatch(self._source, self._description, options)
        self._watch = _Watch(serving.step_timeout, lambda: self._give_up(batch))
        return batch

    def _render(self, batch: Batch, message: dict[str, Any]) -> str:
        assert self._layout is not None
        if "ansi" not in self._description.render_modes:
            raise AgentGymError(
                "request_invalid",
                "The environment does not render text.",
                hint="""Serve it with --kwargs '{"render_mode": "ansi"}', if it can.""",
            )
        environment = _integer(message, "environment", 0, self._layout.environments - 1)
        with self._watched():
            return json.dumps({"type": "rendered", "text": batch.render(environment)})

    def _answer(self, frame: bytes) -> bytes:
        if self._batch is None or self._layout is None or self._turns is None:
            raise AgentGymError("frame_invalid", "A binary frame came before open.")
        request = decode_request(self._layout, frame)
        with self._watched():
            if isinstance(request, Reset):
                reply = self._batch.reset(request.mask, request.seeds)
                self._turns.reset(request.mask)
            else:
                self._turns.check(request.actions)
                reply = self._batch.step(request.actions)
                self._turns.step(reply)
        reply.request = request.request
        return encode_reply(self._layout, reply)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        if self._watch is None:
            yield
            return
        self._watch.begin()
        try:
            yield
        finally:
            self._watch.end()

    def _give_up(self, batch: LocalBatch) -> None:
        """A step of an environment of this process does not end, and nothing but the end of the process stops it."""
        seconds = f"{self._options.step_timeout:g} seconds"
        error = batch.fault(batch.running, f"the vector did not finish a step within {seconds}, which --step-timeout sets")
        print(str(error), file=sys.stderr, flush=True)
        try:
            self._socket.send(_error_frame(error, None, fatal=True))
        finally:
            os._exit(1)


class _Watch:
    """Notices that something takes longer than it may. Beginning and ending cost an assignment: they surround every step."""

    def __init__(self, timeout: float, overdue: Callable[[], None]) -> None:
        self._timeout = timeout
        self._overdue = overdue
        self._began: float | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def begin(self) -> None:
        self._began = time.monotonic()

    def end(self) -> None:
        self._began = None

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(min(self._timeout / 4, 1.0)):
            began = self._began
            if began is not None and time.monotonic() - began > self._timeout:
                return self._overdue()


def _error_frame(error: AgentGymError, request: int | None, *, fatal: bool) -> str:
    report = {"code": error.code, "message": error.message[:4000], "data": error.data}
    if error.hint is not None:
        report["hint"] = error.hint
    return json.dumps({"type": "error", "request": request, "fatal": fatal, "error": report})


def _integer(message: dict[str, Any], name: str, low: int, high: int, default: int | None = None) -> int:
    value = message.get(name, default)
    if type(value) is int and low <= value <= high:
        return value
    raise AgentGymError(
        "config_invalid", f"{name} is {value!r}; an integer from {low} to {high} belongs there.", data={"field": name}
    )
