"""AgentGym in Python: trained agents that act, and scenarios as environments."""

from importlib.util import find_spec as _find_spec

from .agent import Agent, AgentPackage, Choice, Decision
from .errors import AgentGymError
from .loading import load

__all__ = ["Agent", "AgentGymError", "AgentPackage", "Choice", "Decision", "load"]

if _find_spec("gymnasium") is not None:
    # `gymnasium.make("agentgym:acme/cart-pole-v1")` imports this module and then looks the id up.
    from agentgym._registration import register_scenarios as _register_scenarios

    _register_scenarios()
