"""The one kind of error that this package raises for what can be expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AgentGymError(Exception):
    """What failed and how to fix it.

    `code` is stable and in snake_case, such as `observation_invalid` or `payment_required`; docs/errors.md of the project lists
    all of them. `message` says what and where, `hint` what to do. `data` has the details by name: for an observation, `field`.
    """

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.data: dict[str, Any] = dict(data or {})

    def __str__(self) -> str:
        return f"{self.message} ({self.code})" if self.hint is None else f"{self.message} ({self.code}) {self.hint}"
