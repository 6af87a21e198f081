"""Masks of legal actions, written into the flat row of one number a logit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from .describe import Problem, describe_value
from .spaces import Dict, Discrete, MultiDiscrete, Space, item_in, logits_of, tool_names

MaskWriter = Callable[[Any, list[bool], int], None]
"""Writes a mask into a row from an offset on. Raises Problem where it does not fit or leaves no action."""


def mask_writer(space: Space, path: str) -> MaskWriter:
    """Compiles an action space into the writer of its masks. Boxes have no columns."""
    match space:
        case Discrete():
            return lambda mask, row, offset: _write_component(mask, space.n, row, offset, path)
        case MultiDiscrete():
            return _multi_discrete_writer(space, path)
        case Dict():
            return _dict_writer(space, path)
        case _:
            return lambda mask, row, offset: None


def _write_component(mask: Any, count: int, row: list[bool], offset: int, path: str) -> None:
    if not isinstance(mask, list | tuple | numpy.ndarray):
        raise Problem(f"{path} is {describe_value(mask)} where an array of {count} booleans belongs")
    if len(mask) != count:
        raise Problem(f"{path} has {len(mask)} entries where the action space has {count}")
    for i, entry in enumerate(mask):
        if not isinstance(entry, bool | numpy.bool_):
            raise Problem(f"{path}[{i}] is {describe_value(entry)}, not a boolean")
        row[offset + i] = bool(entry)
    if not any(row[offset : offset + count]):
        raise Problem(f"no legal action: all {count} entries of {path} are false")


def _multi_discrete_writer(space: MultiDiscrete, path: str) -> MaskWriter:
    def write(mask: Any, row: list[bool], offset: int) -> None:
        if not isinstance(mask, list | tuple | numpy.ndarray):
            raise Problem(f"{path} is {describe_value(mask)} where one array a component belongs")
        if len(mask) != len(space.nvec):
            raise Problem(f"{path} has {len(mask)} components where the action space has {len(space.nvec)}")
        column = offset
        for i, count in enumerate(space.nvec):
            _write_component(mask[i], count, row, column, f"{path}[{i}]")
            column += count

    return write


def _dict_writer(space: Dict, path: str) -> MaskWriter:
    writers: list[tuple[str, MaskWriter, int]] = []
    columns = 0
    for name, inner in space.entries:
        logits = logits_of(inner)
        if logits == 0:
            continue
        writers.append((name, mask_writer(inner, f"{path}.{name}"), columns))
        columns += logits

    def write(mask: Any, row: list[bool], offset: int) -> None:
        if not isinstance(mask, Mapping):
            raise Problem(f"{path} is {describe_value(mask)} where a dict belongs")
        for name, inner, at in writers:
            inner(mask.get(name), row, offset + at)

    return write


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A parameter that is chosen among a list's items: where its slots and its tool are in the mask row."""

    list: str
    first: int
    slots: int
    tool: int


class PointerMask:
    """Masks empty slots, and tools whose list is empty, whatever the caller's mask."""

    def __init__(self, action: Space) -> None:
        self._pointers: list[_Pointer] = []
        self._tools = (0, 0)
        names = tool_names(action)
        if names is None or not isinstance(action, Dict):
            return
        column = 0
        for name, inner in action.entries:
            if name == action.choice:
                self._tools = (column, column + len(names))
            column += logits_of(inner)
        column = 0
        for name, inner in action.entries:
            if name in names and name != action.choice:
                self._collect(inner, column, self._tools[0] + names.index(name))
            column += logits_of(inner)

    def _collect(self, space: Space, column: int, tool: int) -> None:
        if isinstance(space, Discrete) and space.list is not None:
            self._pointers.append(_Pointer(space.list, column, space.n, tool))
        if isinstance(space, Dict):
            for _, inner in space.entries:
                self._collect(inner, column, tool)
                column += logits_of(inner)

    def apply(self, observation: Any, mask: list[bool]) -> bool:
        """Whether a tool is left."""
        for pointer in self._pointers:
            filled = len(item_in(observation, pointer.list))
            first, end = pointer.first, pointer.first + pointer.slots
            mask[first + filled : end] = [False] * (pointer.slots - filled)
            if not any(mask[first:end]):
                mask[pointer.tool] = False
        return not self._pointers or any(mask[slice(*self._tools)])
