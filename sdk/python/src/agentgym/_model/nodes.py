"""Nodes of a model's graph, with their attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .failure import ModelWalk, model_failure, shown
from .tensors import read_tensor
from .wire import (
    FieldRule,
    bytes_field,
    bytes_fields,
    check_metadata,
    check_text,
    float_field,
    float_fields,
    integer_field,
    integer_fields,
    message_field,
    message_fields,
    read_message,
    read_name,
)

_KINDS = {1: "float", 2: "int", 3: "string", 4: "tensor", 6: "floats", 7: "ints"}
"""AttributeProto.AttributeType of what a policy's operators take."""
_LIST_LENGTH = 16
"""Of a kernel, of pads on both sides."""


class Attribute(NamedTuple):
    kind: str
    value: Any


@dataclass(slots=True)
class ModelNode:
    where: str
    """The node in messages: `node 3 (Gemm)`."""
    operator: str = ""
    inputs: list[str] = field(default_factory=list)
    """"" for an optional input that is left out."""
    outputs: list[str] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)


def is_own_domain(domain: str) -> bool:
    """Whether ONNX's own operators are meant: its domain has two names."""
    return domain in ("", "ai.onnx")


def read_node(data: memoryview, nodes: list[ModelNode], walk: ModelWalk) -> bytes:
    """Reads a node with its attributes, and adds it to `nodes`. Gives the node to be written again."""
    node = ModelNode(f"node {len(nodes)}")
    domain = ""

    def forbidden(code: str, why: str) -> Callable[[memoryview], None]:
        def take(part: memoryview) -> None:
            if len(part) > 0:
                raise model_failure(code, f"{node.where} {why}")

        return take

    def names(add: Callable[[str], None]) -> Callable[[memoryview], None]:
        return lambda name: add(read_name(name, node.where, walk, True))

    def operator(name: memoryview) -> None:
        node.operator = read_name(name, node.where, walk)
        node.where = f"node {len(nodes)} ({shown(node.operator)[1:-1]})"

    def own_domain(name: memoryview) -> None:
        nonlocal domain
        domain = read_name(name, node.where, walk, True)

    written = read_message(
        walk,
        data,
        node.where,
        {
            1: bytes_fields("input", walk.limits.parts, names(node.inputs.append)),
            2: bytes_fields("output", walk.limits.parts, names(node.outputs.append)),
            3: bytes_field("name", names(lambda _: None)),
            4: bytes_field("op_type", operator),
            5: message_fields("attribute", walk.limits.attributes, lambda part: _read_attribute(part, node, walk)),
            6: bytes_field("doc_string", lambda text: check_text(text, node.where, walk)),
            7: bytes_field("domain", own_domain),
            8: bytes_field("overload", forbidden("model_function_forbidden", "has a function overload")),
            9: message_fields("metadata_props", walk.limits.parts, lambda part: check_metadata(part, node.where, walk)),
            10: bytes_fields(
                "device_configurations", 1, forbidden("model_part_forbidden", "is distributed over devices")
            ),
        },
    )
    if not is_own_domain(domain):
        raise model_failure(
            "model_domain_forbidden", f"{node.where} uses an operator of the domain {shown(domain)}", domain=domain
        )
    if node.operator == "":
        raise model_failure("model_malformed", f"{node.where} has no operator")
    nodes.append(node)
    return written


def _read_attribute(data: memoryview, node: ModelNode, walk: ModelWalk) -> bytes:
    where = node.where
    fields, given, written = _read_attribute_fields(data, f"an attribute of {where}", walk)
    name, number = fields["name"], fields["type"]
    if name == "":
        raise model_failure("model_attribute_invalid", f"{where} has an attribute without a name")
    kind = _KINDS.get(number)
    if kind is None:
        raise _invalid(where, name, f"has a type ({number}) that no policy operator supports")
    # A zero or an empty list may be left out of the file.
    for other in given:
        if other != kind:
            raise _invalid(where, name, f"is declared as {kind} but contains {other}")
    if kind == "tensor" and fields["tensor"] is None:
        raise _invalid(where, name, "contains no tensor")
    numbers = {"float": [fields["float"]], "floats": fields["floats"]}.get(kind, [])
    if not all(math.isfinite(value) for value in numbers):
        raise _invalid(where, name, "is not finite")
    if name in node.attributes:
        raise _invalid(where, name, "occurs twice")
    node.attributes[name] = Attribute(kind, fields[kind])
    return written


def _read_attribute_fields(data: memoryview, what: str, walk: ModelWalk) -> tuple[dict[str, Any], set[str], bytes]:
    fields: dict[str, Any] = {
        **{"name": "", "type": 0, "int": 0, "float": 0.0, "string": "", "ints": [], "floats": [], "tensor": None}
    }
    given: set[str] = set()

    def set_to(kind: str) -> Callable[[Any], None]:
        def take(value: Any) -> None:
            fields[kind] = value
            given.add(kind)

        return take

    def add_to(kind: str) -> Callable[[Any], None]:
        def take(value: Any) -> None:
            fields[kind].append(value)
            given.add(kind)

        return take

    def tensor(message: memoryview) -> bytes:
        fields["tensor"], written = read_tensor(message, f"the tensor in {what}", walk)
        given.add("tensor")
        return written

    written = read_message(
        walk,
        data,
        what,
        {
            **_refused_kinds(what),
            1: bytes_field("name", lambda name: fields.__setitem__("name", read_name(name, what, walk))),
            2: float_field("f", set_to("float")),
            3: integer_field("i", set_to("int")),
            4: bytes_field("s", lambda text: set_to("string")(read_name(text, what, walk, True))),
            5: message_field("t", tensor),
            7: float_fields("floats", _LIST_LENGTH, add_to("floats")),
            8: integer_fields("ints", _LIST_LENGTH, add_to("ints")),
            13: bytes_field("doc_string", lambda text: check_text(text, what, walk)),
            20: integer_field("type", lambda value: fields.__setitem__("type", value)),
        },
    )
    return fields, given, written


_REFUSED_KINDS = {
    6: ("g", "model_subgraph_forbidden", "contains a graph"),
    9: ("strings", "model_attribute_invalid", "contains a list of strings"),
    10: ("tensors", "model_attribute_invalid", "contains a list of tensors"),
    11: ("graphs", "model_subgraph_forbidden", "holds graphs"),
    14: ("tp", "model_attribute_invalid", "contains a type"),
    15: ("type_protos", "model_attribute_invalid", "holds types"),
    21: ("ref_attr_name", "model_function_forbidden", "refers to an attribute of a function"),
    22: ("sparse_tensor", "model_part_forbidden", "contains a sparse tensor"),
    23: ("sparse_tensors", "model_part_forbidden", "contains sparse tensors"),
}
"""Values of attributes that are refused at sight, whatever is in them."""


def _refused_kinds(what: str) -> dict[int, FieldRule]:
    return {number: refused(what, *reason) for number, reason in _REFUSED_KINDS.items()}


def refused(what: str, name: str, code: str, why: str) -> FieldRule:
    """A field that no model may have."""

    def take(_: memoryview) -> None:
        raise model_failure(code, f"{what} {why}")

    return bytes_fields(name, 1, take)


def _invalid(where: str, name: str, why: str) -> Exception:
    return model_failure("model_attribute_invalid", f"the attribute {shown(name)} of {where} {why}", attribute=name)
