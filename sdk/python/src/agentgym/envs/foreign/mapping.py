"""Gymnasium's spaces as the contract's, and samples as rows of arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from agentgym._vector.frames import DTYPES, Field, Values
from agentgym.errors import AgentGymError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
#: The contract's limits: elements of an observation, choices of one component.
_MAX_ELEMENTS = 1 << 20
_MAX_CHOICES = 1 << 16
#: How the trainer reads the texts of an environment: as many tokens, of as many different ones.
_TEXT_TOKENS = 256
_VOCABULARY = 8192

_Access = Callable[[Any], Any]


@dataclass(frozen=True)
class _Leaf:
    field: Field
    space: spaces.Space[Any]
    path: tuple[str | int, ...]

    def value(self, sample: Any) -> Any:
        for key in self.path:
            sample = sample[key]
        return sample


class MappedSpace:
    """A space as the contract's JSON (`json`) and the fields of its frames. Raises `environment_failed` for what has no place there."""

    def __init__(self, space: spaces.Space[Any], *, acts: bool) -> None:
        self._acts = acts
        self.space = space
        self._leaves: list[_Leaf] = []
        self.json = self._map(space, (), ())
        self.fields = tuple(leaf.field for leaf in self._leaves)
        if sum(int(np.prod(field.shape)) for field in self.fields) > _MAX_ELEMENTS:
            raise self._refuse("", f"has more than {_MAX_ELEMENTS} numbers")

    @property
    def choices(self) -> int:
        """Choices of all components: the columns of a mask."""
        return sum(_choices(leaf.space) for leaf in self._leaves)

    def allocate(self, rows: int) -> list[Values]:
        return [
            [""] * rows if field.dtype == "text" else np.zeros((rows, *field.shape), DTYPES[field.dtype])
            for field in self.fields
        ]

    def write(self, sample: Any, values: Sequence[Values], row: int) -> None:
        """Writes an observation into a row. Raises ValueError, TypeError or KeyError where it does not fit."""
        for leaf, target in zip(self._leaves, values, strict=True):
            value = leaf.value(sample)
            if isinstance(target, list):
                if not isinstance(value, str):
                    raise TypeError(f"{leaf.field.name} is a {type(value).__name__}, not a string")
                target[row] = value
                continue
            array = np.asarray(value)
            if array.size != target[row].size:
                raise ValueError(f"{leaf.field.name} has the shape {array.shape} where {leaf.field.shape} belongs")
            start = getattr(leaf.space, "start", None)
            target[row] = (array if start is None else array - start).reshape(leaf.field.shape)

    def problem(self, values: Sequence[Values], ignored: NDArray[np.bool_] | None = None) -> tuple[int, str] | None:
        """The first row that holds what the space does not, and why. `ignored`: rows that may hold anything."""
        for leaf, value in zip(self._leaves, values, strict=True):
            if isinstance(value, list):
                continue
            bad, why = _outside(leaf, value)
            if ignored is not None:
                bad &= ~ignored
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                return row, f"{leaf.field.name} {why}"
        return None

    def samples(self, values: Sequence[Values]) -> list[Any]:
        """The actions of all rows, in the form that the environment's `step` takes. They share no memory with `values`."""
        columns = {leaf.path: _actions(leaf.space, value) for leaf, value in zip(self._leaves, values, strict=True)}
        if () in columns:
            return columns[()]
        rows = [dict(zip(columns, parts, strict=True)) for parts in zip(*columns.values(), strict=True)]
        return [_nest(self.space, (), parts) for parts in rows]

    def _map(self, space: spaces.Space[Any], path: tuple[str | int, ...], names: tuple[str, ...]) -> dict[str, Any]:
        entries: list[tuple[str | int, spaces.Space[Any]]] | None = None
        if isinstance(space, spaces.Dict):
            entries = list(space.spaces.items())
        elif isinstance(space, spaces.Tuple):
            entries = list(enumerate(space.spaces))
        if entries is None:
            return self._leaf(space, path, names)
        mapped = []
        for key, inner in entries:
            name = f"item{key}" if isinstance(key, int) else key
            if not _NAME.fullmatch(name):
                raise self._refuse(".".join(names), f"has the key {key!r}; keys are letters, digits, _ and -, at most 64")
            mapped.append({"name": name, "space": self._map(inner, (*path, key), (*names, name))})
        if not mapped:
            raise self._refuse(".".join(names), "is empty")
        return {"type": "dict", "entries": mapped}

    def _leaf(self, space: spaces.Space[Any], path: tuple[str | int, ...], names: tuple[str, ...]) -> dict[str, Any]:
        name = ".".join(names) or ("action" if self._acts else "obs")
        dtype, shape, described = self._describe(space, name)
        self._leaves.append(_Leaf(Field(name, dtype, shape), space, path))
        return described

    def _describe(self, space: spaces.Space[Any], name: str) -> tuple[str, tuple[int, ...], dict[str, Any]]:
        match space:
            case spaces.Discrete():
                if int(space.n) > _MAX_CHOICES:
                    raise self._refuse(name, f"has {space.n} choices; at most {_MAX_CHOICES}")
                return "int32", (), {"type": "discrete", "n": int(space.n), "start": int(space.start)}
            case spaces.MultiDiscrete():
                nvec = [int(count) for count in np.ravel(space.nvec)]
                return "int32", (len(nvec),), {"type": "multiDiscrete", "nvec": nvec}
            case spaces.MultiBinary():
                length = int(np.prod(space.shape))
                if self._acts:
                    return "int32", (length,), {"type": "multiDiscrete", "nvec": [2] * length}
                return "uint8", (length,), _box([length], [0] * length, [1] * length)
            case spaces.Text() if not self._acts:
                return "text", (), {"type": "text", "maxTokens": _TEXT_TOKENS, "vocabulary": _VOCABULARY}
            case spaces.Box():
                return self._describe_box(space, name)
        raise self._refuse(name, f"is a {type(space).__name__}, which has no counterpart")

    def _describe_box(self, space: spaces.Box, name: str) -> tuple[str, tuple[int, ...], dict[str, Any]]:
        shape = space.shape or (1,)
        if self._acts and space.dtype.kind != "f":
            raise self._refuse(name, f"is a Box of {space.dtype}; actions are a Box of floats, or Discrete")
        dtype = "float32"
        if space.dtype == np.uint8:
            dtype = "uint8"
        elif space.dtype.kind in "iub" and np.can_cast(space.dtype, np.int32):
            dtype = "int32"
        bounds = [
            [float(bound) if np.isfinite(bound) else None for bound in np.ravel(side).astype(np.float64)]
            for side in (space.low, space.high)
        ]
        described = _box(list(shape), *bounds)
        if not self._acts and _has_channels_last(shape):
            described["channels"] = "last"
        return dtype, shape, described

    def _refuse(self, name: str, what: str) -> AgentGymError:
        side = "action" if self._acts else "observation"
        part = f' "{name}"' if name not in ("", "obs", "action") else ""
        return AgentGymError(
            "environment_failed",
            f"The environment's {side} space{part} {what}.",
            hint="Wrap the environment so that its spaces are Box, Discrete, MultiDiscrete, MultiBinary, Text, Dict or Tuple.",
            data={"field": name},
        )


def _choices(space: spaces.Space[Any]) -> int:
    match space:
        case spaces.Discrete():
            return int(space.n)
        case spaces.MultiDiscrete():
            return int(space.nvec.sum())
        case spaces.MultiBinary():
            return 2 * int(np.prod(space.shape))
    return 0


def _has_channels_last(shape: tuple[int, ...]) -> bool:
    """Images of Gymnasium are [height, width, channels], and have fewer channels than rows or columns; stacked frames
    [frames, height, width] do not."""
    return len(shape) == 3 and shape[2] < min(shape[0], shape[1])


def _box(shape: list[int], low: Sequence[float | None], high: Sequence[float | None]) -> dict[str, Any]:
    return {"type": "box", "shape": shape, "low": list(low), "high": list(high)}


def _outside(leaf: _Leaf, values: NDArray[Any]) -> tuple[NDArray[np.bool_], str]:
    rows = values.reshape(len(values), math.prod(leaf.field.shape))
    match leaf.space:
        case spaces.Discrete():
            return ((rows < 0) | (rows >= leaf.space.n)).any(1), f"is not one of {leaf.space.n} choices"
        case spaces.MultiDiscrete():
            counts = np.ravel(leaf.space.nvec)
            return ((rows < 0) | (rows >= counts)).any(1), f"is outside its choices {counts.tolist()}"
        case spaces.MultiBinary():
            return ((rows < 0) | (rows > 1)).any(1), "is not binary"
    if rows.dtype.kind != "f":
        return np.zeros(len(rows), np.bool_), ""
    return ~np.isfinite(rows).all(1), "is not finite"


def _actions(space: spaces.Space[Any], values: Any) -> list[Any]:
    shape = (len(values), *(space.shape or ()))
    match space:
        case spaces.Discrete():
            return list(values.astype(np.int64) + int(space.start))
        case spaces.MultiDiscrete():
            return list((values.reshape(shape) + space.start).astype(space.dtype))
        case spaces.MultiBinary():
            return list(values.reshape(shape).astype(space.dtype))
        case spaces.Box():
            return list(np.clip(values.reshape(shape).astype(space.dtype), space.low, space.high))
    raise AssertionError(space)


def _nest(space: spaces.Space[Any], path: tuple[str | int, ...], parts: dict[tuple[str | int, ...], Any]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _nest(inner, (*path, key), parts) for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_nest(inner, (*path, index), parts) for index, inner in enumerate(space.spaces))
    return parts[path]
