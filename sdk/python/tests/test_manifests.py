"""Folders are refused for the reasons that the TypeScript library refuses them for."""

from __future__ import annotations

from typing import Any

import agentgym
import pytest

from recorded import read_recorded

RECORDED = read_recorded()


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["name"])
def test_it_has_the_same_outcome(recorded: dict[str, Any]) -> None:
    expected = recorded["outcome"]
    if expected == "accepted":
        agentgym.load(recorded["folder"])
        return
    with pytest.raises(agentgym.AgentGymError) as raised:
        agentgym.load(recorded["folder"])
    assert raised.value.code == expected["code"]
    assert raised.value.hint
