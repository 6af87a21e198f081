// @module-tag full
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentManifest } from '@agentgym/contract'
import { type BuiltScenario, evaluateAgent } from '@agentgym/runtime'
import { afterAll, describe, expect, test } from 'vitest'
import { goodModel, goodModels } from '../../../testdata/models/good-models.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { sha256 } from '../../src/sandbox/sha256.ts'
import { removeFixtures, scenarioOf, temporaryFolder } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const rest = `action: discrete({ n: 2 }), maxSteps: 20,
  reset: ({ rng }) => ({ count: 0, luck: rng() }),
  step(state, action) { state.count += action; return { reward: action - 0.1, terminated: state.count >= 10 } },`
const counting = `observation: box({ shape: [2] }), ${rest} observe: (state) => [state.count, state.luck]`

/** An agent's folder as somebody else's tools would have written it for a scenario. */
function agentFor(scenario: BuiltScenario, model: Uint8Array, change: Partial<AgentManifest> = {}): string {
  const folder = temporaryFolder()
  const { name, version } = scenario.package
  const manifest: AgentManifest = {
    ...goodAgent,
    scenario: { ...goodAgent.scenario, name, version, hash: scenario.hash, success: {} },
    model_hash: sha256(model),
    ...change,
  }
  writeFileSync(join(folder, 'model.onnx'), model)
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(manifest))
  return folder
}

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
