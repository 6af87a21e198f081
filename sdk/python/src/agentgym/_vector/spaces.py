"""The contract's spaces (JSON) as Gymnasium's, and samples as the arrays of a frame."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from agentgym._vector.frames import Field, Values
from agentgym.errors import AgentGymError

#: Characters of the longest text of an observation.
MAX_TEXT = 1_000_000
#: Observations are finite in float32, so these are the bounds of an open side. Infinite ones would only hide that.
_FLOAT32 = np.finfo(np.float32)


class UnicodeText(spaces.Text):
    """Any text up to `max_length` characters. Samples are alphanumeric, since Gymnasium's own space needs a character set."""

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is None and probability is None:
            mask = (int(self.np_random.integers(min(self.max_length, 32) + 1)), None)
        return super().sample(mask, probability)

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"


@dataclass(frozen=True)
class Leaf:
    """A leaf of a space beside its field: where it is, and what its values are counted from."""

    path: tuple[str, ...]
    kind: str
    start: int
    #: Choices of each component; empty for what is no choice.
    counts: tuple[int, ...]


def leaves_of(space: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[Leaf]:
    """The leaves of the contract's JSON of a space, in order."""
    kind = space["type"]
    if kind == "dict":
        return [leaf for entry in space["entries"] for leaf in leaves_of(entry["space"], (*path, entry["name"]))]
    counts = {"discrete": lambda: (space["n"],), "multiDiscrete": lambda: tuple(space["nvec"])}.get(kind, tuple)()
    return [Leaf(path, kind, space["start"] if kind == "discrete" else 0, counts)]


def gymnasium_space(space: Mapping[str, Any], fields: Sequence[Field], *, acts: bool) -> spaces.Space[Any]:
    """Gymnasium's form of a space, whose leaves have these fields. `acts`: a space of actions, whose open sides stay open."""
    return _Spaces(fields, acts).of(space)


class _Spaces:
    def __init__(self, fields: Sequence[Field], acts: bool) -> None:
        self._fields = iter(fields)
        self._acts = acts

    def of(self, space: Mapping[str, Any]) -> spaces.Space[Any]:
        if space["type"] == "dict":
            return spaces.Dict(OrderedDict((entry["name"], self.of(entry["space"])) for entry in space["entries"]))
        field = next(self._fields)
        match space["type"]:
            case "box":
                return self._box(field, space["low"], space["high"])
            case "list":
                return self._box(field, [None] * int(np.prod(field.shape)), [None] * int(np.prod(field.shape)))
            case "discrete":
                return spaces.Discrete(space["n"], start=space["start"])
            case "multiDiscrete":
                return spaces.MultiDiscrete(space["nvec"])
            case "text":
                return UnicodeText(MAX_TEXT)
        raise AgentGymError("frame_invalid", f"The server has a space that this version does not know: {space['type']}.")

    def _box(self, field: Field, low: Sequence[float | None], high: Sequence[float | None]) -> spaces.Box:
        dtype = np.dtype(field.dtype)
        if dtype.kind != "f":
            limits: tuple[float, float] = (np.iinfo(dtype).min, np.iinfo(dtype).max)
        elif self._acts:
            limits = (-np.inf, np.inf)
        else:
            limits = (float(_FLOAT32.min), float(_FLOAT32.max))
        bounds = [
            np.array([limit if bound is None else bound for bound in side], dtype=dtype).reshape(field.shape)
            for side, limit in zip((low, high), limits, strict=True)
        ]
        return spaces.Box(bounds[0], bounds[1], field.shape, dtype.type)


class SampleCodec:
    """Samples of a space as arrays, one a leaf, and back: for one environment, and for a batch as Gymnasium has it."""

    def __init__(self, space: Mapping[str, Any]) -> None:
        self.leaves = leaves_of(space)

    def row(self, values: Sequence[Values], row: int) -> Any:
        """The sample of one environment; it shares no memory with `values`."""
        return self._nest([_row_of(leaf, value, row) for leaf, value in zip(self.leaves, values, strict=True)])

    def batch(self, values: Sequence[Values]) -> Any:
        """The batched sample of all environments."""
        return self._nest([_batch_of(leaf, value) for leaf, value in zip(self.leaves, values, strict=True)])

    def arrays(self, sample: Any, fields: Sequence[Field], rows: int | None) -> list[Values]:
        """Arrays of a batched sample of `rows` environments, or of the sample of one (None). Raises `request_invalid`."""
        return [self._array(sample, leaf, field, rows) for leaf, field in zip(self.leaves, fields, strict=True)]

    def _array(self, sample: Any, leaf: Leaf, field: Field, rows: int | None) -> NDArray[Any]:
        value = sample
        try:
            for key in leaf.path:
                value = value[key]
            array = np.asarray(value)
            if leaf.kind in ("discrete", "multiDiscrete") and array.dtype.kind not in "iu":
                raise TypeError(f"integers belong there, not {array.dtype}")
            shape = (1 if rows is None else rows, *field.shape)
            return (array.reshape(shape) - leaf.start if leaf.start else array.reshape(shape)).astype(field.dtype)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            name = ".".join(leaf.path) or "action"
            raise AgentGymError(
                "request_invalid", f"The action does not fit its space: {name}: {error}.", data={"field": name}
            ) from None

    def masks(self, masks: NDArray[np.bool_]) -> Any:
        """Action masks `[..., columns]` in the form that `sample(mask=…)` of the action space takes for one environment."""
        marks = masks.astype(np.int8)
        column = 0
        parts: list[Any] = []
        for leaf in self.leaves:
            components = []
            for count in leaf.counts:
                components.append(marks[..., column : column + count])
                column += count
            parts.append(components[0] if leaf.kind == "discrete" else tuple(components) or None)
        return self._nest(parts)

    def _nest(self, parts: Sequence[Any]) -> Any:
        if len(self.leaves) == 1 and self.leaves[0].path == ():
            return parts[0]
        nested: dict[str, Any] = {}
        for leaf, part in zip(self.leaves, parts, strict=True):
            inner = nested
            for key in leaf.path[:-1]:
                inner = inner.setdefault(key, {})
            inner[leaf.path[-1]] = part
        return nested


def _row_of(leaf: Leaf, values: Values, row: int) -> Any:
    if isinstance(values, list):
        return values[row]
    if leaf.kind == "discrete":
        return np.int64(int(values[row]) + leaf.start)
    return values[row].astype(np.int64 if leaf.kind == "multiDiscrete" else values.dtype)


def _batch_of(leaf: Leaf, values: Values) -> Any:
    if isinstance(values, list):
        return tuple(values)
    return values.astype(np.int64) + leaf.start if leaf.counts else values
