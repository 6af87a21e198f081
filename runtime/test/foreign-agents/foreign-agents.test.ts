// @module-tag full
import { evaluateAgent } from '@agentgym/runtime'
import { afterAll, describe, expect, test } from 'vitest'
import { goodModel, goodModels } from '../../../testdata/models/good-models.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { agentFor } from '../agent-fixture.ts'
import { removeFixtures, scenarioOf } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const rest = `action: discrete({ n: 2 }), maxSteps: 20,
  reset: ({ rng }) => ({ count: 0, luck: rng() }),
  step(state, action) { state.count += action; return { reward: action - 0.1, terminated: state.count >= 10 } },`
const counting = `observation: box({ shape: [2] }), ${rest} observe: (state) => [state.count, state.luck]`

describe.concurrent('agents that training did not write', () => {
  test('are played, whatever graph they are, the same every time', async () => {
    const scenario = await scenarioOf(counting)
    const [, documented] = goodModels
    const play = (model: Uint8Array) =>
      evaluateAgent({ agent: agentFor(scenario, model), scenario, episodes: 20, seed: 3 })
    const first = await play(goodModel())
    expect(first).toMatchObject({ episodes: 20, seed: 3 })
    expect((await play(goodModel())).trajectory_hash).toBe(first.trajectory_hash)
    expect((await play(documented.bytes)).trajectory_hash, 'documentation changes nothing').toBe(first.trajectory_hash)
  })

  test('are refused where agent.json tells of other spaces than the scenario has', async () => {
    const three = await scenarioOf(
      `observation: box({ shape: [3] }), ${rest} observe: (state) => [state.count, state.luck, 0]`,
    )
    const agent = agentFor(three, goodModel())
    await expect(evaluateAgent({ agent, scenario: three, episodes: 2 })).rejects.toMatchObject({
      code: 'agent_invalid',
      data: { field: 'policy.observation' },
    })
    const scenario = await scenarioOf(counting)
    const [leaf] = goodAgent.policy.action
    for (const shift of [{ offset: 1 }, { distributionOffset: 7 }, { maskOffset: 5 }, { start: 1 }]) {
      const policy = { ...goodAgent.policy, action: [{ ...leaf, ...shift }] }
      const shifted = agentFor(scenario, goodModel(), { policy })
      await expect(evaluateAgent({ agent: shifted, scenario, episodes: 2 })).rejects.toMatchObject({
        code: 'agent_invalid',
        data: { field: 'policy.action' },
      })
    }
  })
})
