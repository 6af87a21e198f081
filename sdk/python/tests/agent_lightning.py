"""Rollouts of Agent Lightning, by its own server, controller, and the manager of its trainer, which this process starts.

Arguments: port for its server, address of an environment server, address of a language model, and JSON of rows. Prints JSON: for
each row what the trainer gets; the last row once more, played as its Job of Kubernetes would; and errors of the event client.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading

import uvicorn
from agentlightning.controller.k8s_reconciler import build_job_spec
from agentlightning.controller.local_reconciler import LocalReconciler
from agentlightning.client import AgentLightningAsyncClient
from agentlightning.server.app import create_app
from agentlightning.verl.agl_rollout_manager import AglRolloutManager
from omegaconf import OmegaConf

from agentgym import AgentGymError
from agentgym.agentlightning import EventClient, job_template, local_config

port, environments, model, given = int(sys.argv[1]), sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
url, key = f"http://127.0.0.1:{port}", "gateway-key"
proxy = {"model_name": "trained", "train": {"temperature": 1}, "val": {"temperature": 0.7}}
server = uvicorn.Server(uvicorn.Config(create_app({"key": key, "default_proxy": proxy}), port=port, log_level="warning"))
controller_config = OmegaConf.create(
    {
        "runner_type": "local",
        "agl_server": {"url": url, "agent_url": None, "key": key},
        # One process at a time: the scripted model says its lines in order.
        "local_runner": {"maximum_size": 1, "poll_interval": 0.2},
        "k8s_runner": {"namespace": "default", "ttl_after_finished": 60},
    }
)


async def control() -> None:
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.02)
    async with AgentLightningAsyncClient(base_url=url, key=key) as api:
        reconciler = LocalReconciler(api=api, config=controller_config)
        controlling = asyncio.create_task(reconciler.run())
        started.set()
        await asyncio.to_thread(finished.wait)
        reconciler.stop()
        await controlling
    server.should_exit = True
    await serving


started, finished = threading.Event(), threading.Event()
thread = threading.Thread(target=asyncio.run, args=(control(),), daemon=True)
thread.start()
started.wait(60)

local = local_config(environments, max_round=200)
manager = AglRolloutManager(
    agl_base_url=url,
    agl_key=key,
    model="trained",
    step=0,
    poll_interval_seconds=0.2,
    local_agent_class=local["agent_class"],
    local_env_map=local["env_map"],
)
manager.register_model([model])
columns = {name: [row[name] for row in given] for name in given[0]}
# What Agent Lightning's data set does to a column of this name.
columns["index"] = [0 for _ in given]
completed = manager.enqueue_and_wait_until_completed(columns, is_train=True)


def play_job(row: dict[str, object]) -> list[dict[str, object]]:
    """The events of a rollout that is played by the command and the variables of its Job."""
    config = {"timeout_seconds": 60, "k8s": {"job_template": job_template(environments, "agent:1", max_round=200)}}
    created = manager.client.post("/api/rollouts", json=[{"input": row, "config": config}]).json()[0]
    rollout = manager._get_rollout(created["rollout_id"])
    # The local controller fails what it cannot start; its events can be posted and read all the same.
    job = build_job_spec(rollout, controller_config)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}
    _, *parameters = container["command"]
    subprocess.run([sys.executable, *parameters], env={**os.environ, **variables}, check=True)
    return [event.model_dump() for event in manager._get_events(rollout.rollout_id)]


job_events = play_job(given[-1])
answer = {
    "rollouts": [
        {
            "data_id": each.input["data_id"],
            "state": each.rollout_state,
            "reward": each.final_reward,
            "events": [event["event_type"] for event in each.events],
            "episode": next((e["data"] for e in each.events if e["event_type"] == "agentgym_episode"), None),
        }
        for each in completed
    ],
    "job": [{"type": event["event_type"], "data": event["data"]} for event in job_events],
}
refused = []
events_url = f"{url}/api/rollouts/unknown/attempt/0/events"
for client, value in (
    (EventClient(events_url, "wrong key"), 1.0),
    (EventClient(events_url, key), 1.0),
    (EventClient(events_url, key), float("nan")),
    (EventClient("http://127.0.0.1:9/", key, tries=2), 1.0),
):
    try:
        client.reward(value)
    except AgentGymError as error:
        refused.append([error.code, error.message])
answer["refused"] = refused
finished.set()
thread.join(10)
# The log of the three is above it.
print()
print(json.dumps(answer))
