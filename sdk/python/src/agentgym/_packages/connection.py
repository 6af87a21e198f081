"""The server and the token to use."""

from __future__ import annotations

import json
import os
import re
import urllib.parse
from dataclasses import dataclass
from typing import Any

from ..errors import AgentGymError
from .home import agentgym_home

DEFAULT_SERVER = "http://localhost:4477"


@dataclass(frozen=True, slots=True)
class Connection:
    server: str
    """Without a trailing slash."""
    token: str | None


def find_connection(server: str | None = None, token: str | None = None) -> Connection:
    """`AGENTGYM_SERVER` and `AGENTGYM_TOKEN` override what `agentgym login` stored. A stored token is sent to its own server only.

    Raises `config_invalid`.
    """
    stored_server, logins = _read_credentials()
    address = _server_address(server or os.environ.get("AGENTGYM_SERVER") or stored_server or DEFAULT_SERVER)
    own = token or os.environ.get("AGENTGYM_TOKEN", "").strip() or logins.get(address)
    return Connection(address, own)


def _server_address(text: str) -> str:
    """In its normal form: `HTTP://Host:80/` is `http://host`."""
    try:
        parts = urllib.parse.urlsplit(text.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna" if not (parts.hostname or "").isascii() else "ascii").decode()
    except ValueError:
        host, port, parts = "", None, urllib.parse.urlsplit("")
    default = {"http": 80, "https": 443}.get(parts.scheme)
    if default is None or not re.fullmatch(r"[\w.:-]+", host, re.ASCII) or parts.username or parts.password:
        raise AgentGymError(
            "config_invalid",
            f"{json.dumps(text[:200])} is not a server address",
            hint=f"Write it as {DEFAULT_SERVER} or https://agentgym.example, without a username or password.",
            data={"field": "server"},
        )
    shown = f"[{host}]" if ":" in host else host
    own_port = "" if port in (None, default) else f":{port}"
    return f"{parts.scheme}://{shown}{own_port}{parts.path.rstrip('/')}"


def _read_credentials() -> tuple[str | None, dict[str, str]]:
    """What `login` stored: the server that was logged in to last, and tokens by address. Empty before the first login."""
    path = agentgym_home() / "credentials.json"
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None, {}
    try:
        stored: Any = json.loads(text)
        server = stored["server"]
        logins = {address: login["token"] for address, login in stored["logins"].items()}
        if (server is None or isinstance(server, str)) and all(isinstance(token, str) for token in logins.values()):
            return server, logins
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise AgentGymError(
        "config_invalid",
        f"{path} is not a valid credentials file",
        hint="Delete it and log in again: agentgym login.",
        data={"path": str(path)},
    )
