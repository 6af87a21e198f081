import { createRng } from '@agentgym/scenario'
import { EpisodeSession } from '../episode-session.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import { Sessions } from '../sessions.ts'
import { splitsOf, tasksIn } from '../task-splits.ts'

export type RewardRange = { low: number; high: number }

export type OpenEnvPackage = {
  /** By path in the package. */
  files: { path: string; text: string }[]
  /** What was declared. */
  range: RewardRange
  /** Episodes that were played to see rewards. */
  episodes: number
}

const EPISODES = 24
const MOST_STEPS = 200
/** Actions of the probe; OpenEnv takes up to a hundred, in 64 KiB. */
const PROBE_STEPS = 20
const SEED = 1
/** What the server allows a step on average, and OpenEnv an episode. */
const SECONDS_A_STEP = 0.25
const MOST_SECONDS = 3_600

/**
 * Writes what OpenEnv's validator reads of an environment: `openenv.yaml`, and a probe with legal actions from one seed. Without `range`,
 * the rewards of episodes with random and with the oracle's actions are declared, which are not all that can be.
 */
export async function openEnvPackage(environment: ServedEnvironment, range?: RewardRange): Promise<OpenEnvPackage> {
  const sessions = new Sessions({ most: 1, idleMs: 600_000 })
  try {
    const session = await EpisodeSession.open(sessions, environment)
    const probe = await playProbe(session)
    const seen = range ?? (await rewardsSeen(session, environment))
    await session.end()
    const files = [
      { path: 'openenv.yaml', text: manifestYaml(environment, seen) },
      { path: 'validation/runtime.json', text: `${JSON.stringify(probe, null, 2)}\n` },
    ]
    return { files, range: seen, episodes: range === undefined ? EPISODES : 0 }
  } finally {
    sessions.close()
  }
}

async function playProbe(session: EpisodeSession) {
  const episodeId = 'agentgym-probe'
  const actions: object[] = []
  const random = createRng(SEED)
  let turn = await session.reset({ seed: SEED, episodeId })
  while (!turn.done && actions.length < PROBE_STEPS) {
    const action = session.anyAction(random)
    actions.push(wireAction(session, action))
    turn = await session.step({ action })
  }
  return { plan_schema_version: '1', reset: { episode_id: episodeId, seed: SEED, options: {} }, actions }
}

/** An action of the scenario's space as clients send it. */
function wireAction({ environment: { form, description } }: EpisodeSession, action: unknown): object {
  if (form.form !== 'tools') return { action }
  if (typeof action === 'string') return { type: 'call_tool', tool_name: form.toolNamed(action), arguments: {} }
  const { action: space } = description
  const parts = action as Record<string, unknown>
  const chosen = String(parts[(space.type === 'dict' && space.choice) || 'tool'])
  return { type: 'call_tool', tool_name: form.toolNamed(chosen), arguments: parts[chosen] ?? {} }
}

/** The least and the greatest reward of a step, with 0, which an observation that asks again has. */
async function rewardsSeen(session: EpisodeSession, { description }: ServedEnvironment): Promise<RewardRange> {
  const seen = { low: 0, high: 0 }
  const random = createRng(SEED)
  for (let episode = 0; episode < EPISODES; episode++) {
    const oracle = description.oracle === true && episode % 2 === 1
    let turn = await session.reset({ seed: episode })
    for (let step = 0; step < MOST_STEPS && !turn.done; step++) {
      turn = oracle ? await session.stepOracle() : await session.step({ action: session.anyAction(random) })
      seen.low = Math.min(seen.low, turn.reward ?? 0)
      seen.high = Math.max(seen.high, turn.reward ?? 0)
    }
  }
  return seen.low === seen.high ? { low: 0, high: 1 } : seen
}

/** Texts in JSON's form, which YAML reads: names and words are a stranger's. */
function manifestYaml(environment: ServedEnvironment, { low, high }: RewardRange): string {
  const { package: manifest, description, form } = environment
  const { name, version, agentgym } = manifest
  const seconds = Math.min(MOST_SECONDS, Math.max(60, Math.ceil(description.maxSteps * SECONDS_A_STEP)))
  const counts = splitsOf(description).map((split) => `      ${split}: ${tasksIn(description, split)}`)
  const tools = form.form === 'tools' ? form.tools.map((tool) => tool.name) : []
  return `spec_version: 1
name: ${JSON.stringify(name.replace(/^@/, '').replace(/[^a-z0-9]+/g, '_'))}
version: ${JSON.stringify(version)}
description: ${JSON.stringify(agentgym.summary)}
type: space
port: 8000
validation:
  reward:
    range: [${decimal(low)}, ${decimal(high)}]
    oracle_tolerance: 0.0
    floor_margin: 0.1
  resources:
    cpu: 1.0
    memory_mb: 1024
    disk_mb: 512
    episode_timeout_s: ${decimal(seconds)}
  network:
    mode: no-network
  capabilities:
    verifier:
      kind: reward_channel
    task_api: true
    declared_tools: ${JSON.stringify(tools)}
    declared_task_count:
${counts.join('\n')}
  types:
    tags: [${JSON.stringify(agentgym.category)}]
  execution:
    kind: openenv_ws
    probe_path: validation/runtime.json
    dockerfile: Dockerfile
    context: "."
`
}

function decimal(number: number): string {
  return Number.isInteger(number) ? `${number}.0` : String(number)
}
