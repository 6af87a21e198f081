"""Reads parsed JSON from anyone, by the type that each part must have."""

from __future__ import annotations

import math
from typing import Any


class ManifestInvalid(Exception):
    """A part of agent.json is not what it must be."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}" if path else why)
        self.path = path


class Reading:
    """A value in a JSON document, with its place: `policy.action.0.low`."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.value = value
        self.path = path

    def get(self, key: str) -> Reading:
        """The member of an object. Raises ManifestInvalid where there is none."""
        found = self.optional(key)
        if found is None:
            raise ManifestInvalid(f"{self.path}.{key}" if self.path else key, "is missing")
        return found

    def optional(self, key: str) -> Reading | None:
        if not isinstance(self.value, dict):
            raise self._not("an object")
        if key not in self.value:
            return None
        return Reading(self.value[key], f"{self.path}.{key}" if self.path else key)

    def only(self, *keys: str) -> None:
        """Refuses other members than these, some of which (`name?`) may be absent."""
        if not isinstance(self.value, dict):
            raise self._not("an object")
        known = {key.removesuffix("?") for key in keys}
        for key in self.value:
            if key not in known:
                raise ManifestInvalid(self.path, f"has the unknown member {str(key)[:80]!r}")
        for key in keys:
            if not key.endswith("?"):
                self.get(key)

    def each(self, fewest: int = 0) -> list[Reading]:
        if not isinstance(self.value, list):
            raise self._not("a list")
        if len(self.value) < fewest:
            raise ManifestInvalid(self.path, f"must have at least {fewest} entries")
        return [Reading(value, f"{self.path}.{i}") for i, value in enumerate(self.value)]

    def text(self, shortest: int = 0) -> str:
        if not isinstance(self.value, str):
            raise self._not("a string")
        if len(self.value) < shortest:
            raise ManifestInvalid(self.path, "must not be empty")
        return self.value

    def one_of(self, *words: str) -> str:
        if self.value not in words or not isinstance(self.value, str):
            raise self._not(" or ".join(words))
        return self.value

    def integer(self, least: int | None = None) -> int:
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**53:
            raise self._not("an integer")
        if least is not None and value < least:
            raise ManifestInvalid(self.path, f"must be at least {least}")
        return value

    def number(self) -> float:
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self._not("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._not("a finite number")
        return number

    def number_or_none(self) -> float | None:
        return None if self.value is None else self.number()

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            raise self._not("true or false")
        return self.value

    def _not(self, wanted: str) -> ManifestInvalid:
        return ManifestInvalid(self.path, f"must be {wanted}")
