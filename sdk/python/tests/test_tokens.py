"""Every character is split as the TypeScript tokenizer splits it: infra/e2e/python-agents.test.ts writes its ids."""

from __future__ import annotations

import os
import unicodedata
from array import array
from pathlib import Path

from agentgym._texts.tokens import cut_text, tokenize


def test_every_character_of_this_unicode_gives_the_same_ids() -> None:
    expected = array("i", Path(os.environ["AGENTGYM_TEST_TOKENS"]).read_bytes())
    points = [point for point in range(0x32400) if not 0xD800 <= point <= 0xDFFF]
    assert len(expected) == 4 * len(points)
    compared = 0
    for i, point in enumerate(points):
        # What this Python does not know yet is newer than its tables.
        if unicodedata.category(chr(point)) != "Cn":
            assert tokenize(f"a{chr(point)}b", 4, 2**20) == list(expected[4 * i : 4 * i + 4]), hex(point)
            compared += 1
    assert compared > 100_000


def test_texts_are_cut_by_utf_16_units() -> None:
    assert cut_text("abc", 2) == "ab"
    assert cut_text("a😀b", 2) == "a\ufffd"
    assert cut_text("a😀b", 3) == "a😀"
    assert cut_text("\udc00é", 9) == "\ufffdé"
