"""Tensors that lie in a model's file."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy

from .failure import ModelWalk, model_failure, shown
from .wire import (
    bytes_field,
    bytes_fields,
    check_metadata,
    check_text,
    integer_field,
    integer_fields,
    message_fields,
    read_message,
    read_name,
    read_packed_integers,
)

ELEMENT_TYPES = {1: "float", 6: "int32", 7: "int64", 9: "bool"}
"""Types of elements that a policy needs, of TensorProto.DataType's."""

_ELEMENT_BYTES = {"float": 4, "int32": 4, "int64": 8, "bool": 1}
_INTEGERS_KEPT = 64
"""What asks for a tensor's numbers has one for each dimension, or a few."""
_EXTERNAL = 1
"""TensorProto.DataLocation"""


@dataclass(slots=True)
class ModelTensor:
    """A tensor in the file, as far as the shapes of other tensors depend on it."""

    name: str
    """"" for a node's attribute."""
    type: str
    dims: tuple[int, ...]
    integers: tuple[int, ...] | None
    """The numbers of a small tensor of integers: axes, shapes, bounds. None for others."""


@dataclass(slots=True)
class _Fields:
    dims: list[int] = field(default_factory=list)
    type: int = 0
    name: str = ""
    raw: memoryview | None = None
    packed: dict[str, memoryview] = field(default_factory=dict)


def read_tensor(data: memoryview, what: str, walk: ModelWalk) -> tuple[ModelTensor, bytes]:
    """Reads a tensor and holds it to its own words; gives it, and what is to be written.

    Dimensions above zero, as many bytes as they say, finite numbers, and everything inside the file. Raises
    `model_external_data`, `model_part_forbidden`, `model_type_unsupported`, `model_shape_invalid`, `model_tensor_size_mismatch`,
    `model_weights_not_finite`.
    """
    fields, written = _read_fields(data, what, walk)
    where = what if fields.name == "" else f"the tensor {shown(fields.name)}"
    element_type = ELEMENT_TYPES.get(fields.type)
    if element_type is None:
        raise model_failure(
            "model_type_unsupported", f"{where} has the element type {fields.type}", type=fields.type
        )
    elements = count_elements(fields.dims, where)
    values = _read_values(walk, fields, element_type, elements, where)
    integers = None if element_type in ("float", "bool") else values
    return ModelTensor(fields.name, element_type, tuple(fields.dims), integers), written


def count_elements(dims: Sequence[int], where: str) -> int:
    """The product of dimensions that are all above zero. Raises `model_shape_invalid`."""
    elements = 1
    for dim in dims:
        if dim < 1:
            raise model_failure("model_shape_invalid", f"{where} has a dimension of size {dim}")
        elements *= dim
        if elements > 2**53 - 1:
            raise model_failure("model_shape_invalid", f"the dimensions of {where} are too large")
    return elements


def _read_fields(data: memoryview, what: str, walk: ModelWalk) -> tuple[_Fields, bytes]:
    fields = _Fields()

    def where() -> str:
        return what if fields.name == "" else f"the tensor {shown(fields.name)}"

    def external(_: object) -> None:
        raise model_failure("model_external_data", f"the data of {where()} is in another file or in memory")

    def segment(_: memoryview) -> None:
        raise model_failure("model_part_forbidden", f"{where()} is a segment of a larger tensor")

    def location(value: int) -> None:
        if value == _EXTERNAL:
            external(None)
        if value != 0:
            raise model_failure("model_malformed", f"{where()} has the unknown data location {value}")

    def packed(name: str):  # type: ignore[no-untyped-def]
        return bytes_field(name, lambda content: fields.packed.__setitem__(name, content))

    written = read_message(
        walk,
        data,
        what,
        {
            1: integer_fields("dims", walk.limits.rank, fields.dims.append),
            2: integer_field("data_type", lambda value: setattr(fields, "type", value)),
            3: bytes_field("segment", segment),
            4: packed("float_data"),
            5: packed("int32_data"),
            6: packed("string_data"),
            7: packed("int64_data"),
            8: bytes_field("name", lambda name: setattr(fields, "name", read_name(name, what, walk, True))),
            9: bytes_field("raw_data", lambda raw: setattr(fields, "raw", raw)),
            10: packed("double_data"),
            11: packed("uint64_data"),
            12: bytes_field("doc_string", lambda text: check_text(text, what, walk)),
            13: bytes_fields("external_data", 1, external),
            14: integer_field("data_location", location),
            16: message_fields("metadata_props", walk.limits.attributes, lambda entry: check_metadata(entry, what, walk)),
        },
    )
    return fields, written


def _read_values(
    walk: ModelWalk, fields: _Fields, element_type: str, elements: int, where: str
) -> tuple[int, ...] | None:
    """Checks a tensor's numbers, and gives those of a small one."""
    places = len(fields.packed) + (fields.raw is not None)
    if places != 1:
        raise model_failure("model_tensor_size_mismatch", f"{where} has data in {places} fields")
    if fields.raw is not None:
        return _read_raw(fields.raw, element_type, elements, where)
    ((name, data),) = fields.packed.items()
    expected = {"float": "float_data", "int64": "int64_data"}.get(element_type, "int32_data")
    if name != expected:
        raise model_failure("model_tensor_size_mismatch", f"{where} has its data in {name} instead of {expected}")
    # Floats lie there as they would in raw_data.
    if element_type == "float":
        return _read_raw(data, element_type, elements, where)
    values: list[int] = []

    def take(value: int) -> None:
        if len(values) < _INTEGERS_KEPT:
            values.append(value)
        _check_range(value, element_type, where)

    count = read_packed_integers(walk, data, where, take)
    if count != elements:
        raise _wrong_size(where, count, elements, "numbers")
    return tuple(values) if count <= _INTEGERS_KEPT else None


def _read_raw(data: memoryview, element_type: str, elements: int, where: str) -> tuple[int, ...] | None:
    size = _ELEMENT_BYTES[element_type]
    if len(data) != elements * size:
        raise _wrong_size(where, len(data), elements * size, "bytes")
    if element_type == "float":
        _check_finite(data, where)
        return None
    if element_type == "bool":
        values = numpy.frombuffer(data, numpy.uint8)
        if values.max(initial=0) > 1:
            _check_range(int(values.max()), element_type, where)
        return None
    if elements > _INTEGERS_KEPT:
        return None
    return struct.unpack(f"<{elements}{'i' if element_type == 'int32' else 'q'}", data)


def _check_finite(data: memoryview, where: str) -> None:
    finite = numpy.isfinite(numpy.frombuffer(data, "<f4"))
    if finite.all():
        return
    element = int(finite.argmin())
    raise model_failure("model_weights_not_finite", f"element {element} of {where} is not finite", element=element)


def _check_range(value: int, element_type: str, where: str) -> None:
    if element_type == "bool":
        fits = value in (0, 1)
    else:
        fits = element_type == "int64" or -(2**31) <= value < 2**31
    if not fits:
        raise model_failure("model_malformed", f"{where} contains {value}, which is not a valid {element_type}")


def _wrong_size(where: str, given: int, expected: int, unit: str) -> Exception:
    return model_failure(
        "model_tensor_size_mismatch",
        f"{where} has {given} {unit}; its dimensions require {expected}",
        given=given,
        expected=expected,
    )
