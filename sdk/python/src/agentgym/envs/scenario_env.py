"""One scenario as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np

from agentgym._vector.client import VectorClient
from agentgym._vector.action_turns import ActionTurns, IllegalActions
from agentgym._vector.frames import NO_SEED, SEED_LIMIT, Reply, Reset, Step
from agentgym._vector.spaces import SampleCodec, gymnasium_space
from agentgym.envs.server import obtain_server
from agentgym.errors import AgentGymError


class ScenarioEnv(gymnasium.Env[Any, Any]):
    """Plays a scenario that `agentgym env serve` runs in its sandbox.

    `scenario` is a name with an optional version or range, such as `@acme/cart-pole@1.2.0`. The server is `server`, else
    AGENTGYM_ENV_SERVER, else one that is started for this process. `split="eval"` plays held-out episodes.

    `info["action_mask"]` has the legal actions of a scenario with masks, in the form that `action_space.sample(mask=…)` takes. A
    forbidden action raises AgentGymError `request_invalid` and changes nothing; with `illegal_actions="replace"`, for algorithms that
    know no masks, a random legal one is played instead. When an episode ends, `info["metrics"]` has the scenario's metrics. Faults of
    the scenario raise AgentGymError, never a reward of 0.

    `render_mode="ansi"` draws the scenario as text, by its own scene where it has one.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        scenario: str,
        *,
        render_mode: str | None = None,
        illegal_actions: IllegalActions = "refuse",
        server: str | None = None,
        split: str = "train",
        timeout: float = 120.0,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise AgentGymError("config_invalid", f"render_mode is {render_mode!r}, neither 'ansi' nor None.")
        self.render_mode = render_mode
        self._server = obtain_server(scenario, server)
        try:
            self._client = VectorClient(
                self._server.address,
                scenario=self._server.scenario,
                environments=1,
                split=split,
                autoreset="disabled",
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
        self._open = True
        #: Name, version and hash of what is played.
        self.scenario = {"name": opened.name, "version": opened.version, "hash": opened.hash}
        self.observation_space = gymnasium_space(opened.observation, opened.layout.observation, acts=False)
        self.action_space = gymnasium_space(opened.action, opened.layout.action, acts=True)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode. A seed begins the first of a sequence that depends on it alone; without one, the next of that
        sequence follows."""
        super().reset(seed=seed)
        wire = NO_SEED
        if seed is not None and seed < SEED_LIMIT:
            wire = seed
        elif seed is not None or not self._seeded:
            wire = int(self.np_random.integers(SEED_LIMIT))
        self._seeded = True
        seeds = np.array([wire], np.int64)
        reply = self._turns.seen(self._client.reset(Reset(0, np.ones(1, np.bool_), seeds)), seeds)
        return self._observation(reply), self._info(reply)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        reply = self._turns.seen(self._client.step(Step(0, self._turns.arrays(action, None))))
        return (
            self._observation(reply),
            float(reply.rewards[0]),
            bool(reply.terminated[0]),
            bool(reply.truncated[0]),
            self._info(reply),
        )

    def render(self) -> str | None:  # type: ignore[override]
        """What a terminal shows of the current state, 80 columns wide, with `render_mode="ansi"`; else None."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing: make the environment with render_mode="ansi".')
            return None
        return self._client.render()

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._client.close()
        self._server.release()

    def _observation(self, reply: Reply) -> Any:
        return self._observations.row(reply.observations, 0)

    def _info(self, reply: Reply) -> dict[str, Any]:
        info: dict[str, Any] = {}
        if reply.masks is not None:
            info["action_mask"] = self._actions.masks(reply.masks[0])
        if len(reply.ended) > 0:
            info["metrics"] = metrics_of(reply, 0)
        return info


def metrics_of(reply: Reply, episode: int) -> dict[str, float]:
    """Metrics of one of the episodes that ended."""
    values = zip(reply.metric_names, reply.metrics[episode].tolist(), strict=True)
    return {name: value for name, value in values if value == value}
