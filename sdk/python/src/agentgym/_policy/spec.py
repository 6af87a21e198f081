"""What a policy sees and how it acts: its leaves, in the flat rows that the model reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from .._codec.reading import ManifestInvalid, Reading

STATE_INPUT = "state"
STATE_OUTPUT = "next_state"


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """The frozen sentence encoder whose vector of a text is the policy's input."""

    name: str
    model_sha256: str
    vocabulary_sha256: str
    max_tokens: int
    max_characters: int
    pooling: str = "mean"
    normalized: bool = True


@dataclass(frozen=True, slots=True)
class ObservationLeaf:
    name: str
    kind: str
    offset: int
    size: int
    counts: tuple[int, ...]
    shape: tuple[int, ...]
    slots: int | None = None
    encoder: SentenceEncoder | None = None


@dataclass(frozen=True, slots=True)
class When:
    """The leaf counts only where the action row has `choice` in `column`: a parameter of a tool."""

    column: int
    choice: int


@dataclass(frozen=True, slots=True)
class ActionLeaf:
    name: str
    kind: str
    offset: int
    size: int
    counts: tuple[int, ...]
    distribution_offset: int
    mask_offset: int
    log_std_offset: int
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    center: tuple[float, ...]
    scale: tuple[float, ...]
    start: int
    squash: tuple[str, ...] | None = None
    when: When | None = None
    pointer: tuple[int, int] | None = None
    """Number of the observation's leaf whose slots are the choices, and units of the query."""
    fixed: tuple[float, ...] | None = None
    """The value of every column where the policy does not choose it and has no output for it."""

    @property
    def columns(self) -> int:
        """Columns in the distribution row."""
        if self.fixed is not None:
            return 0
        return self.size if self.kind == "box" else sum(self.counts)

    def output_names(self) -> tuple[str, ...]:
        """Names of the tensors that a model gives: logits, or mean and log_std."""
        prefix = "" if self.name == "action" else f"{self.name}."
        return (f"{prefix}mean", f"{prefix}log_std") if self.kind == "box" else (f"{prefix}logits",)


@dataclass(frozen=True, slots=True)
class PolicySpec:
    observation: tuple[ObservationLeaf, ...]
    action: tuple[ActionLeaf, ...]
    head: str | None = None
    memory: int | None = None
    """Units of the recurrent core; None for a policy that acts on the observation alone."""

    @property
    def state_size(self) -> int:
        """Numbers of one episode's memory: the actor's and the critic's units."""
        return 0 if self.memory is None else 2 * self.memory

    @property
    def observation_size(self) -> int:
        return sum(leaf.size for leaf in self.observation)

    @property
    def distribution_size(self) -> int:
        columns = sum(leaf.columns for leaf in self.action)
        return 2 * columns if self.head == "squashed_gaussian" else columns

    def inputs(self) -> dict[str, int]:
        """Columns of a model's float32 inputs by name."""
        inputs = {leaf.name: leaf.size for leaf in self.observation}
        return inputs if self.memory is None else {**inputs, STATE_INPUT: self.state_size}

    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Dimensions of a model's float32 outputs by name, without the batch."""
        outputs: dict[str, tuple[int, ...]] = {}
        for leaf in self.action:
            if leaf.fixed is None:
                outputs.update({name: (leaf.columns,) for name in leaf.output_names()})
        if self.memory is not None:
            outputs[STATE_OUTPUT] = (self.state_size,)
        return {**outputs, "value": ()}


def read_policy(reading: Reading) -> PolicySpec:
    """Raises ManifestInvalid."""
    reading.only(
        *("version", "observation", "action", "hidden", "activation", "embedding", "normalizeObservation"),
        *("convolution?", "head?", "memory?"),
    )
    version = reading.get("version")
    if version.integer() != 1:
        raise ManifestInvalid(version.path, "must be 1")
    head, memory = reading.optional("head"), reading.optional("memory")
    if memory is not None:
        memory.only("kind", "units")
        memory.get("kind").one_of("gru")
    return PolicySpec(
        tuple(_read_observation_leaf(each) for each in reading.get("observation").each(1)),
        tuple(_read_action_leaf(each) for each in reading.get("action").each(1)),
        None if head is None else head.one_of("q", "dueling_q", "squashed_gaussian"),
        None if memory is None else memory.get("units").integer(1),
    )


def _read_observation_leaf(reading: Reading) -> ObservationLeaf:
    reading.only("name", "kind", "offset", "size", "counts", "shape", "slots?", "encoder?")
    slots, encoder = reading.optional("slots"), reading.optional("encoder")
    return ObservationLeaf(
        reading.get("name").text(1),
        reading.get("kind").one_of("box", "discrete", "multiDiscrete", "text"),
        reading.get("offset").integer(0),
        reading.get("size").integer(1),
        _integers(reading.get("counts"), 1),
        _integers(reading.get("shape"), 1),
        None if slots is None else slots.integer(1),
        None if encoder is None else _read_encoder(encoder),
    )


def _read_encoder(reading: Reading) -> SentenceEncoder:
    reading.only(
        *("name", "model_sha256", "vocabulary_sha256", "max_tokens", "max_characters", "pooling", "normalized")
    )
    return SentenceEncoder(
        reading.get("name").one_of("minilm"),
        reading.get("model_sha256").text(64),
        reading.get("vocabulary_sha256").text(64),
        reading.get("max_tokens").integer(1),
        reading.get("max_characters").integer(1),
        reading.get("pooling").one_of("mean"),
        reading.get("normalized").boolean(),
    )


def _read_action_leaf(reading: Reading) -> ActionLeaf:
    reading.only(
        *("name", "kind", "offset", "size", "counts", "distributionOffset", "maskOffset", "logStdOffset", "low", "high"),
        *("center", "scale", "start", "squash?", "when?", "pointer?", "fixed?"),
    )
    squash, when = reading.optional("squash"), reading.optional("when")
    pointer, fixed = reading.optional("pointer"), reading.optional("fixed")
    if when is not None:
        when.only("column", "choice")
    if pointer is not None:
        pointer.only("leaf", "units")
    return ActionLeaf(
        reading.get("name").text(1),
        reading.get("kind").one_of("discrete", "multiDiscrete", "box"),
        reading.get("offset").integer(0),
        reading.get("size").integer(1),
        _integers(reading.get("counts"), 1),
        reading.get("distributionOffset").integer(0),
        reading.get("maskOffset").integer(0),
        reading.get("logStdOffset").integer(0),
        tuple(each.number_or_none() for each in reading.get("low").each()),
        tuple(each.number_or_none() for each in reading.get("high").each()),
        tuple(each.number() for each in reading.get("center").each()),
        tuple(each.number() for each in reading.get("scale").each()),
        reading.get("start").integer(),
        None if squash is None else tuple(each.one_of("tanh", "exp", "sinh") for each in squash.each()),
        None if when is None else When(when.get("column").integer(0), when.get("choice").integer(0)),
        None if pointer is None else (pointer.get("leaf").integer(0), pointer.get("units").integer(1)),
        None if fixed is None else tuple(each.number() for each in fixed.each()),
    )


def _integers(reading: Reading, least: int) -> tuple[int, ...]:
    return tuple(each.integer(least) for each in reading.each())
