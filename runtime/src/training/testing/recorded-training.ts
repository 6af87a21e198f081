import type { ChosenDefaults, Evaluation, ProgressEvent, Trajectory } from '@agentgym/contract'
import type { BuiltScenario } from '../../sandbox/build-scenario.ts'
import { scenarioCode } from '../../sandbox/scenario-code.ts'
import type { SampledEpisode } from '../held-out-evaluations.ts'
import { type RunTrainingOptions, runTraining } from '../run-training.ts'
import type { RunPlace } from '../training-loop.ts'

/** Runs a training without a folder, and keeps all that it tells. */
export async function recordedTraining(
  scenario: BuiltScenario,
  options: Pick<RunTrainingOptions, 'plan'> & Partial<RunTrainingOptions>,
) {
  const recorded = {
    defaults: [] as ChosenDefaults[],
    notices: [] as { message: string; hint: string }[],
    progress: [] as ProgressEvent[],
    evaluations: [] as [Evaluation, RunPlace][],
    checkpoints: [] as [Uint8Array, RunPlace][],
    trajectories: [] as Trajectory[],
    samples: [] as [SampledEpisode, RunPlace][],
  }
  const outcome = await runTraining({
    scenario: await scenarioCode(scenario),
    success: {},
    seed: 5,
    checkpoint: null,
    everyIteration: true,
    onDefaults: (defaults) => void recorded.defaults.push(defaults),
    onNotice: (notice) => void recorded.notices.push(notice),
    onProgress: (event) => void recorded.progress.push(event),
    onEvaluation: (evaluation, place) => void recorded.evaluations.push([evaluation, place]),
    onCheckpoint: (bytes, place) => void recorded.checkpoints.push([bytes, place]),
    onSample: (sampled, place) => void recorded.samples.push([sampled, place]),
    onTrajectory: (trajectory) => void recorded.trajectories.push(trajectory),
    ...options,
  })
  return { ...recorded, outcome }
}

/** The checkpoint of an iteration; a slow machine writes more of them, for they come every 15 seconds too. */
export function checkpointOf(checkpoints: [Uint8Array, RunPlace][], iteration: number): [Uint8Array, RunPlace] {
  const found = checkpoints.find(([, place]) => place.iteration === iteration)
  if (found === undefined) throw new Error(`no checkpoint of iteration ${iteration}`)
  return found
}
