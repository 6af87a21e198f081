"""Plays episodes by `agentgym.trl` as TRL does. Arguments: address of an environment, and JSON of [tool, arguments] in order."""

import inspect
import json
import sys

from agentgym.trl import conversation_prompt, environment

url, calls = sys.argv[1], json.loads(sys.argv[2])
Environment = environment(url)
instance = Environment()
names = [name for name, _ in inspect.getmembers(type(instance), inspect.isfunction)]
tools = [name for name in names if name not in ("reset", "get_reward") and not name.startswith("_")]
first = instance.reset(prompt=[], split="train", index=3, other="column")
assert instance.get_reward() == 0.0
said = [getattr(instance, name)(**arguments) for name, arguments in calls]
reward = instance.get_reward()
again = instance.reset(split="train", index=3)
print(
    json.dumps(
        {
            "prompt": conversation_prompt(url),
            "tools": {name: getattr(instance, name).__doc__ for name in tools},
            "annotations": {name: str(inspect.signature(getattr(instance, name))) for name in tools},
            "first": first,
            "said": said,
            "reward": reward,
            "again": again == first and instance.get_reward() == 0.0,
        }
    )
)
