"""Environments of AgentGym for Gymnasium, and Gymnasium's environments for AgentGym.

`gymnasium.make("agentgym:acme/cart-pole-v1")` and `gymnasium.make_vec` give `ScenarioEnv` and `ScenarioVectorEnv`.
`python -m agentgym.envs gymnasium:CartPole-v1` serves an environment of Gymnasium to `agentgym train`.
"""

from agentgym.envs.scenario_env import ScenarioEnv
from agentgym.envs.scenario_vector_env import ScenarioVectorEnv

__all__ = ["ScenarioEnv", "ScenarioVectorEnv"]
