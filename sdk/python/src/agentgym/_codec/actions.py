"""Actions out of a policy's row, as the scenario's `step` takes them, with arguments in words and ids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .float32 import fround
from .spaces import Box, Dict, Discrete, MultiDiscrete, Space, columns_of, item_in, tool_names


def decode_action(space: Space, row: Sequence[float], observation: Any) -> tuple[Any, str | None]:
    """The action and its word: that of a discrete action, or of a dict with one labelled choice, such as the tool."""
    action = _decode(space, row, 0)
    label = _label(space, action)
    return _in_words(space, action, observation), label


def _decode(space: Space, row: Sequence[float], offset: int) -> Any:
    match space:
        case Discrete():
            return space.start + int(row[offset])
        case MultiDiscrete():
            return [int(row[offset + i]) for i in range(len(space.nvec))]
        case Box() if space.shape == ():
            return _scalar(space, row[offset])
        case Box():
            return [_inside(space, i, row[offset + i]) for i in range(len(space.low))]
        case Dict():
            return _decode_dict(space, row, offset)
        case _:
            raise AssertionError("an action space cannot be text or a list")


def _inside(space: Box, i: int, value: float) -> float:
    """A number within its bounds as float32 has them, and as JSON has them, where the float32 next to a bound may not be."""
    low, high = _limits(space, i)
    return min(high, max(low, max(fround(low), min(fround(high), value))))


def _scalar(space: Box, value: float) -> float:
    """The number of a tool."""
    low, high = _limits(space, 0)
    within = max(fround(low), min(fround(high), value))
    return min(high, max(low, math.floor(within + 0.5) if space.integer else within))


def _limits(space: Box, i: int) -> tuple[float, float]:
    low, high = space.low[i], space.high[i]
    return -math.inf if low is None else low, math.inf if high is None else high


def _decode_dict(space: Dict, row: Sequence[float], offset: int) -> dict[str, Any]:
    names = tool_names(space)
    action: dict[str, Any] = {}
    chosen: str | None = None
    at = offset
    if names is not None:
        for name, inner in space.entries:
            if name == space.choice:
                chosen = names[int(row[at])]
            at += columns_of(inner)
    at = offset
    for name, inner in space.entries:
        # Of a choice between entries, only the chosen one is there.
        if names is None or name in (space.choice, chosen):
            action[name] = _decode(inner, row, at)
        at += columns_of(inner)
    return action


def _in_words(space: Space, action: Any, observation: Any) -> Any:
    """The action of a tool scenario with words and ids in place of their numbers; any other as it is."""
    if not isinstance(space, Dict) or space.choice is None:
        return action
    entries = dict(space.entries)
    return {
        name: part if name == space.choice else _argument(entries[name], part, observation)
        for name, part in action.items()
    }


def _argument(space: Space, value: Any, observation: Any) -> Any:
    if isinstance(space, Dict):
        return {name: _argument(inner, value[name], observation) for name, inner in space.entries}
    if not isinstance(space, Discrete):
        return value
    index = value - space.start
    if space.list is None:
        return space.labels[index] if space.labels is not None and index < len(space.labels) else value
    items = item_in(observation, space.list)
    return items[index]["id"] if index < len(items) else value


def _label(space: Space, action: Any) -> str | None:
    if isinstance(space, Discrete):
        index = action - space.start
        return space.labels[index] if space.labels is not None and index < len(space.labels) else None
    if not isinstance(space, Dict):
        return None
    labelled = [
        (name, inner) for name, inner in space.entries if isinstance(inner, Discrete) and inner.labels is not None
    ]
    if len(labelled) != 1:
        return None
    ((name, inner),) = labelled
    return _label(inner, action[name]) if name in action else None
