import { randomUUID } from 'node:crypto'
import { greedyActions, loadModelSession, readState, type Spaces, TextVectors } from '@agentgym/agent/engine'
import { callAnswersRequestSchema, callsABatch, type PolicySpec, type SpaceDescription } from '@agentgym/contract'
import type { SpaceDescription as EngineSpace } from '@agentgym/scenario/engine'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { goodModel } from '../../../testdata/models/good-models.ts'
import { endlessLoop, overflow } from '../../../testdata/models/hostile-models.ts'
import { attribute, floats, integers, node } from '../../../testdata/models/onnx-writer.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { playEpisodes } from '../evaluation/play-episodes.ts'
import { exportModel } from '../policy/policy-graph.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { createNativeEnvironment } from '../rollout/testing/native-environment.ts'
import { testEncoders } from '../rollout/testing/test-encoder.ts'
import { callAnswerer, type ServedCall } from './call-answerer.ts'
import { actionSpaces, hasChoices, observationSpaces, randomMask, randomSample } from './testing/random-calls.ts'

const network = { hidden: [6], activation: 'tanh', embedding: 3, normalizeObservation: true } as const

type Agent = { scenario: Spaces; policy: PolicySpec; model: Uint8Array }

function randomAgent(scenario: Spaces, random: () => number): Agent {
  const policy = buildPolicySpec(scenario, { ...network, hidden: [...network.hidden] })
  return { scenario, policy, model: exportModel(policy, randomWeights(policy, random)) }
}

/** Plays one step of 64 environments, each with an observation and a mask of its own, as an evaluation does. */
function evaluated({ scenario, policy, model }: Agent, samples: unknown[], masks: unknown[]): unknown[] {
  const taken: unknown[] = []
  let environments = 0
  const definition = {
    observation: scenario.observation as EngineSpace,
    action: scenario.action as EngineSpace,
    maxSteps: 1,
    reset: () => ({ index: environments++ % callsABatch }),
    step({ index }: { index: number }, action: unknown) {
      taken[index] ??= action
      return { reward: 0, terminated: true }
    },
    observe: ({ index }: { index: number }) => samples[index],
    ...(hasChoices(scenario.action) ? { actionMask: ({ index }: { index: number }) => masks[index] } : {}),
  }
  const plan = { split: 'eval', episodes: callsABatch } as const
  const environment = createNativeEnvironment(definition, { environments: callsABatch, seed: 1, plan })
  const session = loadModelSession(model, policy, { batch: callsABatch })
  const { buffers, description } = environment
  const act = () => {
    session.run(buffers.observations)
    const request = { spec: policy, distribution: session.distribution, rows: callsABatch }
    greedyActions({ ...request, masks: description.masked ? buffers.masks : null }, buffers.actions)
  }
  playEpisodes(environment, callsABatch, act)
  session.dispose()
  return taken
}

/** What came over JSON is the very action that `step` got: to the bit in float32, and inside the bounds. */
function expectSame(space: SpaceDescription, served: unknown, taken: unknown): void {
  if (space.type === 'dict') {
    const [answer, action] = [served as Record<string, unknown>, taken as Record<string, unknown>]
    expect(Object.keys(answer)).toEqual(space.entries.map(({ name }) => name))
    for (const { name, space: inner } of space.entries) expectSame(inner, answer[name], action[name])
  } else if (space.type === 'box') {
    const numbers = served as number[]
    expect(numbers.map(Math.fround)).toEqual(Array.from(taken as Float32Array))
    numbers.forEach((number, i) => {
      expect(number).toBeGreaterThanOrEqual(space.low[i] ?? Number.NEGATIVE_INFINITY)
      expect(number).toBeLessThanOrEqual(space.high[i] ?? Number.POSITIVE_INFINITY)
    })
  } else expect(served).toEqual(taken)
}

const call = (observation: unknown, action_mask: unknown = null) =>
  ({ id: randomUUID(), observation, action_mask }) as ServedCall

describe('what a served agent does', () => {
  it('is what evaluation does: random spaces, policies, observations and masks', () => {
    const property = fc.property(observationSpaces(), actionSpaces(), fc.integer(), (observation, action, seed) => {
      const random = testRandom(seed)
      const agent = randomAgent({ observation, action }, random)
      const rows = Array.from({ length: callsABatch }, (_, i) => i)
      const samples = rows.map(() => randomSample(observation, random, false))
      const masked = rows.map(() => hasChoices(action) && random() < 0.5)
      const masks = rows.map((row) => randomMask(action, random, masked[row]))
      const taken = evaluated(agent, samples, masks)
      const calls = rows.map((row) => call(samples[row], masked[row] ? masks[row] : null))
      const answers = callAnswerer(agent, agent.model)(calls)
      expect(callAnswersRequestSchema.shape.answers.parse(answers)).toEqual(answers)
      answers.forEach((answer, row) => {
        expect(answer.id).toBe(calls[row].id)
        if ('error' in answer) throw new Error(answer.error.message)
        expectSame(action, answer.action, taken[row])
      })
    })
    fc.assert(property, { numRuns: 60 })
  })

  it('reads texts with the encoder of training, and answers a text that is none with an error', async () => {
    const scenario: Spaces = {
      observation: { type: 'text', encoder: 'minilm', maxTokens: 8, vocabulary: 30522 },
      action: { type: 'discrete', n: 30, start: 0 },
    }
    const agent = randomAgent(scenario, testRandom(5))
    const encoders = await testEncoders()
    const vectors = new TextVectors(encoders)
    const session = loadModelSession(agent.model, agent.policy, { batch: callsABatch })
    const rows = new Float32Array(callsABatch * 384)
    const texts = ['Where is my parcel?', '', 'naïve \ud800', 'cut off '.repeat(40)]
    const leaf = { name: 'minilm', maxTokens: 8, characters: 64 } as const
    for (const [i, text] of texts.entries()) rows.set(vectors.vector(leaf, text), i * 384)
    session.run(rows)
    const answers = callAnswerer(agent, agent.model, encoders)([...texts.map((text) => call(text)), call(7)])
    for (const [i] of texts.entries()) {
      const logits = session.distribution.subarray(i * 30, (i + 1) * 30)
      expect(answers[i]).toMatchObject({ action: logits.indexOf(Math.max(...logits)) })
    }
    expect(answers[4]).toMatchObject({ error: { code: 'observation_invalid' } })
  })

  it('goes on from the state that the caller sends back, and begins an episode without one', () => {
    const scenario: Spaces = {
      observation: { type: 'discrete', n: 3, start: 0 },
      action: { type: 'discrete', n: 4, start: 0 },
    }
    const memory = { kind: 'gru', units: 5 } as const
    const policy = buildPolicySpec(scenario, { ...network, hidden: [...network.hidden], memory })
    const model = exportModel(policy, randomWeights(policy, testRandom(3)))
    const answerer = callAnswerer({ scenario, policy }, model)
    const session = loadModelSession(model, policy, { batch: callsABatch })
    let state: string | undefined
    for (const observation of [1, 2, 0, 2]) {
      const calls = [call(0), { ...call(observation), state }, { ...call(1), state: 'AAAA' }] as ServedCall[]
      const [, answer, refused] = answerer(calls)
      if ('error' in answer) throw new Error(answer.error.message)
      session.run(new Float32Array(callsABatch).fill(observation))
      expect(answer.state).toBe(readState(session.state?.subarray(10, 20) ?? new Float32Array(0)))
      expect(answer.probabilities?.indexOf(Math.max(...answer.probabilities))).toBe(answer.action)
      expect(refused).toMatchObject({ error: { code: 'observation_invalid', data: { field: 'state' } } })
      state = answer.state
    }
    // Shown at once, the same; one history that is wrong is that call's error alone.
    const shown = { ...call(2), history: [1, 2, 0] }
    const [late, whole, odd] = answerer([
      { ...call(0), history: [1] },
      shown,
      { ...shown, history: [1, 9] },
    ] as ServedCall[])
    expect(whole).toMatchObject({ state })
    expect(late).not.toMatchObject({ state })
    expect(odd).toMatchObject({ error: { code: 'observation_invalid' } })
    const plain = callAnswerer(randomAgent(scenario, testRandom(1)), randomAgent(scenario, testRandom(1)).model)
    expect(plain([call(1)])[0]).not.toHaveProperty('state')
    expect(plain([{ ...call(1), state }])[0]).toMatchObject({ error: { data: { field: 'state' } } })
  })

  it('is the same for nested boxes, in smaller batches, and whatever came before', () => {
    const property = fc.property(observationSpaces(), actionSpaces(), fc.integer(), (observation, action, seed) => {
      const agent = randomAgent({ observation, action }, testRandom(seed))
      const flat = Array.from({ length: 9 }, (_, i) => call(randomSample(observation, testRandom(seed + i), false)))
      const nested = flat.map((each, i) => {
        const sample = randomSample(observation, testRandom(seed + i), true)
        return { ...each, observation: sample as ServedCall['observation'] }
      })
      const answerer = callAnswerer(agent, agent.model)
      const untimed = (calls: ServedCall[]) => answerer(calls).map((answer) => ({ ...answer, model_ms: 0 }))
      const expected = untimed(flat)
      expect(untimed(nested)).toEqual(expected)
      expect(nested.flatMap((each) => untimed([each]))).toEqual(expected)
    })
    fc.assert(property, { numRuns: 30 })
  })

  it('names the choice, and says how likely each was', () => {
    const action: SpaceDescription = { type: 'discrete', n: 4, start: 7, labels: ['a', 'b', 'c', 'd'] }
    const observation: SpaceDescription = { type: 'box', shape: [2], low: [null, null], high: [null, null] }
    const agent = randomAgent({ observation, action }, testRandom(3))
    const answerer = callAnswerer(agent, agent.model)
    const session = loadModelSession(agent.model, agent.policy, { batch: callsABatch })
    session.run(new Float32Array(callsABatch * 2))
    const weights = Array.from(session.distribution.subarray(0, 4), Math.exp)
    for (const mask of [null, [true, true, false, true], [false, false, false, true]]) {
      const [answer] = answerer([call([0, 0], mask)])
      if ('error' in answer) return expect.fail(answer.error.message)
      const legal = weights.map((weight, i) => (mask?.[i] === false ? 0 : weight))
      const total = legal.reduce((sum, weight) => sum + weight)
      for (const [i, weight] of legal.entries()) expect(answer.probabilities?.[i]).toBeCloseTo(weight / total, 6)
      expect(answer.probabilities?.reduce((sum, each) => sum + each)).toBeCloseTo(1, 6)
      const best = legal.indexOf(Math.max(...legal))
      expect(answer).toMatchObject({ action: 7 + best, label: 'abcd'[best] })
    }
  })

  it('names the tool of a tool scenario, and gives no probabilities where there is more than one choice', () => {
    const tool: SpaceDescription = { type: 'discrete', n: 2, start: 0, labels: ['search', 'refund'] }
    const amount: SpaceDescription = { type: 'box', shape: [1], low: [0], high: [9] }
    const refund: SpaceDescription = { type: 'dict', entries: [{ name: 'amount', space: amount }] }
    const action: SpaceDescription = {
      type: 'dict',
      entries: [
        { name: 'tool', space: tool },
        { name: 'refund', space: refund },
      ],
    }
    const agent = randomAgent({ observation: { type: 'text', maxTokens: 4, vocabulary: 9 }, action }, testRandom(5))
    const [answer] = callAnswerer(agent, agent.model)([call('a late parcel', { tool: [false, true] })])
    expect(answer).toMatchObject({ action: { tool: 1 }, label: 'refund', probabilities: null })
  })
})

describe('what a caller gets wrong', () => {
  const observation: SpaceDescription = {
    type: 'dict',
    entries: [
      { name: 'position', space: { type: 'box', shape: [2, 2], low: [0, 0, 0, 0], high: [9, 9, 9, 9] } },
      { name: 'words', space: { type: 'text', maxTokens: 3, vocabulary: 9 } },
    ],
  }
  const action: SpaceDescription = { type: 'multiDiscrete', nvec: [2, 3] }
  const agent = randomAgent({ observation, action }, testRandom(7))
  const answerer = callAnswerer(agent, agent.model)
  const good = { position: [1, 2, 3, 4], words: 'go' }
  const legal = [
    [true, true],
    [true, true, true],
  ]
  const at = (position: unknown) => ({ ...good, position })
  const wrong: [observation: unknown, mask: unknown, field: string, message: string][] = [
    [at([1, 2, 3]), null, 'observation', 'observation "position" has 3 numbers where the space has 4'],
    [at([[1, 2], [3]]), null, 'observation', 'observation "position"[1] has 1 entries where the box [2, 2] has 2'],
    [at([[1, 2], 3]), null, 'observation', 'observation "position"[1] is a number where a list of 2 belongs'],
    [at([[1, 2]]), null, 'observation', 'observation "position" has 1 entries where the box [2, 2] has 2'],
    [
      at([
        [[1], [2]],
        [3, 4],
      ]),
      null,
      'observation',
      'observation "position"[0] is an array, not a number',
    ],
    [at([1, 2, 3, 10]), null, 'observation', 'observation "position"[3] is 10, outside its bounds 0 to 9'],
    [at([1, 2, 3, null]), null, 'observation', 'observation "position"[3] is null, not a number'],
    [at([1, 2, 3, Number.NaN]), null, 'observation', 'observation "position"[3] is NaN'],
    [at(JSON.parse('[1, 2, 3, 1e999]')), null, 'observation', 'observation "position"[3] is Infinity'],
    [at('1234'), null, 'observation', 'observation "position" is the string "1234" where a list of numbers belongs'],
    [{ ...good, words: 3 }, null, 'observation', 'observation "words" is 3 where a text belongs'],
    [{ position: good.position }, null, 'observation', 'observation lacks the key "words"'],
    [{ ...good, more: 1 }, null, 'observation', 'observation has a key that the space lacks: the string "more"'],
    [JSON.parse('{"__proto__": 1, "words": ""}'), null, 'observation', 'observation lacks the key "position"'],
    [null, null, 'observation', 'observation is null where an object belongs'],
    [[good], null, 'observation', 'observation lacks the key "position"'],
    [good, [true, true], 'action_mask', 'action_mask[0] is true where an array of 2 booleans belongs'],
    [good, [[true, true]], 'action_mask', 'action_mask has 1 components where the action space has 2'],
    [good, [legal[0], [true, true]], 'action_mask', 'action_mask[1] has 2 entries where the action space has 3'],
    [good, [legal[0], [1, 0, 1]], 'action_mask', 'action_mask[1][0] is 1, not a boolean'],
    [good, [legal[0], [false, false, false]], 'action_mask', 'no legal action: all 3 entries of action_mask[1]'],
    [good, {}, 'action_mask', 'action_mask is an object where one array a component belongs'],
  ]

  it.each(wrong)('%j with the mask %j', (given, mask, field, message) => {
    const [answer] = answerer([call(given, mask)])
    expect(answer).toMatchObject({ error: { code: 'observation_invalid', data: { field } } })
    if ('error' in answer) expect(answer.error.message).toContain(message)
    if ('error' in answer) expect(answer.error.hint).toMatch(field === 'observation' ? /box \[2, 2\]/ : /\[2, 3\]/)
  })

  it('a mask where there is nothing to choose', () => {
    const steering: SpaceDescription = { type: 'box', shape: [1], low: [-1], high: [1] }
    const driver = randomAgent({ observation, action: steering }, testRandom(8))
    const [answer] = callAnswerer(driver, driver.model)([call(good, {})])
    expect(answer).toMatchObject({ error: { code: 'observation_invalid', data: { field: 'action_mask' } } })
  })

  it('fails that call alone, and leaves no trace in the next batch', () => {
    const [alone] = answerer([call(good, legal)])
    const bad = wrong.map(([given, mask]) => call(given, mask))
    const batch = [call(good, legal), ...bad, call(good)]
    const answers = answerer(batch)
    expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
    expect(answers.map((answer) => 'error' in answer)).toEqual([false, ...bad.map(() => true), false])
    const [again] = answerer([call(good)])
    for (const answer of [answers[0], answers[answers.length - 1], again]) {
      expect({ ...answer, id: '', model_ms: 0 }).toEqual({ ...alone, id: '', model_ms: 0 })
    }
  })
})

describe('what a model stumbles over', () => {
  /** Looks numbers up in a table of four rows. */
  const lookup = goodModel({
    nodes: [
      node('Cast', ['obs'], 'index', [attribute('to', 7)]),
      node('Gather', ['table', 'index'], 'rows'),
      node('ReduceMean', ['rows'], 'features', [attribute('axes', [1]), attribute('keepdims', 0)]),
      node('Gemm', ['features', 'w.logits'], 'logits'),
      node('MatMul', ['features', 'w.value'], 'value.column'),
      node('Squeeze', ['value.column', 'axis'], 'value'),
    ],
    initializers: [
      floats('table', [4, 4]),
      floats('w.logits', [4, 2]),
      floats('w.value', [4, 1]),
      integers('axis', [1]),
    ],
  })

  it('fails that call alone', () => {
    const answerer = callAnswerer(goodAgent, lookup)
    const [first, second] = answerer([call([0, 1]), call([2, 3])])
    const answers = answerer([call([0, 1]), call([0, 9]), call([2, 3])])
    expect(answers[1]).toMatchObject({ error: { code: 'model_run_failed' } })
    expect({ ...answers[0], id: first.id, model_ms: 0 }).toEqual({ ...first, model_ms: 0 })
    expect({ ...answers[2], id: second.id, model_ms: 0 }).toEqual({ ...second, model_ms: 0 })
    expect(answerer([call([9, 9])])).toMatchObject([{ error: { code: 'model_run_failed' } }])
  })

  it('gives no action where its numbers are not finite', () => {
    const answers = callAnswerer(goodAgent, overflow)([call([1, 1]), call([1])])
    expect(answers).toMatchObject([
      { error: { code: 'model_output_invalid' } },
      { error: { code: 'observation_invalid' } },
    ])
  })

  it('an agent whose policy is not of its spaces, and what is no model, are not taken', () => {
    const { scenario, policy } = goodAgent
    const wide = { ...policy, observation: [{ ...policy.observation[0], size: 3 }] }
    expect(() => callAnswerer({ scenario, policy: wide }, goodModel())).toThrow(/not the scenario's observation space/)
    expect(() => callAnswerer(goodAgent, endlessLoop.subarray(0, 100))).toThrow(/ONNX Runtime refuses it/)
  })
})

describe('tools with arguments', () => {
  const action: SpaceDescription = {
    type: 'dict',
    choice: 'tool',
    entries: [
      { name: 'tool', space: { type: 'discrete', n: 2, start: 0, labels: ['wait', 'refund'] } },
      {
        name: 'refund',
        space: {
          type: 'dict',
          entries: [
            { name: 'order', space: { type: 'discrete', n: 4, start: 0, list: 'orders' } },
            { name: 'percent', space: { type: 'box', shape: [], low: [1], high: [100], integer: true } },
            { name: 'reason', space: { type: 'discrete', n: 2, start: 0, labels: ['late', 'lost'] } },
          ],
        },
      },
    ],
  }
  const observation: SpaceDescription = {
    type: 'dict',
    entries: [{ name: 'orders', space: { type: 'list', slots: 4, features: 2 } }],
  }
  const scenario = { observation, action }

  it('are words, numbers and ids of items that were sent; an empty list rules its tool out', () => {
    const tools = new Set<unknown>()
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 4 }), (seed, count) => {
        const random = testRandom(seed)
        const { policy, model } = randomAgent(scenario, random)
        const orders = Array.from({ length: count }, (_, i) => ({ id: `A-${i}`, features: [random(), random()] }))
        const [answer] = callAnswerer({ scenario, policy }, model)([call({ orders })])
        const { action: taken, label } = answer as { action: Record<string, unknown>; label: string }
        tools.add(taken.tool)
        if (taken.tool === 0) {
          expect({ taken, label }).toEqual({ taken: { tool: 0 }, label: 'wait' })
          return
        }
        expect(label).toBe('refund')
        expect(orders.map(({ id }) => id)).toContain((taken.refund as { order: string }).order)
        expect(Object.keys(taken.refund as object)).toEqual(['order', 'percent', 'reason'])
        const { percent, reason } = taken.refund as { percent: number; reason: string }
        expect(Number.isInteger(percent) && percent >= 1 && percent <= 100).toBe(true)
        expect(['late', 'lost']).toContain(reason)
      }),
      { numRuns: 40 },
    )
    expect(tools).toEqual(new Set([0, 1]))
  })

  it('say so when no tool is left', () => {
    const { policy, model } = randomAgent(scenario, testRandom(1))
    const refund = { order: [true, true, true, true], reason: [true, true] }
    const sent = call({ orders: [] }, { tool: [false, true], refund })
    const [answer] = callAnswerer({ scenario, policy }, model)([sent])
    expect(answer).toMatchObject({ error: { code: 'observation_invalid', data: { field: 'action_mask' } } })
  })
})
