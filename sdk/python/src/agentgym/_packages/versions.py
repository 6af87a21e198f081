"""Versions and ranges as npm's semver reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import total_ordering

_VERSION = re.compile(
    r"v?(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][a-zA-Z0-9-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][a-zA-Z0-9-]*))*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_PARTIAL = re.compile(
    r"[v=\s]*(0|[1-9]\d{0,15}|[xX*])(?:\.(0|[1-9]\d{0,15}|[xX*])(?:\.(0|[1-9]\d{0,15}|[xX*])"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?)?)?",
    re.ASCII,
)
_LONGEST = 256


@total_ordering
class Version:
    """A version in the order of semver: a prerelease comes before its release."""

    __slots__ = ("numbers", "prerelease")

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[str, ...] = ()) -> None:
        self.numbers = numbers
        self.prerelease = prerelease

    def _key(self) -> tuple[object, ...]:
        parts = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in self.prerelease)
        return (self.numbers, not self.prerelease, parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def parse_version(text: str) -> Version | None:
    match = _VERSION.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        return None
    prerelease = tuple(match[4].split(".")) if match[4] else ()
    return Version((int(match[1]), int(match[2]), int(match[3])), prerelease)


Comparator = tuple[Callable[[Version, Version], bool], Version]

_OPERATORS: dict[str, Callable[[Version, Version], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "": lambda a, b: a == b,
    "=": lambda a, b: a == b,
}


class Range:
    """`^1.2`, `~1`, `1.x || >=2.1 <3`, `1 - 2`, `*`."""

    def __init__(self, sets: list[list[Comparator]]) -> None:
        self._sets = sets

    def allows(self, version: Version, include_prerelease: bool = False) -> bool:
        """A prerelease only where the range names one of the same version."""
        return any(_all_allow(each, version, include_prerelease) for each in self._sets)


def _all_allow(comparators: list[Comparator], version: Version, include_prerelease: bool) -> bool:
    if not all(test(version, bound) for test, bound in comparators):
        return False
    if not version.prerelease or include_prerelease:
        return True
    return any(bound.prerelease and bound.numbers == version.numbers for _, bound in comparators)


def parse_range(text: str) -> Range | None:
    """None for what is no range, such as a tag."""
    if len(text) > _LONGEST:
        return None
    without_build = re.sub(r"\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*", "", text)
    sets = [_comparators(part.strip()) for part in without_build.split("||")]
    known = [each for each in sets if each is not None]
    return Range(known) if len(known) == len(sets) else None


def _comparators(text: str) -> list[Comparator] | None:
    hyphen = re.fullmatch(r"(\S+)\s+-\s+(\S+)", text)
    if hyphen is not None:
        low, high = _parts(hyphen[1]), _parts(hyphen[2])
        if low is None or high is None:
            return None
        return [*_at_least(low), *_at_most(high)]
    spaced = re.sub(r"([<>]=?|=|\^|~>?)\s+", r"\1", text)
    found: list[Comparator] = []
    for word in spaced.split() or ["*"]:
        comparators = _comparator(word)
        if comparators is None:
            return None
        found += comparators
    return found


Parts = tuple[list[int], tuple[str, ...]]
"""The numbers that are there, at most three, and the prerelease."""


def _parts(text: str) -> Parts | None:
    match = _PARTIAL.fullmatch(text)
    if match is None:
        return None
    numbers: list[int] = []
    for part in match.groups()[:3]:
        if part is None or part in "xX*":
            break
        numbers.append(int(part))
    return numbers, tuple(match[4].split(".")) if match[4] and len(numbers) == 3 else ()


def _comparator(word: str) -> list[Comparator] | None:
    match = re.fullmatch(r"([<>]=?|=|\^|~>?)?(.*)", word)
    parts = _parts(match[2]) if match is not None else None
    if match is None or parts is None:
        return None
    numbers, _ = parts
    operator = match[1] or ""
    if operator not in ("^", "~", "~>") and re.search(r"(^|\.)[xX*]\.\d", match[2].lstrip("v=")):
        # `1.x.3`
        return None
    if operator == "^":
        first = next((i for i, number in enumerate(numbers) if number != 0), len(numbers) - 1)
        return [*_at_least(parts), *_below(numbers, max(first, 0))]
    if operator in ("~", "~>"):
        return [*_at_least(parts), *_below(numbers, min(1, len(numbers) - 1))]
    if operator in ("", "="):
        return [*_at_least(parts), *_at_most(parts)] if len(numbers) < 3 else [(_OPERATORS["="], _version(parts))]
    if len(numbers) == 3:
        return [(_OPERATORS[operator], _version(parts))]
    if operator == ">=":
        return _at_least(parts)
    if operator == "<=":
        return _at_most(parts)
    if not numbers:
        # Nothing is above or below every version.
        return [(_OPERATORS["<"], Version((0, 0, 0), ("0",)))]
    if operator == "<":
        return [(_OPERATORS["<"], Version(_padded(numbers), ("0",)))]
    return [(_OPERATORS[">="], Version(_next(numbers, len(numbers) - 1)))]


def _version(parts: Parts) -> Version:
    return Version(_padded(parts[0]), parts[1])


def _padded(numbers: list[int]) -> tuple[int, int, int]:
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major, minor, patch


def _next(numbers: list[int], place: int) -> tuple[int, int, int]:
    return _padded([*numbers[:place], numbers[place] + 1])


def _at_least(parts: Parts) -> list[Comparator]:
    return [(_OPERATORS[">="], _version(parts))] if parts[0] else []


def _at_most(parts: Parts) -> list[Comparator]:
    numbers, _ = parts
    if len(numbers) == 3:
        return [(_OPERATORS["<="], _version(parts))]
    return _below(numbers, len(numbers) - 1)


def _below(numbers: list[int], place: int) -> list[Comparator]:
    """Below the next of the number at this place, and its prereleases."""
    return [(_OPERATORS["<"], Version(_next(numbers, place), ("0",)))] if numbers else []
