"""`python -m agentgym.envs TARGET`: serves an environment of Gymnasium by the vector protocol, as many at once as a client asks for."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from typing import NoReturn

from agentgym.envs.foreign.serving import ServingOptions, listen
from agentgym.envs.foreign.source import Source
from agentgym.errors import AgentGymError

_LOCAL = ("127.0.0.1", "localhost", "::1")


def main() -> int:
    arguments = _parser().parse_args()
    try:
        return _serve(arguments)
    except AgentGymError as error:
        _report(error, arguments.json)
        return 2 if error.code in ("usage_invalid", "config_invalid") else 1


def _serve(arguments: argparse.Namespace) -> int:
    key = os.environ.get("AGENTGYM_ENV_KEY") or None
    if key is None and arguments.host not in _LOCAL:
        raise AgentGymError(
            "config_invalid",
            f"--host is {arguments.host}, which other machines reach, and AGENTGYM_ENV_KEY is not set.",
            hint="Set AGENTGYM_ENV_KEY to a secret that clients send, or leave out --host.",
        )
    source = Source.read(arguments.target, arguments.kwargs)
    options = ServingOptions(
        host=arguments.host,
        port=arguments.port,
        workers=arguments.workers,
        step_timeout=arguments.step_timeout,
        max_environments=arguments.max_environments,
        action_mask=arguments.action_mask,
        key=key,
    )
    server, url, description = listen(source, options)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if arguments.exit_with_stdin:
        threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if arguments.json:
        print(json.dumps({"event": "listening", "url": url, "name": source.name, "version": source.version}), flush=True)
    else:
        print(f"Serving {source.name} ({source.version}) at {url}", flush=True)
        print(f"  observes {description.observation.space}, acts {description.action.space}", flush=True)
        print(f"  Train on it: agentgym train --env {url}. Press Ctrl-C to stop.", flush=True)
    stop.wait()
    server.shutdown()
    # Threads of connections may be deep in an environment; nothing of them is worth waiting for.
    sys.stdout.flush()
    os._exit(0)


def _wait_for_end(stop: threading.Event) -> None:
    """The kernel closes the pipe also for a parent that was killed."""
    while sys.stdin.buffer.read1(4096):
        pass
    stop.set()


def _report(error: AgentGymError, as_json: bool) -> None:
    if as_json:
        report = {"code": error.code, "message": error.message, "hint": error.hint, "data": error.data}
        print(json.dumps({"error": {name: value for name, value in report.items() if value}}), flush=True)
        return
    hint = "" if error.hint is None else f"\n  {error.hint}"
    print(f"Error: {error.message}{hint}\n  {error.code}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"Error: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m agentgym.envs", description=__doc__)
    parser.add_argument("target", help="gymnasium:ID, or python:MODULE:FUNCTION, which returns an environment")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--kwargs", default="{}", metavar="JSON", help="keyword arguments of the environment")
    parser.add_argument("--workers", type=int, default=0, help="processes for the environments of a connection (default: this one)")
    parser.add_argument("--step-timeout", type=float, default=60.0, metavar="SECONDS", help="longest step of all environments (default: %(default)s)")
    parser.add_argument("--max-environments", type=int, default=4096, metavar="N", help="environments of a connection (default: %(default)s)")
    parser.add_argument("--action-mask", action="store_true", help='take info["action_mask"] as the mask of legal actions')
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input ends")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
