"""An agent's folder: agent.json and model.onnx, which may come from anyone."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from .._codec.reading import ManifestInvalid, Reading
from .._codec.spaces import Space, columns_of, logits_of, read_space
from .._model import check_model_structure
from .._model.failure import LOCAL_LIMITS
from ..errors import AgentGymError
from .leaves import check_policy_spaces
from .spec import PolicySpec, read_policy

_MOST_MANIFEST_BYTES = 4 * 2**20
"""A manifest is a few kilobytes."""
_MOST_NUMBERS = LOCAL_LIMITS.elements
"""Of an observation, an action or a mask, as of a value in the model: parts that a policy does not choose are not in the model."""


@dataclass(frozen=True, slots=True)
class ConfidenceMap:
    """Turns the policy's probability p of its choice into the chance that the episode is solved.

    1 / (1 + exp(-(slope * logit(p) + intercept))), p within a millionth of 0 and 1 (Platt 1999).
    """

    slope: float
    intercept: float

    def of(self, probability: float) -> float:
        inside = min(1 - 1e-6, max(1e-6, probability))
        exponent = self.slope * math.log(inside / (1 - inside)) + self.intercept
        return 1 / (1 + math.exp(-exponent)) if exponent > -700 else 0.0


@dataclass(frozen=True, slots=True)
class AgentFiles:
    manifest: dict[str, Any]
    """agent.json as it is; what acting depends on has been checked."""
    policy: PolicySpec
    observation: Space
    action: Space
    mask_required: bool
    """The policy has only ever chosen among legal actions, so whoever asks it must say which those are."""
    confidence: ConfidenceMap | None
    """None for an agent that is not calibrated."""
    model: bytes
    """As the structural walk has written it: what ONNX Runtime may load."""


def read_agent(folder: Path) -> AgentFiles:
    """Raises `file_not_found`, `manifest_invalid`, `agent_invalid`, and the codes `model_…` of the structural walk."""
    path = folder / "agent.json"
    try:
        text = _read_bounded(path, _MOST_MANIFEST_BYTES, "manifest_invalid")
    except OSError as error:
        raise AgentGymError(
            "file_not_found",
            f"there is no agent in {folder}: {path} cannot be read",
            hint="Name a folder that agentgym train wrote, or a package such as @ann/support.",
            data={"path": str(path)},
        ) from error
    try:
        manifest = parse_json(text)
        reading = Reading(manifest)
        if reading.get("format").integer() != 1:
            raise ManifestInvalid("format", "must be 1")
        scenario = reading.get("scenario")
        for member in ("name", "version"):
            scenario.get(member).text()
        policy = read_policy(reading.get("policy"))
        observation, action = (read_space(scenario.get(side)) for side in ("observation", "action"))
        if columns_of(observation) > _MOST_NUMBERS or max(columns_of(action), logits_of(action)) > _MOST_NUMBERS:
            raise ManifestInvalid("scenario", f"its spaces have more than {_MOST_NUMBERS} numbers")
        mask_required = scenario.optional("mask_required") is not None
        confidence = _read_confidence(reading.optional("confidence"))
        model_hash = reading.get("model_hash").text(64)
    except (ManifestInvalid, ValueError) as error:
        field = error.path if isinstance(error, ManifestInvalid) else ""
        raise AgentGymError(
            "manifest_invalid",
            f"{path} is not a valid agent manifest: {error}",
            hint="Train or download the agent again; agent.json is not meant to be edited.",
            data={"path": str(path), "field": field},
        ) from error
    model = check_model_structure(_read_model(folder / "model.onnx", model_hash), policy)
    check_policy_spaces(policy, observation, action)
    return AgentFiles(manifest, policy, observation, action, mask_required, confidence, model)


def _read_confidence(reading: Reading | None) -> ConfidenceMap | None:
    if reading is None:
        return None
    reading.only("method", "slope", "intercept", "episodes", "choices", "seed")
    reading.get("method").one_of("platt")
    slope = reading.get("slope").number()
    if slope < 0:
        raise ManifestInvalid("confidence.slope", "must be at least 0")
    return ConfidenceMap(slope, reading.get("intercept").number())


def parse_json(text: bytes | str) -> Any:
    """Raises ValueError for anything that is not JSON, such as NaN."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it nests too deep") from None


def _read_model(path: Path, expected: str) -> bytes:
    again = "Train or download the agent again."
    try:
        model = _read_bounded(path, LOCAL_LIMITS.bytes, "model_too_large")
    except OSError as error:
        raise AgentGymError(
            "agent_invalid", f"{path} cannot be read", hint=again, data={"path": str(path)}
        ) from error
    if sha256(model).hexdigest() != expected:
        raise AgentGymError(
            "agent_invalid",
            f"{path} is not the model that agent.json describes: its SHA-256 differs",
            hint=again,
            data={"path": str(path)},
        )
    return model


def _read_bounded(path: Path, limit: int, code: str) -> bytes:
    """A file of a stranger's package: not read where it is larger than anything that could be used."""
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise AgentGymError(
            code,
            f"{path} has more than {limit} bytes, the most that are taken",
            hint="Train or download the agent again.",
            data={"path": str(path), "limit": limit},
        )
    return content
