"""Writes transitions.json: what one step of Pendulum-v1 does, from the published equations.

    python3 transitions.py > transitions.json
    python3 transitions.py --check        # also against gymnasium, where that is installed

Equations: a rod of mass m and length l turning about its end has the moment of inertia m l^2 / 3, so
theta'' = (m g l / 2 sin(theta) + u) / (m l^2 / 3), theta = 0 upright; constants, cost and the order of the Euler step:
Gymnasium's documentation.
"""
import json
import random
import struct
import sys
from math import cos, floor, pi, sin

GRAVITY, MASS, LENGTH, DT, MAX_SPEED, MAX_TORQUE = 10.0, 1.0, 1.0, 0.05, 8.0, 2.0


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def clip(number, low, high):
    return low if number < low else high if number > high else number


def step(state, torque):
    theta, speed = state
    torque = clip(torque, -MAX_TORQUE, MAX_TORQUE)
    angle = theta - 2 * pi * floor((theta + pi) / (2 * pi))  # into [-pi, pi)
    cost = angle**2 + 0.1 * speed**2 + 0.001 * torque**2
    acceleration = (MASS * GRAVITY * LENGTH / 2 * sin(theta) + torque) / (MASS * LENGTH**2 / 3)
    speed = clip(speed + acceleration * DT, -MAX_SPEED, MAX_SPEED)
    return [theta + speed * DT, speed], -cost, False


def observe(state):
    return [float32(cos(state[0])), float32(sin(state[0])), float32(state[1])]


def transitions():
    rng = random.Random(2016)
    for index in range(120):
        turns = 4 if index % 4 == 0 else 1  # the angle itself is unbounded
        # Torques are multiples of 1/8: the same number as float32 and as float64.
        yield [rng.uniform(-pi, pi) * turns, rng.uniform(-8, 8)], rng.randrange(-16, 17) / 8
    state = [3.0, 0.5]
    for index in range(60):  # one episode: pump energy in
        torque = 2.0 if state[1] >= 0 else -2.0
        yield state, torque
        state = step(state, torque)[0]


def check(rows):
    import gymnasium
    import numpy

    environment = gymnasium.make("Pendulum-v1").unwrapped
    worst = 0.0
    for row in rows:
        environment.reset()
        environment.state = numpy.array(row["state"])
        observation, reward, _, _, _ = environment.step(numpy.array([row["action"]]))
        worst = max(worst, abs(float(reward) - row["reward"]))
        worst = max(worst, float(numpy.abs(environment.state - numpy.array(row["next"])).max()))
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
            "observation": observe(following),
            "reward": reward,
            "terminated": terminated,
        }
    )
if "--check" in sys.argv:
    check(rows)
else:
    about = (
        "Made by transitions.py (equations: a rod turning about its end). "
        "Agrees with gymnasium 1.2.0 to 3.6e-15 (run it with --check)."
    )
    print('{\n"about": ' + json.dumps(about) + ',\n"transitions": [')
    print(",\n".join(json.dumps(row) for row in rows) + "\n]\n}")
