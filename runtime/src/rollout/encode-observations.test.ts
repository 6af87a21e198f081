import { type EncoderSet, TextVectors } from '@agentgym/agent/engine'
import { box, defineScenario, dict, discrete, text } from '@agentgym/scenario'
import { TRUNCATED } from '@agentgym/scenario/engine'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { encodeObservations } from './encode-observations.ts'
import { createNativeEnvironment } from './testing/native-environment.ts'
import { testEncoders } from './testing/test-encoder.ts'

let encoders: EncoderSet
let reference: TextVectors
beforeAll(async () => {
  encoders = await testEncoders()
  reference = new TextVectors(encoders)
})

const vectorOf = (whole: string, maxTokens = 8) =>
  reference.vector({ name: 'minilm', maxTokens, characters: 8 * maxTokens }, whole)

const said = ['', 'Where is my parcel?', 'naïve 北京 🙂', '\ud800 alone', 'I '.repeat(300)]

/** Episodes of three steps: what is observed follows from the environment, the episode and the step. */
function talking(environments: number, texts = said) {
  let episodes = 0
  const definition = defineScenario({
    observation: dict({
      before: box({ shape: [2] }),
      ticket: text({ encoder: 'minilm', maxTokens: 8 }),
      hashed: text({ maxTokens: 2 }),
      answer: text({ encoder: 'minilm', maxTokens: 4 }),
    }),
    action: discrete({ n: 2 }),
    maxSteps: 3,
    reset: () => ({ at: episodes++ }),
    step(state) {
      state.at += 1
      return { reward: 0, terminated: false }
    },
    observe: ({ at }) => ({
      before: [at, -at],
      ticket: texts[at % texts.length],
      hashed: 'one two',
      answer: texts[(at + 1) % texts.length],
    }),
  })
  return createNativeEnvironment(definition, { environments, seed: 1, plan: { split: 'train' } })
}

/** What the row of a state says. */
function expectRow(row: Float32Array, texts = said): void {
  expect(row).toHaveLength(2 + 384 + 2 + 384)
  const at = row[0]
  expect(row.subarray(2, 386)).toEqual(vectorOf(texts[at % texts.length]))
  expect(row[386]).toBeGreaterThan(0)
  expect(row.subarray(388)).toEqual(vectorOf(texts[(at + 1) % texts.length], 4))
}

it('puts the vector of every text into its columns, also of the last observation of an episode', () => {
  const vectors = new TextVectors(encoders)
  const environment = encodeObservations(talking(3), vectors)
  const { buffers, description } = environment
  const width = description.sizes.observation
  environment.reset()
  let ends = 0
  for (let step = 0; step < 7; step++) {
    for (let row = 0; row < 3; row++) {
      expectRow(buffers.observations.subarray(row * width, (row + 1) * width))
      if (step === 0 || (buffers.flags[row] & TRUNCATED) === 0) continue
      expectRow(buffers.finalObservations.subarray(row * width, (row + 1) * width))
      ends += 1
    }
    environment.step()
  }
  expect(ends).toBe(6)
  environment.restore(1, 0, new Float32Array(2))
  expectRow(buffers.observations.subarray(width, 2 * width))
  const { texts, encoded } = vectors.takeCounts()
  expect(encoded).toBe(2 * said.length)
  expect(texts).toBeGreaterThan(4 * encoded)
})

it('leaves an environment without such texts alone', () => {
  const definition = defineScenario({
    observation: text({ maxTokens: 2 }),
    action: discrete({ n: 2 }),
    maxSteps: 3,
    reset: () => ({}),
    step: () => ({ reward: 0, terminated: false }),
    observe: () => 'one',
  })
  const environment = createNativeEnvironment(definition, { environments: 1, seed: 1, plan: { split: 'train' } })
  expect(encodeObservations(environment, new TextVectors({}))).toBe(environment)
})

it('carries every text through the buffers as the encoder gets it from elsewhere', () => {
  const vectors = new TextVectors(encoders)
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ maxLength: 80 }))
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      const environment = encodeObservations(talking(2, [one, other]), vectors)
      environment.reset()
      const width = environment.description.sizes.observation
      for (let row = 0; row < 2; row++) {
        expectRow(environment.buffers.observations.subarray(row * width, (row + 1) * width), [one, other])
      }
    }),
    { numRuns: 12 },
  )
})

it('knows what another thread has encoded', () => {
  const [one, other] = [new TextVectors(encoders), new TextVectors({})]
  const leaf = { name: 'minilm', maxTokens: 8, characters: 64 } as const
  const vector = one.vector(leaf, 'Where is my parcel?')
  other.learn(one.takeFresh())
  expect(other.vector(leaf, 'Where is my parcel?')).toEqual(vector)
  expect(other.takeCounts()).toEqual({ texts: 1, encoded: 0 })
  expect(one.takeFresh()).toEqual([])
})
