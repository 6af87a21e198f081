import { resolveTrainingPlan } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseDiscount, measureRewards, needsMeasurement, withChosen } from './measured-defaults.ts'

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

describe('a discount', () => {
  const dense = { steps: 4096, reward_spacing: 1.6, episode_length: 200, terminated: false }

  it('is short-sighted only for dense rewards in long episodes that nothing but the time limit ends', () => {
    expect(chooseDiscount(dense).settings).toEqual({ gamma: 0.98, gae_lambda: 0.95 })
    const others = [{ reward_spacing: null }, { reward_spacing: 20 }, { terminated: true }, { episode_length: 12 }]
    for (const other of others) {
      expect(chooseDiscount({ ...dense, ...other }).settings).toEqual({ gamma: 0.995, gae_lambda: 0.98 })
    }
  })

  it('never replaces one that is set', () => {
    const chosen = chooseDiscount(dense).settings
    expect(withChosen(resolveTrainingPlan({}), chosen).settings).toMatchObject(chosen)
    const half = resolveTrainingPlan({ gamma: 0.9 })
    expect(needsMeasurement(half)).toBe(true)
    expect(withChosen(half, chosen).settings).toMatchObject({ gamma: 0.9, gae_lambda: 0.95 })
    const full = resolveTrainingPlan({}, { settings: { gamma: 0.9, gae_lambda: 1 } })
    expect(needsMeasurement(full)).toBe(false)
    expect(withChosen(full, chosen)).toEqual(full)
  })
})
