import { AgentGymError, type TrainingPlan } from '@agentgym/contract'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import type { Checkpoint } from './checkpoint.ts'

/** Settings that say how a machine does the work. A run may go on on another machine, where they differ. */
const machineSettings = ['rollout_workers', 'learner_threads']

export type ContinuedRun = {
  scenario: Pick<ScenarioIdentity, 'name' | 'hash'>
  plan: TrainingPlan
  seed: number
}

/**
 * Refuses a checkpoint that does not continue this very run: `scenario_mismatch`, or `checkpoint_invalid` with the
 * settings that differ. `anyMachine` lets those differ that say how a machine does the work.
 */
export function assertContinues(
  checkpoint: Checkpoint,
  run: ContinuedRun,
  { path, anyMachine = false }: { path: string; anyMachine?: boolean },
): void {
  const { name, hash } = run.scenario
  if (checkpoint.scenarioHash !== hash) {
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `checkpoint ${path} belongs to another build of ${name}: hash ${checkpoint.scenarioHash.slice(0, 12)}, not ${hash.slice(0, 12)}`,
      hint: 'Go back to the scenario as it was, or start the run anew without --resume.',
      data: { path },
    })
  }
  const changed = changedSettings(checkpoint.plan, run.plan).filter(
    (setting) => !(anyMachine && machineSettings.includes(setting)),
  )
  if (checkpoint.seed !== run.seed) changed.push('seed')
  if (changed.length > 0) {
    throw new AgentGymError({
      code: 'checkpoint_invalid',
      message: `checkpoint ${path} was written with other settings: ${changed.join(', ')}`,
      hint: 'Resume with the same settings and seed, or start the run anew without --resume.',
      data: { path, field: changed[0], fields: changed },
    })
  }
}

function changedSettings(before: TrainingPlan, now: TrainingPlan): string[] {
  if (before.algorithm !== now.algorithm) return ['algorithm']
  const then = new Map<string, unknown>(Object.entries(before.settings))
  return Object.entries(now.settings)
    .filter(([name, value]) => JSON.stringify(then.get(name)) !== JSON.stringify(value))
    .map(([name]) => name)
}
