"""PPO on CartPole, or another environment of Gymnasium, by Stable-Baselines3 or sbx. Usage: ppo_library.py sb3|sbx SETTINGS. Prints one JSON line."""

import json
import os
import statistics
import sys
import time

library, s = sys.argv[1], json.loads(sys.argv[2])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: s["threads"]])

import stable_baselines3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

versions = {"stable-baselines3": stable_baselines3.__version__, "python": sys.version.split()[0]}
if library == "sb3":
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(s["threads"])
    policy = {"net_arch": {"pi": s["hidden"], "vf": s["hidden"]}}
    versions["torch"] = torch.__version__
else:
    import jax
    import sbx
    from sbx import PPO

    policy = {"net_arch": {"pi": s["hidden"], "vf": s["hidden"]}}
    versions |= {"sbx-rl": sbx.__version__, "jax": jax.__version__}


class Clock(BaseCallback):
    """Notes when each rollout begins."""

    def __init__(self):
        super().__init__()
        self.times = []

    def _on_rollout_start(self):
        self.times.append(time.perf_counter())

    def _on_step(self):
        return True


batch = s["environments"] * s["rollout_steps"]
options = {"device": "cpu"} if library == "sb3" else {}
model = PPO("MlpPolicy", make_vec_env(s.get("environment", "CartPole-v1"), n_envs=s["environments"], seed=s["seed"]), n_steps=s["rollout_steps"],
            batch_size=s["minibatch_size"], n_epochs=s["epochs"], learning_rate=s["learning_rate"], gamma=s["gamma"],
            gae_lambda=s["gae_lambda"], ent_coef=0.01, seed=s["seed"], policy_kwargs=policy, **options)
clock = Clock()
model.learn(batch * s["iterations"], callback=clock)
rates = [batch / (later - earlier) for earlier, later in zip(clock.times[1:], clock.times[2:])]
print(json.dumps({"steps_per_second": statistics.median(rates), "versions": versions}))
