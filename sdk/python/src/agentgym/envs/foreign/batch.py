"""N environments stepped one after the other, with the protocol's three ways of following an episode by the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agentgym._vector.frames import NO_SEED, Autoreset, Layout, Reply, Values
from agentgym.envs.foreign.mapping import MappedSpace
from agentgym.envs.foreign.source import Source
from agentgym.errors import AgentGymError

#: Results of an episode that environments put into their last `info`.
_METRICS = ("is_success", "success")


@dataclass(frozen=True)
class BatchOptions:
    environments: int
    seed: int
    #: Number of the first one among all of the run.
    first_environment: int
    autoreset: Autoreset
    #: Takes `info["action_mask"]` as the mask of legal actions.
    action_mask: bool


class Batch(Protocol):
    """N environments. Methods raise AgentGymError `environment_failed`, after which the environments are lost. Arrays of a reply are
    valid until the next call."""

    def reset(self, mask: NDArray[np.bool_], seeds: NDArray[np.int64]) -> Reply: ...

    def step(self, actions: list[Values]) -> Reply: ...

    def render(self, environment: int) -> str: ...

    def close(self) -> None: ...


class Description:
    """What the environments of a source are like, read from one of them."""

    def __init__(self, source: Source, *, action_mask: bool) -> None:
        env = source.make()
        try:
            self.observation = MappedSpace(env.observation_space, acts=False)
            self.action = MappedSpace(env.action_space, acts=True)
            spec = env.spec
            self.max_steps = None if spec is None else spec.max_episode_steps
            self.render_modes = ["ansi"] if env.render_mode == "ansi" else []
        finally:
            env.close()
        self.mask = self.action.choices if action_mask else 0

    def layout(self, environments: int, autoreset: Autoreset) -> Layout:
        return Layout(environments, autoreset, self.observation.fields, self.action.fields, self.mask)


class Turns:
    """Whose turn it is: what a request may ask of each environment. Refuses before anything has changed."""

    def __init__(self, description: Description, options: BatchOptions) -> None:
        self._action = description.action
        self._options = options
        self._new = np.ones(options.environments, np.bool_)
        #: The episode is over and the next one has not begun.
        self._ended = np.zeros(options.environments, np.bool_)

    def check(self, actions: list[Values]) -> None:
        """Raises `request_invalid`, naming the environment."""
        waiting = self._new | self._ended if self._options.autoreset == "disabled" else self._new
        if waiting.any():
            raise self._refused(int(np.flatnonzero(waiting)[0]), "has no episode: reset it first")
        problem = self._action.problem(actions, self._ended)
        if problem is not None:
            raise self._refused(problem[0], f"was given an action whose {problem[1]}")

    def reset(self, mask: NDArray[np.bool_]) -> None:
        self._new &= ~mask
        self._ended &= ~mask

    def step(self, reply: Reply) -> None:
        if self._options.autoreset != "same_step":
            self._ended = reply.terminated | reply.truncated

    def _refused(self, environment: int, what: str) -> AgentGymError:
        number = self._options.first_environment + environment
        return AgentGymError("request_invalid", f"Environment {number} {what}.", data={"environment": number})


class LocalBatch:
    """The environments of this process."""

    def __init__(self, source: Source, description: Description, options: BatchOptions) -> None:
        count = options.environments
        self._source = source
        self._options = options
        self._observation, self._action = description.observation, description.action
        self._envs = [source.make() for _ in range(count)]
        self._observations = self._observation.allocate(count)
        self._masks = np.ones((count, description.mask), np.bool_) if description.mask > 0 else None
        self._steps = np.zeros(count, np.int64)
        #: Before its first episode; after the end of one, while its next has not begun.
        self._unseeded = np.ones(count, np.bool_)
        self._ended = np.ones(count, np.bool_)
        #: The environment whose code ran last; for messages about a step that does not end.
        self.running = 0

    def reset(self, mask: NDArray[np.bool_], seeds: NDArray[np.int64]) -> Reply:
        for environment in np.flatnonzero(mask).tolist():
            self._begin(environment, int(seeds[environment]))
        final = self._observation.allocate(0) if self._options.autoreset == "same_step" else []
        return self._reply(*self._blank(), final=final, metrics=[])

    def step(self, actions: list[Values]) -> Reply:
        rewards, terminated, truncated = self._blank()
        same_step = self._options.autoreset == "same_step"
        final = self._observation.allocate(len(self._envs)) if same_step else []
        metrics: list[dict[str, float]] = []
        chosen = self._action.samples(actions)
        for environment, env in enumerate(self._envs):
            if self._ended[environment]:
                self._begin(environment, NO_SEED)
                continue
            self.running = environment
            try:
                observation, reward, end, cut, info = env.step(chosen[environment])
                rewards[environment], terminated[environment], truncated[environment] = reward, end, cut
            except Exception as error:  # noqa: BLE001 - it is the user's code
                raise self.fault(environment, f"{type(error).__name__}: {error}") from error
            self._steps[environment] += 1
            if not (end or cut):
                self._write(environment, observation, info, self._observations)
                continue
            self._write(environment, observation, None, final if same_step else self._observations)
            metrics.append({name: float(info[name]) for name in _METRICS if name in info})
            self._ended[environment] = True
            if same_step:
                self._begin(environment, NO_SEED)
        if not np.isfinite(rewards).all():
            bad = int(np.flatnonzero(~np.isfinite(rewards))[0])
            raise self.fault(bad, f"the reward is {rewards[bad]}")
        ended = np.flatnonzero(terminated | truncated)
        rows = [_take(values, ended) for values in final]
        return self._reply(rewards, terminated, truncated, final=rows, metrics=metrics)

    def render(self, environment: int) -> str:
        self.running = environment
        try:
            return str(self._envs[environment].render())
        except Exception as error:  # noqa: BLE001 - it is the user's code
            raise self.fault(environment, f"render: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def _begin(self, environment: int, seed: int) -> None:
        """The next episode; the first one of a seed, if one is given, or if there was none before."""
        options = self._options
        if seed == NO_SEED and self._unseeded[environment]:
            seed = options.seed + options.first_environment + environment
        self._steps[environment] = 0
        self.running = environment
        try:
            observation, info = self._envs[environment].reset(seed=None if seed == NO_SEED else seed)
        except Exception as error:  # noqa: BLE001 - it is the user's code
            raise self.fault(environment, f"{type(error).__name__}: {error}") from error
        self._unseeded[environment] = False
        self._ended[environment] = False
        self._write(environment, observation, info, self._observations)

    def _write(self, environment: int, observation: Any, info: Any, rows: list[Values]) -> None:
        try:
            self._observation.write(observation, rows, environment)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise self.fault(environment, f"the observation does not fit its space: {error}") from None
        if self._masks is None:
            return
        self._masks[environment] = True
        if info is not None:
            self._write_mask(environment, info)

    def _write_mask(self, environment: int, info: dict[str, Any]) -> None:
        assert self._masks is not None
        if "action_mask" not in info:
            raise self.fault(environment, "info has no action_mask, and --action-mask was given")
        mask = info["action_mask"]
        flat = np.concatenate([np.ravel(part) for part in mask]) if isinstance(mask, tuple) else np.ravel(mask)
        if flat.shape != self._masks[environment].shape or not flat.any():
            raise self.fault(environment, f"action_mask has {flat.size} entries, {int(flat.astype(bool).sum())} legal")
        self._masks[environment] = flat.astype(np.bool_)

    def _blank(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        count = len(self._envs)
        return np.zeros(count, np.float64), np.zeros(count, np.bool_), np.zeros(count, np.bool_)

    def _reply(
        self,
        rewards: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        *,
        final: list[Values],
        metrics: list[dict[str, float]],
    ) -> Reply:
        problem = self._observation.problem(self._observations)
        if problem is None and final:
            problem = self._observation.problem(final)
        if problem is not None:
            raise self.fault(problem[0], f"the observation is outside its space: {problem[1]}")
        names = sorted({name for episode in metrics for name in episode})
        values = np.array([[episode.get(name, math.nan) for name in names] for episode in metrics], np.float64)
        values = values.reshape(len(metrics), len(names))
        # Copies are made when the frame is encoded.
        return Reply(0, self._observations, rewards, terminated, truncated, self._masks, final, names, values)

    def fault(self, environment: int, what: str) -> AgentGymError:
        number = self._options.first_environment + environment
        place = {"environment": number, "step": int(self._steps[environment])}
        where = f"environment {place['environment']}, step {place['step']}"
        return AgentGymError("environment_failed", f"{self._source.name} failed in {where}: {what}", data=place)


def _take(values: Values, rows: NDArray[np.intp]) -> Values:
    return [values[row] for row in rows.tolist()] if isinstance(values, list) else values[rows]
