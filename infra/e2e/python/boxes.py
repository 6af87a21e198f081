"""An OpenEnv environment whose actions are tools of MCP: `look` tells which box has the prize, `open_box` opens one."""

import random
from typing import Any, Literal

from fastmcp import FastMCP
from openenv.core.env_server import Action, Observation, State, create_fastapi_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation

NAMES = ("red", "green", "blue")
LONGEST = 4


class Boxes(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        tools = FastMCP("boxes")

        @tools.tool
        def look() -> str:
            """Look which box has the prize."""
            return f"the prize is in the {NAMES[self._right]} box"

        @tools.tool
        def open_box(name: Literal["red", "green", "blue"], note: str = "") -> str:
            """Open a box. That ends the episode."""
            self._opened = name
            return "it is open"

        super().__init__(tools)
        self._random = random.Random(0)
        self._begin()

    def _begin(self) -> None:
        self._steps = 0
        self._right = self._random.randrange(len(NAMES))
        self._opened: str | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Observation:
        if seed is not None:
            self._random = random.Random(seed)
        self._begin()
        return Observation(reward=None, done=False, metadata={"status": "ready"})

    async def step_async(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        observation = await super().step_async(action, timeout_s, **kwargs)
        if isinstance(action, CallToolAction):
            self._steps += 1
            observation.reward = float(self._opened == NAMES[self._right])
            observation.done = self._opened is not None or self._steps == LONGEST
        return observation

    def _step_impl(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        raise ValueError("every action is a tool")

    @property
    def state(self) -> State:
        return State(episode_id=None, step_count=self._steps)


app = create_fastapi_app(Boxes, CallToolAction, CallToolObservation, max_concurrent_envs=24, env_name="boxes")
