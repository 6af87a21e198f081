"""Binary frames: N environments a frame, little-endian arrays at multiples of 8 bytes. Needs numpy alone."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentgym.errors import AgentGymError

PROTOCOL = 1
PATH = "/v1/vector"
#: Bytes of a binary frame.
MAX_BINARY_FRAME = 256 * 2**20
#: Seeds are below this.
SEED_LIMIT = 2**53
#: In place of a seed: the next episode of the environment's own sequence.
NO_SEED = -1

Autoreset = Literal["same_step", "next_step", "disabled"]
#: Values of one field: `[rows, *shape]`, or one string a row.
Values = NDArray[Any] | list[str]

_RESET, _STEP, _REPLY = 1, 2, 3
_HEADER = struct.Struct("<B3xI")
_REPLY_HEADER = struct.Struct("<B3xIII")
_MAX_METRICS = 256

DTYPES: dict[str, np.dtype[Any]] = {
    "float32": np.dtype("<f4"),
    "int32": np.dtype("<i4"),
    "uint8": np.dtype("u1"),
}


@dataclass(frozen=True)
class Field:
    """One leaf of a space: an array `[environments, *shape]` of a frame. `dtype` is a key of DTYPES, or `text`."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @staticmethod
    def read(field: dict[str, Any]) -> Field:
        dtype = field["dtype"]
        if dtype not in DTYPES and dtype != "text":
            raise frame_invalid(f"the field {field['name']!r} has the unknown dtype {dtype!r}")
        return Field(str(field["name"]), dtype, tuple(int(length) for length in field["shape"]))

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype, "shape": list(self.shape)}


@dataclass(frozen=True)
class Layout:
    """All that the frames of a connection depend on."""

    environments: int
    autoreset: Autoreset
    observation: tuple[Field, ...]
    action: tuple[Field, ...]
    #: Columns of an action mask; 0 without masks.
    mask: int


@dataclass
class Reset:
    request: int
    #: bool[N]: begin an episode.
    mask: NDArray[np.bool_]
    #: int64[N]: below SEED_LIMIT, or NO_SEED.
    seeds: NDArray[np.int64]


@dataclass
class Step:
    request: int
    #: One for each field of the action.
    actions: list[Values]


@dataclass
class Reply:
    request: int
    #: One for each field of the observation.
    observations: list[Values]
    #: float64[N]
    rewards: NDArray[np.float64]
    #: bool[N]
    terminated: NDArray[np.bool_]
    #: bool[N]
    truncated: NDArray[np.bool_]
    #: bool[N, mask], for the next action; None where the layout has no masks.
    masks: NDArray[np.bool_] | None
    #: With `same_step`: last observations of the E episodes that ended, in order of their environments.
    final: list[Values]
    metric_names: list[str]
    #: float64[E, names] of the E episodes that ended; NaN where one lacks a metric.
    metrics: NDArray[np.float64]

    @property
    def ended(self) -> NDArray[np.intp]:
        """The environments whose episode ended."""
        return np.flatnonzero(self.terminated | self.truncated)


def frame_invalid(what: str) -> AgentGymError:
    return AgentGymError("frame_invalid", f"A frame of the vector protocol is malformed: {what}.")


def encode_reset(reset: Reset) -> bytes:
    return b"".join([_HEADER.pack(_RESET, reset.request), _array(reset.mask, "u1"), _array(reset.seeds, "<i8")])


def encode_step(layout: Layout, step: Step) -> bytes:
    return b"".join([_HEADER.pack(_STEP, step.request), *_fields(layout.action, step.actions)])


def decode_request(layout: Layout, frame: bytes) -> Reset | Step:
    """Reads a client's frame. Raises AgentGymError `frame_invalid`."""
    reader = _Reader(frame, _HEADER.size)
    operation, request = _HEADER.unpack_from(frame)
    if operation == _RESET:
        reset = Reset(request, reader.flags(layout.environments), reader.array("<i8", (layout.environments,)))
        reader.end()
        return reset
    if operation != _STEP:
        raise frame_invalid(f"operation {operation} is not one of 1 (reset) and 2 (step)")
    step = Step(request, reader.fields(layout.action, layout.environments))
    reader.end()
    return step


def encode_reply(layout: Layout, reply: Reply) -> bytes:
    ended = len(reply.ended)
    parts = [_REPLY_HEADER.pack(_REPLY, reply.request, ended, len(reply.metric_names))]
    parts += _fields(layout.observation, reply.observations)
    parts += [_array(reply.rewards, "<f8"), _array(reply.terminated, "u1"), _array(reply.truncated, "u1")]
    if reply.masks is not None:
        parts.append(_array(reply.masks, "u1"))
    if layout.autoreset == "same_step":
        parts += _fields(layout.observation, reply.final)
    parts += [*_texts(reply.metric_names), _array(reply.metrics, "<f8")]
    return b"".join(parts)


def decode_reply(layout: Layout, frame: bytes) -> Reply:
    """Reads a server's frame into arrays of its own. Raises AgentGymError `frame_invalid`."""
    n = layout.environments
    reader = _Reader(frame, _REPLY_HEADER.size)
    operation, request, ended, metrics = _REPLY_HEADER.unpack_from(frame)
    if operation != _REPLY:
        raise frame_invalid(f"operation {operation} is no reply")
    if ended > n or metrics > _MAX_METRICS:
        raise frame_invalid(f"it counts {ended} episodes with {metrics} metrics")
    reply = Reply(
        request,
        observations=reader.fields(layout.observation, n),
        rewards=reader.array("<f8", (n,)),
        terminated=reader.flags(n),
        truncated=reader.flags(n),
        masks=reader.flags(n * layout.mask).reshape(n, layout.mask) if layout.mask > 0 else None,
        final=reader.fields(layout.observation, ended) if layout.autoreset == "same_step" else [],
        metric_names=reader.texts(metrics),
        metrics=reader.array("<f8", (ended, metrics)),
    )
    reader.end()
    if len(reply.ended) != ended:
        raise frame_invalid(f"it counts {ended} ended episodes, and marks others")
    return reply


def _pad(size: int) -> bytes:
    return bytes(-size % 8)


def _array(values: NDArray[Any], dtype: str) -> bytes:
    data = np.ascontiguousarray(values, dtype=dtype).tobytes()
    return data + _pad(len(data))


def _texts(texts: Sequence[str]) -> list[bytes]:
    encoded = [text.encode() for text in texts]
    data = b"".join(encoded)
    return [_array(np.array([len(text) for text in encoded], dtype="<u4"), "<u4"), data + _pad(len(data))]


def _fields(fields: Sequence[Field], values: Sequence[Values]) -> list[bytes]:
    parts: list[bytes] = []
    for field, value in zip(fields, values, strict=True):
        if isinstance(value, list):
            parts += _texts(value)
        else:
            parts.append(_array(value, DTYPES[field.dtype].str))
    return parts


class _Reader:
    def __init__(self, frame: bytes, header: int) -> None:
        if len(frame) < header:
            raise frame_invalid(f"it has {len(frame)} bytes and no header")
        self._frame = frame
        self._offset = header

    def array(self, dtype: np.dtype[Any] | str, shape: tuple[int, ...]) -> NDArray[Any]:
        """A copy, which belongs to the caller and can be written to."""
        count = math.prod(shape)
        size = count * np.dtype(dtype).itemsize
        if self._offset + size > len(self._frame):
            raise frame_invalid(f"it has {len(self._frame)} bytes where at least {self._offset + size} belong")
        values = np.frombuffer(self._frame, dtype, count, self._offset).reshape(shape).copy()
        self._offset += size + -size % 8
        return values

    def flags(self, length: int) -> NDArray[np.bool_]:
        flags = self.array("u1", (length,))
        if flags.size > 0 and flags.max() > 1:
            raise frame_invalid("a flag is neither 0 nor 1")
        return flags.view(np.bool_)

    def fields(self, fields: Sequence[Field], rows: int) -> list[Values]:
        return [
            self.texts(rows) if field.dtype == "text" else self.array(DTYPES[field.dtype], (rows, *field.shape))
            for field in fields
        ]

    def texts(self, count: int) -> list[str]:
        lengths = self.array("<u4", (count,)).tolist()
        data = self.array("u1", (sum(lengths),)).tobytes()
        texts: list[str] = []
        end = 0
        for length in lengths:
            end += length
            try:
                texts.append(data[end - length : end].decode())
            except UnicodeDecodeError:
                raise frame_invalid("a text is not UTF-8") from None
        return texts

    def end(self) -> None:
        if self._offset != len(self._frame):
            raise frame_invalid(f"it has {len(self._frame)} bytes where {self._offset} belong")
