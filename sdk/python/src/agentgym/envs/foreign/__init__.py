"""Serves environments of Gymnasium by the vector protocol: what `python -m agentgym.envs` runs."""
