"""Environments that the tests serve."""

import os
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Faulty(gymnasium.Env):
    """Does what `how` says in its third step."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(3)

    def __init__(self, how: str = "raise") -> None:
        self.how = how
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        observation = np.zeros(2, np.float32)
        reward = 0.0
        if self.steps == 3:
            match self.how:
                case "raise":
                    raise ZeroDivisionError("the robot fell over")
                case "nan":
                    observation[1] = np.nan
                case "shape":
                    observation = np.zeros(3, np.float32)
                case "reward":
                    reward = float("inf")
                case "hang":
                    time.sleep(3600)
                case "exit":
                    os._exit(3)
        return observation, reward, False, False, {}


class Everything(gymnasium.Env):
    """Every space that has a counterpart; echoes its action in `info`, and its observation says what it was given."""

    observation_space = spaces.Dict(
        {
            "camera": spaces.Box(0, 255, (4, 3, 2), np.uint8),
            "count": spaces.Box(-5, 5, (2,), np.int16),
            "flags": spaces.MultiBinary(3),
            "kind": spaces.Discrete(4, start=-2),
            "pair": spaces.Tuple([spaces.MultiDiscrete([2, 3]), spaces.Box(-1, 1, (), np.float64)]),
            "words": spaces.Text(50),
        }
    )
    action_space = spaces.Dict(
        {
            "gas": spaces.Box(-1, 1, (2,), np.float64),
            "gear": spaces.Discrete(5, start=1),
            "lights": spaces.MultiBinary(2),
            "seats": spaces.MultiDiscrete([3, 2]),
        }
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.taken: list[Any] = []
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        assert action in self.action_space, action
        self.taken.append(action)
        reward = float(np.sum(action["gas"]) + 10 * action["gear"] + 100 * np.sum(action["lights"]) + 1000 * action["seats"][0])
        ended = len(self.taken) == 4
        return self._observe(), reward, False, ended, {"is_success": True} if ended else {}

    def _observe(self) -> Any:
        random = self.np_random
        return {
            "camera": random.integers(0, 256, (4, 3, 2), dtype=np.uint8),
            "count": random.integers(-5, 6, 2).astype(np.int16),
            "flags": random.integers(0, 2, 3).astype(np.int8),
            "kind": np.int64(random.integers(-2, 2)),
            "pair": (np.array([random.integers(2), random.integers(3)]), np.array(random.uniform(-1, 1))),
            "words": "größer 🙂"[: int(random.integers(1, 9))],
        }


def sequence() -> Any:
    class Unmapped(Faulty):
        observation_space = spaces.Sequence(spaces.Discrete(2))

    return Unmapped()
