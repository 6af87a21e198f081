"""Writes games.json: what MinAtar's Breakout does with given actions, without sticky ones.

    pip install minatar
    python3 games.py > games.json

Half of the games follow the ball and sometimes do anything at all, half are random.
"""
import json
import random

from minatar import Environment


def squares(state, channel):
    return [int(square) for square in state[:, :, channel].reshape(-1).nonzero()[0]]


def play(index):
    rng = random.Random(index)
    environment = Environment("breakout", sticky_action_prob=0.0)
    environment.seed(index)
    environment.reset()
    game = environment.env
    start = "left" if game.ball_x == 0 else "right"
    actions, rewards, boards = [], [], []
    for _ in range(600):
        towards = 0 if game.ball_x == game.pos else 1 if game.ball_x < game.pos else 3
        action = rng.choice([0, 1, 3]) if index % 2 or rng.random() < 0.02 else towards
        reward, terminated = environment.act(action)
        actions.append({0: "s", 1: "l", 3: "r"}[action])
        rewards.append(int(reward))
        state = environment.state()
        boards.append([squares(state, channel)[0] for channel in range(3)] + [len(squares(state, 3))])
        if terminated:
            break
    return {
        "start": start,
        "actions": "".join(actions),
        "terminated": bool(terminated),
        "rewards": "".join(map(str, rewards)),
        "boards": boards,
    }


games = [play(index) for index in range(24)]
print('{\n"about": "Made by games.py with MinAtar 1.0.15. boards: square of paddle, ball, trail; number of bricks.",')
print('"games": [')
print(",\n".join(json.dumps(game, separators=(",", ":")) for game in games) + "\n]\n}")
