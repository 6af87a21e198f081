"""The structural walk accepts and refuses as the TypeScript walk does, and writes the same bytes."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any

from agentgym import AgentGymError
from agentgym._codec.reading import Reading
from agentgym._model.check import check_model_structure
from agentgym._model.failure import LOCAL_LIMITS, ModelLimits
from agentgym._policy.spec import read_policy

from recorded import read_recorded

RECORDED = read_recorded()
NAMES = {"nameBytes": "name_bytes", "textBytes": "text_bytes", "elementsTotal": "elements_total"}
PUBLISHED = ModelLimits(**{NAMES.get(name, name): limit for name, limit in RECORDED["limits"].items()})


def outcome(model: Any, limits: ModelLimits) -> Any:
    policy = read_policy(Reading(model["policy"]))
    try:
        return sha256(check_model_structure(base64.b64decode(model["bytes"]), policy, limits)).hexdigest()
    except AgentGymError as error:
        assert error.hint
        return error.code, error.message


def expected(recorded: Any) -> Any:
    return recorded if isinstance(recorded, str) else (recorded["code"], recorded["message"])


def test_there_are_models_of_both_kinds() -> None:
    outcomes = [model["local"] for model in RECORDED["models"]]
    assert sum(isinstance(each, str) for each in outcomes) > 50
    assert len({each["code"] for each in outcomes if not isinstance(each, str)}) >= 28


def test_the_walk_gives_the_same_outcome_under_both_sets_of_limits() -> None:
    for model in RECORDED["models"]:
        assert outcome(model, LOCAL_LIMITS) == expected(model["local"]), model["name"]
        assert outcome(model, PUBLISHED) == expected(model["published"]), model["name"]
