"""PPO on CartPole in the shape of PureJaxRL: environment, rollout and update are one jitted function.

Usage: ppo_jax.py train|update SETTINGS, where SETTINGS is JSON. Prints one JSON line.
"""

import json
import os
import statistics
import sys
import time

settings = json.loads(sys.argv[2])
# Before jax starts its threads.
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if settings['threads'] > 1 else 'false'}"
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: settings["threads"]])

import jax
import jax.numpy as jnp
import optax


def layer(key, inputs, outputs, gain):
    return jax.nn.initializers.orthogonal(gain)(key, (inputs, outputs)), jnp.zeros(outputs)


def network(key, hidden, outputs, gain):
    sizes = [4, *hidden, outputs]
    keys = jax.random.split(key, len(sizes))
    gains = [2**0.5] * len(hidden) + [gain]
    return [layer(keys[i], sizes[i], sizes[i + 1], gains[i]) for i in range(len(sizes) - 1)]


def forward(layers, x):
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def reset(key):
    return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)


def step(state, time, action, key):
    """CartPole-v1 of Gymnasium, with automatic reset."""
    x, x_dot, theta, theta_dot = state
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * theta_dot**2 * jnp.sin(theta)) / 1.1
    turn = (9.8 * jnp.sin(theta) - jnp.cos(theta) * push) / (0.5 * (4 / 3 - 0.1 * jnp.cos(theta) ** 2 / 1.1))
    pull = push - 0.05 * turn * jnp.cos(theta) / 1.1
    state = jnp.stack([x + 0.02 * x_dot, x_dot + 0.02 * pull, theta + 0.02 * theta_dot, theta_dot + 0.02 * turn])
    ended = (jnp.abs(state[0]) > 2.4) | (jnp.abs(state[2]) > 0.20943951) | (time >= 499)
    return jnp.where(ended, reset(key), state), jnp.where(ended, 0, time + 1), ended


def make_optimizer(s):
    return optax.chain(optax.clip_by_global_norm(0.5), optax.adam(s["learning_rate"], eps=1e-5))


def start(s):
    actor_key, critic_key, key = jax.random.split(jax.random.key(s["seed"]), 3)
    parameters = {"actor": network(actor_key, s["hidden"], 2, 0.01), "critic": network(critic_key, s["hidden"], 1, 1.0)}
    return parameters, make_optimizer(s).init(parameters), key


def learn(s, parameters, moments, batch, key):
    optimizer, count = make_optimizer(s), s["samples"]

    def loss_of(parameters, observations, actions, log_probabilities, advantages, returns):
        logits = jax.nn.log_softmax(forward(parameters["actor"], observations))
        ratio = jnp.exp(jnp.take_along_axis(logits, actions[:, None], 1)[:, 0] - log_probabilities)
        a = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy_loss = jnp.maximum(-a * ratio, -a * jnp.clip(ratio, 0.8, 1.2)).mean()
        value_loss = 0.5 * jnp.square(forward(parameters["critic"], observations)[:, 0] - returns).mean()
        entropy = -(jnp.exp(logits) * logits).sum(1).mean()
        return policy_loss + 0.5 * value_loss - 0.01 * entropy

    def minibatch(carry, rows):
        parameters, moments = carry
        gradient = jax.grad(loss_of)(parameters, *(x[rows] for x in batch))
        change, moments = optimizer.update(gradient, moments)
        return (optax.apply_updates(parameters, change), moments), None

    def epoch(carry, key):
        return jax.lax.scan(minibatch, carry, jax.random.permutation(key, count).reshape(-1, s["minibatch_size"]))

    return jax.lax.scan(epoch, (parameters, moments), jax.random.split(key, s["epochs"]))[0]


def train(s):
    """Median environment steps a second over the iterations, compilation left out."""
    count, steps = s["environments"], s["rollout_steps"]
    s["samples"] = count * steps

    def iteration(parameters, moments, states, times, key):
        def play(carry, key):
            states, times = carry
            act_key, step_key = jax.random.split(key)
            logits = jax.nn.log_softmax(forward(parameters["actor"], states))
            actions = jax.random.categorical(act_key, logits)
            log_probabilities = jnp.take_along_axis(logits, actions[:, None], 1)[:, 0]
            values = forward(parameters["critic"], states)[:, 0]
            following, times, ended = jax.vmap(step)(states, times, actions, jax.random.split(step_key, count))
            return (following, times), (states, actions, log_probabilities, values, ended)

        key, play_key, learn_key = jax.random.split(key, 3)
        (states, times), (observations, actions, log_probabilities, values, ended) = jax.lax.scan(
            play, (states, times), jax.random.split(play_key, steps)
        )

        def advantage(carry, row):
            last, following = carry
            value, ended = row
            delta = 1 + s["gamma"] * following * (1 - ended) - value
            last = delta + s["gamma"] * s["gae_lambda"] * (1 - ended) * last
            return (last, value), last

        first = (jnp.zeros(count), forward(parameters["critic"], states)[:, 0])
        advantages = jax.lax.scan(advantage, first, (values, ended), reverse=True)[1]
        flat = (observations.reshape(-1, 4), *(x.reshape(-1) for x in (actions, log_probabilities, advantages, advantages + values)))
        parameters, moments = learn(s, parameters, moments, flat, learn_key)
        return parameters, moments, states, times, key

    parameters, moments, key = start(s)
    carry = (parameters, moments, jax.vmap(reset)(jax.random.split(key, count)), jnp.zeros(count, jnp.int32), key)
    jitted = jax.jit(iteration)
    carry = jax.block_until_ready(jitted(*carry))
    rates = []
    for _ in range(s["iterations"]):
        started = time.perf_counter()
        carry = jax.block_until_ready(jitted(*carry))
        rates.append(count * steps / (time.perf_counter() - started))
    return {"steps_per_second": statistics.median(rates)}


def update(s):
    """Median seconds of one update alone, compilation left out."""
    parameters, moments, key = start(s)
    keys = jax.random.split(key, 4)
    count = s["samples"]
    batch = (jax.random.normal(keys[0], (count, 4)), jax.random.randint(keys[1], (count,), 0, 2), jnp.full(count, -0.6931),
             jax.random.normal(keys[2], (count,)), jax.random.normal(keys[3], (count,)))
    jitted = jax.jit(lambda parameters, moments, key: learn(s, parameters, moments, batch, key))
    seconds = []
    for _ in range(s["repeats"] + 1):
        started = time.perf_counter()
        parameters, moments = jax.block_until_ready(jitted(parameters, moments, key))
        seconds.append(time.perf_counter() - started)
    return {"seconds": statistics.median(seconds[1:])}


result = {"train": train, "update": update}[sys.argv[1]](settings)
versions = {"jax": jax.__version__, "optax": optax.__version__, "python": sys.version.split()[0]}
print(json.dumps({**result, "versions": versions}))
