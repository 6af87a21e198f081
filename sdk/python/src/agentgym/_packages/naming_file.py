"""What a disk refuses, as an error that names the file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import AgentGymError

_FREE = "Free space there, or name another folder in AGENTGYM_HOME."
_KINDS = {
    errno.ENOSPC: ("disk_full", "there is no space left on the disk", _FREE),
    errno.EDQUOT: ("disk_quota_exceeded", "the disk quota is used up", _FREE),
    errno.EROFS: ("disk_read_only", "the disk is read-only", "Name another folder in AGENTGYM_HOME."),
    errno.EACCES: ("file_access_denied", "access is denied", "Allow it, or name another folder in AGENTGYM_HOME."),
    errno.EPERM: ("file_access_denied", "access is denied", "Allow it, or name another folder in AGENTGYM_HOME."),
    errno.EMFILE: ("too_many_open_files", "this process has too many open files", "Raise the limit (ulimit -n)."),
    errno.ENFILE: ("too_many_open_files", "the system has too many open files", "Close programs and try again."),
}


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Turns what the operating system refuses into the errors that the command has for it; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno not in _KINDS:
            raise
        code, why, hint = _KINDS[error.errno]
        raise AgentGymError(
            code, f"{path} cannot be written: {why}.", hint=hint, data={"path": str(path)}
        ) from error
