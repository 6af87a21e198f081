import { availableParallelism } from 'node:os'
import { resolveTrainingPlan, type ScenarioPackage, type TrainingPlan } from '@agentgym/contract'
import { closest, distance } from 'fastest-levenshtein'

export type PlanRequest = {
  algorithm?: string
  steps?: number
  /** Raw `--set key=value` pairs. */
  set?: Record<string, string>
}

/**
 * How a run trains: defaults, then the scenario's own `training` block, then what the user asked for.
 * Unknown names, wrong types and values out of range throw `config_invalid` with the field and the nearest valid name.
 */
export function resolvePlan(scenario: { package: ScenarioPackage }, request: PlanRequest = {}): TrainingPlan {
  const { algorithm, steps, set = {} } = request
  const settings = Object.fromEntries(Object.entries(set).map(([key, text]) => [key, parseSetting(key, text)]))
  return resolveAutomatic(
    resolveTrainingPlan(scenario.package.agentgym.training, { algorithm, steps, settings }, suggest),
  )
}

/** Environments stepped side by side, over all rollout workers. */
export function environmentsOf(plan: TrainingPlan): number {
  return plan.algorithm === 'ppo' ? plan.settings.environments : plan.settings.groups * plan.settings.group_size
}

/** Turns "0: choose for me" into the numbers that are used, so that a package records what really ran. */
export function resolveAutomatic(plan: TrainingPlan): TrainingPlan {
  const { rollout_workers, learner_threads, minibatch_size } = plan.settings
  const environments = environmentsOf(plan)
  const cores = availableParallelism()
  const workers = rollout_workers || Math.max(1, Math.min(cores, Math.floor(environments / 64)))
  const threads = learner_threads || (minibatch_size >= 2048 ? Math.min(cores, 8) : 1)
  const chosen = { rollout_workers: Math.min(workers, environments), learner_threads: threads }
  return { ...plan, settings: { ...plan.settings, ...chosen } } as TrainingPlan
}

/** The nearest name, if it is near: half of the letters right. */
function suggest(key: string, known: readonly string[]): string | null {
  const typed = key.toLowerCase().replaceAll('-', '_')
  const nearest = closest(typed, known)
  return distance(typed, nearest) > Math.max(typed.length, nearest.length) / 2 ? null : nearest
}

/** The text after `--set name=`: `64,64` and `[64,64]` are lists; `null`, `true`, numbers and words are what they look like. */
export function parseSetting(name: string, text: string): unknown {
  const trimmed = text.trim()
  if (name === 'hidden' && /^\d+(\s*,\s*\d+)*$/.test(trimmed)) return trimmed.split(',').map(Number)
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed)
  try {
    return JSON.parse(trimmed)
  } catch {
    return trimmed
  }
}
