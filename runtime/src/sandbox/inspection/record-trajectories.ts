import { RandomActions } from '@agentgym/playing'
import { MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { z } from 'zod'
import { hashRow } from '../checks/compared-episodes.ts'
import type { Use } from '../checks/repeat-checks.ts'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'

export const RECORDED_ENVIRONMENTS = 4
const SEEDS = [1, 2]
const SPLITS = ['train', 'eval'] as const
const MOST_STEPS = 400
/** Of the observations of a run; wide ones are recorded for fewer steps. */
const MOST_NUMBERS = 1 << 20
const LEAST_STEPS = 10
const BUDGET_MS = 1_500

const columnsSchema = z.instanceof(Float32Array)
const runSchema = z.strictObject({
  split: z.enum(SPLITS),
  seed: z.int(),
  /** [steps + 1, environments, observation]; the first ones are those of the reset. */
  observations: columnsSchema,
  /** [steps, environments] */
  rewards: columnsSchema,
  flags: z.instanceof(Uint8Array),
  /** [steps + 1, environments]; hashes of the masks, and of the texts that an encoder reads. */
  masks: z.instanceof(Int32Array),
  /** [steps, environments, MAX_METRICS], of episodes that ended; NaN elsewhere. */
  metrics: z.instanceof(Float64Array),
})
export type RecordedRun = z.infer<typeof runSchema>

export const recordingSchema = z.strictObject({
  /** The spaces and limits, as JSON. */
  description: z.string().max(32 << 20),
  metricNames: z.array(z.string().max(64)).max(MAX_METRICS),
  runs: z.array(runSchema).length(SEEDS.length * SPLITS.length),
})
export type Recording = z.infer<typeof recordingSchema>

/** Plays the same random actions from the same seeds, whatever the version, and writes down all that a policy would see. */
export function recordTrajectories(use: Use): Recording {
  let description = ''
  let metricNames: string[] = []
  const runs: RecordedRun[] = []
  for (const split of SPLITS) {
    for (const seed of SEEDS) {
      const plan = split === 'train' ? { split } : { split, episodes: 1_000_000 }
      use({ environments: RECORDED_ENVIRONMENTS, seed, plan }, (environment) => {
        runs.push(recordRun(environment, split, seed))
        description = JSON.stringify(environment.description)
        metricNames = environment.metricNames()
      })
    }
  }
  return { description, metricNames, runs }
}

function recordRun(environment: SandboxedEnvironment, split: RecordedRun['split'], seed: number): RecordedRun {
  const { buffers, description } = environment
  const policy = new RandomActions(description, 100 + seed)
  const shown = RECORDED_ENVIRONMENTS * description.sizes.observation
  const steps = Math.min(MOST_STEPS, Math.max(LEAST_STEPS, Math.floor(MOST_NUMBERS / shown)))
  const observations: number[][] = []
  const rewards: number[] = []
  const flags: number[] = []
  const masks: number[] = []
  const metrics: number[] = []
  const observe = () => {
    observations.push(Array.from(buffers.observations))
    for (let row = 0; row < RECORDED_ENVIRONMENTS; row++) masks.push(hashOfChoices(environment, row))
  }
  const endMs = performance.now() + BUDGET_MS
  environment.reset()
  observe()
  for (let step = 0; step < steps && performance.now() < endMs; step++) {
    policy.fill(buffers)
    environment.step()
    observe()
    rewards.push(...buffers.rewards)
    flags.push(...buffers.flags)
    for (let row = 0; row < RECORDED_ENVIRONMENTS; row++) {
      const ended = (buffers.flags[row] & (TERMINATED | TRUNCATED)) !== 0
      const values = Array.from(buffers.metrics.subarray(row * MAX_METRICS, (row + 1) * MAX_METRICS))
      metrics.push(...(ended ? values : values.fill(Number.NaN)))
    }
  }
  return {
    ...{ split, seed, observations: Float32Array.from(observations.flat()), rewards: Float32Array.from(rewards) },
    ...{ flags: Uint8Array.from(flags), masks: Int32Array.from(masks), metrics: Float64Array.from(metrics) },
  }
}

/** The mask and the texts that an encoder reads: no numbers of the observation, no rewards, no ends. */
function hashOfChoices({ buffers, description, ...rest }: SandboxedEnvironment, row: number): number {
  const sizes = { ...description.sizes, observation: 0 }
  const blank = { ...buffers, rewards: new Float32Array(row + 1), flags: new Uint8Array(row + 1) }
  return hashRow({ ...rest, buffers: blank, description: { ...description, sizes } }, row, 0)
}
