import { resolveTrainingPlan, type SpaceDescription } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseDefaults, type Measurement, measureRewards, withChosen } from './chosen-defaults.ts'

/** One environment's steps: rewards, and where episodes end. */
function played(rewards: number[], ends: Record<number, number> = {}) {
  const flags = new Uint8Array(rewards.length)
  for (const [step, flag] of Object.entries(ends)) flags[Number(step)] = flag
  return { steps: rewards.length, environments: 1, rewards: Float32Array.from(rewards), flags }
}

const steps = Array.from({ length: 400 }, (_, i) => i)

describe('rewards of a random policy', () => {
  it('have no spacing where all are equal', () => {
    expect(measureRewards([played(steps.map(() => -1))]).reward_spacing).toBeNull()
  })

  it('are spaced by the steps between equal goals', () => {
    const goals = steps.map((step) => (step % 20 === 19 ? 1 : 0))
    expect(measureRewards([played(goals)]).reward_spacing).toBeCloseTo(20, 5)
  })

  it('are dense where each step has its own, and sparse where the end of an episode outweighs them', () => {
    const waves = steps.map((step) => Math.sin(step))
    expect(measureRewards([played(waves)]).reward_spacing).toBeLessThan(2)
    const crashes = waves.map((wave, step) => (step % 80 === 79 ? -100 : wave))
    expect(measureRewards([played(crashes)]).reward_spacing).toBeGreaterThan(20)
  })

  it('have the same spacing in any unit, and with any constant added', () => {
    const rewards = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 200 })
    fc.assert(
      fc.property(rewards, fc.integer({ min: 1, max: 50 }), fc.integer({ min: -50, max: 50 }), (all, unit, shift) => {
        const { reward_spacing: before } = measureRewards([played(all)])
        const { reward_spacing: after } = measureRewards([played(all.map((reward) => reward * unit + shift))])
        if (before === null) expect(after).toBeNull()
        else expect(after).toBeCloseTo(before, 6)
      }),
    )
  })

  it('come in episodes of a mean length, of all environments', () => {
    const first = played(steps, { 99: TRUNCATED, 149: TRUNCATED })
    expect(measureRewards([first])).toMatchObject({ episode_length: 75, terminated: false })
    const second = played(steps, { 299: TERMINATED })
    expect(measureRewards([first, second])).toMatchObject({ episode_length: 150, terminated: true })
    expect(measureRewards([played(steps)])).toMatchObject({ episode_length: 400, terminated: false })
  })
})

describe('defaults that the scenario decides', () => {
  const dense = { steps: 4096, reward_spacing: 1.6, episode_length: 200, terminated: false }
  const numbers: SpaceDescription = { type: 'box', shape: [1], low: [0], high: [1] }
  const buttons: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
  const choose = async (
    measured: Partial<Measurement>,
    set = {},
    observation: SpaceDescription = numbers,
    action: SpaceDescription = buttons,
  ) => {
    const plan = resolveTrainingPlan({}, { settings: set })
    return chooseDefaults(plan, { observation, action }, async () => ({ ...dense, ...measured }))
  }

  it('have a small λ for dense rewards, and a short horizon if nothing but the time limit ends long episodes', async () => {
    expect((await choose({}))?.settings).toEqual({
      ...{ rollout_steps: 128, minibatch_size: 256, epochs: 8 },
      ...{ learning_rate: 0.001, entropy_coefficient: 0.01, gamma: 0.98, gae_lambda: 0.9 },
    })
    const discounts = [
      [{ terminated: true }, { gamma: 0.995, gae_lambda: 0.9 }],
      [{ episode_length: 12 }, { gamma: 0.995, gae_lambda: 0.9 }],
      [{ reward_spacing: 20 }, { gamma: 0.995, gae_lambda: 0.98 }],
      [{ reward_spacing: null }, { gamma: 0.995, gae_lambda: 0.98 }],
    ] as const
    for (const [measured, settings] of discounts) expect((await choose(measured))?.settings).toMatchObject(settings)
  })

  it('have a higher learning rate, more entropy and a small λ for text, wherever it is in the observation', async () => {
    const words: SpaceDescription = { type: 'text', maxTokens: 4, vocabulary: 9 }
    const both: SpaceDescription = {
      type: 'dict',
      entries: [{ name: 'a', space: { type: 'dict', entries: [{ name: 'b', space: words }] } }],
    }
    const ofText = {
      ...{ learning_rate: 0.003, entropy_coefficient: 0.03, entropy_coefficient_schedule: 'linear', gae_lambda: 0.8 },
    }
    expect((await choose({}, {}, both))?.settings).toMatchObject({ ...ofText, gamma: 0.98 })
    expect((await choose({ reward_spacing: 20 }, {}, both))?.settings).toMatchObject({ ...ofText, gamma: 0.995 })
  })

  it('have large batches, a higher learning rate and a short horizon for boards that are large enough for convolutions', async () => {
    const board = (size: number): SpaceDescription => {
      const all = (bound: number) => Array<number>(size * size).fill(bound)
      return { type: 'box', shape: [1, size, size], low: all(0), high: all(1) }
    }
    const large = { rollout_steps: 512, minibatch_size: 1024, epochs: 4, learning_rate: 0.002 }
    const sparse = { reward_spacing: 20, terminated: true }
    expect((await choose(sparse, {}, board(10)))?.settings).toMatchObject({
      ...{ ...large, entropy_coefficient: 0.01, entropy_coefficient_schedule: 'linear', gamma: 0.98, gae_lambda: 0.98 },
    })
    expect((await choose({}, { environments: 32 }, board(10)))?.settings.rollout_steps).toBe(256)
    expect((await choose({}, { environments: 999 }, board(10)))?.settings.rollout_steps).toBe(128)
    const small = { rollout_steps: 128, minibatch_size: 256, epochs: 8, learning_rate: 0.001 }
    expect((await choose(sparse, {}, board(3)))?.settings).toMatchObject({ ...small, gamma: 0.995 })
  })

  it('have a wide start for boxes in long episodes, a narrow one in short ones, and none without boxes', async () => {
    expect((await choose({}, {}, numbers, numbers))?.settings).toMatchObject({ initial_log_std: 0 })
    const short = { episode_length: 5 }
    expect((await choose(short, {}, numbers, numbers))?.settings).toMatchObject({ initial_log_std: -1 })
    expect((await choose({}))?.settings).not.toHaveProperty('initial_log_std')
  })

  it('never replace what is set, and measure nothing if that is all', async () => {
    const half = resolveTrainingPlan({ gamma: 0.9 })
    const chosen = await choose({}, { gamma: 0.9 })
    expect(chosen?.settings).not.toHaveProperty('gamma')
    expect(chosen?.settings).toMatchObject({ learning_rate: 0.001, entropy_coefficient: 0.01, gae_lambda: 0.9 })
    expect(withChosen(half, chosen?.settings ?? {}).settings).toMatchObject({ gamma: 0.9, gae_lambda: 0.9 })
    const batches = { rollout_steps: 8, minibatch_size: 32, epochs: 2 }
    const full = { ...batches, learning_rate: 0.1, entropy_coefficient: 0, gamma: 0.9, gae_lambda: 1 }
    expect(await choose({}, full)).toBeNull()
    expect(await choose({}, { gamma: 0.9, gae_lambda: 1 })).toMatchObject({ measured: null })
    const plan = resolveTrainingPlan({}, { settings: full })
    expect(withChosen(plan, { gamma: 0.5 })).toEqual(plan)
  })
})
