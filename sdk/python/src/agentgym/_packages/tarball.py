"""The files of a published tarball.

The registry checks tarballs, but this does not rely on it: it reads by the same strict rules (sdk/contract/src/tarball), so that
no file is seen that another reader would not see. Python's tarfile accepts far more.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator

from ..errors import AgentGymError

_BLOCK = 512
_MOST_UNPACKED = 512 * 2**20
_MOST_FILES = 20_000
_MOST_PAX_BYTES = 64 * 1024
_MOST_PADDING = 64 * 1024
_MOST_PATH_BYTES = 240
_ROOT = "package/"
_KNOWN = ("package.json", "dist/scenario.js", "agent.json", "model.onnx")


class _Unreadable(Exception):
    """What is wrong, as a sentence without its full stop."""


def read_tarball(tarball: bytes, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The wanted regular files, by their paths below `package/`. Raises `integrity_mismatch`."""
    try:
        archive = memoryview(_gunzip(tarball))
        paths = _Paths()
        files: dict[str, bytes] = {}
        for entries, (raw, is_file, content) in enumerate(_entries(archive)):
            if entries >= _MOST_FILES:
                raise _Unreadable(f"it has more than {_MOST_FILES} files and folders")
            path = _vetted(raw, is_file)
            if path == "":
                continue
            paths.add(path, is_file)
            if is_file and wanted(path):
                files[path] = bytes(content)
        return files
    except _Unreadable as error:
        raise AgentGymError(
            "integrity_mismatch",
            f"The tarball cannot be unpacked: {str(error)[:300]}.",
            hint="Tell the operator of the server: the registry should not have accepted it.",
        ) from error


def _gunzip(data: bytes) -> bytes:
    """RFC 1952, stricter than gunzip: exactly one member, with the right checksum and length, and no byte behind it."""
    if data[:3] != b"\x1f\x8b\x08" or len(data) < 10 or data[3] & 0xE2:
        raise _Unreadable("it is no gzip file, or has a header that tools interpret differently")
    at = 10
    if data[3] & 4:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (8, 16):
        if data[3] & flag:
            at = data.find(b"\0", at) + 1
            if at == 0:
                raise _Unreadable("it is truncated")
    inflate = zlib.decompressobj(-15)
    try:
        unpacked = inflate.decompress(data[at:], _MOST_UNPACKED + 1)
    except zlib.error:
        raise _Unreadable("its compressed data is damaged") from None
    if len(unpacked) > _MOST_UNPACKED:
        raise _Unreadable(f"it unpacks to more than {_MOST_UNPACKED} bytes")
    rest = inflate.unused_data
    if not inflate.eof or len(rest) < 8:
        raise _Unreadable("it is truncated")
    if len(rest) > 8:
        raise _Unreadable("bytes follow the end of the gzip file")
    if rest != zlib.crc32(unpacked).to_bytes(4, "little") + (len(unpacked) & 0xFFFFFFFF).to_bytes(4, "little"):
        raise _Unreadable("it does not match its checksum")
    return unpacked


def _entries(archive: memoryview) -> Iterator[tuple[str, bool, memoryview]]:
    """Path, whether it is a file, and content. Every byte is checked: whole blocks, zero padding, zeros at the end."""
    at = 0
    pax: dict[str, str] | None = None

    def take(length: int) -> memoryview:
        nonlocal at
        if at + length > len(archive):
            raise _Unreadable("the tar archive is truncated")
        at += length
        return archive[at - length : at]

    while any(block := take(_BLOCK)):
        path, size, kind = _header(bytes(block))
        content = take(size)
        if any(take(-size % _BLOCK)):
            raise _Unreadable("something other than zeros follows the end of a file")
        if kind == "x":
            if pax is not None or not 0 < size <= _MOST_PAX_BYTES:
                raise _Unreadable("it has a pax header after another, or an empty or a large one")
            pax = _pax(bytes(content))
            continue
        if pax is not None and int(pax.get("size", size)) != size:
            raise _Unreadable("it has a pax size other than that of the header")
        yield (path if pax is None else pax.get("path", path)), kind == "0", content
        pax = None
    if pax is not None:
        raise _Unreadable("it ends after a pax header")
    padding = archive[at:]
    if len(padding) < _BLOCK or any(padding) or len(padding) > _MOST_PADDING + _BLOCK or len(padding) % _BLOCK:
        raise _Unreadable("something other than zeros follows the end of the archive")


_KINDS = {"0": "0", "\0": "0", "5": "5", "x": "x"}
_NUMBERS = ((100, 8), (108, 8), (116, 8), (136, 12), (329, 8), (337, 8))
"""Mode, owner, group, time and device: they mean nothing here, but are numbers to others."""


def _header(block: bytes) -> tuple[str, int, str]:
    """One header block (POSIX ustar, or GNU's if it means the same): path, size and kind."""
    total = sum(block[:148]) + sum(block[156:]) + 8 * 0x20
    checksum = block[148:156].decode("latin-1")
    if not re.fullmatch(r"[ 0]*[0-7]{1,7}[\0 ]+", checksum) or int(checksum.strip(" \0"), 8) != total:
        raise _Unreadable("a header has the wrong checksum")
    for offset, length in _NUMBERS:
        field = block[offset : offset + length]
        if field[0] not in (0x80, 0xFF) and not re.fullmatch(rb" *[0-7]*[\0 ]*", field):
            raise _Unreadable("it has a number that is not plain octal")
    gnu = block[257:265] == b"ustar  \0"
    if not gnu and block[257:265] != b"ustar\x0000":
        raise _Unreadable("it has a header that is neither POSIX ustar nor GNU")
    if gnu and any(block[345:500]):
        raise _Unreadable("it has a GNU extension")
    prefix, name = _text(block[345:500]), _text(block[:100])
    path = f"{prefix}/{name}" if prefix else name
    if not re.fullmatch(rb"[0-7]{1,12}[\0 ]*", block[124:136]):
        raise _Unreadable("it has a size that is not plain octal")
    size = int(block[124:136].strip(b"\0 "), 8)
    kind = _KINDS.get(chr(block[156]))
    if kind is None or any(block[157:257]):
        raise _Unreadable(f"{_shown(path)} is a link, a device or of another kind that is not allowed")
    if kind == "5" and size != 0:
        raise _Unreadable(f"the folder {_shown(path)} has a size")
    return path, size, kind


def _text(field: bytes) -> str:
    text, _, rest = field.partition(b"\0")
    # A reader that does not stop at the NUL would see another path.
    if any(rest):
        raise _Unreadable("a path contains a NUL byte")
    return _utf8(text)


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _Unreadable("a path is not UTF-8") from None


_PAX_VALUES = {"path": r"[^\n]+", "size": r"0|[1-9]\d{0,14}", "mtime": r"\d{1,12}(?:\.\d{1,12})?"}
_PAX_HARMLESS = re.compile(
    r"[acm]time|[ug]id|[ug]name|comment|LIBARCHIVE\.[\w.-]+|SCHILY\.(?:dev|ino|nlink|xattr\.[\w.-]+)", re.ASCII
)
"""Keys of GNU tar and bsdtar, which change neither a file's bytes nor its path."""


def _pax(body: bytes) -> dict[str, str]:
    """What a pax header (POSIX 2001) sets for the next entry. Refuses what readers disagree on."""
    found: dict[str, str] = {}
    at = 0
    while at < len(body):
        match = re.compile(rb"([1-9]\d{0,5}) ").match(body, at)
        end = at + int(match[1]) if match is not None else 0
        if match is None or end > len(body) or end <= match.end() or body[end - 1] != 0x0A:
            raise _Unreadable("a pax header has a record of the wrong length")
        key, equals, value = body[match.end() : end - 1].partition(b"=")
        name, text = key.decode("latin-1"), _utf8(value)
        pattern = _PAX_VALUES.get(name) or (r"[^\n\0]*" if _PAX_HARMLESS.fullmatch(name) else None)
        if not equals or name in found or pattern is None or not re.fullmatch(pattern, text, re.ASCII):
            raise _Unreadable(f"it has a pax record that tools interpret differently: {_shown(name)}")
        found[name] = text
        at = end
    return found


_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


def _vetted(path: str, is_file: bool) -> str:
    """A path relative to `package/`: empty for that folder itself. It names one place in one folder, on every system."""
    plain = path[:-1] if not is_file and path.endswith("/") else path
    segments = plain.split("/")
    if len(path.encode()) > _MOST_PATH_BYTES:
        raise _Unreadable(f"{_shown(path)} is longer than {_MOST_PATH_BYTES} bytes")
    if "\\" in path or re.match(r"/|[A-Za-z]:", path) or any(segment in ("", ".", "..") for segment in segments):
        raise _Unreadable(f"{_shown(path)} is no plain relative path")
    if not f"{plain}/".startswith(_ROOT) or (plain == "package" and is_file):
        raise _Unreadable(f'{_shown(path)} is not in "package/"')
    for segment in segments:
        odd = any(_is_odd(character) for character in segment)
        if odd or segment[-1] in ". " or _DEVICE.match(segment):
            raise _Unreadable(f"{_shown(path)} cannot exist on every system")
    return plain.removeprefix(_ROOT) if plain != "package" else ""


def _is_odd(character: str) -> bool:
    return character in '<>:"|?*\ufffd' or unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn", "Cs")


class _Paths:
    """Remembers the paths of one tarball and refuses two that are one, here or on a system that folds names."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[str, bool]] = {}
        self._files: set[str] = set()

    def add(self, path: str, is_file: bool) -> None:
        segments = path.split("/")
        for depth in range(1, len(segments)):
            self._put("/".join(segments[:depth]), False)
        self._put(path, is_file)
        folded = _folded(path)
        if folded in _KNOWN and folded != path:
            raise _Unreadable(f"{_shown(path)} is {folded} on file systems that ignore case")

    def _put(self, path: str, is_file: bool) -> None:
        before = self._paths.setdefault(_folded(path), (path, is_file))
        if before != (path, is_file):
            raise _Unreadable(f"{_shown(path)} is another path's name on file systems that ignore case or accents")
        if is_file and path in self._files:
            raise _Unreadable(f"{_shown(path)} appears twice")
        if is_file:
            self._files.add(path)


def _folded(path: str) -> str:
    """Upper case first: ſ, ß and the like fold as file systems do it; NFKC is wider than any file system's form."""
    folded = unicodedata.normalize("NFKC", path).upper().lower()
    return unicodedata.normalize("NFKC", folded)


def _shown(path: str) -> str:
    return "".join("\ufffd" if not character.isprintable() else character for character in f'"{path[:200]}"')
