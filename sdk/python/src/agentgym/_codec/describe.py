"""Words for values in messages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy

from .float32 import shown_number


class Problem(Exception):
    """A sample does not fit its space; the message names the place, the expected and the received value."""


def describe_value(value: Any) -> str:
    """Describes a value for a message."""
    if value is None or isinstance(value, bool | numpy.bool_):
        return str(value)
    if isinstance(value, int | float | numpy.integer | numpy.floating):
        return str(value)[:40] if isinstance(value, int | numpy.integer) else shown_number(float(value))
    if isinstance(value, str):
        return f'the string "{_printable(value, 40)}"'
    if isinstance(value, numpy.ndarray):
        return f"an array of {value.dtype} {list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__}"
    return "a dict" if isinstance(value, Mapping) else f"a {type(value).__name__[:80]}"


def is_number(value: Any) -> bool:
    """Whether a value is a number, which a boolean is not."""
    kind = type(value)
    if kind is float or kind is int:
        return True
    return isinstance(value, int | float | numpy.integer | numpy.floating) and not isinstance(value, bool)


def as_integer(value: Any) -> int | None:
    """A whole number, whatever type holds it; None for anything else."""
    if type(value) is int:
        return value
    if not is_number(value) or value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        return None
    return int(value)


def _printable(text: str, limit: int) -> str:
    shown = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") else character
        for character in text[:limit]
    )
    return f"{shown}…" if len(text) > limit else shown
