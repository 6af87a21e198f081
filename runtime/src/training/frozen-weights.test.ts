import { greedyActions, loadModelSession } from '@agentgym/agent/engine'
import type { PolicySpec } from '@agentgym/contract'
import { box, dict, discrete, frozenPolicy, multiDiscrete, type Space, text } from '@agentgym/scenario'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { exportModel } from '../policy/policy-graph.ts'
import { buildPolicySpec, type NetworkSettings } from '../policy/policy-spec.ts'
import { policyCases, randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { frozenWeights } from './frozen-weights.ts'

const SEED = 20261130
const network: NetworkSettings = { hidden: [32, 16], activation: 'tanh', embedding: 8, normalizeObservation: true }
const action = discrete({ n: 5, start: 1 })
const observation = dict({
  board: box({ shape: [2, 3], low: -1, high: 1 }),
  kind: discrete({ n: 3, start: 2 }),
  more: multiDiscrete({ nvec: [2, 4] }),
})

function agentOf(spec: PolicySpec, observed: Space, weights = randomWeights(spec, testRandom(SEED))) {
  const model = exportModel(spec, weights)
  const scenario = {
    name: '@t/game',
    version: '1.2.0',
    hash: 'a'.repeat(64),
    observation: observed,
    action,
    success: {},
  }
  return { manifest: { policy: spec, scenario, model_hash: 'b'.repeat(64) } as never, model }
}

/** Without biases, so that the observation decides. */
function decisiveWeights(spec: PolicySpec): Float32Array {
  const weights = randomWeights(spec, testRandom(SEED))
  for (const { name, offset, size } of parameterLayout(spec).parameters) {
    if (name.endsWith('.bias')) weights.fill(0, offset, offset + size)
  }
  return weights
}

describe('weights for frozenPolicy', () => {
  test.each<[string, Partial<NetworkSettings>]>([
    ['tanh, with statistics', {}],
    ['relu, without', { activation: 'relu', normalizeObservation: false }],
    ['one layer', { hidden: [] }],
    ['of a Q-network', { head: 'q', activation: 'relu' }],
    ['of a dueling Q-network', { head: 'dueling_q', activation: 'relu' }],
  ])('choose what the ONNX model chooses: %s', (_name, change) => {
    const spec = buildPolicySpec({ observation, action } as never, { ...network, ...change })
    const { manifest, model } = agentOf(spec, observation, decisiveWeights(spec))
    const read = JSON.parse(JSON.stringify(frozenWeights(manifest, model)))
    expect(read.agent).toEqual({ scenario: '@t/game@1.2.0', model_sha256: 'b'.repeat(64) })
    const policy = frozenPolicy(read)
    const rows = 2_000
    const random = testRandom(SEED + 1)
    const session = loadModelSession(model, spec, { batch: rows })
    const size = 6 + 1 + 2
    const observations = new Float32Array(rows * size)
    const masks = new Uint8Array(rows * 5)
    const samples = Array.from({ length: rows }, (_, row) => {
      const board = Float32Array.from({ length: 6 }, () => 2 * random() - 1)
      const [kind, first, second] = [3, 2, 4].map((n) => Math.floor(n * random()))
      observations.set([...board, kind, first, second], row * size)
      const legal = Math.floor(5 * random())
      for (let i = 0; i < 5; i++) masks[row * 5 + i] = i === legal || random() < 0.5 ? 1 : 0
      return { board, kind: kind + 2, more: [first, second] }
    })
    session.run(observations)
    for (const given of [null, masks]) {
      const actions = new Float32Array(rows)
      greedyActions({ spec, distribution: session.distribution, masks: given, rows }, actions)
      const chosen = samples.map((sample, row) =>
        policy.choose(sample, given === null ? undefined : Array.from(given.subarray(5 * row, 5 * row + 5), Boolean)),
      )
      expect(chosen).toEqual(Array.from(actions, (choice) => choice + 1))
      expect(new Set(chosen).size).toBeGreaterThan(2)
    }
    session.dispose()
  })

  const refused: [string, Space, Partial<NetworkSettings>, RegExp][] = [
    ['memory', observation, { memory: { kind: 'gru', units: 4 } }, /cannot be exported: it has memory/],
    ['texts', dict({ said: text({ maxTokens: 4 }) }), {}, /it reads texts/],
    ['images', box({ shape: [2, 9, 9] }), { convolution: { kind: 'small', filters: 4 } }, /convolutions/],
  ]
  test.each(refused)('are refused of a policy with %s', (_name, observed, change, message) => {
    const spec = buildPolicySpec({ observation: observed, action } as never, { ...network, ...change })
    const { manifest, model } = agentOf(spec, observed)
    expect(() => frozenWeights(manifest, model)).toThrow(message)
    expect(() => frozenWeights(manifest, model)).toThrow(expect.objectContaining({ code: 'agent_invalid' }))
  })

  test('are refused of every policy whose action is not one discrete choice', () => {
    const others = policyCases().filter(({ spec }) => spec.action.length > 1 || spec.action[0].kind !== 'discrete')
    expect(others.length).toBeGreaterThan(2)
    for (const { spec } of others) {
      const { manifest, model } = agentOf(spec, observation)
      expect(() => frozenWeights(manifest, model)).toThrow(/cannot be exported/)
    }
  })
})
