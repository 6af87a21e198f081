"""A trained agent: an observation in, an action and its probabilities out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ._codec.spaces import Dict, Discrete, Space, tool_names
from ._policy.acting import Acting, Call, Decided, Unsaid
from ._policy.manifest import AgentFiles
from ._policy.sampling import refuse_sampling
from ._policy.session import PolicySession
from ._texts.vectors import TextVectors
from .errors import AgentGymError

BATCH = 256
"""Observations that go through the model at once."""

SINGLE = 4
"""ONNX Runtime rounds whole blocks of four rows alike, whatever the batch. Evaluations run such batches: so does one observation."""

Observation = TypeVar("Observation")
Action = TypeVar("Action")
Label = TypeVar("Label")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the choices that an action or a tool was picked from."""

    index: int
    """From 0."""
    label: str | None
    """The scenario's word for it, such as the name of a tool; None where it has none."""
    probability: float
    """0 for what is not legal."""


class AgentPackage(NamedTuple):
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Decision(Generic[Action, Label]):
    """What an agent does upon an observation."""

    action: Action
    """As the scenario's `step` takes it: a number (discrete), a list of numbers (multiDiscrete, box), a dict.

    Of tools with parameters: `tool` and, under the tool's name, its arguments in words and ids.
    """
    label: Label
    """The word for a discrete action, or the tool; None where there is none."""
    arguments: dict[str, Any] | None
    """Those of the chosen tool; None for an agent without tools that have parameters."""
    choices: list[Choice] | None
    """The choices that the action or the tool was picked from; None for an agent that has none."""
    confidence: float | None
    """The chance that the episode is solved, from the probability of the choice.

    Calibrated on held-out episodes, for observations and masks as the scenario gives them. None for an agent that is not
    calibrated, and for actions that are sampled.
    """
    value: float | None
    """Expected return from here on, as the agent sees it, in units of the reward; None if it does not say."""
    state: str | None
    """Of an agent with memory: pass it on with the next observation of the episode. None for others."""


class Agent(Generic[Observation, Action, Label]):
    """A trained agent, as `agentgym.load` gives it.

    It decides as in the evaluation that its package claims, in this process and by ONNX Runtime alone. Threads may share it: they
    take turns.

    The types are those that `agentgym agent types NAME --python` writes: `agent: Agent[Observation, Action, Label] = load(NAME)`.
    """

    def __init__(self, files: AgentFiles, *, package: AgentPackage | None = None, seed: int = 0) -> None:
        """Use `agentgym.load`."""
        self.manifest: dict[str, Any] = files.manifest
        """agent.json."""
        self.package = package
        """Name and version of the package that it came from; None for a folder without a package.json."""
        self.labels = _labels(files.action)
        """Words for the choices of a discrete action, or the names of the tools, in order; None where there are none."""
        self.remembers = files.policy.memory is not None
        """Whether decisions carry a `state` that belongs to the next one."""
        self._spec = files.policy
        self._has_tools = isinstance(files.action, Dict) and files.action.choice is not None
        self._confidence = files.confidence
        self._seed = seed
        self._decisions = 0
        self._turn = threading.Lock()
        encoders = {leaf.encoder.name for leaf in files.policy.observation if leaf.encoder is not None}
        session = PolicySession(files.model, files.policy)
        vectors = TextVectors(encoders).vector
        self._acting = Acting(session, files.observation, files.action, files.mask_required, vectors)

    def act(
        self,
        observation: Observation,
        *,
        mask: Any = Unsaid.MASK,
        deterministic: bool = True,
        state: str | None = None,
    ) -> Decision[Action, Label]:
        """Decides on one observation, which has the form that the scenario's `observe` returns.

        `mask` says what is legal, in the form of the action, as the scenario's `actionMask` gives it; None is everything. An agent
        whose agent.json says `mask_required` refuses a decision without it; for others, everything is the default.
        `deterministic=False` samples from the probabilities; otherwise the action is the likeliest, as in the agent's evaluation.
        `state` is that of the last decision of this episode, of an agent with memory; without one an episode begins. Lists of
        numbers may be NumPy arrays.

        Raises AgentGymError: `observation_invalid`, whose message and `data["field"]` name the field, `mask_required` and
        `model_output_invalid`.
        """
        with self._turn:
            (answer,) = self._acting.decide([Call(observation, mask, state)], SINGLE, self._sampling(deterministic))
        if isinstance(answer, AgentGymError):
            raise answer
        return self._decision(answer, deterministic)

    def act_batch(
        self,
        observations: Sequence[Observation],
        *,
        masks: Sequence[Any] | None = None,
        deterministic: bool = True,
        states: Sequence[str | None] | None = None,
    ) -> list[Decision[Action, Label]]:
        """Decides on many observations of different episodes at once, in order.

        `masks` and `states` have one entry for each, None where everything is legal and where an episode begins, or are absent.
        Raises what the first invalid one is refused for, with its place as `data["row"]`.
        """
        for name, given in (("masks", masks), ("states", states)):
            if given is not None and len(given) != len(observations):
                raise AgentGymError(
                    "usage_invalid",
                    f"act_batch got {len(observations)} observations and {len(given)} {name}.",
                    hint=f"Pass as many {name} as observations, None for what has none.",
                    data={"field": name},
                )
        calls = [
            Call(observation, Unsaid.MASK if masks is None else masks[i], None if states is None else states[i])
            for i, observation in enumerate(observations)
        ]
        decisions: list[Decision[Action, Label]] = []
        for first in range(0, len(calls), BATCH):
            some = calls[first : first + BATCH]
            # A block of four rows is rounded alike, so fewer blocks give the same numbers.
            batch = -(-len(some) // SINGLE) * SINGLE
            with self._turn:
                answers = self._acting.decide(some, batch, self._sampling(deterministic))
            for row, answer in enumerate(answers, first):
                if isinstance(answer, AgentGymError):
                    raise _in_row(answer, row)
                decisions.append(self._decision(answer, deterministic))
        return decisions

    def _sampling(self, deterministic: bool) -> tuple[int, int] | None:
        if deterministic:
            return None
        refuse_sampling(self._spec)
        self._decisions += 1
        return self._seed, self._decisions - 1

    def _decision(self, decided: Decided, deterministic: bool) -> Decision[Any, Any]:
        arguments = None
        if self._has_tools and decided.label is not None:
            arguments = decided.action.get(decided.label, {})
        choices = None
        if decided.probabilities is not None:
            choices = [
                Choice(i, self.labels[i] if self.labels is not None and i < len(self.labels) else None, probability)
                for i, probability in enumerate(decided.probabilities)
            ]
        confidence = None
        if self._confidence is not None and deterministic and decided.chosen is not None:
            confidence = self._confidence.of(decided.chosen)
        return Decision(decided.action, decided.label, arguments, choices, confidence, decided.value, decided.state)


def _labels(space: Space) -> list[str] | None:
    words = space.labels if isinstance(space, Discrete) else tool_names(space)
    return None if words is None else list(words)


def _in_row(error: AgentGymError, row: int) -> AgentGymError:
    return AgentGymError(
        error.code, f"Observation {row}: {error.message}", hint=error.hint, data={**error.data, "row": row}
    )
