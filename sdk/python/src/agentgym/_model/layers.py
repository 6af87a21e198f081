"""Layers with weights, normalizations, sums and pools."""

from __future__ import annotations

from collections.abc import Sequence

from .call import BATCH, Operator, OperatorCall, Value, broadcast_shapes, floats, row_elements, whole_blocks


def _gemm(call: OperatorCall) -> Value:
    x, dims = call.value(0), call.fixed(1).dims
    if len(x.dims) != 2 or len(dims) != 2:
        raise call.invalid("its inputs are not matrices")
    if call.integer("transA", 0) != 0:
        raise call.mixed("it transposes the batch") if x.batched else call.invalid("transA is set")
    inner, out = dims if call.integer("transB", 0) == 0 else (dims[1], dims[0])
    if x.dims[1] != inner:
        raise call.invalid(f"it multiplies rows of {x.dims[1]} by a matrix of {inner} × {out}")
    result = (x.dims[0], out)
    if call.has(2) and broadcast_shapes(call, [result, call.value(2).dims]) != result:
        raise call.invalid("its third input is larger than its result")
    call.work = inner * whole_blocks(out)
    return floats(result)


def _mat_mul(call: OperatorCall) -> Value:
    """Rows by a matrix of weights, or a matrix by a matrix within each row, as attention does it."""
    a, b = call.value(0), call.value(1)
    within = len(a.dims) == len(b.dims) == 3 and a.batched and b.batched
    by_weights = len(a.dims) >= 2 and len(b.dims) == 2 and not b.batched
    if not within and not by_weights:
        raise call.invalid("its inputs are neither rows and a matrix, nor two matrices per row")
    inner, columns = a.dims[-1], b.dims[-1]
    if inner != b.dims[-2]:
        raise call.invalid(f"it multiplies rows of {inner} by a matrix of {b.dims[-2]} × {columns}")
    result = (*a.dims[:-1], columns)
    call.work = inner * (row_elements(result) // columns) * whole_blocks(columns)
    return floats(result)


def _convolution(call: OperatorCall) -> Value:
    """Images are stored in blocks of channels: what comes in is put in that order, what goes out is put back, and padded."""
    x, weights = call.value(0), call.fixed(1)
    if not x.batched or not 3 <= len(x.dims) <= 4 or len(weights.dims) != len(x.dims):
        raise call.invalid(
            "its input must be [batch, channels, length] or [batch, channels, height, width], with weights of the same rank"
        )
    _, channels, *size = x.dims
    out, channels_of_group, *kernel = weights.dims
    group = call.integer("group", 1)
    if group < 1 or channels_of_group * group != channels or out % group != 0:
        shape = " × ".join(map(str, weights.dims))
        raise call.invalid(f"its {channels} channels in {group} groups do not fit weights of {shape}")
    if call.has(2):
        _require_shape(call, call.fixed(2), (out,))
    result = (BATCH, out, *_slide(call, size, kernel))
    positions = row_elements(result) // out
    call.work = positions * group * whole_blocks(out // group) * channels_of_group * row_elements(kernel)
    call.scratch = row_elements(result) + row_elements(x.dims)
    return Value("float", result, blocked=len(size) == 2)


def _slide(call: OperatorCall, size: Sequence[int], kernel: Sequence[int]) -> list[int]:
    """Positions of a window that slides over each dimension of `size`. Convolutions and pools have the attributes in common."""
    ones = (1,) * len(size)

    def numbers(name: str, otherwise: Sequence[int], length: int, lowest: int) -> Sequence[int]:
        given = call.integers(name)
        values = otherwise if given is None else given
        if len(values) != length or any(value < lowest for value in values):
            raise call.attribute(name, f"must be {length} integers of at least {lowest}")
        return values

    if call.text("auto_pad") not in (None, "NOTSET"):
        raise call.attribute("auto_pad", "does not fix the padding")
    if tuple(numbers("kernel_shape", kernel, len(size), 1)) != tuple(kernel):
        raise call.attribute("kernel_shape", "is not the shape of the weights")
    strides = numbers("strides", ones, len(size), 1)
    dilations = numbers("dilations", ones, len(size), 1)
    pads = numbers("pads", (0,) * 2 * len(size), 2 * len(size), 0)
    slid = []
    for i, length in enumerate(size):
        window = dilations[i] * (kernel[i] - 1) + 1
        before, after = pads[i], pads[i + len(size)]
        if before >= window or after >= window:
            raise call.attribute("pads", "is as large as the window")
        positions = (length + before + after - window) // strides[i] + 1
        if positions < 1:
            raise call.invalid(f"its window of {window} is larger than {length}")
        slid.append(positions)
    return slid


def _batch_normalization(call: OperatorCall) -> Value:
    dims = call.value(0).dims
    if len(dims) < 2:
        raise call.invalid("its input has no channels")
    if call.integer("training_mode", 0) != 0:
        raise call.attribute("training_mode", "is set")
    for i in range(1, 5):
        _require_shape(call, call.fixed(i), (dims[1],))
    return floats(dims)


def _layer_normalization(call: OperatorCall) -> Value:
    dims = call.value(0).dims
    normalized = dims[call.axis(call.integer("axis", -1), len(dims), dims) :]
    _require_shape(call, call.fixed(1), normalized)
    if call.has(2):
        _require_shape(call, call.fixed(2), normalized)
    call.work = 1_024 * row_elements(dims) // row_elements(normalized)
    return floats(dims)


def _along_axis(call: OperatorCall) -> Value:
    dims = call.value(0).dims
    axis = call.axis(call.integer("axis", -1), len(dims), dims)
    elements = row_elements(dims)
    call.work = 512 * elements // dims[axis]
    # Along another axis than the last it turns its input over, and its output back.
    if axis < len(dims) - 1:
        call.scratch = 2 * elements
    return floats(dims)


def _reduction(axes_as_input: int) -> Operator:
    """Sums and their like. Axes were an attribute before operator set `axes_as_input`."""

    def infer(call: OperatorCall) -> Value:
        dims = call.value(0).dims
        as_input = call.opset >= axes_as_input
        if call.integers("axes") is not None if as_input else call.count > 1:
            raise call.attribute("axes", f"does not exist in operator set {call.opset}")
        given = (call.constant(1) if call.count > 1 else ()) if as_input else (call.integers("axes") or ())
        if len(given) == 0:
            raise call.unbounded("it has no axes")
        axes = call.axes(given, len(dims), dims)
        call.work = 64 * row_elements(dims)
        call.scratch = row_elements(dims)
        if call.integer("keepdims", 1) != 0:
            return floats([1 if i in axes else dim for i, dim in enumerate(dims)])
        return floats([dim for i, dim in enumerate(dims) if i not in axes])

    attributes = {"keepdims": "int", "noop_with_empty_axes": "int"}
    return Operator((1, 2), infer, attributes if axes_as_input == 13 else {"axes": "ints", **attributes})


def _require_shape(call: OperatorCall, value: Value, expected: Sequence[int]) -> None:
    if value.dims != tuple(expected):
        shape = " × ".join(map(str, value.dims)) or "a number"
        raise call.invalid(f"a weight is {shape}, not {' × '.join(map(str, expected))}")


_NUMBER_UNDER_WINDOW = 16
"""A large window is read number by number at every position: up to 1.6 ns."""


def _pool(call: OperatorCall) -> Value:
    batch, channels, *size = _require_image(call).dims
    kernel = call.integers("kernel_shape") or ()
    if call.integer("ceil_mode", 0) != 0:
        raise call.attribute("ceil_mode", "is set")
    if len(kernel) != len(size):
        raise call.attribute("kernel_shape", f"must be {len(size)} integers of at least 1")
    dims = (batch, channels, *_slide(call, size, kernel))
    call.work = _NUMBER_UNDER_WINDOW * row_elements(dims) * row_elements(kernel)
    return floats(dims)


def _global_average_pool(call: OperatorCall) -> Value:
    batch, channels, *size = _require_image(call).dims
    call.work = _NUMBER_UNDER_WINDOW * channels * row_elements(size)
    return floats((batch, channels, *(1 for _ in size)))


def _require_image(call: OperatorCall) -> Value:
    x = call.value(0)
    if not x.batched or not 3 <= len(x.dims) <= 4:
        raise call.invalid("its input must be [batch, channels, length] or [batch, channels, height, width]")
    return x


_SLIDING = {"auto_pad": "string", "dilations": "ints", "kernel_shape": "ints", "pads": "ints", "strides": "ints"}
_POOLING = {**_SLIDING, "ceil_mode": "int"}

LAYERS = {
    "Gemm": Operator((2, 3), _gemm, {"alpha": "float", "beta": "float", "transA": "int", "transB": "int"}),
    "MatMul": Operator((2, 2), _mat_mul),
    "Conv": Operator((2, 3), _convolution, {**_SLIDING, "group": "int"}),
    "BatchNormalization": Operator(
        (5, 5), _batch_normalization, {"epsilon": "float", "momentum": "float", "training_mode": "int"}
    ),
    "LayerNormalization": Operator(
        (2, 3), _layer_normalization, {"axis": "int", "epsilon": "float", "stash_type": "int"}
    ),
    "Softmax": Operator((1, 1), _along_axis, {"axis": "int"}),
    "LogSoftmax": Operator((1, 1), _along_axis, {"axis": "int"}),
    "ReduceSum": _reduction(13),
    "ReduceMean": _reduction(18),
    "ReduceMax": _reduction(18),
    "ReduceMin": _reduction(18),
    "MaxPool": Operator((1, 1), _pool, {**_POOLING, "storage_order": "int"}, ("kernel_shape",)),
    "AveragePool": Operator((1, 1), _pool, {**_POOLING, "count_include_pad": "int"}, ("kernel_shape",)),
    "GlobalAveragePool": Operator((1, 1), _global_average_pool),
}
