"""Numbers as float32 holds them, and as messages show them."""

from __future__ import annotations

import ctypes

_Float = ctypes.c_float


def fround(value: float) -> float:
    """The float32 next to a number; infinite beyond float32's range."""
    return _Float(value).value


def shown_number(value: float) -> str:
    """`1` for 1.0: what a number is, not what holds it."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e21 else str(number)
