"""An OpenEnv server: a lamp shows which of four switches ends the episode; the others cost a step. The environment of `boxes.py` is
below /boxes. Prints its port."""

import random
import socket
from typing import Any, Literal

import uvicorn
from boxes import app as boxes
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

NAMES = ("red", "green", "blue", "white")
LONGEST = 6


class Press(Action):
    switch: Literal["red", "green", "blue", "white"]
    firmly: bool


class Seen(Observation):
    lamps: list[float]
    mood: Literal["calm", "tired"]
    words: str
    history: list[dict[str, Any]]


class Switches(Environment[Press, Seen, State]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0
        self._right = 0
        self._random = random.Random(0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Seen:
        if seed is not None:
            self._random = random.Random(seed)
        self._steps = 0
        self._right = self._random.randrange(4)
        return self._seen(0.0, done=False)

    def step(self, action: Press, timeout_s: float | None = None, **kwargs: Any) -> Seen:
        self._steps += 1
        right = NAMES.index(action.switch) == self._right and action.firmly
        return self._seen(1.0 if right else -0.1, done=right or self._steps == LONGEST)

    def _seen(self, reward: float, done: bool) -> Seen:
        lamps = [float(i == self._right) for i in range(4)]
        mood = "tired" if self._steps > 3 else "calm"
        return Seen(lamps=lamps, mood=mood, words="a lamp is on", history=[], reward=reward, done=done)

    @property
    def state(self) -> State:
        return State(episode_id=None, step_count=self._steps)


app = create_fastapi_app(Switches, Press, Seen, max_concurrent_envs=24, env_name="switches")
app.mount("/boxes", boxes)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
