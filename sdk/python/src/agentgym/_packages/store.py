"""Packages on this machine, in the folders that the command and the TypeScript library use as well."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import shutil
import uuid
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import AgentGymError
from .client import integrity_of
from .home import agentgym_home
from .naming_file import naming_file
from .tarball import read_tarball
from .versions import Version, parse_range, parse_version

_TARBALL = "package.tgz"
LOCK_FILE = "agentgym.lock"

# What an installed package needs. What people read may have any case, as on npm.
_INSTALLED = re.compile(r"package\.json|dist/scenario\.js(\.map)?|agent\.json|model\.onnx|learning-curve\.svg")
_SHOWN = re.compile(r"readme\.md|licen[sc]e(\.md|\.txt)?", re.IGNORECASE | re.ASCII)


def _is_installed(path: str) -> bool:
    return _INSTALLED.fullmatch(path) is not None or _SHOWN.fullmatch(path) is not None


def _folder_of(integrity: str) -> Path | None:
    """The folder of a package with this integrity, shared by all projects."""
    try:
        digest = base64.b64decode(integrity.removeprefix("sha512-"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return agentgym_home() / "packages" / digest.hex() if digest else None


def find_stored(integrity: str) -> Path | None:
    """The folder of a stored package if all its files are intact."""
    folder = _folder_of(integrity)
    try:
        if folder is None or integrity_of(tarball := (folder / _TARBALL).read_bytes()) != integrity:
            return None
        intact = all((folder / path).read_bytes() == content for path, content in _read_package(tarball).items())
    except OSError:
        return None
    return folder if intact else None


def store_package(tarball: bytes, integrity: str) -> Path:
    """Stores a package whose integrity was verified, atomically. Raises `integrity_mismatch` if it is no package."""
    folder = _folder_of(integrity)
    assert folder is not None, "the integrity was computed from the bytes"
    files = _read_package(tarball)
    temporary = folder.with_name(f"{folder.name}.{uuid.uuid4()}.tmp")
    try:
        with naming_file(folder):
            temporary.mkdir(parents=True, mode=0o700)
            for path, content in {**files, _TARBALL: tarball}.items():
                (temporary / path).parent.mkdir(parents=True, exist_ok=True)
                (temporary / path).write_bytes(content)
        _put_in_place(temporary, folder, integrity)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _put_in_place(temporary: Path, folder: Path, integrity: str) -> None:
    """By renaming, which is atomic: other programs may do the same at the same time."""
    for _ in range(2):
        try:
            temporary.rename(folder)
            return
        except OSError:
            # Another program was first. The name is the content hash, so an intact folder is the same package.
            if find_stored(integrity) is not None:
                return
            if not folder.exists():
                raise
        damaged = folder.with_name(f"{folder.name}.{uuid.uuid4()}.tmp")
        folder.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    temporary.rename(folder)


def _read_package(tarball: bytes) -> dict[str, bytes]:
    files = read_tarball(tarball, _is_installed)
    if "package.json" in files:
        return files
    raise AgentGymError(
        "integrity_mismatch",
        "The package cannot be installed: it has no package.json.",
        hint="Nothing was installed. Contact the operator of the server.",
    )


class Locked(NamedTuple):
    version: str
    integrity: str


def find_locked(name: str, version_range: str | None) -> Locked | None:
    """The version in agentgym.lock of the working folder, if it is in the range. Raises `config_invalid` for a damaged file."""
    locked = _read_lock(Path.cwd() / LOCK_FILE).get(name)
    if locked is None:
        return None
    found = Locked(locked["version"], locked["integrity"])
    if version_range in (None, locked["range"], found.version):
        return found
    asked, exact = parse_range(version_range or ""), parse_version(found.version)
    return found if asked is not None and exact is not None and asked.allows(exact) else None


def _read_lock(path: Path) -> dict[str, dict[str, str]]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    try:
        lock: Any = json.loads(text)
        fields = ("version", "range", "resolved", "integrity")
        packages = {name: {field: locked[field] for field in fields} for name, locked in lock["packages"].items()}
        if lock["lock_version"] == 1 and all(isinstance(each[field], str) for each in packages.values() for field in each):
            return packages
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise AgentGymError(
        "config_invalid",
        f"{path} is not a valid lock file",
        hint="Restore it from version control, or delete it and install again.",
        data={"path": str(path)},
    )


def _versions_file(server: str, name: str) -> Path:
    return agentgym_home() / "resolved" / f"{sha256(f'{server} {name}'.encode()).hexdigest()[:32]}.json"


def _read_versions(server: str, name: str) -> dict[str, str]:
    """Integrity by version: what this machine has had of a package."""
    try:
        known: Any = json.loads(_versions_file(server, name).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    is_valid = isinstance(known, dict) and all(isinstance(integrity, str) for integrity in known.values())
    return known if is_valid else {}


def remember_version(server: str, name: str, version: str, integrity: str) -> None:
    """Keeps what a server said a version is, for when it cannot be asked."""
    known = _read_versions(server, name)
    if known.get(version) == integrity:
        return
    path = _versions_file(server, name)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4()}.tmp")
    try:
        with naming_file(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary.write_text(json.dumps({**known, version: integrity}, separators=(",", ":")), "utf-8")
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def recall_versions(server: str, name: str, version_range: str | None) -> list[str]:
    """Integrities of the remembered versions that fit, the newest first. Of a tag this machine knows nothing: all fit."""
    asked = None if version_range in (None, "*") else parse_range(version_range or "")
    found: list[tuple[Version, str]] = []
    for text, integrity in _read_versions(server, name).items():
        version = parse_version(text)
        if version is not None and (asked is None or asked.allows(version)):
            found.append((version, integrity))
    return [integrity for _, integrity in sorted(found, key=lambda pair: pair[0], reverse=True)]
