"""Writes transitions.json: what one step of Acrobot-v1 does, from the published equations.

    python3 transitions.py > transitions.json
    python3 transitions.py --check        # also against gymnasium, where that is installed

Equations of motion: Sutton and Barto, "Reinforcement Learning: An Introduction" (1998), section 11.3 (Gymnasium's
`book_or_nips = "book"`); integrated by one classical Runge-Kutta step of 0.2 s; bounds: Gymnasium's documentation.
"""
import json
import random
import struct
import sys
from math import cos, pi, sin

M1 = M2 = L1 = I1 = I2 = 1.0
LC1 = LC2 = 0.5
GRAVITY, DT, MAX_SPEED_1, MAX_SPEED_2 = 9.8, 0.2, 4 * pi, 9 * pi


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def clip(number, low, high):
    return low if number < low else high if number > high else number


def wrap(angle):
    while angle > pi:
        angle -= 2 * pi
    while angle < -pi:
        angle += 2 * pi
    return angle


def derivative(state, torque):
    theta1, theta2, speed1, speed2 = state
    d1 = M1 * LC1**2 + M2 * (L1**2 + LC2**2 + 2 * L1 * LC2 * cos(theta2)) + I1 + I2
    d2 = M2 * (LC2**2 + L1 * LC2 * cos(theta2)) + I2
    phi2 = M2 * LC2 * GRAVITY * cos(theta1 + theta2 - pi / 2)
    phi1 = (
        -M2 * L1 * LC2 * speed2**2 * sin(theta2)
        - 2 * M2 * L1 * LC2 * speed2 * speed1 * sin(theta2)
        + (M1 * LC1 + M2 * L1) * GRAVITY * cos(theta1 - pi / 2)
        + phi2
    )
    acceleration2 = (torque + d2 / d1 * phi1 - M2 * L1 * LC2 * speed1**2 * sin(theta2) - phi2) / (
        M2 * LC2**2 + I2 - d2**2 / d1
    )
    acceleration1 = -(d2 * acceleration2 + phi1) / d1
    return [speed1, speed2, acceleration1, acceleration2]


def along(state, slope, dt):
    return [number + dt * rate for number, rate in zip(state, slope)]


def step(state, action):
    torque = action - 1.0
    k1 = derivative(state, torque)
    k2 = derivative(along(state, k1, DT / 2), torque)
    k3 = derivative(along(state, k2, DT / 2), torque)
    k4 = derivative(along(state, k3, DT), torque)
    theta1, theta2, speed1, speed2 = (
        state[i] + DT / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) for i in range(4)
    )
    following = [
        wrap(theta1),
        wrap(theta2),
        clip(speed1, -MAX_SPEED_1, MAX_SPEED_1),
        clip(speed2, -MAX_SPEED_2, MAX_SPEED_2),
    ]
    terminated = -cos(following[0]) - cos(following[1] + following[0]) > 1.0
    return following, 0.0 if terminated else -1.0, terminated


def observe(state):
    theta1, theta2, speed1, speed2 = state
    return [float32(number) for number in (cos(theta1), sin(theta1), cos(theta2), sin(theta2), speed1, speed2)]


def transitions():
    rng = random.Random(1998)
    for index in range(120):
        fast = 1.0 if index % 4 == 0 else 0.3  # a quarter at speeds where the bounds bite
        yield [
            rng.uniform(-pi, pi),
            rng.uniform(-pi, pi),
            rng.uniform(-MAX_SPEED_1, MAX_SPEED_1) * fast,
            rng.uniform(-MAX_SPEED_2, MAX_SPEED_2) * fast,
        ], rng.randrange(3)
    state = [0.05, -0.03, 0.08, -0.06]
    for index in range(60):  # one episode: push the way the second joint turns
        action = 2 if state[3] >= 0 else 0
        yield state, action
        state = step(state, action)[0]


def check(rows):
    import gymnasium
    import numpy

    environment = gymnasium.make("Acrobot-v1").unwrapped
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
        "Made by transitions.py (equations: Sutton and Barto 1998, section 11.3). "
        "Agrees with gymnasium 1.2.0 exactly (run it with --check)."
    )
    print('{\n"about": ' + json.dumps(about) + ',\n"transitions": [')
    print(",\n".join(json.dumps(row) for row in rows) + "\n]\n}")
