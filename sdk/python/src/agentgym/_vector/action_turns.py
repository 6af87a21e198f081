"""Actions on their way to the server: as arrays, and legal if the user wants that."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentgym._vector.client import Opened
from agentgym._vector.frames import Reply, Values
from agentgym._vector.legal import LegalActions
from agentgym._vector.spaces import SampleCodec
from agentgym.errors import AgentGymError

#: What becomes of an action that the mask forbids.
IllegalActions = Literal["refuse", "replace"]


class ActionTurns:
    """Encodes the actions of an environment, or of a batch."""

    def __init__(self, opened: Opened, illegal: IllegalActions) -> None:
        if illegal not in ("refuse", "replace"):
            raise AgentGymError("config_invalid", f"illegal_actions is {illegal!r}, neither 'refuse' nor 'replace'.")
        self._codec = SampleCodec(opened.action)
        self._fields = opened.layout.action
        self._legal = LegalActions(opened.action) if illegal == "replace" and opened.layout.mask > 0 else None
        self._masks: NDArray[np.bool_] | None = None
        self._random = np.random.default_rng(0)

    def seen(self, reply: Reply, seeds: NDArray[np.int64] | None = None) -> Reply:
        """Notes what the next action may be. `seeds` of a reset also decide which actions replace others."""
        self._masks = reply.masks
        if self._legal is not None and seeds is not None and (seeds >= 0).any():
            self._random = np.random.default_rng(np.maximum(seeds, 0).tolist())
        return reply

    def arrays(self, action: Any, rows: int | None) -> list[Values]:
        """Raises AgentGymError `request_invalid` for what does not fit the space."""
        values = self._codec.arrays(action, self._fields, rows)
        if self._legal is not None and self._masks is not None:
            illegal = self._legal.illegal(values, self._masks)
            if illegal.any():
                self._legal.replace(values, self._masks, illegal, self._random)
        return values
