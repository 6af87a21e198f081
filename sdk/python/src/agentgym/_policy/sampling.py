"""Actions out of a policy's distribution: the likeliest, or drawn by random numbers that a seed and a count name.

The same numbers as sdk/agent/src/policy/action-sampling.ts. Exponentials and logarithms are the platform's: their last bit may
differ from V8's, which decides between two actions about once in 10^15 draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .._codec.float32 import fround
from ..errors import AgentGymError
from .spec import ActionLeaf, PolicySpec, When
from .squash import Squash, squashed, unsquashed

_TO_UNIT = 2.0**-32
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Categorical:
    """One choice among `count` values. Offsets are columns of the distribution, mask and action rows."""

    block: int
    logits: int
    count: int
    mask: int
    action: int
    when: When | None
    fixed: int | None
    """Not chosen: this value, or the first legal one."""


@dataclass(frozen=True, slots=True)
class _Gaussian:
    """One Gaussian number. Components 2k and 2k + 1 of a leaf share a block of random bits."""

    block: int
    second: bool
    mean: int
    action: int
    log_std: int
    low: float
    high: float
    squash: Squash | None
    when: When | None


@dataclass(frozen=True, slots=True)
class SamplingKey:
    """Names the random numbers of one row."""

    seed: int
    step: int
    row: int


class ActionChooser:
    """The action space as components, independent of each other but for those that count only upon an earlier choice."""

    def __init__(self, spec: PolicySpec) -> None:
        self._categorical: list[_Categorical] = []
        self._gaussian: list[_Gaussian] = []
        self._fixed: list[tuple[int, float, When | None]] = []
        self.mask_size = 0
        self.action_size = sum(leaf.size for leaf in spec.action)
        self._deviation_in_row = spec.head == "squashed_gaussian"
        first_deviation = spec.distribution_size // 2 if self._deviation_in_row else 0
        block = 0
        for leaf in spec.action:
            if leaf.kind == "box" and leaf.fixed is not None:
                self._fixed += [(leaf.offset + i, value, leaf.when) for i, value in enumerate(leaf.fixed)]
            elif leaf.kind == "box":
                self._gaussian += [_gaussian(leaf, i, block, first_deviation) for i in range(leaf.size)]
                block += (leaf.size + 1) // 2
            else:
                self._categorical += _categorical(leaf, block)
                block += len(leaf.counts)
                self.mask_size += sum(leaf.counts)

    def likeliest(self, distribution: Sequence[float], mask: Sequence[bool]) -> list[float]:
        """The likeliest action (the lowest index among equals, a box's mean), within the bounds.

        The distribution is that of an exported model, whose means are in the action's own units.
        """
        action = [0.0] * self.action_size
        for part in self._categorical:
            action[part.action] = self._choice(part, distribution, mask, action)
        for number in self._gaussian:
            value = distribution[number.mean] if _counts(number.when, action) else 0.0
            action[number.action] = fround(min(number.high, max(number.low, value)))
        self._write_fixed(action)
        return action

    def sample(
        self, distribution: Sequence[float], log_std: Sequence[float], mask: Sequence[bool], key: SamplingKey
    ) -> list[float]:
        """An action at random; boxes in their own units, within their bounds."""
        action = [0.0] * self.action_size
        # Steps beyond 2^32 go on in the component's word.
        step_high = key.step >> 32 << 16
        for part in self._categorical:
            if part.fixed is not None or not _counts(part.when, action):
                action[part.action] = self._choice(part, distribution, mask, action)
            else:
                word, _ = threefry2x32(key.seed, key.step, key.row, step_high + part.block)
                action[part.action] = _sample_choice(part, distribution, mask, word)
        for number in self._gaussian:
            value = 0.0
            if _counts(number.when, action):
                words = threefry2x32(key.seed, key.step, key.row, step_high + number.block)
                deviation = distribution[number.log_std] if self._deviation_in_row else log_std[number.log_std]
                value = _sample_number(number, distribution, deviation, words)
            if number.squash is not None:
                value = squashed(number.squash, value)
            action[number.action] = fround(min(number.high, max(number.low, value)))
        self._write_fixed(action)
        return action

    def _choice(
        self, part: _Categorical, distribution: Sequence[float], mask: Sequence[bool], action: Sequence[float]
    ) -> int:
        if not _counts(part.when, action):
            return 0
        legal = [i for i in range(part.count) if mask[part.mask + i]]
        if part.fixed is not None:
            return part.fixed if part.fixed in legal else legal[0]
        return max(legal, key=lambda i: distribution[part.logits + i])

    def _write_fixed(self, action: list[float]) -> None:
        for column, value, when in self._fixed:
            action[column] = fround(value) if _counts(when, action) else 0.0


def _categorical(leaf: ActionLeaf, block: int) -> list[_Categorical]:
    parts: list[_Categorical] = []
    before = 0
    for i, count in enumerate(leaf.counts):
        fixed = None if leaf.fixed is None else int(leaf.fixed[i])
        logits, mask = leaf.distribution_offset + before, leaf.mask_offset + before
        parts.append(_Categorical(block + i, logits, count, mask, leaf.offset + i, leaf.when, fixed))
        before += count
    return parts


def _gaussian(leaf: ActionLeaf, i: int, block: int, first_deviation: int) -> _Gaussian:
    low, high = leaf.low[i], leaf.high[i]
    return _Gaussian(
        block + i // 2,
        i % 2 == 1,
        leaf.distribution_offset + i,
        leaf.offset + i,
        first_deviation + leaf.log_std_offset + i,
        -math.inf if low is None else low,
        math.inf if high is None else high,
        None if leaf.squash is None else (leaf.squash[i], leaf.center[i], leaf.scale[i]),
        leaf.when,
    )


def _counts(when: When | None, action: Sequence[float]) -> bool:
    return when is None or action[when.column] == when.choice


def _sample_choice(part: _Categorical, distribution: Sequence[float], mask: Sequence[bool], word: int) -> int:
    """Inverse of the cumulative distribution at one uniform number, over the legal values in their order."""
    logits = distribution[part.logits : part.logits + part.count]
    legal = mask[part.mask : part.mask + part.count]
    largest = max(logit for logit, is_legal in zip(logits, legal, strict=True) if is_legal)
    weights = [
        math.exp(logit - largest) if is_legal else 0.0 for logit, is_legal in zip(logits, legal, strict=True)
    ]
    total = 0.0
    for weight in weights:
        total += weight
    target = word * _TO_UNIT * total
    cumulative = 0.0
    choice = -1
    for i, weight in enumerate(weights):
        if weight > 0:
            # Rounding can leave the sum just below the target: the last possible value is then the one.
            choice = i
            cumulative += weight
            if target < cumulative:
                break
    return choice


def _sample_number(
    number: _Gaussian, distribution: Sequence[float], log_deviation: float, words: tuple[int, int]
) -> float:
    """Box and Muller's transform. Of a squashed number the sample before its squash."""
    radius = math.sqrt(-2 * math.log((words[0] + 1) * _TO_UNIT))
    angle = 2 * math.pi * _TO_UNIT * words[1]
    noise = radius * (math.sin(angle) if number.second else math.cos(angle))
    center = distribution[number.mean]
    # An exported model gives means as actions.
    if number.squash is not None:
        center = fround(unsquashed(number.squash, center))
    return fround(center + math.exp(log_deviation) * noise)


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry2x32(key0: int, key1: int, counter0: int, counter1: int) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds: two random words from a key and a counter of two words each.

    Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011.
    """
    keys = (key0 & _MASK, key1 & _MASK, (key0 ^ key1 ^ 0x1BD11BDA) & _MASK)
    a = counter0 + keys[0] & _MASK
    b = counter1 + keys[1] & _MASK
    for i in range(5):
        for rotation in _ROTATIONS[i % 2]:
            a = a + b & _MASK
            b = (b << rotation | b >> 32 - rotation) & _MASK ^ a
        a = a + keys[(i + 1) % 3] & _MASK
        b = b + keys[(i + 2) % 3] + i + 1 & _MASK
    return a, b


def refuse_sampling(spec: PolicySpec) -> None:
    """An agent that knows the values of actions has no probabilities. Raises `usage_invalid`."""
    if spec.head is not None and spec.head.endswith("q"):
        raise AgentGymError(
            "usage_invalid",
            "This agent knows the values of actions and no probabilities, so it cannot sample.",
            hint="Call act without deterministic=False.",
            data={"field": "deterministic"},
        )
