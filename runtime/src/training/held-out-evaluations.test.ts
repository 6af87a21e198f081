// @module-tag full
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgent } from '@agentgym/agent'
import { agentManifestSchema, confidenceOf } from '@agentgym/contract'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, toolScenarioOf, trained } from '../../test/scenario-fixture.ts'
import { evaluateAgent } from '../evaluation/evaluate-agent.ts'
import { CALIBRATION_SEED, episodesOfEvaluations } from './held-out-evaluations.ts'

afterAll(removeFixtures)

/** The better tool solves 7 episodes of 10 whatever is done, so a policy that is sure of it is too sure. */
const wager = (heldOut = 1_000_000_000) => `
  observation: box({ shape: [1] }), maxSteps: 1, tasks: { train: 100, eval: ${heldOut} },
  start: ({ rng }) => ({ side: rng.pick([-1, 1]), luck: rng(), solved: false }),
  tools: Object.fromEntries([['left', -1], ['right', 1]].map(([name, side]) => [name, {
    description: 'Bets on that side',
    run(state) {
      state.solved = side === state.side && state.luck < 0.7
      return { done: true }
    },
  }])),
  observe: (state) => [state.side],
  outcome: (state) => (state.solved ? 1 : 0),
  rules: ([side]) => ({ tool: side > 0 ? 'right' : 'left' }),`

/** The same without a metric. */
const silent = `
  observation: box({ shape: [1] }), action: discrete({ n: 2, labels: ['left', 'right'] }), maxSteps: 1,
  reset: ({ rng }) => ({ side: rng.pick([-1, 1]), luck: rng() }),
  step: (state, action) => ({ reward: 2 * action - 1 === state.side && state.luck < 0.7 ? 1 : 0, terminated: true }),
  observe: (state) => [state.side],`

const settings = {
  ...{ steps: 4096, environments: 16, rollout_steps: 16, hidden: '[16]' as never, learning_rate: 0.01 },
  ...{ entropy_coefficient: 0, evaluation_episodes: 400, calibration_episodes: 2_000 },
}

async function agentOf(definition: string, changes: object = {}) {
  const scenario = await (definition === silent ? scenarioOf : toolScenarioOf)(definition)
  const { out } = await trained(scenario, { ...settings, ...changes })
  const manifest = agentManifestSchema.parse(JSON.parse(readFileSync(join(out, 'agent.json'), 'utf8')))
  return { scenario, out, manifest }
}

describe('calibration at the end of training', { timeout: 120_000 }, () => {
  it('turns the probabilities of a policy that is too sure into chances of success', async () => {
    const { scenario, out, manifest } = await agentOf(wager())
    const { confidence, evaluation } = manifest
    const { calibration, metrics, episodes, seed } = evaluation
    expect(confidence).toMatchObject({ method: 'platt', episodes: 2_000, choices: 2_000, seed: CALIBRATION_SEED })
    expect(calibration).toMatchObject({ choices: 400, succeeded: Math.round(400 * metrics.solved) })
    expect(calibration?.probability.ece, 'it says more than 90%').toBeGreaterThan(0.2)
    // Three standard errors of both samples, which are of 400 and 2,000 episodes.
    expect(calibration?.confidence?.ece).toBeLessThan(0.08)

    const again = await evaluateAgent({ agent: out, scenario, episodes, seed })
    expect(again, 'bit for bit').toEqual(evaluation)
    expect((await evaluateAgent({ agent: out, scenario, episodes: 50, seed: 9 })).calibration).toMatchObject({
      choices: 50,
    })

    const [random, rules] = evaluation.baselines ?? []
    expect([random.player, rules.player]).toEqual(['random', 'rules'])
    expect(rules.metrics.solved, 'the agent learned what the rules say').toBe(metrics.solved)
    // Half of it by chance: four standard errors.
    expect(Math.abs(random.metrics.solved - 0.35)).toBeLessThan(0.1)

    const agent = await loadAgent(out)
    const decision = agent.act([1])
    const chosen = Math.max(...(decision.choices ?? []).map(({ probability }) => probability))
    expect(decision.label).toBe('right')
    expect(confidence && decision.confidence).toBe(confidence && confidenceOf(confidence, chosen))
    expect(decision.confidence).toBeCloseTo(0.7, 1)
    expect(agent.act([1], { deterministic: false }).confidence, 'not of a sampled action').toBeNull()
    agent.dispose()

    const card = readFileSync(join(out, 'README.md'), 'utf8')
    expect(card).toMatch(/\| confidence \| \d\.\d% \| says 7\d%, right in [67]\d% \|/)
  })

  it('measures probabilities, and gives no confidence, where no episodes can be kept apart or none are wanted', async () => {
    const [fixed, unwanted] = [await agentOf(wager(500)), await agentOf(wager(), { calibration_episodes: 0 })]
    for (const { manifest, out } of [fixed, unwanted]) {
      expect(manifest).not.toHaveProperty('confidence')
      expect(manifest.evaluation.calibration).toMatchObject({ choices: 400, confidence: null })
      const agent = await loadAgent(out)
      expect(agent.act([1]).confidence).toBeNull()
      agent.dispose()
    }
  })

  it('costs no results: the same weights and the same evaluation with it and without', async () => {
    const [one, other] = [await agentOf(wager()), await agentOf(wager(), { calibration_episodes: 0 })]
    expect(other.manifest.model_hash).toBe(one.manifest.model_hash)
    expect(other.manifest.evaluation.trajectory_hash).toBe(one.manifest.evaluation.trajectory_hash)
    expect(other.manifest.evaluation.calibration?.probability).toEqual(one.manifest.evaluation.calibration?.probability)
  })

  it('is left out where the scenario does not report solved', async () => {
    const { manifest } = await agentOf(silent)
    expect(manifest).not.toHaveProperty('confidence')
    expect(manifest.evaluation).not.toHaveProperty('calibration')
    expect(manifest.evaluation).not.toHaveProperty('baselines')
  })
})

it('keeps the episodes of every evaluation apart, also where a user plays more than training did', () => {
  const seeds = episodesOfEvaluations(250).map(({ seed }) => seed)
  expect(seeds).toContain(0)
  expect(new Set(seeds).size).toBe(3)
  expect(seeds).not.toContain(CALIBRATION_SEED)
  for (const { episodes } of episodesOfEvaluations(250)) expect(episodes).toBe(1_000)
  for (const { episodes } of episodesOfEvaluations(5_000)) expect(episodes).toBe(5_000)
})

it('leaves out rules that fail, which are no fault of the agent', { timeout: 120_000 }, async () => {
  const failing = wager().replace(/rules: .*/, "rules: () => { throw new Error('no') },")
  const { manifest } = await agentOf(failing)
  expect(manifest.evaluation.baselines?.map(({ player }) => player)).toEqual(['random'])
})
