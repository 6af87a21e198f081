import { describe, expect, test } from 'vitest'
import { encodeModel } from './onnx-model.ts'
import { parameterLayout } from './parameter-layout.ts'
import { exportModel } from './policy-graph.ts'
import { readPolicyWeights } from './read-weights.ts'
import { policyCases, randomWeights, squashedGaussianCases, testRandom, valueCases } from './testing/policy-cases.ts'

const SEED = 20261129
const casesWithoutDueling = [
  ...policyCases(),
  ...squashedGaussianCases(),
  ...valueCases().filter(({ spec }) => spec.head !== 'dueling_q'),
]

describe('weights read from an exported model', () => {
  test.each(casesWithoutDueling)('export the same bytes again: $name', ({ spec }) => {
    const random = testRandom(SEED)
    for (const [mean, deviation] of [
      [0, 1],
      [10_000, 0.05],
      [-3e-5, 1e-4],
    ]) {
      const weights = randomWeights(spec, random, mean, deviation)
      const model = exportModel(spec, weights)
      const read = readPolicyWeights(spec, model)
      expect(Buffer.compare(exportModel(spec, read), model)).toBe(0)
      const scale = parameterLayout(spec).parameters.find(({ name }) => name === 'value.scale')
      if (scale !== undefined) expect(read[scale.offset]).toBe(1)
    }
  })

  test.each(valueCases().filter(({ spec }) => spec.head === 'dueling_q'))('up to rounding: $name', ({ spec }) => {
    const model = exportModel(spec, randomWeights(spec, testRandom(SEED)))
    const again = readPolicyWeights(spec, exportModel(spec, readPolicyWeights(spec, model)))
    for (const [i, weight] of readPolicyWeights(spec, model).entries()) expect(again[i]).toBeCloseTo(weight, 5)
  })

  const { spec } = casesWithoutDueling[0]
  const model = exportModel(spec, randomWeights(spec, testRandom(SEED)))
  const failure = { code: 'agent_invalid' }

  test('are refused of a policy of other sizes', () => {
    const wider = { ...spec, hidden: [17, 8] }
    expect(() => readPolicyWeights(wider, model)).toThrow(expect.objectContaining(failure))
    expect(() => readPolicyWeights({ ...spec, hidden: [16] }, model)).toThrow(expect.objectContaining(failure))
  })

  test('are refused where the tensors have our names and the graph is another one', () => {
    const relu = exportModel({ ...spec, activation: 'relu' }, randomWeights(spec, testRandom(SEED)))
    expect(() => readPolicyWeights(spec, relu)).toThrow(/its graph is another one/)
  })

  test('are refused of a model without any', () => {
    const empty = encodeModel({ name: 'policy', nodes: [], initializers: [], inputs: [], outputs: [] })
    expect(() => readPolicyWeights(spec, empty)).toThrow(expect.objectContaining(failure))
  })
})
