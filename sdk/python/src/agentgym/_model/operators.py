"""Every operator that a model may use: those of our own exports, and plain layers of others'."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .call import (
    ANY_TYPE,
    BATCH,
    SIZES,
    Operator,
    OperatorCall,
    Value,
    broadcast_shapes,
    floats,
    row_elements,
)
from .layers import LAYERS
from .tensors import ELEMENT_TYPES


def _elementwise(work: int = 0, **attributes: str) -> Operator:
    """One number at a time. `work`: so much more than others, where ONNX Runtime computes number by number."""

    def infer(call: OperatorCall) -> Value:
        dims = call.value(0).dims
        call.work = work * row_elements(dims)
        return floats(dims)

    return Operator((1, 1), infer, attributes)


def _broadcast(call: OperatorCall, inputs: Sequence[int], element_type: str = "float") -> tuple[int, ...]:
    shapes = [call.value(i, element_type).dims for i in inputs]
    dims = broadcast_shapes(call, shapes)
    # Where shapes differ, every stretch of the last dimension is a step of its own.
    if any(shape != dims for shape in shapes):
        call.work = 400 * row_elements(dims) // row_elements(dims[-1:])
    return dims


_ARITHMETIC = Operator((2, 2), lambda call: floats(_broadcast(call, (0, 1))))


def _variadic(call: OperatorCall) -> Value:
    dims = _broadcast(call, range(call.count))
    # Two at a time, with a result of each step.
    call.work = call.count * (call.work + 16 * row_elements(dims))
    call.scratch = row_elements(dims)
    return floats(dims)


def _identity(call: OperatorCall) -> Value:
    x = call.value(0, *ANY_TYPE)
    return Value(x.type, x.dims, blocked=x.blocked)


def _equal(call: OperatorCall) -> Value:
    a = call.value(0, "float", "int32", "int64")
    call.value(1, a.type)
    return Value("bool", _broadcast(call, (0, 1), a.type))


def _clip(call: OperatorCall) -> Value:
    for bound in (1, 2):
        if call.has(bound) and len(call.fixed(bound).dims) > 0:
            raise call.invalid("a bound is not a single number")
    return floats(call.value(0).dims)


def _cast(call: OperatorCall) -> Value:
    element_type = ELEMENT_TYPES.get(call.integer("to", 0))
    if element_type is None:
        raise call.attribute("to", "is not a type that policies use")
    return Value(element_type, call.value(0, *ANY_TYPE).dims)


ELEMENTWISE = {
    **{name: _elementwise() for name in ("Tanh", "Relu", "Sigmoid", "Softsign", "Erf", "Exp", "Sqrt")},
    **{name: _elementwise() for name in ("Reciprocal", "Neg", "Abs")},
    "Softplus": _elementwise(1_024),
    "Log": _elementwise(128),
    "LeakyRelu": _elementwise(alpha="float"),
    "Elu": _elementwise(128, alpha="float"),
    # Integers are left out: dividing them by zero ends a process.
    **{name: _ARITHMETIC for name in ("Add", "Sub", "Mul", "Div")},
    **{name: Operator((1, 64), _variadic) for name in ("Min", "Max")},
    "Identity": Operator((1, 1), _identity),
    "Equal": Operator((2, 2), _equal),
    "Clip": Operator((1, 3), _clip),
    "Cast": Operator((1, 1), _cast, {"to": "int", "saturate": "int"}, ("to",)),
}


def _of(value: Value, dims: Sequence[int]) -> Value:
    return Value(value.type, tuple(dims))


def _reshape(call: OperatorCall) -> Value:
    """The batch stays: as 0 ("as it was") or, where the rest is given, as -1."""
    x, shape = call.value(0, *ANY_TYPE), call.constant(1)
    if call.integer("allowzero", 0) != 0:
        raise call.attribute("allowzero", "is set")
    if any(dim < -1 for dim in shape):
        raise call.invalid("it has a negative size")
    dims = [(x.dims[i] if i < len(x.dims) else 0) if dim == 0 else dim for i, dim in enumerate(shape)]
    if any(shape[i] == 0 and (dim == 0 or (dim == BATCH and i > 0)) for i, dim in enumerate(dims)):
        raise call.invalid("it copies a size that does not exist")
    if shape.count(-1) > 1:
        raise call.invalid("it has more than one unknown size")
    open_at = shape.index(-1) if -1 in shape else None
    if x.batched:
        if len(shape) == 0 or shape[0] not in (0, -1):
            raise call.mixed("it gives the batch a size")
        dims[0] = BATCH
        open_at = None if open_at == 0 else open_at
    elements = row_elements(x.dims)
    others = math.prod(dim for i, dim in enumerate(dims) if i != open_at and dim != BATCH)
    if open_at is not None and elements % others == 0:
        dims[open_at] = elements // others
    if elements % others != 0 or row_elements(dims) != elements:
        raise call.invalid(f"it reshapes {elements} elements into {others}")
    return _of(x, dims)


def _flatten(call: OperatorCall) -> Value:
    x, axis = call.value(0, *ANY_TYPE), call.integer("axis", 1)
    if x.batched and axis != 1:
        raise call.mixed("it merges the batch with other dimensions")
    if not 0 <= axis <= len(x.dims):
        raise call.invalid(f"its axis {axis} is out of range for {len(x.dims)} dimensions")
    return _of(x, (BATCH if x.batched else row_elements(x.dims[:axis]), row_elements(x.dims[axis:])))


def _squeeze(call: OperatorCall) -> Value:
    x = call.value(0, *ANY_TYPE)
    axes = call.axes(call.constant(1), len(x.dims), x.dims)
    if any(x.dims[axis] != 1 for axis in axes):
        raise call.invalid("it removes a dimension that is not 1")
    return _of(x, [dim for i, dim in enumerate(x.dims) if i not in axes])


def _unsqueeze(call: OperatorCall) -> Value:
    x, given = call.value(0, *ANY_TYPE), call.constant(1)
    rank = len(x.dims) + len(given)
    axes = call.axes(given, rank, ())
    if x.batched and 0 in axes:
        raise call.mixed("it puts a dimension before the batch")
    old = iter(x.dims)
    return _of(x, [1 if i in axes else next(old) for i in range(rank)])


def _transpose(call: OperatorCall) -> Value:
    x = call.value(0, *ANY_TYPE)
    given = call.integers("perm")
    order = tuple(reversed(range(len(x.dims)))) if given is None else given
    if sorted(order) != list(range(len(x.dims))):
        raise call.attribute("perm", "is not a permutation of the dimensions")
    call.work = 128 * row_elements(x.dims)
    if x.batched and order[0] != 0:
        raise call.mixed("it moves the batch")
    return _of(x, [x.dims[i] for i in order])


def _concat(call: OperatorCall) -> Value:
    first = call.value(0, *ANY_TYPE)
    axis = call.axis(call.integer("axis", 0), len(first.dims), first.dims)
    dims = list(first.dims)
    for i in range(1, call.count):
        other = call.value(i, first.type)
        if other.batched != first.batched:
            raise call.mixed("it concatenates a batched input with one that is not batched")
        if len(other.dims) != len(dims) or any(
            dim != dims[at] for at, dim in enumerate(other.dims) if at != axis
        ):
            raise call.invalid(f"the shape of its input {i} does not match the others")
        dims[axis] += other.dims[axis]
    return _of(first, dims)


def _gather(call: OperatorCall) -> Value:
    """Rows of a table by indices of the batch, or a fixed choice of columns. ONNX Runtime holds each index to the table."""
    table, indices = call.value(0, *ANY_TYPE), call.value(1, "int32", "int64")
    axis = call.axis(call.integer("axis", 0), len(table.dims), table.dims)
    if indices.batched and (table.batched or axis != 0):
        raise call.mixed("it gathers from rows of the batch by rows of the batch")
    rest = table.dims[axis + 1 :]
    dims = (*table.dims[:axis], *indices.dims, *rest)
    call.work = 128 * row_elements(dims) // row_elements(rest)
    return _of(table, dims)


def _slice(call: OperatorCall) -> Value:
    x, starts, ends = call.value(0, *ANY_TYPE), call.constant(1), call.constant(2)
    given = call.constant(3) if call.has(3) else tuple(range(len(starts)))
    steps = call.constant(4) if call.has(4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(given) == len(steps):
        raise call.invalid("its bounds are lists of different lengths")
    dims = list(x.dims)
    for i, axis in enumerate(call.axes(given, len(x.dims), x.dims)):
        # NumPy's rule: negative bounds count from the end, and bounds beyond the ends are those.
        dims[axis] = 0 if steps[i] == 0 else len(range(dims[axis])[starts[i] : ends[i] : steps[i]])
        if dims[axis] < 1:
            raise call.invalid("its result is empty")
    return _of(x, dims)


ARRANGEMENTS = {
    "Reshape": Operator((2, 2), _reshape, {"allowzero": "int"}),
    "Flatten": Operator((1, 1), _flatten, {"axis": "int"}),
    "Squeeze": Operator((2, 2), _squeeze),
    "Unsqueeze": Operator((2, 2), _unsqueeze),
    "Transpose": Operator((1, 1), _transpose, {"perm": "ints"}),
    "Concat": Operator((1, 4_096), _concat, {"axis": "int"}, ("axis",)),
    "Gather": Operator((2, 2), _gather, {"axis": "int"}),
    "Slice": Operator((3, 5), _slice),
}
"""The same numbers in another shape, order or selection."""

OPERATORS: dict[str, Operator] = {**ELEMENTWISE, **LAYERS, **ARRANGEMENTS, **SIZES}
