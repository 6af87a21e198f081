"""N environments of one scenario as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentgym._vector.client import VectorClient
from agentgym._vector.action_turns import ActionTurns, IllegalActions
from agentgym._vector.frames import NO_SEED, SEED_LIMIT, Autoreset, Reply, Reset, Step
from agentgym._vector.spaces import SampleCodec, gymnasium_space
from agentgym.envs.scenario_env import metrics_of
from agentgym.envs.server import obtain_server

_MODES: dict[AutoresetMode, Autoreset] = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "disabled",
}

_Step = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class ScenarioVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """N environments of a scenario, stepped by one message each way. Parameters are those of `ScenarioEnv`.

    `autoreset_mode` is Gymnasium's: NEXT_STEP (the default), SAME_STEP with `infos["final_obs"]` and `infos["final_info"]`, or
    DISABLED with `reset(options={"reset_mask": …})`. Episodes are the same in all of them.
    """

    def __init__(
        self,
        scenario: str,
        *,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal_actions: IllegalActions = "refuse",
        server: str | None = None,
        split: str = "train",
        timeout: float = 120.0,
    ) -> None:
        mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": mode}
        self.num_envs = num_envs
        self._mode = mode
        self._server = obtain_server(scenario, server)
        try:
            self._client = VectorClient(
                self._server.address,
                scenario=self._server.scenario,
                environments=num_envs,
                split=split,
                autoreset=_MODES[mode],
                timeout=timeout,
            )
        except BaseException:
            self._server.release()
            raise
        opened = self._client.opened
        self._observations = SampleCodec(opened.observation)
        self._actions = SampleCodec(opened.action)
        self._turns = ActionTurns(opened, illegal_actions)
        self._seeded = False
        #: Name, version and hash of what is played.
        self.scenario = {"name": opened.name, "version": opened.version, "hash": opened.hash}
        self.single_observation_space = gymnasium_space(opened.observation, opened.layout.observation, acts=False)
        self.single_action_space = gymnasium_space(opened.action, opened.layout.action, acts=True)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes: in all environments, or in those of `options["reset_mask"]` (bool[num_envs]). A seed S begins the first
        episode of seed S + i in environment i; without one, the next of each environment's sequence."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        mask = _read_mask(options, self.num_envs)
        seeds = self._read_seeds(seed)
        reply = self._turns.seen(self._client.reset(Reset(0, mask, seeds)), seeds)
        infos: dict[str, Any] = {}
        self._add_masks(infos, reply, mask)
        return self._observations.batch(reply.observations), infos

    def step(self, actions: Any) -> _Step:
        reply = self._turns.seen(self._client.step(Step(0, self._turns.arrays(actions, self.num_envs))))
        infos: dict[str, Any] = {}
        for episode, environment in enumerate(reply.ended.tolist()):
            info: dict[str, Any] = {"metrics": metrics_of(reply, episode)}
            if self._mode is AutoresetMode.SAME_STEP:
                final = self._observations.row(reply.final, episode)
                info = {"final_obs": final, "final_info": info}
            infos = self._add_info(infos, info, environment)
        self._add_masks(infos, reply, np.ones(self.num_envs, np.bool_))
        observations = self._observations.batch(reply.observations)
        return observations, reply.rewards, reply.terminated, reply.truncated, infos

    def close_extras(self, **_: Any) -> None:
        self._client.close()
        self._server.release()

    def _add_masks(self, infos: dict[str, Any], reply: Reply, shown: NDArray[np.bool_]) -> None:
        if reply.masks is not None:
            infos["action_mask"] = self._actions.masks(reply.masks)
            infos["_action_mask"] = shown.copy()

    def _read_seeds(self, seed: int | Sequence[int | None] | None) -> NDArray[np.int64]:
        if seed is None:
            # Unseeded environments still differ from each other, and from those of the next run.
            fresh = [None if self._seeded else int(self.np_random.integers(SEED_LIMIT)) for _ in range(self.num_envs)]
            seeds: Sequence[int | None] = fresh
        else:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        self._seeded = True
        return np.array([NO_SEED if each is None else each % SEED_LIMIT for each in seeds], np.int64)


def _read_mask(options: dict[str, Any] | None, environments: int) -> NDArray[np.bool_]:
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(environments, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (environments,):
        raise TypeError(f"options['reset_mask'] must be a numpy array of {environments} booleans, got {mask!r}")
    if not mask.any():
        raise ValueError("options['reset_mask'] must name at least one environment")
    return mask
