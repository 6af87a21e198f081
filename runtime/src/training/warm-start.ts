import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readAgentWithModel } from '@agentgym/agent/engine'
import {
  AgentGymError,
  type AgentParent,
  agentParentSchema,
  continuedAgentPlan,
  type PolicySpec,
  parseJson,
  settingValue,
  type TrainingAlgorithm,
  type TrainingPlan,
} from '@agentgym/contract'
import type { RunSubject } from '../external/opened-environment.ts'
import { readPolicyWeights } from '../policy/read-weights.ts'
import { type PlanRequest, resolveAutomatic } from './settings.ts'

/** What a run starts with instead of random weights. */
export type WarmStart = {
  parent: AgentParent
  algorithm: TrainingAlgorithm
  policy: PolicySpec
  /** Flat, normalizer included; values in the reward's own units. */
  weights: Float32Array
  /** Observations that the normalizer's statistics count for: the steps that the agent was trained for. */
  observations: number
}

/** A package.json is small. */
const maxPackageBytes = 2 ** 20

/**
 * Reads an agent's folder, which may come from anyone, to train it further. Throws as `readAgentWithModel`, and
 * `agent_invalid` where AgentGym did not write its model.
 */
export async function readWarmStart(folder: string): Promise<WarmStart> {
  const { manifest, checkedModel } = await readAgentWithModel(folder)
  const { policy, algorithm, steps, model_hash } = manifest
  const weights = readPolicyWeights(policy, checkedModel)
  const parent = { ...(await readPackage(folder)), model_hash }
  return { parent, algorithm, policy, weights, observations: Math.max(1, steps) }
}

async function readPackage(folder: string): Promise<Omit<AgentParent, 'model_hash'>> {
  const path = join(folder, 'package.json')
  const text = await readFile(path, 'utf8').catch(() => '')
  const json = text.length > maxPackageBytes ? undefined : parseJson(text)
  const { name, version, license = null } = (json ?? {}) as Record<string, unknown>
  const parsed = agentParentSchema.omit({ model_hash: true }).safeParse({ name, version, license })
  if (parsed.success) return parsed.data
  throw new AgentGymError({
    code: 'manifest_invalid',
    message: `${path} has no valid ${parsed.error.issues[0].path.join('.')}: the new agent could not name its parent`,
    hint: 'Train or download the agent again.',
    data: { path },
  })
}

/** As `resolvePlan`, with the agent's algorithm and network where the request names no other. */
export function warmStartPlan(
  scenario: Pick<RunSubject, 'package'>,
  { algorithm, steps, set = {} }: PlanRequest,
  start: Pick<WarmStart, 'algorithm' | 'policy'>,
): TrainingPlan {
  const settings = Object.fromEntries(Object.entries(set).map(([key, text]) => [key, settingValue(key, text)]))
  const { training } = scenario.package.agentgym
  return resolveAutomatic(continuedAgentPlan(training, { algorithm, steps, settings }, start))
}

/** What is compared, in this order, with the name that a user knows it by. */
const compared: [keyof PolicySpec, string][] = [
  ['observation', 'observation'],
  ['action', 'action'],
  ['head', 'kind of network (head)'],
  ['convolution', 'convolution'],
  ['hidden', 'hidden'],
  ['activation', 'activation'],
  ['embedding', 'embedding'],
  ['memory', 'memory'],
  ['normalizeObservation', 'normalize_observation'],
]

/** Throws `config_invalid`, with the first difference, where the weights of one policy are not weights of the other. */
export function assertStartsFrom(agent: PolicySpec, run: PolicySpec): void {
  for (const [key, name] of compared) {
    const found = firstDifference(agent[key], run[key], name)
    if (found === null) continue
    throw new AgentGymError({
      code: 'config_invalid',
      message: `this run cannot start from the agent: its ${found.path} is ${shown(found.agent)}, and the run's is ${shown(found.run)}`,
      hint:
        key === 'observation' || key === 'action'
          ? 'Start from an agent of a scenario with the same spaces, or leave --from out.'
          : `Leave ${key === 'head' ? '--algorithm' : `--set ${name}`} out: the run then has the agent's.`,
      data: { field: 'from', difference: found.path, agent: found.agent ?? null, run: found.run ?? null },
    })
  }
}

type Difference = { path: string; agent: unknown; run: unknown }

/** Arrays of named leaves are compared name by name, so that the path says which one differs. */
function firstDifference(agent: unknown, run: unknown, path: string): Difference | null {
  if (isDeepStrictEqual(agent, run)) return null
  if (!isStructured(agent) || !isStructured(run)) return { path, agent, run }
  const names = (value: Record<string, unknown>) =>
    Object.values(value).map((leaf) => (leaf as { name?: string })?.name)
  const leaves = Array.isArray(agent) && Array.isArray(run) && names({ ...agent })[0] !== undefined
  if (leaves && agent.length !== run.length) return { path, agent: names({ ...agent }), run: names({ ...run }) }
  if (Array.isArray(agent) && !leaves) return { path, agent, run }
  for (const key of new Set([...Object.keys(agent), ...Object.keys(run)])) {
    const part = leaves ? `${path} ${shown((agent[Number(key)] as { name: string }).name)}` : `${path}.${key}`
    const found = firstDifference(agent[key as never], run[key as never], part)
    if (found !== null) return found
  }
  return { path, agent, run }
}

function isStructured(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value).slice(0, 200)
}
