"""A serialized ModelProto. Field numbers are those of the official onnx.proto."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .failure import ModelWalk, model_failure, shown
from .nodes import ModelNode, is_own_domain, read_node, refused
from .tensors import ELEMENT_TYPES, ModelTensor, read_tensor
from .wire import (
    FieldRule,
    bytes_field,
    check_metadata,
    check_text,
    integer_field,
    message_field,
    message_fields,
    read_message,
    read_name,
)

DeclaredDim = int | str | None
"""A dimension as declared: a size, a name, or None where nothing is said."""


@dataclass(slots=True)
class DeclaredValue:
    """An input, an output or a value between nodes, as the file declares it."""

    name: str = ""
    type: str = "float"
    dims: list[DeclaredDim] = field(default_factory=list)


@dataclass(slots=True)
class ModelGraph:
    nodes: list[ModelNode] = field(default_factory=list)
    initializers: list[ModelTensor] = field(default_factory=list)
    inputs: list[DeclaredValue] = field(default_factory=list)
    outputs: list[DeclaredValue] = field(default_factory=list)
    declared: list[DeclaredValue] = field(default_factory=list)
    """`value_info`: shapes that the exporter wrote down beside the graph."""


_OPSETS = (13, 21)
"""From the operators' last change of meaning that matters here to the newest that was looked at."""
_IR_VERSIONS = (7, 11)


def read_model(data: memoryview, walk: ModelWalk) -> tuple[ModelGraph, int, bytes]:
    """Reads a model whole: gives the graph, the version of its operators, and the bytes of all that was read.

    Every field of every message is known, bounded and either accepted or rejected.
    """
    graphs: list[ModelGraph] = []
    ir_version = 0
    opsets: list[int] = []
    what = "the model"

    def text(name: str) -> FieldRule:
        return bytes_field(name, lambda value: check_text(value, what, walk))

    def version(value: int) -> None:
        nonlocal ir_version
        ir_version = value

    def graph(message: memoryview) -> bytes:
        graphs.append(ModelGraph())
        return _read_graph(message, graphs[-1], walk)

    written = read_message(
        walk,
        data,
        what,
        {
            1: integer_field("ir_version", version),
            2: text("producer_name"),
            3: text("producer_version"),
            4: text("domain"),
            5: integer_field("model_version", lambda _: None),
            6: text("doc_string"),
            7: message_field("graph", graph),
            8: message_fields("opset_import", walk.limits.attributes, lambda part: _read_opset(part, opsets, walk)),
            14: message_fields("metadata_props", walk.limits.parts, lambda part: check_metadata(part, what, walk)),
            20: refused(what, "training_info", "model_part_forbidden", "has training information"),
            25: refused(what, "functions", "model_function_forbidden", "defines functions"),
            26: refused(what, "configuration", "model_part_forbidden", "is distributed over devices"),
        },
    )
    if not _IR_VERSIONS[0] <= ir_version <= _IR_VERSIONS[1]:
        raise _unsupported("IR version", ir_version, _IR_VERSIONS)
    if len(opsets) > 1:
        raise model_failure("model_field_duplicate", "it imports two versions of the operator set")
    opset = opsets[0] if opsets else 0
    if not _OPSETS[0] <= opset <= _OPSETS[1]:
        raise _unsupported("operator set", opset, _OPSETS)
    if not graphs:
        raise model_failure("model_malformed", "it has no graph")
    return graphs[0], opset, written


def _read_opset(message: memoryview, opsets: list[int], walk: ModelWalk) -> bytes:
    found: dict[str, str | int] = {"domain": "", "version": 0}
    what = "an operator set"
    written = read_message(
        walk,
        message,
        what,
        {
            1: bytes_field("domain", lambda name: found.__setitem__("domain", read_name(name, what, walk, True))),
            2: integer_field("version", lambda value: found.__setitem__("version", value)),
        },
    )
    domain = str(found["domain"])
    if not is_own_domain(domain):
        raise model_failure(
            "model_domain_forbidden", f"it uses operators of the domain {shown(domain)}", domain=domain
        )
    opsets.append(int(found["version"]))
    return written


def _unsupported(name: str, given: int, bounds: tuple[int, int]) -> Exception:
    lowest, highest = bounds
    return model_failure(
        "model_opset_unsupported", f"its {name} is {given}; it must be {lowest} to {highest}", given=given
    )


def _read_graph(data: memoryview, graph: ModelGraph, walk: ModelWalk) -> bytes:
    what = "the graph"

    def values(name: str, most: int, found: list[DeclaredValue]) -> FieldRule:
        return message_fields(name, most, lambda part: _read_value(part, f"{name} {len(found)}", found, walk))

    def initializer(message: memoryview) -> bytes:
        tensor, written = read_tensor(message, f"initializer {len(graph.initializers)}", walk)
        graph.initializers.append(tensor)
        return written

    def name(text: memoryview) -> None:
        read_name(text, what, walk, True)

    return read_message(
        walk,
        data,
        what,
        {
            1: message_fields("node", walk.limits.nodes, lambda message: read_node(message, graph.nodes, walk)),
            2: bytes_field("name", name),
            5: message_fields("initializer", walk.limits.parts, initializer),
            10: bytes_field("doc_string", lambda text: check_text(text, what, walk)),
            11: values("input", walk.limits.parts, graph.inputs),
            12: values("output", walk.limits.parts, graph.outputs),
            13: values("value_info", walk.limits.nodes, graph.declared),
            14: refused(what, "quantization_annotation", "model_part_forbidden", "has quantization annotations"),
            15: refused(what, "sparse_initializer", "model_part_forbidden", "contains sparse tensors"),
            16: message_fields("metadata_props", walk.limits.parts, lambda part: check_metadata(part, what, walk)),
        },
    )


def _read_value(data: memoryview, what: str, found: list[DeclaredValue], walk: ModelWalk) -> bytes:
    """ValueInfoProto: a name, an element type and dimensions, added to `found`."""
    value = DeclaredValue()
    has_type = False

    def where() -> str:
        return what if value.name == "" else f"{what} ({shown(value.name)})"

    def read(message: memoryview) -> bytes:
        nonlocal has_type
        has_type = True
        return _read_type(message, value, where(), walk)

    written = read_message(
        walk,
        data,
        what,
        {
            1: bytes_field("name", lambda text: setattr(value, "name", read_name(text, what, walk))),
            2: message_field("type", read),
            3: bytes_field("doc_string", lambda text: check_text(text, what, walk)),
            4: message_fields("metadata_props", walk.limits.attributes, lambda part: check_metadata(part, what, walk)),
        },
    )
    if value.name == "":
        raise model_failure("model_name_invalid", f"{what} has no name")
    if not has_type:
        raise model_failure("model_type_unsupported", f"{where()} has no type")
    found.append(value)
    return written


def _read_type(data: memoryview, value: DeclaredValue, where: str, walk: ModelWalk) -> bytes:
    """TypeProto: of its kinds only the tensor."""
    is_tensor = False

    def tensor(message: memoryview) -> bytes:
        nonlocal is_tensor
        is_tensor = True
        return _read_tensor_type(message, value, where, walk)

    def refuse(_: memoryview) -> None:
        raise model_failure("model_type_unsupported", f"{where} is not a tensor")

    kinds = {4: "sequence_type", 5: "map_type", 7: "opaque_type", 8: "sparse_tensor_type", 9: "optional_type"}
    written = read_message(
        walk,
        data,
        where,
        {
            1: message_field("tensor_type", tensor),
            6: bytes_field("denotation", lambda text: check_text(text, where, walk)),
            **{number: bytes_field(name, refuse) for number, name in kinds.items()},
        },
    )
    if not is_tensor:
        raise model_failure("model_type_unsupported", f"{where} is not a tensor")
    return written


def _read_tensor_type(data: memoryview, value: DeclaredValue, where: str, walk: ModelWalk) -> bytes:
    number = 0
    has_shape = False

    def element_type(given: int) -> None:
        nonlocal number
        number = given

    def shape(message: memoryview) -> bytes:
        nonlocal has_shape
        has_shape = True
        return _read_shape(message, value.dims, where, walk)

    written = read_message(
        walk, data, where, {1: integer_field("elem_type", element_type), 2: message_field("shape", shape)}
    )
    if number not in ELEMENT_TYPES:
        raise model_failure("model_type_unsupported", f"{where} has the element type {number}", type=number)
    if not has_shape:
        raise model_failure("model_shape_mismatch", f"{where} has no shape")
    value.type = ELEMENT_TYPES[number]
    return written


def _read_shape(data: memoryview, dims: list[DeclaredDim], where: str, walk: ModelWalk) -> bytes:
    def dimension(message: memoryview) -> bytes:
        given: list[DeclaredDim] = []
        add: Callable[[DeclaredDim], None] = given.append
        written = read_message(
            walk,
            message,
            where,
            {
                1: integer_field("dim_value", add),
                2: bytes_field("dim_param", lambda name: add(read_name(name, where, walk, True))),
                3: bytes_field("denotation", lambda text: check_text(text, where, walk)),
            },
        )
        if len(given) > 1:
            raise model_failure("model_field_duplicate", f"{where} has a dimension with both a size and a name")
        dims.append(given[0] if given else None)
        return written

    return read_message(walk, data, where, {1: message_fields("dim", walk.limits.rank, dimension)})
