import { loadModelSession } from '@agentgym/agent/engine'
import { stateSize } from '@agentgym/contract/model'
import { describe, expect, test } from 'vitest'
import { createLearner } from '../learner/learner.ts'
import { exportModel } from './policy-graph.ts'
import { createPolicySession } from './policy-session.ts'
import {
  policyCases,
  randomObservations,
  randomWeights,
  squashedGaussianCases,
  testRandom,
  valueCases,
} from './testing/policy-cases.ts'
import { exportedDistribution } from './testing/reference-forward.ts'

const SEED = 20261128
const BATCH = 33

/**
 * Largest difference in a column, as a share of the column's largest number (at least 1): rounding grows with the terms of a
 * sum, which are as large where they cancel out. Columns are apart because means are in the action's own units.
 */
function difference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length)
  const columns = b.length / BATCH
  let largest = 0
  for (let column = 0; column < columns; column++) {
    let error = 0
    let scale = 1
    for (let i = column; i < b.length; i += columns) {
      const difference = Math.abs(a[i] - b[i])
      error = Math.max(error, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference)
      scale = Math.max(scale, Math.abs(b[i]))
    }
    largest = Math.max(largest, error / scale)
  }
  return largest
}

describe('libtorch and ONNX Runtime agree within 1e-5', () => {
  const far = { mean: 10_000, deviation: 0.05 }
  const near = { mean: 0, deviation: 1 }
  test.each([...policyCases(), ...valueCases(), ...squashedGaussianCases()])('$name', ({ spec }) => {
    const random = testRandom(SEED)
    for (const { mean, deviation } of spec.normalizeObservation ? [near, far] : [near]) {
      const weights = randomWeights(spec, random, mean, deviation)
      const observations = randomObservations(spec, BATCH, random, mean, deviation)
      const rollout = createPolicySession(spec, { batch: BATCH, values: true })
      rollout.setWeights(weights)
      const exported = loadModelSession(exportModel(spec, weights), spec, { batch: BATCH })
      const states = Float32Array.from({ length: BATCH * stateSize(spec) }, () => random() * 2 - 1)
      for (const session of [rollout, exported]) {
        session.state?.set(states)
        session.run(observations)
      }
      for (const path of ['autograd', 'fused'] as const) {
        const learner = createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path })
        learner.setWeights(weights)
        const sequences = { lengths: new Int32Array(BATCH).fill(1), states }
        const {
          distribution,
          values,
          states: next,
        } = spec.memory === undefined
          ? { ...learner.forward(observations, BATCH), states: null }
          : learner.forwardSequences(observations, BATCH, sequences)
        expect(difference(rollout.distribution, distribution), path).toBeLessThan(1e-5)
        const inUnits = exportedDistribution(spec, distribution, BATCH)
        expect(difference(exported.distribution, inUnits), path).toBeLessThan(1e-5)
        for (const session of [rollout, exported]) {
          expect(difference(session.values ?? [], values), path).toBeLessThan(1e-5)
          if (next !== null) expect(difference(session.state ?? [], next), path).toBeLessThan(1e-5)
        }
        learner.dispose()
      }
      rollout.dispose()
      exported.dispose()
    }
  })
})
