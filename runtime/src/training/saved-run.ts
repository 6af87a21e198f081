import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveTrainingPlan, settingValue, type TrainingPlan } from '@agentgym/contract'
import type { RunSubject } from '../external/opened-environment.ts'
import { identityOf } from '../sandbox/build-scenario.ts'
import { assertContinues, type Checkpoint, decodeCheckpoint } from './checkpoint.ts'
import { type PlanRequest, resolveAutomatic } from './settings.ts'

/** A run that left a checkpoint in its folder, complete or not. */
export type SavedRun = { path: string; checkpoint: Checkpoint; bytes: Uint8Array }

export function checkpointPath(out: string): string {
  return join(out, '.agentgym', 'checkpoint.safetensors')
}

/** The run in an agent's folder; null if it has no checkpoint. Throws `checkpoint_invalid`. */
export async function readSavedRun(out: string): Promise<SavedRun | null> {
  const path = checkpointPath(out)
  try {
    const bytes = new Uint8Array(await readFile(path))
    return { path, checkpoint: decodeCheckpoint(bytes, path), bytes }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/**
 * How a saved run continues: with its own algorithm and settings, also where the scenario's `training` block or this
 * machine has changed since, except for what is requested. Only `steps` and numbers of threads may differ: throws as
 * `assertContinues`, and `config_invalid`.
 */
export function continuedPlan(
  { checkpoint, path }: SavedRun,
  scenario: RunSubject,
  { seed, ...request }: PlanRequest & { seed: number },
): TrainingPlan {
  const plan = requestedPlan(checkpoint.plan, request)
  assertContinues(checkpoint, { scenario: identityOf(scenario), plan, seed }, path)
  return plan
}

function requestedPlan(plan: TrainingPlan, request: PlanRequest): TrainingPlan {
  const { algorithm = plan.algorithm, steps, set = {}, processes } = request
  if (algorithm !== plan.algorithm) return resolveTrainingPlan({}, { algorithm })
  const settings: Record<string, unknown> = { ...plan.settings }
  if (steps !== undefined) settings.steps = steps
  // Chosen for another number of processes.
  if (processes !== undefined) Object.assign(settings, { rollout_workers: 0, learner_threads: 0 })
  for (const [key, text] of Object.entries(set)) {
    // Set last, so that it wins under whichever of its names it is given.
    delete settings[key]
    settings[key] = settingValue(key, text)
  }
  return resolveAutomatic(resolveTrainingPlan({}, { algorithm, settings }), processes)
}
