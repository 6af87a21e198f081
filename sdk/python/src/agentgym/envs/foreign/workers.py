"""Environments in processes of their own: on several cores, and where a step that never ends can be stopped."""

from __future__ import annotations

import math
import multiprocessing
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentgym._vector.frames import Reply, Values
from agentgym.envs.foreign.batch import BatchOptions, Description, LocalBatch
from agentgym.envs.foreign.source import Source
from agentgym.errors import AgentGymError

#: Importing what an environment needs may take a while.
_START_SECONDS = 300.0


class WorkerBatch:
    """N environments in up to `workers` processes, which step at the same time."""

    def __init__(self, source: Source, options: BatchOptions, *, workers: int, timeout: float) -> None:
        self._source = source
        self._timeout = timeout
        self._options = options
        bounds = np.linspace(0, options.environments, min(workers, options.environments) + 1).astype(int).tolist()
        self._slices = [slice(start, end) for start, end in zip(bounds, bounds[1:], strict=False)]
        # Forked processes would share the locks and threads of this one as they were.
        context = multiprocessing.get_context("spawn")
        self._workers: list[tuple[Any, Connection]] = []
        try:
            for part in self._slices:
                ours, theirs = context.Pipe()
                share = replace(
                    options,
                    environments=part.stop - part.start,
                    first_environment=options.first_environment + part.start,
                )
                process = context.Process(target=_work, args=(source, share, theirs), daemon=True)
                process.start()
                theirs.close()
                self._workers.append((process, ours))
            self._receive(range(len(self._workers)), _START_SECONDS)
        except BaseException:
            self.close()
            raise

    def reset(self, mask: NDArray[np.bool_], seeds: NDArray[np.int64]) -> Reply:
        return self._all("reset", [(mask[part], seeds[part]) for part in self._slices])

    def step(self, actions: list[Values]) -> Reply:
        return self._all("step", [([value[part] for value in actions],) for part in self._slices])

    def render(self, environment: int) -> str:
        index = next(i for i, part in enumerate(self._slices) if part.start <= environment < part.stop)
        self._send(index, ("render", (environment - self._slices[index].start,)))
        return str(self._receive([index])[0])

    def close(self) -> None:
        for process, pipe in self._workers:
            pipe.close()
            process.kill()
            process.join()

    def _all(self, call: str, arguments: list[tuple[Any, ...]]) -> Reply:
        for index, given in enumerate(arguments):
            self._send(index, (call, given))
        return _join(self._receive(range(len(self._workers))))

    def _send(self, index: int, message: tuple[str, tuple[Any, ...]]) -> None:
        try:
            self._workers[index][1].send(message)
        except (OSError, ValueError):
            raise self._lost(index) from None

    def _receive(self, indices: Any, timeout: float | None = None) -> list[Any]:
        seconds = timeout or self._timeout
        results: list[Any] = []
        for index in indices:
            process, pipe = self._workers[index]
            try:
                if not pipe.poll(seconds):
                    process.kill()
                    raise self._fault(index, f"did not answer within {seconds:g} seconds and was ended")
                result = pipe.recv()
            except (EOFError, OSError):
                raise self._lost(index) from None
            if isinstance(result, AgentGymError):
                raise result
            results.append(result)
        return results

    def _lost(self, index: int) -> AgentGymError:
        process = self._workers[index][0]
        process.join(5)
        return self._fault(index, f"ended with status {process.exitcode}")

    def _fault(self, index: int, what: str) -> AgentGymError:
        part = self._slices[index]
        first = self._options.first_environment
        which = f"environments {first + part.start} to {first + part.stop - 1}"
        return AgentGymError(
            "environment_failed",
            f"{self._source.name} failed: the process of {which} {what}.",
            data={"environment": first + part.start},
        )


def _work(source: Source, options: BatchOptions, pipe: Connection) -> None:
    """Serves one share until its parent is gone."""
    try:
        try:
            description = Description(source, action_mask=options.action_mask)
            batch = LocalBatch(source, description, options)
        except AgentGymError as error:
            pipe.send(error)
            return
        pipe.send(None)
        calls: dict[str, Any] = {"reset": batch.reset, "step": batch.step, "render": batch.render}
        while True:
            call, arguments = pipe.recv()
            try:
                result: Any = calls[call](*arguments)
            except AgentGymError as error:
                result = error
            pipe.send(result)
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _join(replies: list[Reply]) -> Reply:
    names = sorted({name for reply in replies for name in reply.metric_names})
    metrics = np.full((sum(len(reply.metrics) for reply in replies), len(names)), math.nan)
    row = 0
    for reply in replies:
        for episode in reply.metrics:
            for name, value in zip(reply.metric_names, episode.tolist(), strict=True):
                metrics[row, names.index(name)] = value
            row += 1
    masks = [reply.masks for reply in replies if reply.masks is not None]
    return Reply(
        0,
        [_joined(parts) for parts in zip(*(reply.observations for reply in replies), strict=True)],
        np.concatenate([reply.rewards for reply in replies]),
        np.concatenate([reply.terminated for reply in replies]),
        np.concatenate([reply.truncated for reply in replies]),
        np.concatenate(masks) if masks else None,
        [_joined(parts) for parts in zip(*(reply.final for reply in replies), strict=True)],
        names,
        metrics,
    )


def _joined(parts: tuple[Values, ...]) -> Values:
    if isinstance(parts[0], list):
        return [text for part in parts for text in part]
    return np.concatenate([np.asarray(part) for part in parts])
