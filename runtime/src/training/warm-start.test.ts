import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import type { PolicySpec, SpaceDescription, TrainingAlgorithm } from '@agentgym/contract'
import { afterAll, describe, expect, it } from 'vitest'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { failureOf, removeFixtures, temporaryFolder } from '../../test/scenario-fixture.ts'
import { exportModel } from '../policy/policy-graph.ts'
import { buildPolicySpec, type NetworkSettings } from '../policy/policy-spec.ts'
import { randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { policyOfPlan } from './policy-of-plan.ts'
import { assertStartsFrom, readWarmStart, warmStartPlan } from './warm-start.ts'

afterAll(removeFixtures)

const box = (size: number): SpaceDescription => ({
  type: 'box',
  shape: [size],
  low: Array(size).fill(-1),
  high: Array(size).fill(1),
})
const choice: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
const spaces = { observation: box(2), action: choice }
const network: NetworkSettings = { hidden: [8], activation: 'tanh', embedding: 4, normalizeObservation: true }
const policy = buildPolicySpec(spaces, network)
const weights = randomWeights(policy, testRandom(7))
const model = exportModel(policy, weights)

/** An agent's folder, as training writes it unless something is changed. */
function agentFolder(change: { policy?: PolicySpec; model?: Uint8Array; package?: unknown } = {}): string {
  const folder = join(temporaryFolder(), 'agent')
  mkdirSync(folder)
  const bytes = change.model ?? model
  const manifest = { ...goodAgent, policy: change.policy ?? policy, steps: 400, model_hash: sha256(bytes) }
  writeFileSync(join(folder, 'model.onnx'), bytes)
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(manifest))
  const named = { name: '@acme/parent', version: '1.2.0', license: 'MIT' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(change.package ?? named))
  return folder
}

const scenarioOf = (training: Record<string, unknown>) => ({ package: { agentgym: { training } } }) as never

describe('an agent to start from', () => {
  it('is its weights, its statistics and its package', async () => {
    const start = await readWarmStart(agentFolder())
    expect(Buffer.compare(exportModel(policy, start.weights), model)).toBe(0)
    expect(start).toMatchObject({ observations: 400, algorithm: 'ppo' })
    const parent = { name: '@acme/parent', version: '1.2.0', license: 'MIT', model_hash: sha256(model) }
    expect(start.parent).toEqual(parent)
  })

  const refusal = async (change: Parameters<typeof agentFolder>[0]) =>
    (await failureOf(readWarmStart(agentFolder(change)))).code
  const withWeight = (value: number) => exportModel(policy, weights.with(5, value))

  it('is refused with weights that are not finite', async () => {
    expect(await refusal({ model: withWeight(Number.NaN) })).toBe('model_weights_not_finite')
    expect(await refusal({ model: withWeight(Number.POSITIVE_INFINITY) })).toBe('model_weights_not_finite')
  })

  it('is refused with sizes that its model does not have, and with those that no machine holds', async () => {
    for (const hidden of [[9], [8, 8], [8_000_000, 8_000_000], Array(8).fill(2 ** 31)]) {
      expect(await refusal({ policy: { ...policy, hidden } }), String(hidden)).toBe('agent_invalid')
    }
  })

  it('is refused if its model computes something else with our tensors', async () => {
    expect(await refusal({ model: exportModel({ ...policy, activation: 'relu' }, weights) })).toBe('agent_invalid')
  })

  it('is refused if it is cut off, or has no name to record', async () => {
    expect(await refusal({ model: model.subarray(0, model.length / 2) })).toMatch(/^model_/)
    expect(await refusal({ package: { name: '`x` [y](z)', version: '1.0.0' } })).toBe('manifest_invalid')
    expect(await refusal({ package: {} })).toBe('manifest_invalid')
  })
})

describe('the plan of a run that starts from an agent', () => {
  const start = { algorithm: 'a2c', policy } as const

  it('has its algorithm and its network, and everything else like every run', () => {
    const scenario = scenarioOf({ algorithm: 'ppo', hidden: [32], learning_rate: 0.02, steps: 900 })
    const { algorithm, settings } = warmStartPlan(scenario, {}, start)
    expect(algorithm).toBe('a2c')
    expect(settings).toMatchObject({
      hidden: [8],
      embedding: 4,
      normalize_observation: true,
      learning_rate: 0.02,
      steps: 900,
    })
  })

  it('is refused where the request asks for another network', () => {
    const differences: [TrainingAlgorithm, Record<string, string>, string][] = [
      ['ppo', { hidden: '16' }, 'hidden'],
      ['ppo', { activation: 'relu' }, 'activation'],
      ['ppo', { normalize_observation: 'false' }, 'normalize_observation'],
      ['ppo', { memory: 'gru' }, 'memory'],
      ['dqn', {}, 'kind of network (head)'],
    ]
    for (const [algorithm, set, difference] of differences) {
      const plan = warmStartPlan(scenarioOf({}), { algorithm, set }, start)
      const refused = () => assertStartsFrom(policy, policyOfPlan(plan, { ...spaces, memory: false } as never))
      expect(refused, difference).toThrow(expect.objectContaining({ data: expect.objectContaining({ difference }) }))
    }
  })
})

describe('policies of other spaces', () => {
  const named = (entries: Record<string, unknown>) =>
    ({ type: 'dict', entries: Object.entries(entries).map(([name, space]) => ({ name, space })) }) as never

  it.each([
    ['more numbers', { ...spaces, observation: box(3) }, 'observation "obs".size', 2, 3],
    ['another action', { ...spaces, action: { type: 'discrete', n: 3, start: 0 } }, 'action "action".counts', [2], [3]],
    ['a box for a choice', { ...spaces, action: box(2) }, 'action "action".kind', 'discrete', 'box'],
    ['leaves', { ...spaces, observation: named({ a: box(1), b: box(1) }) }, 'observation', ['obs'], ['a', 'b']],
  ])('are refused with the first difference: %s', (_, other, difference, agent, run) => {
    const theirs = buildPolicySpec(other as never, network)
    const failure = expect.objectContaining({
      ...{ code: 'config_invalid', data: { field: 'from', difference, agent, run } },
    })
    expect(() => assertStartsFrom(policy, theirs)).toThrow(failure)
    expect(() => assertStartsFrom(policy, policy)).not.toThrow()
  })

  it('are refused if the same numbers mean other actions', () => {
    const torque = (limit: number) =>
      buildPolicySpec(
        { observation: box(2), action: { type: 'box', shape: [1], low: [-limit], high: [limit] } },
        { ...network, boxActions: 'squashed' },
      )
    expect(() => assertStartsFrom(torque(1), torque(2))).toThrow(/low is \[-1\], and the run's is \[-2\]/)
  })
})
