"""Loads an agent and lets it act, by the JSON of its first parameter; prints what came of it."""

import dataclasses
import json
import sys

import agentgym

request = json.loads(sys.argv[1])
received = []
try:
    agent = agentgym.load(**request["load"], on_progress=lambda so_far, total: received.append((so_far, total)))
    decision = dataclasses.asdict(agent.act(request["observation"]))
    result = {"package": agent.package and agent.package._asdict(), "decision": decision}
except agentgym.AgentGymError as error:
    result = {"error": {"code": error.code, "message": error.message, "hint": error.hint, "data": error.data}}
print(json.dumps({**result, "received": received[-1:]}))
