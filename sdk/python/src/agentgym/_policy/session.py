"""A policy's model in ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from ..errors import AgentGymError
from .spec import STATE_INPUT, STATE_OUTPUT, PolicySpec

Rows = NDArray[numpy.float32]


def open_onnx(model: bytes) -> Any:
    """A session that computes on one thread, as in evaluations, so that its numbers are the same.

    The format is named, because ONNX Runtime would otherwise guess it from the bytes, and read some files by its own format's
    reader that are ONNX to the walk.
    """
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class PolicySession:
    """A loaded model, for batches of any size."""

    def __init__(self, model: bytes, spec: PolicySpec) -> None:
        """`model` is what the walk has written. Raises `model_load_failed`."""
        self.spec = spec
        try:
            self._session = open_onnx(model)
        except Exception as error:
            raise _model_failure("model_load_failed", "refuses it", error) from error
        self._chosen = [leaf for leaf in spec.action if leaf.fixed is None]
        self._outputs = list(spec.outputs())

    def run(self, observations: Rows, states: Rows) -> PolicyRows:
        """Reads [batch, observation row] and [batch, state]. Raises `model_run_failed`."""
        spec = self.spec
        feeds = {
            leaf.name: numpy.ascontiguousarray(observations[:, leaf.offset : leaf.offset + leaf.size])
            for leaf in spec.observation
        }
        if spec.memory is not None:
            feeds[STATE_INPUT] = states
        try:
            found = dict(zip(self._outputs, self._session.run(self._outputs, feeds), strict=True))
        except Exception as error:
            raise _model_failure("model_run_failed", "could not run it", error) from error
        means: list[Rows] = []
        deviations: list[Rows] = []
        log_std: list[float] = []
        for leaf in self._chosen:
            names = leaf.output_names()
            means.append(found[names[0]])
            if len(names) == 2 and spec.head == "squashed_gaussian":
                deviations.append(found[names[1]])
            elif len(names) == 2:
                log_std += found[names[1]][0].tolist()
        columns = [*means, *deviations]
        distribution = columns[0] if len(columns) == 1 else numpy.concatenate([*columns], axis=1) if columns else None
        if distribution is None:
            distribution = numpy.zeros((len(observations), 0), numpy.float32)
        return PolicyRows(distribution, found["value"], found.get(STATE_OUTPUT), log_std)


class PolicyRows:
    """What a model gave for a batch."""

    __slots__ = ("distribution", "log_std", "states", "values")

    def __init__(self, distribution: Rows, values: Rows, states: Rows | None, log_std: list[float]) -> None:
        self.distribution = distribution
        """[batch, distribution row]: logits and means of the leaves in their order; then, of a squashed Gaussian, deviations."""
        self.values = values
        """[batch], in the reward's own units."""
        self.states = states
        """[batch, state]; None for a policy without memory."""
        self.log_std = log_std
        """log standard deviation of every box column; empty where the distribution row has them."""


def _model_failure(code: str, what: str, error: Exception) -> AgentGymError:
    said = "".join(character if character.isprintable() else " " for character in str(error))[:400]
    return AgentGymError(
        code,
        f"model.onnx: ONNX Runtime {what}: {said}",
        hint="Export the policy again, as plain layers.",
        data={"file": "model.onnx"},
    )
