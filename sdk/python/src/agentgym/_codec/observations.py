"""Observations as the scenario gives them, written into the flat float32 row that a policy reads.

Exactly as the engine writes them in training: sdk/scenario/src/engine/observation-encoder.ts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy
from numpy.typing import NDArray

from .._texts.tokens import CachedTokenizer, utf16_length
from .describe import Problem, as_integer, describe_value, is_number
from .float32 import fround, shown_number
from .spaces import Box, Dict, Discrete, Items, MultiDiscrete, Space, Text, columns_of

Row = NDArray[numpy.float32]
Writer = Callable[[Any, Row, int], None]
"""Writes one sample into a flat row from an offset on. Raises Problem where the sample does not fit the space."""
Vectors = Callable[[Text, str], Row]
"""The vector of a text that a sentence encoder reads."""

MAX_TEXT_LENGTH = 1_000_000
"""UTF-16 units; an observation is something to read, not a dump."""

_MAX_ID = 200


def observation_writer(space: Space, vectors: Vectors, name: str = "") -> Writer:
    """Compiles a space. `name` is the dotted path within a dict, empty at the top."""
    match space:
        case Box():
            return _box_writer(space, name)
        case Discrete():
            return _discrete_writer(space, name)
        case MultiDiscrete():
            return _multi_discrete_writer(space, name)
        case Text():
            return _text_writer(space, vectors, name)
        case Items():
            return _items_writer(space, name)
        case Dict():
            return _dict_writer(space, vectors, name)


def _invalid(name: str, what: str) -> Problem:
    return Problem(f'observation "{name}" {what}' if name else f"observation {what}")


def _at(name: str, index: int) -> str:
    return f'observation "{name}"[{index}]' if name else f"observation[{index}]"


def _box_writer(space: Box, name: str) -> Writer:
    size = len(space.low)
    low = numpy.array([-math.inf if bound is None else fround(bound) for bound in space.low], numpy.float32)
    high = numpy.array([math.inf if bound is None else fround(bound) for bound in space.high], numpy.float32)
    bounded = any(bound is not None for bound in (*space.low, *space.high))

    def write(sample: Any, row: Row, offset: int) -> None:
        numbers = _numbers(sample, space.shape, size, name)
        with numpy.errstate(over="ignore"):
            rounded = numbers.astype(numpy.float32)
        if not numpy.isfinite(rounded).all() or (bounded and not ((rounded >= low) & (rounded <= high)).all()):
            raise _refused_number(numbers, rounded, space, name)
        if space.channels_last:
            rounded = rounded.reshape(space.shape).transpose(2, 0, 1).reshape(-1)
        row[offset : offset + size] = rounded

    return write


def _numbers(sample: Any, shape: tuple[int, ...], size: int, name: str) -> NDArray[Any]:
    """A list of numbers, or nested lists or an array of the box's shape, as one row."""
    if isinstance(sample, numpy.ndarray):
        if sample.dtype.kind not in "fiu":
            raise _invalid(name, f"is {describe_value(sample)} where numbers belong")
        if sample.ndim != 1 and sample.shape != shape:
            raise _invalid(name, f"has the shape {list(sample.shape)} where the box has {list(shape)}")
        if sample.size != size:
            raise _invalid(name, f"has {sample.size} numbers where the space has {size}")
        return sample.reshape(-1)
    if not isinstance(sample, list | tuple):
        raise _invalid(name, f"is {describe_value(sample)} where a list of numbers belongs")
    flat = sample
    if len(shape) > 1 and any(isinstance(each, list | tuple | numpy.ndarray) for each in sample):
        flat = []
        _flatten(sample, shape, 0, f'observation "{name}"' if name else "observation", flat)
    if len(flat) != size:
        raise _invalid(name, f"has {len(flat)} numbers where the space has {size}")
    for index, value in enumerate(flat):
        if not is_number(value):
            raise Problem(f"{_at(name, index)} is {describe_value(value)}, not a number")
    return numpy.array([_as_float(value) for value in flat], numpy.float64)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _flatten(value: Any, shape: tuple[int, ...], depth: int, at: str, flat: list[Any]) -> None:
    if depth == len(shape):
        flat.append(value)
        return
    if not isinstance(value, list | tuple | numpy.ndarray):
        found = "a number" if is_number(value) else describe_value(value)
        raise Problem(f"{at} is {found} where a list of {shape[depth]} belongs")
    if len(value) != shape[depth]:
        raise Problem(f"{at} has {len(value)} entries where the box {list(shape)} has {shape[depth]}")
    for i, inner in enumerate(value):
        _flatten(inner, shape, depth + 1, f"{at}[{i}]", flat)


def _refused_number(numbers: NDArray[Any], rounded: Row, space: Box, name: str) -> Problem:
    for index, (value, found) in enumerate(zip(numbers.tolist(), rounded.tolist(), strict=True)):
        low, high = space.low[index], space.high[index]
        at = _at(name, index)
        if not math.isfinite(found):
            beyond = f"{value}, which is infinite in float32" if math.isfinite(value) else f"{value}"
            return Problem(f"{at} is {beyond}")
        lowest = -math.inf if low is None else fround(low)
        highest = math.inf if high is None else fround(high)
        if not lowest <= found <= highest:
            bounds = [
                sign if bound is None else shown_number(bound) for bound, sign in ((low, "-inf"), (high, "inf"))
            ]
            return Problem(f"{at} is {shown_number(value)}, outside its bounds {bounds[0]} to {bounds[1]}")
    return _invalid(name, "does not fit its space")


def _discrete_writer(space: Discrete, name: str) -> Writer:
    last = space.start + space.n - 1

    def write(sample: Any, row: Row, offset: int) -> None:
        value = as_integer(sample)
        if value is None or not space.start <= value <= last:
            raise _invalid(name, f"is {describe_value(sample)} where an integer from {space.start} to {last} belongs")
        row[offset] = value - space.start

    return write


def _multi_discrete_writer(space: MultiDiscrete, name: str) -> Writer:
    def write(sample: Any, row: Row, offset: int) -> None:
        if not isinstance(sample, list | tuple | numpy.ndarray):
            raise _invalid(name, f"is {describe_value(sample)} where a list of numbers belongs")
        if len(sample) != len(space.nvec):
            raise _invalid(name, f"has {len(sample)} numbers where the space has {len(space.nvec)}")
        for i, (entry, count) in enumerate(zip(sample, space.nvec, strict=True)):
            value = as_integer(entry)
            if value is None or not 0 <= value < count:
                raise Problem(
                    f"{_at(name, i)} is {describe_value(entry)} where an integer from 0 to {count - 1} belongs"
                )
            row[offset + i] = value

    return write


def _text_writer(space: Text, vectors: Vectors, name: str) -> Writer:
    tokenizer = CachedTokenizer(space.max_tokens, space.vocabulary)
    columns = columns_of(space)

    def write(sample: Any, row: Row, offset: int) -> None:
        if not isinstance(sample, str):
            raise _invalid(name, f"is {describe_value(sample)} where a text belongs")
        if len(sample) > MAX_TEXT_LENGTH // 2 and utf16_length(sample) > MAX_TEXT_LENGTH:
            raise _invalid(name, f"is a text of {utf16_length(sample)} characters; at most {MAX_TEXT_LENGTH}")
        row[offset : offset + columns] = tokenizer.read(sample) if space.encoder is None else vectors(space, sample)

    return write


def _items_writer(space: Items, name: str) -> Writer:
    """One row a slot: 1 and the item's features, or zeros where the slot is empty."""
    slots, features = space.slots, space.features

    def write(sample: Any, row: Row, offset: int) -> None:
        if not isinstance(sample, list | tuple):
            raise _invalid(name, f"is {describe_value(sample)} where a list of items belongs")
        if len(sample) > slots:
            raise _invalid(name, f"has {len(sample)} items where the list has {slots} slots")
        row[offset : offset + slots * (1 + features)] = 0
        seen: set[str] = set()
        for i, item in enumerate(sample):
            at = offset + i * (1 + features)
            row[at] = 1
            row[at + 1 : at + 1 + features] = _features(item, features, f"{name}[{i}]", seen)

    return write


def _features(item: Any, size: int, name: str, seen: set[str]) -> Row:
    if not isinstance(item, Mapping):
        raise _invalid(name, f"is {describe_value(item)}, not an item")
    identifier = item.get("id")
    if not isinstance(identifier, str) or not 1 <= utf16_length(identifier) <= _MAX_ID:
        raise _invalid(name, f"has the id {describe_value(identifier)}, not a string of 1 to {_MAX_ID} characters")
    if identifier in seen:
        raise _invalid(name, f"has the id {describe_value(identifier)}, as an item before it")
    seen.add(identifier)
    path = f"{name}.features"
    numbers = _numbers(item.get("features"), (size,), size, path)
    with numpy.errstate(over="ignore"):
        rounded = numbers.astype(numpy.float32)
    if not numpy.isfinite(rounded).all():
        index = int(numpy.isfinite(rounded).argmin())
        raise Problem(f"{_at(path, index)} is {numbers[index]}")
    return rounded


def _dict_writer(space: Dict, vectors: Vectors, name: str) -> Writer:
    writers: list[tuple[str, Writer, int]] = []
    columns = 0
    for key, inner in space.entries:
        writers.append((key, observation_writer(inner, vectors, f"{name}.{key}" if name else key), columns))
        columns += columns_of(inner)

    def write(sample: Any, row: Row, offset: int) -> None:
        if not isinstance(sample, Mapping):
            raise _invalid(name, f"is {describe_value(sample)} where a dict belongs")
        for key, inner, at in writers:
            if key not in sample:
                raise _invalid(name, f'lacks the key "{key}"')
            inner(sample[key], row, offset + at)
        if len(sample) != len(writers):
            known = {key for key, _, _ in writers}
            extra = next(key for key in sample if key not in known)
            raise _invalid(name, f"has a key that the space lacks: {describe_value(extra)}")

    return write
