"""Observations in, decisions out: what an evaluation would do upon them."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context
from enum import Enum
from typing import Any

import numpy
from numpy.typing import NDArray

from .._codec.actions import decode_action
from .._codec.describe import Problem
from .._codec.masks import PointerMask, mask_writer
from .._codec.observations import Vectors, observation_writer
from .._codec.spaces import Space, describe_space
from ..errors import AgentGymError
from .sampling import ActionChooser, SamplingKey
from .session import PolicyRows, PolicySession
from .spec import ActionLeaf, PolicySpec

_NO_TOOL = "no tool can be called: those that are legal choose from lists without a legal item"

_SEVEN_DIGITS = Context(prec=7, rounding=ROUND_HALF_UP)


class Unsaid(Enum):
    """The caller did not say what is legal."""

    MASK = "what the agent's default is"


@dataclass(frozen=True, slots=True)
class Call:
    """An observation as the scenario gives it, what is legal (None: everything), and what the agent remembered."""

    observation: Any
    mask: Any = Unsaid.MASK
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    action: Any
    label: str | None
    probabilities: list[float] | None
    """Of the action, or of the tool, where it is one choice of several."""
    chosen: float | None
    """The probability of what was chosen of them."""
    value: float | None
    state: str | None


@dataclass(slots=True)
class _Row:
    call: Call
    mask: list[bool]


class Acting:
    """Answers observations by the encoders and decoders of a scenario's spaces, in batches of one size."""

    def __init__(
        self, session: PolicySession, observation: Space, action: Space, mask_required: bool, vectors: Vectors
    ) -> None:
        self._session = session
        self._spec = session.spec
        self._observation = observation
        self._action = action
        self._mask_required = mask_required
        self._write_observation = observation_writer(observation, vectors)
        self._write_mask = mask_writer(action, "action_mask")
        self._pointers = PointerMask(action)
        self._chooser = ActionChooser(session.spec)
        self._choosing = _choosing_leaf(session.spec)

    def decide(
        self, calls: Sequence[Call], batch: int, sampling: tuple[int, int] | None
    ) -> list[Decided | AgentGymError]:
        """One answer a call, in order, at most `batch`: what is wrong with a call is that call's answer alone.

        `sampling` is a seed and a count of the batches that it was used for; None takes the likeliest actions.
        """
        observations = numpy.zeros((batch, self._spec.observation_size), numpy.float32)
        states = numpy.zeros((batch, self._spec.state_size), numpy.float32)
        answers: list[Decided | AgentGymError | None] = [None] * len(calls)
        rows: dict[int, _Row] = {}
        for i, call in enumerate(calls):
            try:
                states[i] = read_state(call.state, self._spec.state_size)
                mask = self._encode(call, observations[i])
            except AgentGymError as error:
                observations[i] = 0
                answers[i] = error
                continue
            rows[i] = _Row(call, mask)
        for i, answer in self._run(rows, observations, states, sampling):
            answers[i] = answer
        return [answer for answer in answers if answer is not None]

    def _run(
        self,
        rows: dict[int, _Row],
        observations: NDArray[numpy.float32],
        states: NDArray[numpy.float32],
        sampling: tuple[int, int] | None,
    ) -> list[tuple[int, Decided | AgentGymError]]:
        if not rows:
            return []
        try:
            found = self._session.run(observations, states)
        except AgentGymError as error:
            if len(rows) == 1:
                return [(i, error) for i in rows]
            # One observation may be what ONNX Runtime stumbles over: each by itself, so that the others have their answer.
            answers: list[tuple[int, Decided | AgentGymError]] = []
            for i, row in rows.items():
                alone = numpy.zeros_like(observations)
                alone[i] = observations[i]
                answers += self._run({i: row}, alone, states, sampling)
            return answers
        return [(i, self._read(row, i, found, sampling)) for i, row in rows.items()]

    def _encode(self, call: Call, row: NDArray[numpy.float32]) -> list[bool]:
        """Writes a call into its row, and gives its mask. Raises `observation_invalid` and `mask_required`."""
        try:
            self._write_observation(call.observation, row, 0)
        except Problem as problem:
            raise call_invalid("observation", f"{problem}.", describe_space(self._observation)) from None
        mask = [True] * self._chooser.mask_size
        expected = f"booleans, one a choice of {describe_space(self._action)}"
        if call.mask is Unsaid.MASK and self._mask_required:
            raise _missing_mask(expected)
        if call.mask is None or call.mask is Unsaid.MASK:
            if not self._pointers.apply(call.observation, mask):
                raise call_invalid("observation", f"{_NO_TOOL}.", describe_space(self._observation))
            return mask
        # A box cannot be masked. Ignoring the mask would mislead the caller.
        if not mask:
            unmaskable = "action_mask was sent, and the action has no choices to mask."
            raise call_invalid("action_mask", unmaskable, expected)
        try:
            self._write_mask(call.mask, mask, 0)
        except Problem as problem:
            raise call_invalid("action_mask", f"{problem}.", expected) from None
        if not self._pointers.apply(call.observation, mask):
            raise call_invalid("action_mask", f"{_NO_TOOL}.", expected)
        return mask

    def _read(
        self, row: _Row, i: int, found: PolicyRows, sampling: tuple[int, int] | None
    ) -> Decided | AgentGymError:
        distribution: list[float] = found.distribution[i].tolist()
        state = None if found.states is None else found.states[i]
        for number in (*distribution, *([] if state is None else state.tolist())):
            if not math.isfinite(number):
                return _output_invalid(number)
        if sampling is None:
            chosen = self._chooser.likeliest(distribution, row.mask)
        else:
            key = SamplingKey(*sampling, i)
            chosen = self._chooser.sample(distribution, found.log_std, row.mask, key)
        action, label = decode_action(self._action, chosen, row.call.observation)
        value = float(found.values[i])
        probabilities = None
        if self._choosing is not None:
            probabilities = _choice_probabilities(self._choosing, distribution, row.mask)
        return Decided(
            action,
            label,
            probabilities,
            None if probabilities is None or self._choosing is None else probabilities[int(chosen[self._choosing.offset])],
            value if math.isfinite(value) else None,
            None if state is None else write_state(state),
        )


def _choosing_leaf(spec: PolicySpec) -> ActionLeaf | None:
    """The leaf whose choice is the action, or the tool.

    None where the action is several choices or numbers, or the policy knows values instead of probabilities.
    """
    if spec.head in ("q", "dueling_q"):
        return None
    columns = [leaf.when.column for leaf in spec.action if leaf.when is not None]
    if columns:
        leaf = next((leaf for leaf in spec.action if leaf.offset == columns[0]), None)
    else:
        leaf = spec.action[0] if len(spec.action) == 1 else None
    return leaf if leaf is not None and leaf.kind == "discrete" and leaf.fixed is None else None


def _choice_probabilities(leaf: ActionLeaf, distribution: Sequence[float], mask: Sequence[bool]) -> list[float]:
    """Probabilities of a leaf's choices in order, 0 for masked ones, to float32's seven digits."""
    logits = distribution[leaf.distribution_offset : leaf.distribution_offset + leaf.counts[0]]
    legal = mask[leaf.mask_offset : leaf.mask_offset + leaf.counts[0]]
    largest = max(logit for logit, is_legal in zip(logits, legal, strict=True) if is_legal)
    weights = [
        math.exp(logit - largest) if is_legal else 0.0 for logit, is_legal in zip(logits, legal, strict=True)
    ]
    total = 0.0
    for weight in weights:
        total += weight
    return [float(_SEVEN_DIGITS.create_decimal_from_float(weight / total)) for weight in weights]


def read_state(state: str | None, size: int) -> NDArray[numpy.float32] | float:
    """What a caller sent as an agent's memory; nothing sent begins an episode.

    Raises `observation_invalid` if it is not what this agent returned.
    """
    if state is None:
        return 0.0
    try:
        raw = base64.b64decode(state, validate=True) if isinstance(state, str) else b""
    except ValueError:
        raw = b""
    if size > 0 and len(raw) == size * 4 and base64.b64encode(raw).decode() == state:
        row = numpy.frombuffer(raw, "<f4")
        if numpy.isfinite(row).all():
            return row
    expected = "no state: this agent has no memory" if size == 0 else "the state of an earlier call, unchanged"
    raise call_invalid("state", "state is not one that this agent has returned.", expected)


def write_state(row: NDArray[numpy.float32]) -> str:
    """The same for the way back."""
    return base64.b64encode(row.astype("<f4").tobytes()).decode()


def call_invalid(field: str, message: str, expected: str) -> AgentGymError:
    """An invalid call. `message` names the field, the expected and the received value; `expected` describes the whole space."""
    return AgentGymError(
        "observation_invalid",
        message,
        hint=f"Send {field} as the scenario gives it: {expected}.",
        data={"field": field, "expected": expected},
    )


def _missing_mask(expected: str) -> AgentGymError:
    return AgentGymError(
        "mask_required",
        "This agent has only ever chosen among legal actions, and the call does not say which are.",
        hint=f"Pass as mask what the scenario's actionMask gives ({expected}), or None if everything is legal.",
        data={"field": "action_mask", "expected": expected},
    )


def _output_invalid(number: float) -> AgentGymError:
    return AgentGymError(
        "model_output_invalid",
        f"model.onnx gives {number} for this observation.",
        hint="Look whether the observation is of a size that the agent was trained with.",
        data={"file": "model.onnx"},
    )
