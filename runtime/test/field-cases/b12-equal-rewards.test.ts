// @module-tag full
import { readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { decodeCheckpoint } from '../../src/training/checkpoint.ts'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const definition = `
  observation: box({ shape: [2] }), action: discrete({ n: 3 }), maxSteps: 6,
  reset({ rng }) { return { t: 0, x: rng() } },
  step(state, action, { rng }) { state.t += 1; return { reward: state.t === 1 ? 1 : 0, terminated: rng() < 0.2 } },
  observe(state) { return [state.x, state.t] },`

const settings = { steps: 400, group_size: 4, groups: 2, entropy_coefficient: 0, checkpoint_every: 1 }

describe('B12: GRPO where every episode pays 1', { timeout: 60_000 }, () => {
  it('without a KL penalty: no NaN, the weights stay, and every group is counted', async () => {
    const run = await trained(await scenarioOf(definition), settings, { algorithm: 'grpo' })
    expect(run.progress.length).toBeGreaterThan(3)
    for (const { learner } of run.progress) {
      expect(learner).toMatchObject({
        zero_variance_groups: 1,
        gradient_norm: 0,
        policy_loss: 0,
        kl_to_reference: null,
      })
    }
    const last = decodeCheckpoint(await readFile(run.checkpoint), 'x')
    // Another number of steps, the same seed: what the first iterations left is what the last ones leave.
    const short = await trained(await scenarioOf(definition), { ...settings, steps: 100 }, { algorithm: 'grpo' })
    expect(last.iteration).toBeGreaterThan(decodeCheckpoint(await readFile(short.checkpoint), 'x').iteration)
    expect(decodeCheckpoint(await readFile(short.checkpoint), 'x').weights).toEqual(last.weights)
    expect(run.result.evaluation.return_mean).toBe(1)
  })

  it('with one: finite; the penalty is 0 at the reference, which is where the policy stays', async () => {
    const run = await trained(await scenarioOf(definition), { ...settings, kl_coefficient: 0.5 }, { algorithm: 'grpo' })
    for (const { learner } of run.progress) {
      expect(learner.zero_variance_groups).toBe(1)
      expect(learner.kl_to_reference).toBeCloseTo(0, 5)
    }
    const { weights, reference } = decodeCheckpoint(await readFile(run.checkpoint), 'x')
    expect(weights.every(Number.isFinite)).toBe(true)
    expect(reference).not.toBeNull()
  })
})
