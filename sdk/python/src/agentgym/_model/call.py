"""One node with its inputs, as an operator sees it; and operators that make tensors of a size that stands in the file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .failure import model_failure, shown
from .nodes import ModelNode
from .tensors import ModelTensor, count_elements

BATCH = -1
"""The first dimension of what depends on the observations: as many rows as a run is given."""

ANY_TYPE = ("float", "int32", "int64", "bool")

Dims = tuple[int, ...]


@dataclass(slots=True)
class Value:
    """What is known of a tensor without running anything."""

    type: str
    dims: Dims
    """`BATCH` can only be the first; all others are positive."""
    integers: tuple[int, ...] | None = None
    """Numbers of a small tensor of integers that lies in the file."""
    blocked: bool = False
    """Its channels, the second of its four dimensions, are stored in blocks of `_CHANNEL_BLOCK`, the last filled up."""
    depth: int = 0
    """Length of the longest chain of nodes that leads to it."""

    @property
    def batched(self) -> bool:
        return self.dims[:1] == (BATCH,)


_CHANNEL_BLOCK = 16
"""ONNX Runtime's convolutions compute so many channels at once, and store an image as if it had a multiple of them."""


def whole_blocks(size: int) -> int:
    """A size as far as blocks of vector instructions reach: where fewer are needed, the rest is computed for nothing."""
    return -(-size // _CHANNEL_BLOCK) * _CHANNEL_BLOCK


def row_elements(dims: Sequence[int]) -> int:
    """Elements for each row of the batch; all of them, where there is no batch."""
    return math.prod(dim for dim in dims if dim != BATCH)


def stored_elements(value: Value) -> int:
    """Elements in numbers of four bytes, as they are stored."""
    elements = row_elements(value.dims)
    if value.blocked:
        return elements // value.dims[1] * whole_blocks(value.dims[1])
    return 2 * elements if value.type == "int64" else elements


class OperatorCall:
    """One node with its inputs. Its methods raise where the node would fail or mix rows."""

    def __init__(self, node: ModelNode, inputs: Sequence[Value | None], opset: int) -> None:
        self.opset = opset
        self.work = 0
        """For each row, in multiplications of a matrix product, beyond `check.ELEMENT_WORK` for each element of the output."""
        self.scratch = 0
        """Elements for each row that the operator holds while it runs, beyond its inputs and output."""
        self._node = node
        self._inputs = inputs

    @property
    def count(self) -> int:
        return len(self._inputs)

    def value(self, i: int, *types: str) -> Value:
        """Input `i`, of one of the types; float if none is named."""
        value = self._inputs[i] if i < len(self._inputs) else None
        if value is None:
            raise self.invalid(f"its input {i} is missing")
        allowed = types or ("float",)
        if value.type not in allowed:
            raise model_failure(
                "model_type_unsupported",
                f"{self._node.where}: input {i} must be {' or '.join(allowed)}, not {value.type}",
            )
        return value

    def has(self, i: int) -> bool:
        return i < len(self._inputs) and self._inputs[i] is not None

    def fixed(self, i: int, *types: str) -> Value:
        """An input that must not depend on the batch: weights, bounds, tables."""
        value = self.value(i, *types)
        if value.batched:
            raise self.mixed(f"its input {i} depends on the batch")
        return value

    def constant(self, i: int) -> tuple[int, ...]:
        """Numbers that must stand in the file, as a list: axes, shapes, bounds."""
        value = self.value(i, "int64", "int32")
        if value.integers is None:
            raise self.unbounded(f"its input {i} is not a small constant in the file")
        if len(value.dims) > 1:
            raise self.invalid(f"its input {i} is not a list")
        return value.integers

    def integer(self, name: str, otherwise: int) -> int:
        attribute = self._node.attributes.get(name)
        return int(attribute.value) if attribute is not None and attribute.kind == "int" else otherwise

    def integers(self, name: str) -> tuple[int, ...] | None:
        attribute = self._node.attributes.get(name)
        return tuple(attribute.value) if attribute is not None and attribute.kind == "ints" else None

    def text(self, name: str) -> str | None:
        attribute = self._node.attributes.get(name)
        return str(attribute.value) if attribute is not None and attribute.kind == "string" else None

    def tensor(self, name: str) -> ModelTensor:
        attribute = self._node.attributes.get(name)
        if attribute is None or not isinstance(attribute.value, ModelTensor):
            raise self.attribute(name, "is missing")
        return attribute.value

    def axis(self, axis: int, rank: int, dims: Sequence[int]) -> int:
        """An axis counted from the front, which is not the batch."""
        positive = axis + rank if axis < 0 else axis
        if not 0 <= positive < rank:
            raise self.invalid(f"its axis {axis} is out of range for {rank} dimensions")
        if positive < len(dims) and dims[positive] == BATCH:
            raise self.mixed("it operates along the batch")
        return positive

    def axes(self, axes: Sequence[int], rank: int, dims: Sequence[int]) -> list[int]:
        """Axes counted from the front, each once, none of them the batch."""
        positive = [self.axis(axis, rank, dims) for axis in axes]
        if len(set(positive)) != len(positive):
            raise self.invalid("it has a duplicate axis")
        return positive

    def invalid(self, why: str) -> Exception:
        return model_failure("model_shape_invalid", f"{self._node.where}: {why}")

    def mixed(self, why: str) -> Exception:
        return model_failure("model_batch_mixed", f"{self._node.where}: {why}")

    def unbounded(self, why: str) -> Exception:
        return model_failure("model_static_size", f"{self._node.where}: {why}")

    def attribute(self, name: str, why: str) -> Exception:
        return model_failure("model_attribute_invalid", f"the attribute {shown(name)} of {self._node.where} {why}")


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that models may use. Each has one output."""

    inputs: tuple[int, int]
    """Fewest and most."""
    infer: Callable[[OperatorCall], Value]
    attributes: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    """Attributes that have no default: ONNX Runtime refuses a node without them, or worse."""


def floats(dims: Sequence[int]) -> Value:
    return Value("float", tuple(dims))


def broadcast_shapes(call: OperatorCall, shapes: Sequence[Sequence[int]]) -> Dims:
    """The shape to which inputs broadcast, as NumPy does it: aligned at their last dimensions, where 1 stretches.

    The batch meets itself or 1, and stays first; anything else would hold for some sizes of the batch only.
    """
    rank = max(len(shape) for shape in shapes)
    dims = [1] * rank
    for shape in shapes:
        shift = rank - len(shape)
        for i, dim in enumerate(shape):
            at = i + shift
            if dims[at] in (1, dim):
                dims[at] = dim
            elif dim == BATCH or (dims[at] == BATCH and dim != 1):
                raise call.mixed("it combines the batch with another size")
            elif dim != 1:
                raise call.invalid(f"its inputs have incompatible sizes, {dims[at]} and {dim}")
    if BATCH in dims[1:]:
        raise call.mixed("its batch is not the first dimension")
    return tuple(dims)


_STATIC_ELEMENTS = 2**16
"""Elements that an operator may make of nothing but a size."""


def _constant(call: OperatorCall) -> Value:
    tensor = call.tensor("value")
    return Value(tensor.type, tensor.dims, tensor.integers)


def _constant_of_shape(call: OperatorCall) -> Value:
    fill = call.tensor("value")
    if count_elements(fill.dims, "the value") != 1:
        raise call.attribute("value", "is more than one number")
    return Value(fill.type, _small(call, call.constant(0)))


def _expand(call: OperatorCall) -> Value:
    x = call.value(0, *ANY_TYPE)
    return Value(x.type, broadcast_shapes(call, [x.dims, _small(call, call.constant(1))]))


def _tile(call: OperatorCall) -> Value:
    x = call.value(0, *ANY_TYPE)
    repeats = _small(call, call.constant(1))
    if len(repeats) != len(x.dims):
        raise call.invalid("it must have one repetition per dimension")
    if x.batched and repeats[0] != 1:
        raise call.mixed("it repeats the batch")
    return Value(x.type, tuple(dim * times for dim, times in zip(x.dims, repeats, strict=True)))


def _range(call: OperatorCall) -> Value:
    bounds = []
    for i in range(3):
        if len(call.value(i, "int32", "int64").dims) > 0:
            raise call.invalid(f"its input {i} is not a single number")
        bounds.append(call.constant(i)[0])
    start, limit, step = bounds
    if step == 0:
        raise call.unbounded("its range is infinite")
    return Value(call.value(0, "int32", "int64").type, _small(call, (-(-(limit - start) // step),)))


def _small(call: OperatorCall, shape: Dims) -> Dims:
    if any(dim < 1 for dim in shape):
        raise call.unbounded("it has a size below one")
    elements = math.prod(shape)
    if elements > _STATIC_ELEMENTS:
        raise call.unbounded(f"it creates {elements} elements; the limit is {_STATIC_ELEMENTS}")
    return shape


SIZES = {
    "Constant": Operator((0, 0), _constant, {"value": "tensor"}, ("value",)),
    "ConstantOfShape": Operator((1, 1), _constant_of_shape, {"value": "tensor"}, ("value",)),
    "Expand": Operator((2, 2), _expand),
    "Tile": Operator((2, 2), _tile),
    "Range": Operator((3, 3), _range),
}
"""Operators whose output has whatever size an input says: 75 bytes of model can ask for gigabytes."""
