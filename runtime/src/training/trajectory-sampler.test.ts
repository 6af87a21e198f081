import { type Trajectory, trajectorySchema } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RolloutSegment } from '../learner/learner-types.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { TrajectorySampler } from './trajectory-sampler.ts'

/** Two environments, two observation columns; environment 0's rows are told apart by their step in the run. */
function segmentOf(flags: number[], firstStep: number): RolloutSegment {
  const steps = flags.length
  const column = (of: (t: number) => number) =>
    Float32Array.from({ length: steps * 2 }, (_, i) => (i % 2 ? -1 : of(i / 2)))
  return {
    steps,
    environments: 2,
    observations: Float32Array.from({ length: (steps + 1) * 4 }, (_, i) => firstStep + Math.floor(i / 4) + (i % 4) / 8),
    finalObservations: new Float32Array(steps * 4),
    actions: column((t) => t % 3),
    logProbabilities: column((t) => -(firstStep + t) / 64),
    rewards: column((t) => firstStep + t),
    flags: Uint8Array.from({ length: steps * 2 }, (_, i) => (i % 2 ? TERMINATED : flags[i / 2])),
    masks: null,
    lengths: null,
    states: null,
  }
}

const policy = buildPolicySpec(
  { observation: { type: 'discrete', n: 1, start: 0 }, action: { type: 'discrete', n: 2, start: 0 } },
  { hidden: [], activation: 'tanh', embedding: 1, normalizeObservation: false },
)

function sampled(rollouts: number[][], options: { every?: number; atBeginning?: boolean } = {}): Trajectory[] {
  const { every = 1, atBeginning = true } = options
  const trajectories: Trajectory[] = []
  const sampler = new TrajectorySampler(policy, every, atBeginning, (trajectory) => trajectories.push(trajectory))
  let step = 0
  rollouts.forEach((flags, i) => {
    sampler.observe([segmentOf(flags, step), segmentOf(flags, 1000)], i + 1)
    step += flags.length
  })
  return trajectories.map((trajectory) => trajectorySchema.parse(trajectory))
}

const shape = ({ steps, partial, length }: Trajectory) => ({ from: steps[0].reward, length, partial })

describe('a sampled trajectory', () => {
  it('is the first whole episode of environment 0', () => {
    const [trajectory] = sampled([[0, 0, TERMINATED, 0, TRUNCATED]])
    expect(trajectory).toEqual({
      iteration: 1,
      environment: 0,
      return: 3,
      length: 3,
      partial: false,
      steps: [0, 1, 2].map((t) => ({
        observation: [t, t + 0.125],
        action: [t],
        reward: t,
        log_probability: -t / 64,
        terminated: t === 2,
        truncated: false,
      })),
    })
  })

  it('is a later whole episode where the first began before the rollout', () => {
    const second = sampled([
      [0, 0, 0],
      [0, TERMINATED, 0, TRUNCATED, 0],
    ])[1]
    expect(shape(second)).toEqual({ from: 5, length: 2, partial: false })
    expect(second.steps.map(({ truncated }) => truncated)).toEqual([false, true])
  })

  it('is partial where none is whole: its end is missing, or its beginning, or both', () => {
    expect(shape(sampled([[0, 0, 0]])[0])).toEqual({ from: 0, length: 3, partial: true })
    const rollouts = [[0], [0, TERMINATED, 0], [0, 0], [0, TERMINATED], [TERMINATED]]
    expect(sampled(rollouts).map(shape)).toEqual([
      { from: 0, length: 1, partial: true },
      { from: 3, length: 1, partial: true },
      { from: 4, length: 2, partial: true },
      { from: 6, length: 2, partial: true },
      { from: 8, length: 1, partial: false },
    ])
    expect(shape(sampled([[0, TERMINATED]], { atBeginning: false })[0])).toMatchObject({ partial: true })
  })

  it('is taken every n iterations, and holds 1,000 steps at most', () => {
    const long = [...new Array(1200).fill(0), TERMINATED]
    const trajectories = sampled([long, long, long, long], { every: 3 })
    expect(trajectories.map(({ iteration }) => iteration)).toEqual([1, 4])
    expect(trajectories[0]).toMatchObject({ length: 1201, return: (1200 * 1201) / 2, partial: false })
    expect(trajectories[0].steps).toHaveLength(1000)
  })

  it("is GRPO's whole episode, whatever an earlier iteration left in the rows beyond its end", () => {
    const trajectories: Trajectory[] = []
    const sampler = new TrajectorySampler(policy, 1, true, (trajectory) => trajectories.push(trajectory))
    sampler.observe([{ ...segmentOf([0, 0, TERMINATED, 0, TRUNCATED], 0), lengths: Int32Array.of(3, 1) }], 1)
    sampler.observe([{ ...segmentOf([0, TRUNCATED, TERMINATED, 0, TRUNCATED], 0), lengths: Int32Array.of(2, 1) }], 2)
    expect(trajectories.map(shape)).toEqual([
      { from: 0, length: 3, partial: false },
      { from: 0, length: 2, partial: false },
    ])
  })

  it('never runs over an end, and says truly whether it is whole', () => {
    const rollout = fc.array(fc.constantFrom(0, 0, 0, TERMINATED, TRUNCATED), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(rollout, { minLength: 1, maxLength: 5 }), (rollouts) => {
        const flags = rollouts.flat()
        for (const { steps, partial, length } of sampled(rollouts)) {
          const first = steps[0].reward
          const last = first + length - 1
          expect(flags.slice(first, last).every((flag) => flag === 0)).toBe(true)
          const whole = (first === 0 || flags[first - 1] !== 0) && flags[last] !== 0
          expect(partial).toBe(!whole)
        }
      }),
    )
  })
})
