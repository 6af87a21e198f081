"""The tokenizer of text spaces: lower-case words, hashed.

The same as sdk/scenario/src/tokenize.ts. A character that is newer than this Python's Unicode tables is no letter here; all
others give the same ids on every machine.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from array import array

_SINGLES = (
    "\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fd-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9\uff66-\uff6f"
    "\uff71-\uff9d\U00016fe2-\U00016fe3\U00016ff0-\U00016ff6\U0001aff0-\U0001aff3\U0001aff5-\U0001affb\U0001affd-\U0001affe"
    "\U0001b000-\U0001b122\U0001b132\U0001b150-\U0001b152\U0001b155\U0001b164-\U0001b167\U0001f200\U00020000-\U0002a6df"
    "\U0002a700-\U0002b81d\U0002b820-\U0002cead\U0002ceb0-\U0002ebe0\U0002ebf0-\U0002ee5d\U0002f800-\U0002fa1d"
    "\U00030000-\U0003134a\U00031350-\U00033479"
)
"""The scripts Han, Hiragana and Katakana of Unicode 17, which are written without spaces: each character is a word."""

_SINGLE = re.compile(f"[{_SINGLES}]")
_ASCII_WORD = re.compile("[a-z0-9]+")

_MASK = 0xFFFFFFFF


def hash_word(word: str) -> int:
    """FNV-1a over the bytes of the UTF-16 units, then MurmurHash3's finalizer, since FNV's low bits alone mix poorly."""
    h = 0x811C9DC5
    for byte in _utf16(word):
        h = (h ^ byte) * 0x01000193 & _MASK
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16


def tokenize(text: str, max_tokens: int, vocabulary: int) -> list[int]:
    """`max_tokens` ids: 1 to `vocabulary - 1` for words, 0 for padding after them. Punctuation is dropped."""
    ids = [1 + hash_word(word) % (vocabulary - 1) for word in _words(text, max_tokens)]
    return ids + [0] * (max_tokens - len(ids))


def _words(text: str, limit: int) -> list[str]:
    lower = (text if text.isascii() else unicodedata.normalize("NFKC", _joined(text))).lower()
    words: list[str] = []
    if lower.isascii():
        for match in _ASCII_WORD.finditer(lower):
            if len(words) == limit:
                break
            words.append(match[0])
        return words
    start = -1
    for i in range(len(lower) + 1):
        character = lower[i : i + 1]
        single = character != "" and _SINGLE.match(character) is not None
        if not single and character != "" and unicodedata.category(character)[0] in "LMN":
            start = i if start < 0 else start
            continue
        if start >= 0:
            words.append(lower[start:i])
            start = -1
        if single:
            words.append(character)
        if len(words) >= limit:
            break
    return words[:limit]


def _joined(text: str) -> str:
    """Two halves of a character that stand side by side are that character, as they are in UTF-16."""
    return _utf16(text).decode("utf-16-le", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, in which limits are counted."""
    return len(text) if text.isascii() else len(_utf16(text)) // 2


def cut_text(text: str, units: int) -> str:
    """The first UTF-16 units of a text, well-formed: half a character becomes U+FFFD."""
    if text.isascii():
        return text[:units]
    cut = _utf16(text)[: 2 * units]
    if not any(0xD800 <= unit < 0xE000 for unit in struct.unpack(f"<{len(cut) // 2}H", cut)):
        return cut.decode("utf-16-le")
    whole = cut.decode("utf-16-le", "surrogatepass")
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in whole)


_MOST_CACHED_UNITS = 4_000_000
_LONGEST_CACHED_TEXT = 4_000


class CachedTokenizer:
    """`tokenize` that remembers what texts were read as: most observations of an episode repeat their texts."""

    def __init__(self, max_tokens: int, vocabulary: int) -> None:
        self._max_tokens = max_tokens
        self._vocabulary = vocabulary
        self._known: dict[str, array[float]] = {}
        self._units = 0

    def read(self, text: str) -> array[float]:
        """The ids as float32."""
        known = self._known.get(text)
        if known is not None:
            return known
        ids = array("f", tokenize(text, self._max_tokens, self._vocabulary))
        if len(text) <= _LONGEST_CACHED_TEXT:
            self._units += len(text) + 2 * self._max_tokens
            if self._units > _MOST_CACHED_UNITS:
                self._known.clear()
                self._units = len(text) + 2 * self._max_tokens
            self._known[text] = ids
        return ids
