"""The walk over a whole model: what passes is a graph of pure operators on a list, with bounds on every value."""

from __future__ import annotations

from collections.abc import Sequence

from .._policy.spec import PolicySpec
from .call import BATCH, OperatorCall, Value, row_elements, stored_elements
from .failure import LOCAL_LIMITS, ModelLimits, ModelWalk, model_failure, shown
from .nodes import ModelNode
from .operators import OPERATORS
from .read import DeclaredDim, DeclaredValue, ModelGraph, read_model

ELEMENT_WORK = 64
"""Of every element that a node makes, whatever it does: 6.4 ns."""


def check_model_structure(data: bytes, policy: PolicySpec, limits: ModelLimits = LOCAL_LIMITS) -> bytes:
    """Checks the structure of an untrusted model.onnx before anything runs it, in time that goes with its size.

    Returns the model as the walk has read it, written again. These bytes, never the file's own, are what ONNX Runtime may load:
    what was checked is what runs. They equal the file's where protobuf's own writers made it. Raises AgentGymError with a code
    `model_…` for each kind of fault; the message names the place. It says nothing of what the policy does.
    """
    if len(data) > limits.bytes:
        raise model_failure(
            "model_too_large", f"it has {len(data)} bytes; the limit is {limits.bytes}", limit=limits.bytes
        )
    _refuse_ort_format(data)
    graph, opset, written = read_model(memoryview(data), ModelWalk(limits))
    values: dict[str, Value] = {}
    for tensor in graph.initializers:
        if tensor.name == "":
            raise model_failure("model_name_invalid", "an initializer has no name")
        _define(values, tensor.name, Value(tensor.type, tensor.dims, tensor.integers), "an initializer")
    input_elements = _check_inputs(graph, policy, values)
    _infer_shapes(graph, opset, values, limits, input_elements)
    _check_outputs(graph, policy, values)
    _check_declared(graph.declared, values)
    _refuse_ort_format(written)
    return written


def _refuse_ort_format(data: bytes) -> None:
    """ONNX Runtime takes a file with this mark for its own format, whatever a reader of protobuf finds in it: a file can be both."""
    if data[4:8] == b"ORTM":
        raise model_failure("model_format_forbidden", "it is marked as ONNX Runtime's own format (ORTM), not ONNX")


def _check_inputs(graph: ModelGraph, policy: PolicySpec, values: dict[str, Value]) -> int:
    """One input for each leaf of the observation, float32 [batch, size]. Gives the elements of a row of all of them."""
    expected = policy.inputs()
    elements = 0
    for declared in graph.inputs:
        name = declared.name
        size = expected.get(name)
        if size is None:
            raise model_failure(
                "model_input_mismatch", f"its input {shown(name)} is not an input of its policy", name=name
            )
        if declared.type != "float" or not _is_batch_of(declared.dims, (size,)):
            given = f"{declared.type} [{_shown_dims(declared.dims)}]"
            raise model_failure(
                "model_input_mismatch", f"its input {shown(name)} is {given}; expected float [batch, {size}]", name=name
            )
        _define(values, name, Value("float", (BATCH, size)), "an input")
        elements += size
    for name in expected:
        if all(declared.name != name for declared in graph.inputs):
            raise model_failure("model_input_mismatch", f"it has no input {shown(name)}", name=name)
    return elements


def _check_outputs(graph: ModelGraph, policy: PolicySpec, values: dict[str, Value]) -> None:
    """The outputs of the policy, float32 [batch, n] or [batch], as they are declared and as the nodes make them."""
    missing = policy.outputs()
    for declared in graph.outputs:
        name = declared.name
        if name not in missing:
            raise model_failure(
                "model_output_mismatch",
                f"its output {shown(name)} is a duplicate or not an output of its policy",
                name=name,
            )
        rest = missing.pop(name)
        made = values.get(name)
        if made is None or made.depth == 0:
            raise model_failure("model_output_mismatch", f"no node produces its output {shown(name)}", name=name)
        wanted = ", ".join(["batch", *map(str, rest)])
        if made.type != "float" or made.dims != (BATCH, *rest):
            raise model_failure(
                "model_output_mismatch",
                f"its output {shown(name)} is {made.type} [{_shown_dims(made.dims)}]; expected float [{wanted}]",
                name=name,
            )
        if declared.type != "float" or not _is_batch_of(declared.dims, rest):
            given = f"{declared.type} [{_shown_dims(declared.dims)}]"
            raise model_failure(
                "model_output_mismatch",
                f"its output {shown(name)} is declared as {given}; expected float [{wanted}]",
                name=name,
            )
    for name in missing:
        raise model_failure("model_output_mismatch", f"it has no output {shown(name)}", name=name)


def _check_declared(declared: Sequence[DeclaredValue], values: dict[str, Value]) -> None:
    """Shapes that the file declares for values between nodes: ONNX Runtime plans its memory by them, so they must be true."""
    seen: set[str] = set()
    for value in declared:
        name = value.name
        if name in seen:
            raise model_failure("model_name_duplicate", f"the shape of {shown(name)} is declared twice", name=name)
        seen.add(name)
        made = values.get(name)
        if made is None:
            raise model_failure(
                "model_name_undefined", f"a shape is declared for {shown(name)}, which does not exist", name=name
            )
        fits = len(value.dims) == len(made.dims) and all(
            not isinstance(dim, int) if size == BATCH else dim == size
            for dim, size in zip(value.dims, made.dims, strict=True)
        )
        if value.type != made.type or not fits:
            given = f"{value.type} [{_shown_dims(value.dims)}]"
            raise model_failure(
                "model_shape_mismatch",
                f"{shown(name)} is declared as {given} but is {made.type} [{_shown_dims(made.dims)}]",
                name=name,
            )


def _is_batch_of(dims: Sequence[DeclaredDim], rest: Sequence[int]) -> bool:
    """Declared as [batch, …rest]. The batch has a name or none, but no size; only the batch may be so."""
    return len(dims) == len(rest) + 1 and not isinstance(dims[0], int) and list(dims[1:]) == list(rest)


def _shown_dims(dims: Sequence[DeclaredDim]) -> str:
    def word(dim: DeclaredDim) -> str:
        if isinstance(dim, str):
            return shown(dim)
        return "unknown" if dim is None else "batch" if dim == BATCH else str(dim)

    return ", ".join(map(word, dims))


def _infer_shapes(
    graph: ModelGraph, opset: int, values: dict[str, Value], limits: ModelLimits, input_elements: int
) -> None:
    """Walks the nodes in their order, which must be one in which they can run, and finds every value's type and shape.

    Runs nothing, and holds for any size of the batch. Bounds every value, all of them together, and the work.
    """
    total = input_elements
    work = 0
    if input_elements > limits.elements:
        raise model_failure(
            "model_intermediate_too_large",
            f"its inputs have {input_elements} elements per row; the limit is {limits.elements}",
            limit=limits.elements,
        )
    for node in graph.nodes:
        inputs = [_input(node, name, values) for name in node.inputs]
        depth = 1 + max((value.depth for value in inputs if value is not None), default=0)
        if depth > limits.depth:
            raise model_failure(
                "model_nesting_too_deep",
                f"{node.where} ends a chain of more than {limits.depth} nodes",
                limit=limits.depth,
            )
        call = OperatorCall(node, inputs, opset)
        value = _infer(node, call)
        if len(value.dims) > limits.rank:
            raise model_failure(
                "model_too_many_parts",
                f"{node.where} produces a tensor with more than {limits.rank} dimensions",
                limit=limits.rank,
            )
        # What is computed from a blocked image, number by number, stays one.
        blocked = any(other is not None and other.blocked and other.dims == value.dims for other in inputs)
        value = Value(value.type, value.dims, value.integers, value.blocked or blocked, depth)
        elements = stored_elements(value)
        total += elements + call.scratch
        work += ELEMENT_WORK * row_elements(value.dims) + call.work
        if elements > limits.elements:
            raise model_failure(
                "model_intermediate_too_large",
                f"{node.where} produces {elements} elements per row; the limit is {limits.elements}",
                limit=limits.elements,
            )
        if total > limits.elements_total:
            raise model_failure(
                "model_intermediate_too_large",
                f"at {node.where}, a row has {total} elements so far; the limit is {limits.elements_total}",
                limit=limits.elements_total,
            )
        if work > limits.work:
            raise model_failure(
                "model_work_too_large",
                f"at {node.where}, a row needs {work} operations so far; the limit is {limits.work}",
                limit=limits.work,
            )
        _define(values, node.outputs[0], value, node.where)


def _input(node: ModelNode, name: str, values: dict[str, Value]) -> Value | None:
    if name == "":
        return None
    value = values.get(name)
    if value is None:
        raise model_failure(
            "model_name_undefined", f"{node.where} reads {shown(name)}, which no earlier node produces", name=name
        )
    return value


def _define(values: dict[str, Value], name: str, value: Value, where: str) -> None:
    """Gives a name its value, once."""
    if name in values:
        raise model_failure("model_name_duplicate", f"{where} produces {shown(name)}, which already exists", name=name)
    values[name] = value


def _infer(node: ModelNode, call: OperatorCall) -> Value:
    operator = OPERATORS.get(node.operator)
    if operator is None:
        raise model_failure(
            "model_operator_forbidden", f"{node.where}: its operator is not allowed", operator=node.operator
        )
    fewest, most = operator.inputs
    if not fewest <= len(node.inputs) <= most:
        raise model_failure(
            "model_shape_invalid", f"{node.where} has {len(node.inputs)} inputs; it takes {fewest} to {most}"
        )
    if len(node.outputs) != 1 or node.outputs[0] == "":
        raise model_failure(
            "model_shape_invalid", f"{node.where} has {len(node.outputs)} outputs; it must have one, with a name"
        )
    for name, (kind, _) in node.attributes.items():
        expected = operator.attributes.get(name)
        if expected != kind:
            raise call.attribute(name, "is unknown" if expected is None else f"is {kind}, not {expected}")
    for name in operator.required:
        if name not in node.attributes:
            raise call.attribute(name, "is missing")
    return operator.infer(call)
