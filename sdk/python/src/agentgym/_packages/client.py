"""Requests to an AgentGym server."""

from __future__ import annotations

import base64
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha512
from typing import Any

from ..errors import AgentGymError
from .connection import Connection

Progress = Callable[[int, int | None], None]
"""Bytes of the download so far, and of all if the server says."""

_TIMEOUT_SECONDS = 300
_MOST_JSON_BYTES = 4 * 2**20
_MOST_PACKAGE_BYTES = 256 * 2**20
_CHUNK_BYTES = 64 * 1024

_CODE_OF_STATUS = {
    401: "unauthenticated",
    402: "payment_required",
    403: "forbidden",
    404: "endpoint_not_found",
    410: "package_taken_down",
    413: "request_too_large",
    429: "rate_limited",
}
"""Codes for failures with an unknown body, from a proxy or a newer server."""


@dataclass(frozen=True, slots=True)
class ResolvedVersion:
    version: str
    integrity: str
    tarball: str


def resolve_version(connection: Connection, name: str, version_range: str | None) -> ResolvedVersion:
    """Asks the server which version a range, tag or exact version is; without one, `latest`. Raises the server's errors."""
    scope, _, rest = name.partition("/")
    package = f"@{urllib.parse.quote(scope[1:], safe='')}/{urllib.parse.quote(rest, safe='')}"
    path = f"/v1/packages/{package}/resolve"
    query = urllib.parse.urlencode({"range": version_range or "latest"})
    body = _request(connection, f"{connection.server}{path}?{query}", _MOST_JSON_BYTES)
    try:
        found = json.loads(body)
        resolved = ResolvedVersion(found["version"], found["integrity"], found["tarball"])
        if all(isinstance(part, str) for part in (resolved.version, resolved.integrity, resolved.tarball)):
            return resolved
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise AgentGymError(
        "server_unreachable",
        f"unexpected response from {connection.server}{path}",
        hint="Check that this is an AgentGym server. AGENTGYM_SERVER sets another one.",
        data={"server": connection.server, "path": path},
    )


def download_package(
    connection: Connection, what: str, resolved: ResolvedVersion, on_progress: Progress | None = None
) -> bytes:
    """Downloads a tarball and verifies its integrity. Raises `integrity_mismatch`."""
    url = _tarball_url(connection.server, resolved.tarball)
    data = _request(connection, url, _MOST_PACKAGE_BYTES, what, on_progress)
    actual = integrity_of(data)
    if actual == resolved.integrity:
        return data
    raise AgentGymError(
        "integrity_mismatch",
        f"The tarball of {what} is not what the registry recorded: {actual} instead of {resolved.integrity}.",
        hint="Download it again; if it differs again, tell the operator of the server.",
        data={"expected": resolved.integrity, "actual": actual},
    )


def integrity_of(data: bytes) -> str:
    """Subresource integrity as npm's lock files hold it: `sha512-` and the digest in base64."""
    return f"sha512-{base64.b64encode(sha512(data).digest()).decode()}"


def _tarball_url(server: str, tarball: str) -> str:
    """As npm does: a tarball of the server is fetched from the address in use, whatever address the server gives itself."""
    url = urllib.parse.urljoin(f"{server}/", tarball)
    parts = urllib.parse.urlsplit(url)
    at = parts.path.find("/npm/")
    if at < 0:
        return url
    return f"{server}{parts.path[at:]}{f'?{parts.query}' if parts.query else ''}"


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urllib.parse.urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or default


class _Redirects(urllib.request.HTTPRedirectHandler):
    """The token is sent to its own server only, wherever that redirects."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if urllib.parse.urlsplit(newurl).scheme not in ("http", "https"):
            raise urllib.error.URLError(f"a redirect to {newurl[:200]}")
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and _origin(newurl) != _origin(req.full_url):
            request.remove_header("Authorization")
        return request


def _request(
    connection: Connection, url: str, limit: int, what: str = "", on_progress: Progress | None = None
) -> bytes:
    server = connection.server
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise _unreachable(server, f"{url[:200]} is not an address")
    request = urllib.request.Request(url)
    if connection.token is not None and _origin(url) == _origin(server):
        request.add_header("Authorization", f"Bearer {connection.token}")
    try:
        with _opener(url).open(request, timeout=_TIMEOUT_SECONDS) as response:
            return _read(response, limit, what, on_progress)
    except urllib.error.HTTPError as error:
        with error:
            raise _failure(error) from None
    except urllib.error.URLError as error:
        raise _unreachable(server, str(error.reason)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _unreachable(server, str(error)) from error


def _opener(url: str) -> urllib.request.OpenerDirector:
    """A proxy of the environment serves all but this machine's own addresses."""
    host = urllib.parse.urlsplit(url).hostname or ""
    is_own = host in ("localhost", "::1") or host.startswith("127.")
    return urllib.request.build_opener(_Redirects(), *([urllib.request.ProxyHandler({})] if is_own else []))


def _read(response: Any, limit: int, what: str, on_progress: Progress | None) -> bytes:
    length = response.headers.get("content-length")
    total = int(length) if length is not None and length.isdecimal() else None
    chunks: list[bytes] = []
    received = 0
    while chunk := response.read(_CHUNK_BYTES):
        chunks.append(chunk)
        received += len(chunk)
        if received > limit:
            raise AgentGymError(
                "integrity_mismatch",
                f"The answer for {what or response.url} is larger than {limit} bytes, the limit.",
                data={"limit_bytes": limit},
            )
        if on_progress is not None:
            on_progress(received, total)
    if total is not None and received < total:
        raise http.client.IncompleteRead(b"", total - received)
    return b"".join(chunks)


def _failure(response: urllib.error.HTTPError) -> AgentGymError:
    """The error in a response, as the server raised it; below `/npm/` in npm's form."""
    report = _report(response)
    data: dict[str, Any] = {}
    after = response.headers.get("retry-after", "")
    if after.isdecimal() and len(after) <= 6:
        data["retry_after_seconds"] = int(after)
    if isinstance(report.get("data"), dict):
        data.update(report["data"])
    if response.headers.get("x-request-id"):
        data["request_id"] = response.headers["x-request-id"]
    fallback = _CODE_OF_STATUS.get(response.code, "internal_error" if response.code >= 500 else "request_invalid")
    code, message, hint = (report.get(key) for key in ("code", "message", "hint"))
    path = urllib.parse.urlsplit(response.url).path
    return AgentGymError(
        code if isinstance(code, str) and code.isidentifier() else fallback,
        message if isinstance(message, str) else f"The server answered {response.code} to {path}.",
        hint=hint if isinstance(hint, str) else None,
        data={**data, "status": response.code},
    )


def _report(response: urllib.error.HTTPError) -> dict[str, Any]:
    try:
        body = json.loads(response.read(_MOST_JSON_BYTES))
    except (OSError, ValueError, http.client.HTTPException, RecursionError):
        return {}
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    # npm's form: one line of text, with the code beside it.
    if isinstance(error, str):
        return {"message": error, "code": body.get("code")}
    return error if isinstance(error, dict) else {}


def _unreachable(server: str, why: str) -> AgentGymError:
    return AgentGymError(
        "server_unreachable",
        f"The server {server} did not answer{f' ({why})' if why else ''}.",
        hint="Start it with `agentgym serve`, or set AGENTGYM_SERVER to its address.",
        data={"server": server},
    )
