"""PPO on CartPole in the shape of CleanRL's ppo.py: eager torch, one loop, a synchronous vector of environments.

Usage: ppo_torch.py train|update SETTINGS, where SETTINGS is JSON. Prints one JSON line.
"""

import json
import statistics
import sys
import time

import numpy as np
import torch
from torch import nn


def layer(inputs, outputs, gain=2**0.5):
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def network(hidden, outputs, gain):
    sizes = [4, *hidden]
    layers = []
    for inputs, width in zip(sizes, hidden):
        layers += [layer(inputs, width), nn.Tanh()]
    return nn.Sequential(*layers, layer(sizes[-1], outputs, gain))


class Agent:
    def __init__(self, s):
        torch.set_num_threads(s["threads"])
        torch.manual_seed(s["seed"])
        self.s = s
        device = s.get("device", "cpu")
        self.actor = network(s["hidden"], 2, 0.01).to(device)
        self.critic = network(s["hidden"], 1, 1.0).to(device)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        if s.get("compile"):
            self.actor, self.critic = torch.compile(self.actor), torch.compile(self.critic)
        self.optimizer = torch.optim.Adam(self.parameters, lr=s["learning_rate"], eps=1e-5)

    def update(self, observations, actions, log_probabilities, advantages, returns):
        s, count = self.s, len(observations)
        for _ in range(s["epochs"]):
            order = torch.randperm(count, device=observations.device)
            for start in range(0, count, s["minibatch_size"]):
                rows = order[start : start + s["minibatch_size"]]
                distribution = torch.distributions.Categorical(logits=self.actor(observations[rows]))
                ratio = (distribution.log_prob(actions[rows]) - log_probabilities[rows]).exp()
                a = advantages[rows]
                a = (a - a.mean()) / (a.std() + 1e-8)
                policy_loss = torch.max(-a * ratio, -a * ratio.clamp(1 - 0.2, 1 + 0.2)).mean()
                value_loss = 0.5 * (self.critic(observations[rows]).squeeze(1) - returns[rows]).square().mean()
                loss = policy_loss + 0.5 * value_loss - 0.01 * distribution.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.parameters, 0.5)
                self.optimizer.step()


def train(s):
    """Median environment steps a second over the iterations."""
    import gymnasium as gym

    versions["gymnasium"] = gym.__version__
    agent, steps, count = Agent(s), s["rollout_steps"], s["environments"]
    environments = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(count)])
    observation = torch.from_numpy(environments.reset(seed=s["seed"])[0])
    observations, values = torch.zeros(steps, count, 4), torch.zeros(steps + 1, count)
    actions = torch.zeros(steps, count, dtype=torch.int64)
    log_probabilities, rewards, ended = (torch.zeros(steps, count) for _ in range(3))
    rates = []
    for _ in range(s["iterations"]):
        started = time.perf_counter()
        for t in range(steps):
            with torch.no_grad():
                distribution = torch.distributions.Categorical(logits=agent.actor(observation))
                actions[t] = distribution.sample()
                log_probabilities[t] = distribution.log_prob(actions[t])
                values[t] = agent.critic(observation).squeeze(1)
            observations[t] = observation
            following, reward, terminated, truncated, _ = environments.step(actions[t].numpy())
            observation = torch.from_numpy(following)
            rewards[t] = torch.from_numpy(reward)
            ended[t] = torch.from_numpy(np.logical_or(terminated, truncated))
        with torch.no_grad():
            values[steps] = agent.critic(observation).squeeze(1)
        advantages, last = torch.zeros(steps, count), torch.zeros(count)
        for t in reversed(range(steps)):
            going_on = 1 - ended[t]
            delta = rewards[t] + s["gamma"] * values[t + 1] * going_on - values[t]
            last = delta + s["gamma"] * s["gae_lambda"] * going_on * last
            advantages[t] = last
        returns = advantages + values[:steps]
        agent.update(observations.view(-1, 4), *(x.view(-1) for x in (actions, log_probabilities, advantages, returns)))
        rates.append(steps * count / (time.perf_counter() - started))
    return {"steps_per_second": statistics.median(rates[1:])}


def update(s):
    """Median seconds of one update alone; `device` and `compile` of the settings choose how."""
    agent, count = Agent(s), s["samples"]
    batch = (torch.randn(count, 4), torch.randint(0, 2, (count,)), torch.full((count,), -0.6931), torch.randn(count),
             torch.randn(count))
    batch = tuple(column.to(s.get("device", "cpu")) for column in batch)
    seconds = []
    for _ in range(s["repeats"] + 1):
        started = time.perf_counter()
        agent.update(*batch)
        if batch[0].is_cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return {"seconds": statistics.median(seconds[1:])}


versions = {"torch": torch.__version__, "python": sys.version.split()[0]}
result = {"train": train, "update": update}[sys.argv[1]](json.loads(sys.argv[2]))
print(json.dumps({**result, "versions": versions}))
