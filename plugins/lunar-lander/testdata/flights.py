"""Writes flights.json: flights of Gymnasium's LunarLander-v3 through free space, without dispersion.

    pip install 'gymnasium[box2d]'
    python3 flights.py > flights.json

The legs swing out during the first steps, which the scenario leaves out: a flight starts once they are still.
"""
import json
import random

import gymnasium


class NoDispersion:
    """Stands in for the environment's random numbers."""

    def uniform(self, low, high):
        return (low + high) / 2


def fly(index):
    rng = random.Random(index)
    environment = gymnasium.make("LunarLander-v3").unwrapped
    environment.reset(seed=index)
    environment.np_random = NoDispersion()
    for _ in range(20):
        start = environment.step(0)[0]
    actions, observations, rewards = [], [], []
    while len(actions) < 40:
        actions += [rng.randrange(4)] * rng.randint(1, 4)
    actions = actions[:40]
    for action in actions:
        observation, reward, terminated, _, _ = environment.step(action)
        if terminated or observation[6] or observation[7]:
            return None  # no free flight
        observations.append([round(float(number), 6) for number in observation])
        rewards.append(round(float(reward), 6))
    return {
        "start": [round(float(number), 6) for number in start],
        "actions": actions,
        "end": observations[-1],
        "rewards": rewards,
    }


flights = [flight for flight in map(fly, range(40)) if flight][:20]
print('{\n"about": "Made by flights.py with gymnasium ' + gymnasium.__version__ + '.",\n"flights": [')
print(",\n".join(json.dumps(flight, separators=(",", ":")) for flight in flights) + "\n]\n}")
