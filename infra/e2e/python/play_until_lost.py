"""Plays a scenario alone and as a vector until their server is gone; prints each error as JSON. Usage: play_until_lost.py READY."""

import json
import sys
from pathlib import Path

import gymnasium

from agentgym.errors import AgentGymError

options = {"scenario": "@agentgym/cart-pole"}
one = gymnasium.make("agentgym:agentgym/Scenario-v0", **options)
many = gymnasium.make_vec("agentgym:agentgym/Scenario-v0", num_envs=3, **options)
many.reset(seed=1)
Path(sys.argv[1]).touch()

errors = []
for play in (lambda: one.reset(seed=1), lambda: many.step(many.action_space.sample())):
    try:
        while True:
            play()
    except AgentGymError as error:
        errors.append([error.code, str(error)])
one.close()
many.close()
print(json.dumps(errors))
