import { availableParallelism } from 'node:os'
import { resolveTrainingPlan, settingValue, type TrainingPlan } from '@agentgym/contract'
import type { RunSubject } from '../external/opened-environment.ts'

export type PlanRequest = {
  algorithm?: string
  steps?: number
  /** Raw `--set key=value` pairs. */
  set?: Record<string, string>
  /** That share this machine; by default 1. */
  processes?: number
}

/**
 * How a run trains: defaults, then the scenario's own `training` block, then the user's request.
 * Unknown names, wrong types and values out of range throw `config_invalid` with the field and the nearest valid name.
 */
export function resolvePlan(scenario: Pick<RunSubject, 'package'>, request: PlanRequest = {}): TrainingPlan {
  const { algorithm, steps, set = {}, processes } = request
  const settings = Object.fromEntries(Object.entries(set).map(([key, text]) => [key, settingValue(key, text)]))
  return resolveAutomatic(
    resolveTrainingPlan(scenario.package.agentgym.training, { algorithm, steps, settings }),
    processes,
  )
}

/** Environments stepped side by side, over all rollout workers. */
export function environmentsOf(plan: TrainingPlan): number {
  return plan.algorithm === 'grpo' ? plan.settings.groups * plan.settings.group_size : plan.settings.environments
}

/**
 * Turns "0: choose for me" into the numbers that are used, so that a package records what really ran. Of several processes,
 * each has its share of the environments, of a minibatch and of the cores.
 */
export function resolveAutomatic(plan: TrainingPlan, processes = 1): TrainingPlan {
  const { rollout_workers, learner_threads } = plan.settings
  const environments = Math.max(1, Math.floor(environmentsOf(plan) / processes))
  const cores = Math.max(1, Math.floor(availableParallelism() / processes))
  const workers = rollout_workers || Math.max(1, Math.min(cores, Math.floor(environments / 8)))
  const threads = learner_threads || ((minibatchOf(plan) ?? 0) / processes >= 2048 ? Math.min(cores, 8) : 1)
  const chosen = { rollout_workers: Math.min(workers, environments), learner_threads: threads }
  return { ...plan, settings: { ...plan.settings, ...chosen } } as TrainingPlan
}

/** Of a process. */
export type Threads = { rollout_workers: number; learner_threads: number }

/** What a single process would choose. */
export function threadsAlone(plan: TrainingPlan): Threads {
  const settings = { ...plan.settings, rollout_workers: 0, learner_threads: 0 }
  const { rollout_workers, learner_threads } = resolveAutomatic({ ...plan, settings } as TrainingPlan).settings
  return { rollout_workers, learner_threads }
}

/** Samples of one gradient step; null: chosen by the scenario, which never takes large ones. */
export function minibatchOf(plan: TrainingPlan): number | null {
  if (plan.algorithm === 'a2c') return plan.settings.environments * plan.settings.rollout_steps
  return plan.settings.minibatch_size
}
