// @module-tag full
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

/** The right action is the signal's; `observe` shows it as the case says. */
const signalSeenAs = (observe: string) =>
  scenarioOf(`
    observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 8,
    reset({ rng }) { return { signal: rng.int(2), step: 0 } },
    step(state, action, { rng }) {
      const reward = action === state.signal ? 1 : 0
      state.signal = rng.int(2)
      state.step += 1
      return { reward, terminated: false }
    },
    ...(() => {
      let seen = 0
      return { observe(state) { seen += 1; return [${observe}] } }
    })(),`)

describe('C09 with default settings', () => {
  it.each([
    ['a signal on a mean of 1,000,000', '1_000_000 + state.signal'],
    ['a signal on 1,800 after an outlier of 0', 'seen === 1 ? 0 : 1800 + 0.1 * state.signal'],
  ])('learns %s', { timeout: 120_000 }, async (_, observe) => {
    const { result, progress } = await trained(await signalSeenAs(observe), { steps: 60_000 })
    for (const { learner } of progress)
      expect(Object.values(learner).every((value) => value === null || Number.isFinite(value))).toBe(true)
    expect(result.evaluation.return_mean).toBeGreaterThan(7.5)
  })
})
