import fc from 'fast-check'
import { Writer } from 'protobufjs'
import { expect, test } from 'vitest'
import { checkModel } from './check-model.ts'
import { encodeModel, FLOAT } from './onnx-model.ts'
import { exportModel } from './policy-graph.ts'
import { loadModelSession } from './policy-session.ts'
import { policyCases, randomWeights, testRandom } from './testing/policy-cases.ts'

const SEED = 20261128
const { spec } = policyCases()[0]
const model = exportModel(spec, randomWeights(spec, testRandom(SEED)))
const refused = expect.objectContaining({ code: 'agent_invalid' })

test('accepts every model of ours, with any finite weights', () => {
  for (const { spec } of policyCases()) checkModel(exportModel(spec, randomWeights(spec, testRandom(SEED))), spec)
})

test('refuses a model of another policy', () => {
  const [, other] = policyCases()
  expect(() => checkModel(model, other.spec)).toThrowError(refused)
  expect(() => checkModel(model, { ...spec, hidden: [16, 9] })).toThrowError(refused)
})

test('refuses weights that are not finite', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const weights = randomWeights(spec, testRandom(SEED))
    weights[7] = value
    expect(() => checkModel(exportModel(spec, weights), spec)).toThrowError(refused)
  }
})

test('refuses a field that our schema does not know, such as a tensor’s external data', () => {
  // ModelProto.graph (7) → GraphProto.initializer (5) → TensorProto.external_data (13): location = "secret".
  const entry = Writer.create().uint32(10).string('location').uint32(18).string('secret').finish()
  const tensor = Writer.create().uint32(106).bytes(entry).finish()
  const graph = Writer.create().uint32(42).bytes(tensor).finish()
  const extra = Writer.create().uint32(58).bytes(graph).finish()
  expect(() => checkModel(Buffer.concat([model, extra]), spec)).toThrowError(refused)
  // A field at the top, of a number that no schema has.
  const unknown = Writer.create().uint32(8002).bytes(entry).finish()
  expect(() => checkModel(Buffer.concat([model, unknown]), spec)).toThrowError(refused)
})

test('refuses other graphs, and what is no model at all', () => {
  const doubling = encodeModel({
    name: 'policy',
    nodes: [{ op: 'Concat', inputs: ['obs', 'obs'], outputs: ['logits'], attributes: { axis: 1 } }],
    initializers: [{ name: 'w', dims: [1], type: FLOAT, data: Float32Array.of(1) }],
    inputs: [{ name: 'obs', dims: ['batch', 5] }],
    outputs: [{ name: 'logits', dims: ['batch', 10] }],
  })
  expect(() => checkModel(doubling, spec)).toThrowError(refused)
  expect(() => checkModel(new Uint8Array(0), spec)).toThrowError(refused)
  expect(() => checkModel(Buffer.from('not a model'), spec)).toThrowError(refused)
  // Deeply nested unknown groups, which a reader skips by recursion.
  expect(() => checkModel(new Uint8Array(1_000_000).fill(0x8b), spec)).toThrowError(refused)
})

test('a changed byte is refused, or changes nothing but a finite weight', () => {
  const session = () => loadModelSession(model, spec, { batch: 1 }).dispose()
  session()
  fc.assert(
    fc.property(fc.nat(model.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const mutated = model.slice()
      mutated[at] ^= change
      try {
        checkModel(mutated, spec)
      } catch (error) {
        expect(error).toEqual(refused)
        return
      }
      // Accepted: then it is a valid model, which ONNX Runtime loads.
      loadModelSession(mutated, spec, { batch: 1 }).dispose()
    }),
    { seed: SEED, numRuns: 300 },
  )
})
