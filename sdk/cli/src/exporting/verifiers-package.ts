import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ScenarioPackage } from '@agentgym/contract'
import { replaceFolder } from '../deploying/replace-folder.ts'

export type VerifiersExport = {
  scenario: ScenarioPackage
  /** Where `agentgym env serve` listens. */
  url: string
  /** Tasks to train on: the first ones of the split `train`. */
  tasks: number
}

/** Held-out tasks of an evaluation. */
const EVALUATION_TASKS = 64

/**
 * Writes a Python package whose taskset is this scenario behind its environment server, with configurations for vf-eval,
 * prime-rl and AgentGym-RL. Returns the names of the files. It depends on the protocol of OpenEnv, not on classes of ours.
 */
export async function writeVerifiersPackage(folder: string, given: VerifiersExport): Promise<string[]> {
  const name = given.scenario.name.replace(/^@[^/]*\//, '')
  const module = `agentgym_${name.replace(/[^a-z0-9]+/gi, '_').toLowerCase()}`
  const url = `${given.url.replace(/\/+$/, '')}/envs/${name}`
  const about = { ...given, name, module, url }
  const files = {
    'pyproject.toml': pyproject(about),
    [`${module}/__init__.py`]: moduleSource(about),
    'eval.toml': evaluation(about),
    'prime-rl.toml': primeRl(about),
    'agentgym-rl.sh': agentGymRl(about),
    'agentgym-rl-items.json': `${JSON.stringify(Array.from({ length: given.tasks }, (_, i) => ({ item_id: `textcraft_${i}` })))}\n`,
    'README.md': readme(about),
  }
  await replaceFolder(folder, 'pyproject.toml', async (unfinished) => {
    await mkdir(join(unfinished, module))
    for (const [path, text] of Object.entries(files)) await writeFile(join(unfinished, path), text)
  })
  return Object.keys(files)
}

type About = VerifiersExport & { name: string; module: string }

/** Text of a package's author, as a string of TOML or Python: JSON's escapes are theirs, too. */
const quoted = (text: string) => JSON.stringify(text.replace(/[\p{Cc}]+/gu, ' '))

function pyproject({ name, scenario }: About): string {
  return `[project]
name = "agentgym-${name}"
version = ${quoted(scenario.version)}
description = ${quoted(scenario.agentgym.summary)}
requires-python = ">=3.11"
dependencies = ["verifiers[openenv]>=0.4,<0.5"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
`
}

function moduleSource({ scenario, url, tasks }: About): string {
  return `"""${scenario.name}@${scenario.version} of AgentGym, behind \`agentgym env serve\`, as a taskset of verifiers."""

from typing import Any

import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.tasksets.openenv import OpenEnvConfig, OpenEnvEnv, OpenEnvTask, OpenEnvTaskset

__all__ = ["AgentGymTaskset", "OpenEnvEnv"]


class AgentGymConfig(OpenEnvConfig):
    base_url: str | None = ${quoted(url)}
    resets: list[dict[str, Any]] = Field(
        default_factory=lambda: [{"split": "train", "index": index} for index in range(${tasks})]
    )


class AgentGymTaskset(OpenEnvTaskset, vf.Taskset[OpenEnvTask, AgentGymConfig]):
    """One task of the scenario a row; rewards of the steps are summed."""
`
}

function evaluation({ module }: About): string {
  const resets = Array.from({ length: EVALUATION_TASKS }, (_, i) => `  { split = "test", index = ${i} },`)
  return `# vf-eval @ eval.toml --no-push
model = "Qwen/Qwen3-0.6B"
num_rollouts = 1

[client]
base_url = "http://127.0.0.1:8001/v1"
api_key_var = "OPENAI_API_KEY"

[env.taskset]
id = "${module.replaceAll('_', '-')}"
# Held-out tasks.
resets = [
${resets.join('\n')}
]

[env.player.harness]
id = "null"

[env.player.runtime]
type = "subprocess"
`
}

function primeRl({ module, name }: About): string {
  return `# uv run rl @ prime-rl.toml, with the package installed: one GPU trains, one plays.
max_steps = 100
seq_len = 4096

[deployment]
num_train_gpus = 1
num_infer_gpus = 1

[model]
name = "Qwen/Qwen3-0.6B"

[orchestrator]
batch_size = 128
group_size = 16

[orchestrator.train.sampling]
max_completion_tokens = 256

[[orchestrator.train.source]]
name = "${name}"

[orchestrator.train.source.env.taskset]
id = "${module.replaceAll('_', '-')}"

[orchestrator.train.source.env.player.harness]
id = "null"

[orchestrator.train.source.env.player.runtime]
type = "subprocess"

[trainer.optim]
lr = 3e-6

[ckpt]

[inference]
`
}

function agentGymRl({ url }: About): string {
  return `#!/bin/sh
# GRPO by AgentGym-RL (verl), which knows the scenario as its TextCraft. Run in AgentGym-RL's folder, with MODEL set to a folder with weights.
set -eu
items=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/agentgym-rl-items.json
python3 -m verl.agent_trainer.main_ppo \\
  algorithm.adv_estimator=grpo \\
  algorithm.rounds_ctrl.type=fixed \\
  algorithm.rounds_ctrl.rounds=20 \\
  data.train_file="$items" \\
  data.train_batch_size=8 \\
  data.max_prompt_length=1024 \\
  data.max_response_length=4096 \\
  actor_rollout_ref.agentgym.task_name=textcraft \\
  actor_rollout_ref.agentgym.env_addr=${url}/textcraft \\
  actor_rollout_ref.agentgym.timeout=600 \\
  actor_rollout_ref.model.path="\${MODEL:?set MODEL to a folder with weights}" \\
  actor_rollout_ref.actor.use_kl_loss=True \\
  actor_rollout_ref.actor.kl_loss_coef=0.001 \\
  actor_rollout_ref.actor.optim.lr=1e-6 \\
  actor_rollout_ref.rollout.n=8 \\
  actor_rollout_ref.rollout.max_tokens=200 \\
  trainer.n_gpus_per_node="\${GPUS:-1}" \\
  trainer.nnodes=1 \\
  trainer.total_epochs=10
`
}

function readme({ scenario, name, module, url, tasks }: About): string {
  return `# ${scenario.name}@${scenario.version} for trainers of language models

The environment runs in \`agentgym env serve\`; this package says where, and which tasks. Start the server first:

\`\`\`sh
agentgym env serve ${scenario.name} --port 8000
\`\`\`

It is expected at \`${url}\`. Training takes the first ${tasks} tasks of the split \`train\`; \`eval.toml\` takes held-out ones.

| File | For |
| --- | --- |
| \`${module}/\`, \`pyproject.toml\` | [verifiers](https://github.com/PrimeIntellect-ai/verifiers) 0.4: \`pip install .\`, then the taskset is \`${module.replaceAll('_', '-')}\` |
| \`eval.toml\` | \`vf-eval @ eval.toml --no-push\`: a model at an OpenAI-compatible address plays |
| \`prime-rl.toml\` | \`uv run rl @ prime-rl.toml\` in prime-rl |
| \`agentgym-rl.sh\`, \`agentgym-rl-items.json\` | GRPO by AgentGym-RL, whose client knows ${name} as TextCraft |

A rollout that failed is an error on every one of these ways, never a reward of 0.
`
}
