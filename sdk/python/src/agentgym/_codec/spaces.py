"""Spaces of observations and actions, as agent.json describes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .reading import ManifestInvalid, Reading

_MOST_DEPTH = 8

ENCODED_DIMENSIONS = {"minilm": 384}
"""Numbers of a text that a sentence encoder reads, by the encoder's name."""

Bounds = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Box:
    shape: tuple[int, ...]
    """Of a tool's number: no dimensions."""
    low: Bounds
    high: Bounds
    integer: bool = False
    default: float | None = None
    channels_last: bool = False
    """Samples of an image are [height, width, channels]; its row is channels first."""

    @property
    def row_shape(self) -> tuple[int, ...]:
        return (self.shape[2], self.shape[0], self.shape[1]) if self.channels_last else self.shape


@dataclass(frozen=True, slots=True)
class Discrete:
    n: int
    start: int
    labels: tuple[str, ...] | None = None
    list: str | None = None
    """A pointer: dotted name of the list in the observation whose slots are the choices."""
    default: int | None = None


@dataclass(frozen=True, slots=True)
class MultiDiscrete:
    nvec: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Text:
    max_tokens: int
    vocabulary: int
    encoder: str | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """Up to `slots` items of `features` numbers; in JSON a `list`."""

    slots: int
    features: int


@dataclass(frozen=True, slots=True)
class Dict:
    entries: tuple[tuple[str, Space], ...]
    choice: str | None = None
    """Of an action: the discrete entry whose labels name the others; only the entry that it chooses counts."""


Space = Box | Discrete | MultiDiscrete | Text | Items | Dict


def read_space(reading: Reading, depth: int = 0) -> Space:
    """Raises ManifestInvalid."""
    if depth > _MOST_DEPTH:
        raise ManifestInvalid(reading.path, f"dicts nest deeper than {_MOST_DEPTH}")
    kind = reading.get("type").one_of("box", "discrete", "multiDiscrete", "text", "list", "dict")
    match kind:
        case "box":
            return _read_box(reading)
        case "discrete":
            reading.only("type", "n", "start", "labels?", "list?", "default?")
            labels = reading.optional("labels")
            pointed, default = reading.optional("list"), reading.optional("default")
            return Discrete(
                reading.get("n").integer(1),
                reading.get("start").integer(),
                None if labels is None else tuple(each.text() for each in labels.each()),
                None if pointed is None else pointed.text(),
                None if default is None else default.integer(0),
            )
        case "multiDiscrete":
            reading.only("type", "nvec")
            return MultiDiscrete(tuple(each.integer(1) for each in reading.get("nvec").each(1)))
        case "text":
            reading.only("type", "maxTokens", "vocabulary", "encoder?")
            encoder = reading.optional("encoder")
            return Text(
                reading.get("maxTokens").integer(1),
                reading.get("vocabulary").integer(1),
                None if encoder is None else encoder.one_of(*ENCODED_DIMENSIONS),
            )
        case "list":
            reading.only("type", "slots", "features")
            return Items(reading.get("slots").integer(1), reading.get("features").integer(1))
        case _:
            return _read_dict(reading, depth)


def _read_box(reading: Reading) -> Box:
    reading.only("type", "shape", "low", "high", "channels?", "integer?", "default?")
    shape = tuple(each.integer(1) for each in reading.get("shape").each())
    low, high = (tuple(each.number_or_none() for each in reading.get(side).each()) for side in ("low", "high"))
    if not math.prod(shape) == len(low) == len(high):
        raise ManifestInvalid(reading.path, f"a box {list(shape)} has {len(low)} and {len(high)} bounds")
    integer, default = reading.optional("integer"), reading.optional("default")
    if integer is not None and integer.value is not True:
        raise ManifestInvalid(integer.path, "must be true or absent")
    channels = reading.optional("channels")
    if channels is not None:
        channels.one_of("last")
        if len(shape) != 3:
            raise ManifestInvalid(channels.path, "is for an image of three dimensions")
    number = None if default is None else default.number()
    return Box(shape, low, high, integer is not None, number, channels is not None)


def _read_dict(reading: Reading, depth: int) -> Dict:
    reading.only("type", "entries", "choice?")
    entries: list[tuple[str, Space]] = []
    for each in reading.get("entries").each(1):
        each.only("name", "space")
        entries.append((each.get("name").text(1), read_space(each.get("space"), depth + 1)))
    choice = reading.optional("choice")
    read = Dict(tuple(entries), None if choice is None else choice.text())
    if len(dict(entries)) != len(entries):
        raise ManifestInvalid(reading.path, "has two entries of one name")
    if read.choice is not None and tool_names(read) is None:
        raise ManifestInvalid(reading.path, "its choice is not a discrete entry with labels")
    return read


def tool_names(space: Space) -> tuple[str, ...] | None:
    """Labels of the entry that chooses among the others; None for any other space."""
    if not isinstance(space, Dict) or space.choice is None:
        return None
    chooser = dict(space.entries).get(space.choice)
    return chooser.labels if isinstance(chooser, Discrete) else None


def columns_of(space: Space) -> int:
    """Columns of a space in the flat row."""
    match space:
        case Box():
            return len(space.low)
        case Discrete():
            return 1
        case MultiDiscrete():
            return len(space.nvec)
        case Text():
            return space.max_tokens if space.encoder is None else ENCODED_DIMENSIONS[space.encoder]
        case Items():
            return space.slots * (1 + space.features)
        case Dict():
            return sum(columns_of(inner) for _, inner in space.entries)


def logits_of(space: Space) -> int:
    """Columns of a space in the mask row: one a logit, over the categorical leaves."""
    match space:
        case Discrete():
            return space.n
        case MultiDiscrete():
            return sum(space.nvec)
        case Dict():
            return sum(logits_of(inner) for _, inner in space.entries)
        case _:
            return 0


def encoded_characters(max_tokens: int) -> int:
    """UTF-16 units of a text that a sentence encoder gets to see."""
    return 8 * max_tokens


def describe_space(space: Space) -> str:
    """A space in a few words: `box [4]`, `discrete 2`, `dict { camera: box [8, 8], speed: box [1] }`."""
    match space:
        case Box():
            return f"box {list(space.shape)}"
        case Discrete():
            return f"discrete {space.n}"
        case MultiDiscrete():
            return f"multiDiscrete {list(space.nvec)}"
        case Text():
            encoded = "" if space.encoder is None else f", encoded by {space.encoder}"
            return f"text of {space.max_tokens} tokens{encoded}"
        case Items():
            return f"list of up to {space.slots} items of {space.features} numbers"
        case Dict():
            return f"dict {{ {', '.join(f'{name}: {describe_space(inner)}' for name, inner in space.entries)} }}"


def item_in(observation: Any, path: str) -> list[Any]:
    """Items of a list in a valid observation, by its dotted name."""
    part = observation
    for key in path.split("."):
        part = part.get(key) if hasattr(part, "get") else None
    return list(part) if isinstance(part, list | tuple) else []
