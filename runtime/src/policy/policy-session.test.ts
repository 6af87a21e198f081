import { distributionSize, loadModelSession, type PolicySession } from '@agentgym/agent/engine'
import { actionOutputNames } from '@agentgym/contract/model'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from './parameter-layout.ts'
import { exportModel, logDeviations, rolloutModel } from './policy-graph.ts'
import { createPolicySession, forgetEnded, type RolloutSession } from './policy-session.ts'
import { buildPolicySpec } from './policy-spec.ts'
import {
  policyCases,
  randomObservations,
  randomWeights,
  squashedGaussianCases,
  testRandom,
  toolSpaces,
  valueCases,
} from './testing/policy-cases.ts'
import { exportedDistribution, referenceForward } from './testing/reference-forward.ts'

const SEED = 20261128
const BATCH = 9

/** Absolute for numbers up to 1, relative beyond: means are in the action's own units. */
function expectClose(actual: Float32Array, expected: ArrayLike<number>, tolerance = 1e-5): void {
  expect(actual.length).toBe(expected.length)
  for (let i = 0; i < actual.length; i++) {
    const error = Math.abs(actual[i] - expected[i]) / Math.max(1, Math.abs(expected[i]))
    if (!(error <= tolerance)) expect.fail(`element ${i}: ${actual[i]} instead of ${expected[i]} (seed ${SEED})`)
  }
}

describe.each([...policyCases(), ...valueCases(), ...squashedGaussianCases()])('$name', ({ spec }) => {
  const random = testRandom(SEED)
  const weights = randomWeights(spec, random)
  const observations = randomObservations(spec, BATCH, random)
  const expected = referenceForward(spec, weights, observations, BATCH)

  /** A second step goes on from the first; an episode's end is forgotten in its row alone. */
  function expectRemembers(session: PolicySession): void {
    if (session.state === null) return
    expectClose(session.state, expected.states.flat())
    forgetEnded(
      session,
      Uint8Array.from({ length: BATCH }, (_, row) => row % 4),
    )
    const states = expected.states.map((state, row) => (row % 4 === 0 ? state : state.map(() => 0)))
    session.run(observations)
    const next = referenceForward(spec, weights, observations, BATCH, states)
    expectClose(session.distribution, next.distribution)
    expectClose(session.state, next.states.flat())
  }

  test('the rollout graph gives what the formulas give', () => {
    const session = createPolicySession(spec, { batch: BATCH, values: true })
    session.setWeights(weights)
    session.run(observations)
    expectClose(session.distribution, expected.distribution)
    expectClose(session.values ?? new Float32Array(0), expected.values)
    expectRemembers(session)
    session.dispose()
  })

  test('the exported model gives what the formulas give, and log_std in the units that it has', () => {
    const session = loadModelSession(exportModel(spec, weights), spec, { batch: BATCH })
    session.run(observations)
    expectClose(session.distribution, exportedDistribution(spec, expected.distribution, BATCH))
    expectClose(session.values ?? new Float32Array(0), expected.values)
    expectClose(session.logStd, logDeviations(spec, weights), 1e-6)
    expectRemembers(session)
    session.dispose()
  })
})

describe('a rollout session', () => {
  const { spec } = policyCases()[0]
  const random = testRandom(SEED)

  test('without values computes the same distribution', () => {
    const weights = randomWeights(spec, random)
    const observations = randomObservations(spec, BATCH, random)
    const session = createPolicySession(spec, { batch: BATCH })
    session.setWeights(weights)
    session.run(observations)
    expect(session.values).toBeNull()
    expectClose(session.distribution, referenceForward(spec, weights, observations, BATCH).distribution)
  })

  test('takes new weights, and rows from any part of shared memory', () => {
    const session = createPolicySession(spec, { batch: BATCH })
    const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
    const shared = new Float32Array(new SharedArrayBuffer(4 * 3 * BATCH * row))
    for (let round = 0; round < 3; round++) {
      const weights = randomWeights(spec, random)
      const observations = randomObservations(spec, BATCH, random)
      shared.set(observations, round * BATCH * row)
      session.setWeights(weights)
      session.run(shared.subarray(round * BATCH * row, (round + 1) * BATCH * row))
      expectClose(session.distribution, referenceForward(spec, weights, observations, BATCH).distribution)
    }
  })

  test('normalises a small signal on a large mean without losing it (B09)', () => {
    const weights = randomWeights(spec, random, 10_000, 0.05)
    const observations = randomObservations(spec, 100, random, 10_000, 0.05)
    const expected = referenceForward(spec, weights, observations, 100)
    const rollout = createPolicySession(spec, { batch: 100 })
    rollout.setWeights(weights)
    rollout.run(observations)
    expectClose(rollout.distribution, expected.distribution)
    const exported = loadModelSession(exportModel(spec, weights), spec, { batch: 100 })
    exported.run(observations)
    expectClose(exported.distribution, expected.distribution)
    expect(new Set(exported.distribution).size).toBeGreaterThan(90)
  })

  test('is what ONNX Runtime’s public API gives, bit for bit', async () => {
    const batch = 8 // whole blocks: the session fills up others
    for (const { spec } of policyCases().slice(0, 8)) {
      const weights = randomWeights(spec, random)
      const observations = randomObservations(spec, batch, random)
      const session = createPolicySession(spec, { batch, values: true })
      session.setWeights(weights)
      session.run(observations)
      const { bytes, weights: tensors } = rolloutModel(spec, true)
      const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionProviders: ['cpu'] }
      const reference = await InferenceSession.create(bytes, options)
      const feeds: Record<string, Tensor> = {
        observations: new Tensor('float32', observations, [batch, observations.length / batch]),
      }
      for (const { name, dims, data, fill } of tensors) {
        fill(weights)
        feeds[name] = new Tensor('float32', data, dims)
      }
      const outputs = await reference.run(feeds)
      expect(session.distribution).toEqual(outputs.distribution.data)
      expect(session.values).toEqual(outputs.value.data)
    }
  })

  test('computes the same on CUDA, or says that it is missing', () => {
    const weights = randomWeights(spec, random)
    const observations = randomObservations(spec, BATCH, random)
    let session: RolloutSession
    try {
      session = createPolicySession(spec, { batch: BATCH, executionProvider: 'cuda' })
    } catch (error) {
      expect(error).toMatchObject({ code: 'execution_provider_unavailable', data: { field: 'rollout_provider' } })
      return
    }
    session.setWeights(weights)
    session.run(observations)
    expectClose(session.distribution, referenceForward(spec, weights, observations, BATCH).distribution, 1e-3)
  })
})

describe('an exported model', () => {
  test.each([...policyCases(), ...valueCases(), ...squashedGaussianCases()])(
    'has the documented inputs and outputs: $name',
    async ({ spec }) => {
      const random = testRandom(SEED)
      const session = await InferenceSession.create(exportModel(spec, randomWeights(spec, random)))
      const inputs = session.inputMetadata.map((input) =>
        input.isTensor ? [input.name, input.type, ...input.shape] : [],
      )
      const state = spec.memory === undefined ? [] : [['state', 'float32', 'batch', 2 * spec.memory.units]]
      const leaves = spec.observation.map(({ name, size }) => [name, 'float32', 'batch', size])
      expect(inputs).toEqual([...leaves, ...state])
      const outputs = spec.action
        .filter(({ fixed }) => fixed === undefined)
        .flatMap((leaf) => Object.values(actionOutputNames(leaf)))
      expect(session.outputNames).toEqual([...outputs, 'value', ...(spec.memory === undefined ? [] : ['next_state'])])
    },
  )

  test('is the same bytes for the same weights', () => {
    for (const { spec } of policyCases()) {
      const weights = randomWeights(spec, testRandom(SEED))
      expect(exportModel(spec, weights)).toEqual(exportModel(structuredClone(spec), weights.slice()))
    }
  })
})

test('a pointer scores an item the same in whichever slot it is', () => {
  const settings = { hidden: [], activation: 'tanh', embedding: 4, normalizeObservation: false } as const
  const spec = buildPolicySpec(toolSpaces(), { ...settings, hidden: [] })
  const random = testRandom(5)
  const weights = randomWeights(spec, random)
  const [list] = spec.observation.filter(({ slots }) => slots !== undefined)
  const row = spec.observation.reduce((sum, { size }) => sum + size, 0)
  // The query must not depend on the slots, which enter the network one after another.
  const { parameters } = parameterLayout(spec)
  const out = parameters.find(({ name }) => name === 'actor.out.weight')
  for (let unit = 0; unit < (out?.shape[0] ?? 0); unit++) {
    const width = out?.shape[1] ?? 0
    // The text before the list is 4 features wide.
    weights.fill(0, (out?.offset ?? 0) + unit * width + 4, (out?.offset ?? 0) + unit * width + 4 + list.size)
  }
  const session = createPolicySession(spec, { batch: 2 })
  session.setWeights(weights)
  const [first, second] = [randomObservations(spec, 1, random), new Float32Array(row)]
  second.set(first)
  const order = [2, 0, 3, 1]
  order.forEach((from, to) => {
    const at = (slot: number) => list.offset + slot * 3
    second.set(first.subarray(at(from), at(from) + 3), at(to))
  })
  session.run(Float32Array.from([...first, ...second]))
  const pointer = spec.action.find((leaf) => leaf.pointer !== undefined)?.distributionOffset ?? 0
  const logits = (batch: number) => {
    const start = batch * distributionSize(spec) + pointer
    return Array.from(session.distribution.subarray(start, start + 4))
  }
  expect(new Set(logits(0)).size).toBe(4)
  logits(1).forEach((logit, to) => {
    expect(logit).toBeCloseTo(logits(0)[order[to]], 5)
  })
  session.dispose()
})

test.each([...policyCases(), ...valueCases()])('a row has the same bits in every batch: $name', ({ spec }) => {
  const rows = 24
  const random = testRandom(SEED)
  const weights = randomWeights(spec, random)
  const observations = randomObservations(spec, rows, random)
  const inBatchesOf = (batch: number) => {
    const session = createPolicySession(spec, { batch, values: true })
    session.setWeights(weights)
    const results: number[] = []
    for (let first = 0; first < rows; first += batch) {
      session.state?.fill(0)
      session.run(
        observations.slice((first * observations.length) / rows, ((first + batch) * observations.length) / rows),
      )
      for (let i = 0; i < batch; i++) {
        const size = session.distribution.length / batch
        results.push(...session.distribution.subarray(i * size, (i + 1) * size), session.values?.[i] ?? 0)
      }
    }
    session.dispose()
    return results
  }
  const expected = inBatchesOf(rows)
  for (const batch of [1, 2, 3, 4, 6, 8, 12])
    expect(inBatchesOf(batch), `batch ${batch}, seed ${SEED}`).toEqual(expected)
})
