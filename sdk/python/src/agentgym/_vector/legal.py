"""Which actions a mask allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentgym._vector.frames import Values
from agentgym._vector.spaces import leaves_of


@dataclass(frozen=True)
class _Component:
    """One categorical component of an action."""

    leaf: int
    #: Index within the leaf; None for a discrete one.
    index: int | None
    #: Its columns in a mask.
    columns: slice
    #: Of an argument of a tool: the leaf that chooses the tool, and the choice with which it counts.
    when: tuple[int, int] | None


class LegalActions:
    """The categorical components of an action space, from its JSON in the contract's form."""

    def __init__(self, action: Mapping[str, Any]) -> None:
        leaves = leaves_of(action)
        labels: Sequence[str] = []
        chooser = -1
        if action["type"] == "dict" and "choice" in action:
            chooser = next(i for i, leaf in enumerate(leaves) if leaf.path == (action["choice"],))
            space = next(entry["space"] for entry in action["entries"] if entry["name"] == action["choice"])
            labels = space["labels"]
        self._components: list[_Component] = []
        column = 0
        for i, leaf in enumerate(leaves):
            argument = chooser >= 0 and i != chooser and leaf.path[0] in labels
            when = (chooser, labels.index(leaf.path[0])) if argument else None
            for index, count in enumerate(leaf.counts):
                own = None if leaf.kind == "discrete" else index
                self._components.append(_Component(i, own, slice(column, column + count), when))
                column += count

    def illegal(self, values: Sequence[Values], masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows whose action the masks `[rows, columns]` forbid. Arguments count only of the tool that is called."""
        rows = np.arange(len(masks))
        bad = np.zeros(len(masks), np.bool_)
        for part in self._components:
            chosen = self._column(values, part)
            forbidden = ~masks[:, part.columns][rows, np.clip(chosen, 0, part.columns.stop - part.columns.start - 1)]
            if part.when is not None:
                forbidden &= np.asarray(values[part.when[0]]) == part.when[1]
            bad |= forbidden
        return bad

    def replace(
        self, values: Sequence[Values], masks: NDArray[np.bool_], rows: NDArray[np.bool_], random: np.random.Generator
    ) -> None:
        """Gives these rows a random legal action, in place."""
        for row in np.flatnonzero(rows).tolist():
            for part in self._components:
                legal = np.flatnonzero(masks[row, part.columns])
                self._column(values, part)[row] = random.choice(legal)

    @staticmethod
    def _column(values: Sequence[Values], part: _Component) -> NDArray[Any]:
        column = np.asarray(values[part.leaf])
        return column if part.index is None else column[:, part.index]
