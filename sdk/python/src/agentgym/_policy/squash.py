"""How a Gaussian's sample u becomes a number of a box: a = center + scale * f(u).

`tanh` is for numbers between two bounds, `exp` from one bound on, `sinh` without bounds. The formulas are those of
sdk/agent/src/policy/squash.ts, with which agents are trained.
"""

from __future__ import annotations

import math

from .._codec.float32 import fround

_SQUASH_LIMIT = 40.0
"""Beyond this, e^u would leave float32's range when it is scaled."""

_NO_BOUND = 1e18
"""Half-width from which on a bound says "unbounded"; Gymnasium writes ±3.4e38."""

Squash = tuple[str, float, float]
"""Kind, center and scale."""


def squashed(squash: Squash, u: float) -> float:
    """The action, before it is clipped to its bounds."""
    kind, center, scale = squash
    if kind == "tanh":
        return center + scale * math.tanh(u)
    limited = min(_SQUASH_LIMIT, max(-_SQUASH_LIMIT, u))
    return center + scale * (math.exp(limited) if kind == "exp" else math.sinh(limited))


def unsquashed(squash: Squash, action: float) -> float:
    """The u of an action of `squashed`: as far out as float32 tells, where the action is at its bound."""
    kind, center, scale = squash
    x = (action - center) / scale
    if kind == "sinh":
        return math.asinh(x)
    if kind == "exp":
        return math.log(max(2**-24, x))
    most = 1 - 2**-24
    return math.atanh(min(most, max(-most, x)))


def squash_for(low: float | None, high: float | None) -> Squash:
    """The squash of a column, from its bounds."""
    scale = math.inf if low is None or high is None else fround(high / 2 - low / 2)
    wide = not scale < _NO_BOUND
    lower = None if low is None or (wide and low <= -_NO_BOUND) else low
    upper = None if high is None or (wide and high >= _NO_BOUND) else high
    if lower is not None and upper is not None and scale > 0:
        return "tanh", fround(lower / 2 + upper / 2), scale
    if lower is not None and upper is None:
        return "exp", lower, 1.0
    if lower is None and upper is not None:
        return "exp", upper, -1.0
    # No bounds, or an interval of one point.
    return "sinh", lower or 0.0, 1.0
