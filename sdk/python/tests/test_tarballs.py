"""Tarballs are read as the TypeScript library reads them, or not at all."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest
from agentgym import AgentGymError
from agentgym._packages.store import _read_package

from recorded import read_recorded

RECORDED = read_recorded()


def test_there_are_tarballs_of_both_kinds() -> None:
    refused = ["code" in tarball["outcome"] for tarball in RECORDED]
    assert refused.count(True) > 50
    assert refused.count(False) > 10


@pytest.mark.parametrize("tarball", RECORDED, ids=lambda tarball: tarball["name"])
def test_it_is_read_the_same(tarball: dict[str, dict[str, str]]) -> None:
    data = base64.b64decode(tarball["bytes"])
    if "code" in tarball["outcome"]:
        with pytest.raises(AgentGymError) as raised:
            _read_package(data)
        assert raised.value.code == tarball["outcome"]["code"]
    else:
        files = {path: sha256(content).hexdigest() for path, content in _read_package(data).items()}
        assert files == tarball["outcome"]
