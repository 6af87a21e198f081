import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { policyCases, randomObservations, testRandom } from '../policy/testing/policy-cases.ts'
import { loadAddon } from './addon.ts'
import { createLearner } from './learner.ts'
import type { LearnerOptions } from './learner-types.ts'
import { ppoUpdate, randomMinibatch, randomRollout, shared } from './testing/ppo-cases.ts'

const options: LearnerOptions = { seed: 3, device: 'cpu', threads: 1 }
const { spec } = policyCases()[0]

describe('initial weights', () => {
  const wide = buildPolicySpec(
    {
      observation: {
        type: 'dict',
        entries: [
          { name: 'position', space: { type: 'box', shape: [4], low: Array(4).fill(null), high: Array(4).fill(null) } },
          { name: 'words', space: { type: 'text', maxTokens: 3, vocabulary: 50 } },
        ],
      },
      action: { type: 'box', shape: [2], low: [-1, -1], high: [1, 1] },
    },
    { hidden: [64, 32], activation: 'tanh', embedding: 20, normalizeObservation: true },
  )
  const weights = createLearner(wide, options).weights()
  const { parameters } = parameterLayout(wide)

  test("are orthogonal with the layout's gain", () => {
    for (const { name, shape, offset, init } of parameters) {
      if (typeof init === 'string') continue
      const [out, into] = shape
      const row = (i: number) => weights.subarray(offset + i * into, offset + (i + 1) * into)
      const column = (j: number) => Float32Array.from({ length: out }, (_, i) => weights[offset + i * into + j])
      const [count, vector] = out <= into ? [out, row] : [into, column]
      for (let a = 0; a < count; a++) {
        for (let b = 0; b < count; b++) {
          const dot = vector(a).reduce((sum, value, i) => sum + value * vector(b)[i], 0)
          expect(Math.abs(dot - (a === b ? init.orthogonal ** 2 : 0)), name).toBeLessThan(1e-5)
        }
      }
    }
  })

  test('are normal for embeddings, zero for biases, one for variances', () => {
    for (const { name, offset, size, init } of parameters) {
      const values = weights.subarray(offset, offset + size)
      if (init === 'zeros')
        expect(
          values.every((value) => value === 0),
          name,
        ).toBe(true)
      if (init === 'ones')
        expect(
          values.every((value) => value === 1),
          name,
        ).toBe(true)
      if (init === 'normal') {
        const mean = values.reduce((a, b) => a + b, 0) / size
        const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / size
        expect(Math.abs(mean), name).toBeLessThan(0.2)
        expect(variance, name).toBeGreaterThan(0.8)
        expect(variance, name).toBeLessThan(1.2)
      }
    }
  })
})

test('arrays over a SharedArrayBuffer are read as others are', () => {
  const learner = createLearner(spec, options)
  const plain = randomObservations(spec, 9, testRandom(1))
  expect(learner.forward(shared(plain), 9)).toEqual(learner.forward(plain, 9))
  const offset = new Float32Array(new SharedArrayBuffer(4 * (plain.length + 7)), 28)
  offset.set(plain)
  expect(learner.forward(offset, 9)).toEqual(learner.forward(plain, 9))
})

test('the fused path does without libtorch, which takes long to load', () => {
  const learner = new URL('./learner.ts', import.meta.url)
  const script = `
    const { createLearner, loadPath } = await import(${JSON.stringify(learner.href)})
    const { readFileSync } = await import('node:fs')
    const loaded = () => readFileSync('/proc/self/maps', 'utf8').includes('libtorch_cpu')
    loadPath('cpu', 'auto')
    createLearner(${JSON.stringify(spec)}, { seed: 3, device: 'cpu', threads: 1 }).forward(new Float32Array(5), 1)
    const before = loaded()
    loadPath('cpu', 'autograd')
    console.log(before, loaded())`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  expect(output).toBe('false true\n')
})

test('the fused path is the default on the CPU, and covers every policy', () => {
  for (const { spec } of policyCases()) expect(createLearner(spec, options).fused).toBe(true)
  expect(createLearner(spec, { ...options, path: 'autograd' }).fused).toBe(false)
})

describe('refuses', () => {
  const expectCode = (code: string, call: () => unknown) =>
    expect(call).toThrow(expect.objectContaining({ name: 'AgentGymError', code }))

  test('CUDA where libtorch has none', () => {
    let error: unknown
    try {
      createLearner(spec, { ...options, device: 'cuda' }).dispose()
    } catch (thrown) {
      error = thrown
    }
    // A machine with a GPU makes the learner instead.
    if (error !== undefined) expect(error).toMatchObject({ code: 'execution_provider_unavailable' })
  })

  test('to start without the addon, naming the command that builds it', () => {
    expect(() => loadAddon('/nonexistent/agentgym_learner.node')).toThrow(
      expect.objectContaining({ code: 'setup_incomplete', hint: expect.stringContaining('runtime/learner/build.sh') }),
    )
  })

  test('state that is cut short, too long, of another policy or not state at all', () => {
    const learner = createLearner(spec, options)
    const state = learner.state()
    const other = createLearner(policyCases()[5].spec, options).state()
    const flipped = state.slice()
    flipped.fill(0xff, 24, 28) // a moment that is NaN
    for (const bytes of [
      new Uint8Array(0),
      state.slice(0, 40),
      state.slice(0, -1),
      other,
      flipped,
      new Uint8Array(99),
    ]) {
      expectCode('checkpoint_invalid', () => learner.setState(bytes))
    }
    expectCode('checkpoint_invalid', () => learner.setState(Uint8Array.from([...state, 0])))
    expect(learner.state()).toEqual(state)
  })

  test('arrays of the wrong length or type', () => {
    const learner = createLearner(spec, options)
    expect(() => learner.setWeights(new Float32Array(3))).toThrow('weights')
    expect(() => learner.forward(new Float32Array(4), 1)).toThrow('observations')
    const minibatch = randomMinibatch(spec, 4, testRandom(1), false)
    const short = { ...minibatch, returns: minibatch.returns.slice(1) }
    expect(() => learner.gradient(short, ppoUpdate(), 'fused')).toThrow('returns')
    const double: unknown = Float64Array.from(minibatch.returns)
    expect(() => learner.gradient(Object.assign({}, minibatch, { returns: double }), ppoUpdate(), 'fused')).toThrow(
      'returns',
    )
    const rollout = randomRollout(spec, { steps: 2, environments: 2 }, testRandom(1))
    expect(() => learner.advantages([{ ...rollout, steps: 3 }], ppoUpdate())).toThrow('observations')
  })

  test('an index outside its observation space, which would read foreign memory', () => {
    const discrete = policyCases().find((candidate) => candidate.name.startsWith('text to discrete'))
    if (discrete === undefined) throw new Error('no policy case with text')
    const learner = createLearner(discrete.spec, options)
    for (const token of [-1, 20, 0.5, 1e9, Number.NaN]) {
      expectCode('observation_invalid', () => learner.forward(new Float32Array(6).fill(token), 1))
    }
  })

  test('any use after dispose()', () => {
    const learner = createLearner(spec, options)
    learner.dispose()
    expect(() => learner.weights()).toThrow('after dispose()')
  })
})
