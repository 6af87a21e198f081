"""Why a model is refused, and the limits that it is held to."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from ..errors import AgentGymError

_EXPORT_ANEW = "Export the policy again, or publish the folder that training wrote, unchanged."
_PLAIN_OPERATORS = "Export the policy as plain layers; the README of sdk/contract/src/model lists the operators."

_HINTS = {
    "model_too_large": "Train a smaller network.",
    "model_truncated": "The file was cut off: copy or download it again.",
    "model_malformed": _EXPORT_ANEW,
    "model_format_forbidden": "Publish the ONNX file that the .ort file was made from.",
    "model_field_unknown": _EXPORT_ANEW,
    "model_field_duplicate": _EXPORT_ANEW,
    "model_part_forbidden": "Export for inference, in float32, without sparse or quantized tensors.",
    "model_external_data": "Save the weights inside model.onnx (in PyTorch: external_data=False).",
    "model_subgraph_forbidden": "Export the policy without loops and branches.",
    "model_function_forbidden": "Inline the functions when exporting.",
    "model_domain_forbidden": _PLAIN_OPERATORS,
    "model_opset_unsupported": "Export with opset 17.",
    "model_operator_forbidden": _PLAIN_OPERATORS,
    "model_attribute_invalid": _PLAIN_OPERATORS,
    "model_too_many_parts": "Train a smaller network, or let the exporter fold constants.",
    "model_nesting_too_deep": "Train a network with fewer layers.",
    "model_string_too_long": "Export without stack traces and with short names.",
    "model_name_invalid": "Give the tensor a printable UTF-8 name.",
    "model_name_duplicate": "Give every tensor a unique name.",
    "model_name_undefined": "Order the nodes so that each reads only results of earlier nodes.",
    "model_type_unsupported": "Export the policy in float32.",
    "model_shape_invalid": _EXPORT_ANEW,
    "model_shape_mismatch": "Remove the declared shapes (value_info), or correct them.",
    "model_batch_mixed": "Keep the batch as the first dimension, and compute each row independently.",
    "model_tensor_size_mismatch": _EXPORT_ANEW,
    "model_weights_not_finite": "Training diverged: lower the learning rate and train again.",
    "model_static_size": "Sizes must be small constants in the file: let the exporter fold them.",
    "model_intermediate_too_large": "Train a network with narrower layers.",
    "model_work_too_large": "Train a smaller network.",
    "model_input_mismatch": (
        "Inputs must be float32 [batch, size], one per leaf of the observation, named as in agent.json."
    ),
    "model_output_mismatch": "Outputs must be float32: logits, or mean and log_std, [batch, n], and value [batch].",
}


def model_failure(code: str, what: str, **data: Any) -> AgentGymError:
    """Refuses a model. `what` is a clause that says what is wrong and where."""
    return AgentGymError(
        code, f"model.onnx: {what}.", hint=_HINTS[code], data={"file": "model.onnx", **data}
    )


def shown(text: str) -> str:
    """A stranger's text, fit for a message: quoted, short, and without what a terminal or page would obey."""
    short = f"{text[:80]}…" if len(text) > 80 else text
    quoted = json.dumps(short, ensure_ascii=False)
    return "".join("\ufffd" if is_unprintable(character) else character for character in quoted)


def is_unprintable(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")


CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model may have that runs on the user's own machine: whatever training can make."""

    bytes: int = 2**30
    """Of the file."""
    fields: int = 2**22
    """Fields of all messages together, and integers that are written one by one."""
    nodes: int = 2**16
    parts: int = 2**16
    """Initializers, inputs and outputs of the graph, declared values, names in one node's list: each kind by itself."""
    rank: int = 8
    attributes: int = 16
    depth: int = 1_024
    """Longest chain of nodes."""
    name_bytes: int = 512
    text_bytes: int = 64 * 1_024
    elements: int = 2**24
    """Of one value between nodes, for each row of the batch, in numbers of four bytes as ONNX Runtime stores them."""
    elements_total: int = 2**26
    """Of all such values together, and of what operators hold beside them while they run."""
    work: int = 2**33
    """For each row of the batch, in multiplications of a matrix product."""


LOCAL_LIMITS = ModelLimits()


class ModelWalk:
    """One walk over a file: its limits, and how much of it has been read."""

    def __init__(self, limits: ModelLimits) -> None:
        self.limits = limits
        self._fields = 0

    def count(self) -> None:
        """Counts a field that has been read. Time goes with fields, not with bytes: two bytes can be one."""
        self._fields += 1
        if self._fields > self.limits.fields:
            raise model_failure(
                "model_too_many_parts", f"it has more than {self.limits.fields} fields in total", limit=self.limits.fields
            )
