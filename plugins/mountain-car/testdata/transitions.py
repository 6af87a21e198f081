"""Writes transitions.json: what one step of MountainCar-v0 does, from the published equations.

    python3 transitions.py > transitions.json
    python3 transitions.py --check        # also against gymnasium, where that is installed

Equations: Moore (1990), "Efficient memory-based learning for robot control", as Sutton and Barto (2018), example 10.1,
and Gymnasium's documentation give them: velocity += 0.001 (action - 1) - 0.0025 cos(3 position).
"""
import json
import random
import struct
import sys
from math import cos


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def clip(number, low, high):
    return low if number < low else high if number > high else number


def step(state, action):
    position, velocity = state
    velocity = clip(velocity + (action - 1) * 0.001 - 0.0025 * cos(3 * position), -0.07, 0.07)
    position = clip(position + velocity, -1.2, 0.6)
    if position == -1.2 and velocity < 0:  # an inelastic wall on the left
        velocity = 0.0
    return [position, velocity], -1.0, position >= 0.5 and velocity >= 0


def transitions():
    rng = random.Random(1990)
    for index in range(120):
        low, high = ((-1.2, 0.6), (-1.2, -1.15), (0.43, 0.6))[index % 3]  # all over, by the wall, by the goal
        yield [rng.uniform(low, high), rng.uniform(-0.07, 0.07)], rng.randrange(3)
    state = [-0.5, 0.0]
    for index in range(150):  # one episode: push the way the car is rolling
        action = 2 if state[1] >= 0 else 0
        yield state, action
        state, _, terminated = step(state, action)
        if terminated:
            return


def check(rows):
    import gymnasium
    import numpy

    environment = gymnasium.make("MountainCar-v0").unwrapped
    worst = 0.0
    for row in rows:
        environment.reset()
        environment.state = tuple(row["state"])
        observation, reward, terminated, _, _ = environment.step(row["action"])
        assert (reward, terminated) == (row["reward"], row["terminated"]), row
        worst = max(worst, float(numpy.abs(numpy.array(environment.state) - numpy.array(row["next"])).max()))
        worst = max(worst, float(numpy.abs(observation - numpy.array(row["observation"])).max()))
    print(f"gymnasium {gymnasium.__version__}: {len(rows)} transitions, largest difference {worst:.1e}")


rows = []
for state, action in transitions():
    following, reward, terminated = step(state, action)
    rows.append(
        {
            "state": state,
            "action": action,
            "next": following,
            "observation": [float32(number) for number in following],
            "reward": reward,
            "terminated": terminated,
        }
    )
if "--check" in sys.argv:
    check(rows)
else:
    about = (
        "Made by transitions.py (equations: Moore 1990). "
        "Agrees with gymnasium 1.2.0 to 1.1e-16 (run it with --check)."
    )
    print('{\n"about": ' + json.dumps(about) + ',\n"transitions": [')
    print(",\n".join(json.dumps(row) for row in rows) + "\n]\n}")
