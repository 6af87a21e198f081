"""The vectors of texts by frozen sentence encoders, each computed once as long as it is remembered."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from .._codec.spaces import Text, encoded_characters
from ..errors import AgentGymError
from .obtain import EncoderFiles, obtain_encoder
from .tokens import cut_text

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CACHED_VECTORS = 65_536
"""Vectors of 384 numbers take 100 MB, and their texts about as much."""

_BEGINNING = 101
_END = 102
"""Ids of `[CLS]` and `[SEP]`, which stand before and after every text."""


class TextVectors:
    """The vectors of texts. Texts are encoded one by one, without padding: the bits do not depend on what else is encoded."""

    def __init__(self, names: Iterable[str]) -> None:
        self._encoders = {name: SentenceEncoder(obtain_encoder(name)) for name in names}
        self._cache: OrderedDict[tuple[str, int, str], NDArray[numpy.float32]] = OrderedDict()

    def vector(self, space: Text, whole: str) -> NDArray[numpy.float32]:
        """Of the text as far as the encoder reads it: its first characters, as well-formed Unicode."""
        name = space.encoder or ""
        text = cut_text(whole, encoded_characters(space.max_tokens))
        key = (name, space.max_tokens, text)
        known = self._cache.get(key)
        if known is not None:
            self._cache.move_to_end(key)
            return known
        vector = self._encoders[name].encode(text, space.max_tokens)
        self._cache[key] = vector
        if len(self._cache) > _CACHED_VECTORS:
            self._cache.popitem(last=False)
        return vector


class SentenceEncoder:
    """Mean pooling over all word pieces, then division by the norm, as sentence-transformers does with this model.

    Loaded when it is first used, which takes half a second and about 200 MB.
    """

    def __init__(self, files: EncoderFiles) -> None:
        self._files = files
        self._pieces = word_pieces(files.vocabulary)
        self._session: Any = None

    def encode(self, text: str, max_tokens: int) -> NDArray[numpy.float32]:
        """The vector [384] of a text."""
        from .._policy.session import open_onnx

        if self._session is None:
            self._session = open_onnx(self._files.model)
        ids = numpy.array([self.ids(text, max_tokens)], numpy.int64)
        feeds = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        (states,) = self._session.run(["last_hidden_state"], feeds)
        return _normalized_mean(states[0])

    def ids(self, text: str, max_tokens: int) -> list[int]:
        """At most `max_tokens` ids: beginning, the text's first word pieces, end."""
        pieces = self._pieces.encode(_with_final_sigmas(text), add_special_tokens=False).ids
        return [_BEGINNING, *pieces[: max_tokens - 2], _END]


def word_pieces(vocabulary: str) -> Tokenizer:
    """Splits texts as BERT's uncased models do, whose vocabulary it is given, one word piece a line."""
    try:
        from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
    except ImportError as error:
        raise AgentGymError(
            "encoder_unavailable",
            "This agent reads texts with a sentence encoder, which needs the package tokenizers.",
            hint='Install it: pip install "agentgym[text]".',
            data={"package": "tokenizers"},
        ) from error
    pieces = vocabulary.rstrip().split("\n")
    model = models.WordPiece(
        vocab={piece: id for id, piece in enumerate(pieces)}, unk_token="[UNK]", max_input_chars_per_word=100
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False, special=True) for piece in special])
    return tokenizer


def _with_final_sigmas(text: str) -> str:
    """Writes Σ at the end of a word as ς: tokenizers makes characters lower case one by one, the trainer whole texts."""
    if "Σ" not in text:
        return text
    lower = text.lower()
    written: list[str] = []
    for i, character in enumerate(text):
        is_final = character == "Σ" and lower[len(text[:i].lower())] == "ς"
        written.append("ς" if is_final else character)
    return "".join(written)


def _normalized_mean(states: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """Mean over the rows of [rows, 384], divided by its Euclidean norm; summed in float64, one after another."""
    rows = len(states)
    mean = numpy.zeros(states.shape[1])
    for row in states.astype(numpy.float64):
        mean += row / rows
    # numpy's sum would add in pairs, and round otherwise.
    norm = math.sqrt(numpy.cumsum(mean * mean)[-1])
    return (mean / max(norm, 1e-12)).astype(numpy.float32)
