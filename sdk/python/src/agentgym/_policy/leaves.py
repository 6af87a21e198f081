"""The leaves that training gives a policy for the spaces of a scenario."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from .._codec.float32 import fround
from .._codec.spaces import (
    Box,
    Dict,
    Discrete,
    Items,
    MultiDiscrete,
    Space,
    Text,
    columns_of,
    encoded_characters,
    logits_of,
    tool_names,
)
from .._texts.sources import ENCODER_SOURCES
from ..errors import AgentGymError
from .spec import (
    STATE_INPUT,
    STATE_OUTPUT,
    ActionLeaf,
    ObservationLeaf,
    PolicySpec,
    SentenceEncoder,
    When,
)
from .squash import squash_for

_LARGEST_SCALE = 1e18
"""From this half-width on, a bound says "unbounded", and its square would overflow float32."""
_POINTER_UNITS = 32
"""Units of a pointer's query."""

Leaf = TypeVar("Leaf", ObservationLeaf, ActionLeaf)


def check_policy_spaces(policy: PolicySpec, observation: Space, action: Space) -> None:
    """Holds the policy of an agent's manifest to the spaces that it acts in.

    Leaves, their names, sizes and places in the flat rows must be those that training would give it. Raises `agent_invalid`.
    """
    own_action = _policy_action(observation, action, policy)
    memory = () if policy.memory is None else (STATE_INPUT, STATE_OUTPUT)
    outputs = [name for leaf in own_action if leaf.fixed is None for name in leaf.output_names()]
    own_observation = _uniquely_named(observation_leaves(observation), "obs", (*outputs, "value", *memory))
    for leaf, own in zip(policy.observation, own_observation, strict=False):
        _check_encoder(leaf, own)
    for side, given, expected in (
        ("observation", policy.observation, tuple(own_observation)),
        ("action", policy.action, tuple(own_action)),
    ):
        if given != expected:
            raise AgentGymError(
                "agent_invalid",
                f"agent.json: the policy's {side} is not the scenario's {side} space.",
                hint="Take agent.json from a training run, unchanged.",
                data={"file": "agent.json", "field": f"policy.{side}"},
            )


def _check_encoder(leaf: ObservationLeaf, own: ObservationLeaf) -> None:
    """Another file of an encoder gives other vectors, upon which the agent would act otherwise than it was evaluated."""
    if leaf.encoder is None or own.encoder is None:
        return
    for field in ("model_sha256", "vocabulary_sha256"):
        given, expected = getattr(leaf.encoder, field), getattr(own.encoder, field)
        if given != expected:
            raise AgentGymError(
                "agent_invalid",
                f"agent.json: {leaf.name} is made by another version of the text encoder "
                f'"{leaf.encoder.name}" ({field} {given[:12]}, here {expected[:12]}).',
                hint="Run the agent with the version of AgentGym that trained it, or train it again.",
                data={"file": "agent.json", "field": "policy.observation", "encoder": leaf.encoder.name},
            )


@dataclass(frozen=True, slots=True)
class _Part:
    """A leaf of a space: dict paths joined by dots, and the entry of the top-most dict that it is in."""

    name: str
    space: Box | Discrete | MultiDiscrete | Text | Items
    branch: str


def _parts(space: Space, path: str = "", branch: str = "") -> list[_Part]:
    if not isinstance(space, Dict):
        return [_Part(path, space, branch)]
    found: list[_Part] = []
    for name, inner in space.entries:
        found += _parts(inner, f"{path}.{name}" if path else name, branch or name)
    return found


def observation_leaves(space: Space) -> list[ObservationLeaf]:
    """In row order: `obs` for a space that is no dict, else dict paths joined by dots."""
    leaves: list[ObservationLeaf] = []
    offset = 0
    for part in _parts(space):
        of = part.space
        size = columns_of(of)
        name = part.name or "obs"
        match of:
            case Items():
                shape = (of.slots, 1 + of.features)
                leaves.append(ObservationLeaf(name, "box", offset, size, (), shape, slots=of.slots))
            case Box():
                leaves.append(ObservationLeaf(name, "box", offset, size, (), of.row_shape))
            case Text(encoder=str()):
                encoder = _declared_encoder(of)
                leaves.append(ObservationLeaf(f"{name}.embedding", "box", offset, size, (), (size,), encoder=encoder))
            case Text():
                leaves.append(ObservationLeaf(name, "text", offset, size, (of.vocabulary,), (size,)))
            case Discrete():
                leaves.append(ObservationLeaf(name, "discrete", offset, size, (of.n,), (size,)))
            case MultiDiscrete():
                leaves.append(ObservationLeaf(name, "multiDiscrete", offset, size, of.nvec, (size,)))
        offset += size
    return leaves





def _declared_encoder(space: Text) -> SentenceEncoder:
    name = space.encoder or ""
    source = ENCODER_SOURCES[name]
    return SentenceEncoder(
        name,
        source.model_sha256,
        source.vocabulary_sha256,
        space.max_tokens,
        encoded_characters(space.max_tokens),
    )


def _action_leaves(space: Space) -> list[tuple[ActionLeaf, str | None, float | None]]:
    """The engine's leaves in row order, each with the list that it points to and its default."""
    tools = tool_names(space)
    parts = _parts(space)
    chooser: int | None = None
    column = 0
    for part in parts:
        if tools is not None and isinstance(space, Dict) and part.branch == space.choice:
            chooser = column
        column += columns_of(part.space)
    leaves: list[tuple[ActionLeaf, str | None, float | None]] = []
    offset = distribution = mask = log_std = 0
    for part in parts:
        of = part.space
        if isinstance(of, Text | Items):
            continue
        size, logits = columns_of(of), logits_of(of)
        when = None
        if chooser is not None and tools is not None and isinstance(space, Dict) and part.branch != space.choice:
            when = When(chooser, _last_index(tools, part.branch))
        leaf = ActionLeaf(
            part.name or "action",
            {Box: "box", Discrete: "discrete", MultiDiscrete: "multiDiscrete"}[type(of)],
            offset,
            size,
            (of.n,) if isinstance(of, Discrete) else of.nvec if isinstance(of, MultiDiscrete) else (),
            distribution,
            mask,
            log_std,
            of.low if isinstance(of, Box) else (),
            of.high if isinstance(of, Box) else (),
            tuple(center for center, _ in _affine(of)),
            tuple(scale for _, scale in _affine(of)),
            of.start if isinstance(of, Discrete) else 0,
            when=when,
        )
        pointed = of.list if isinstance(of, Discrete) else None
        default = None if isinstance(of, MultiDiscrete) else of.default
        leaves.append((leaf, pointed, default))
        offset += size
        distribution += size if isinstance(of, Box) else logits
        mask += logits
        log_std += size if isinstance(of, Box) else 0
    return leaves


def _last_index(words: tuple[str, ...], word: str) -> int:
    return max((i for i, other in enumerate(words) if other == word), default=-1)


def _affine(space: Box | Discrete | MultiDiscrete) -> list[tuple[float, float]]:
    """Center and half width of bounded elements; 0 and 1 where a side is open."""
    if not isinstance(space, Box):
        return []
    pairs: list[tuple[float, float]] = []
    for low, high in zip(space.low, space.high, strict=True):
        if low is not None and high is not None and high > low:
            pairs.append((fround(low / 2 + high / 2), fround(high / 2 - low / 2)))
        else:
            pairs.append((low if low is not None else high if high is not None else 0.0, 1.0))
    return pairs


def _policy_action(observation: Space, action: Space, policy: PolicySpec) -> list[ActionLeaf]:
    """The engine's leaves as the policy has them.

    Pointers have a query; parts that are not trained have no outputs, and the others' places in the distribution row move up.
    """
    squashing = any(leaf.squash is not None for leaf in policy.action)
    tools_trained, parameters_trained = _trained_parts(policy)
    lists = [leaf.name for leaf in observation_leaves(observation)]
    engine = _action_leaves(action)
    named = _uniquely_named([leaf for leaf, _, _ in engine], "action", ())
    tool_columns = {leaf.when.column for leaf in named if leaf.when is not None}
    distribution = log_std = 0
    chosen: list[ActionLeaf] = []
    for leaf, (_, pointed, default) in zip(named, engine, strict=True):
        trained = parameters_trained if leaf.when is not None else tools_trained or leaf.offset not in tool_columns
        leaf = replace(leaf, distribution_offset=distribution, log_std_offset=log_std)
        if not trained:
            leaf = replace(leaf, fixed=_fixed_values(leaf, default))
        else:
            distribution += leaf.columns
            log_std += leaf.size if leaf.kind == "box" else 0
            if pointed is not None:
                place = lists.index(pointed) if pointed in lists else -1
                leaf = replace(leaf, pointer=(place, _POINTER_UNITS))
        chosen.append(_squash_leaf(leaf) if squashing else _without_huge_scales(leaf))
    return chosen


def _trained_parts(policy: PolicySpec) -> tuple[bool, bool]:
    """Whether a policy chooses the tool, and the parameters."""
    parameters = [leaf for leaf in policy.action if leaf.when is not None]
    if not parameters or parameters[0].when is None:
        return True, True
    column = parameters[0].when.column
    tool = next((leaf for leaf in policy.action if leaf.offset == column), None)
    return tool is None or tool.fixed is None, all(leaf.fixed is None for leaf in parameters)


def _fixed_values(leaf: ActionLeaf, default: float | None) -> tuple[float, ...]:
    """What a part that is not trained always is: its default, else its first choice or the middle of its range."""
    if default is not None:
        return (default,)
    return leaf.center if leaf.kind == "box" else (0,) * leaf.size


def _squash_leaf(leaf: ActionLeaf) -> ActionLeaf:
    if leaf.kind != "box" or leaf.fixed is not None:
        return leaf
    columns = [squash_for(low, high) for low, high in zip(leaf.low, leaf.high, strict=True)]
    return replace(
        leaf,
        center=tuple(center for _, center, _ in columns),
        scale=tuple(scale for _, _, scale in columns),
        squash=tuple(kind for kind, _, _ in columns),
    )


def _without_huge_scales(leaf: ActionLeaf) -> ActionLeaf:
    huge = [not scale < _LARGEST_SCALE for scale in leaf.scale]
    return replace(
        leaf,
        center=tuple(0.0 if is_huge else center for center, is_huge in zip(leaf.center, huge, strict=True)),
        scale=tuple(1.0 if is_huge else scale for scale, is_huge in zip(leaf.scale, huge, strict=True)),
    )


def _uniquely_named(leaves: Iterable[Leaf], root: str, reserved: Iterable[str]) -> list[Leaf]:
    """Names of leaves are names of ONNX tensors: unique, and no input is named as an output is."""
    taken = set(reserved)
    named: list[Leaf] = []
    for leaf in leaves:
        name = leaf.name
        while name in taken or name.startswith("/"):
            name = f"{root}.{name}"
        taken.add(name)
        named.append(replace(leaf, name=name))
    return named
