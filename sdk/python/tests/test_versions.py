"""Versions and ranges mean what npm's semver says."""

from __future__ import annotations

from agentgym._packages.versions import parse_range, parse_version

from recorded import read_recorded

RECORDED = read_recorded()


def test_ranges_allow_the_same_versions() -> None:
    for recorded in RECORDED["ranges"]:
        parsed = parse_range(recorded["text"])
        assert (parsed is not None) == recorded["valid"], recorded
        if parsed is not None:
            versions = [(text, parse_version(text)) for text in RECORDED["versions"]]
            allowed = [text for text, version in versions if version is not None and parsed.allows(version)]
            assert allowed == recorded["allowed"], recorded


def test_versions_are_read_and_sorted_the_same() -> None:
    for text, expected in RECORDED["parsed"].items():
        assert (parse_version(text) is None) == (expected is None), text
    assert sorted(RECORDED["sorted"], key=lambda text: parse_version(text)) == RECORDED["sorted"]
