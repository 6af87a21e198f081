// @module-tag full
import { describe, expect, test } from 'vitest'
import { buildScenario } from '../build-scenario.ts'
import { validPackage, withFolder } from '../testing/scenario-folder.ts'
import type { DoctorReport } from './doctor-report.ts'
import { diagnoseScenario } from './run-inspection.ts'

type Parts = Partial<Record<'before' | 'more' | 'step' | 'observe' | 'reset', string>> & {
  success?: Record<string, number>
}

/** Guess a hidden digit that is shown as a one-hot row beside noise; ten guesses. */
async function examine({
  success = { right: 0.9 },
  before = '',
  more = '',
  step,
  observe,
  reset,
}: Parts): Promise<DoctorReport> {
  const entry = `
    import { box, defineScenario, discrete, text } from '@agentgym/scenario'
    ${before}
    export default defineScenario({
      observation: box({ shape: [5] }), action: discrete({ n: 4, labels: ['a', 'b', 'c', 'd'] }), maxSteps: 10,
      ${more}
      reset: ({ rng, task }) => ${reset ?? '({ hidden: rng.int(4), noise: rng(), guesses: 0, right: 0 })'},
      step(state, action, { rng, level }) {
        ${
          step ??
          `
        const right = action === state.hidden
        if (right) state.right += 1
        state.guesses += 1
        state.hidden = rng.int(4)
        return { reward: right ? 1 : 0, terminated: false }`
        }
      },
      observe: (state) => ${observe ?? '[state.noise, ...[1, 2, 3].map((n) => (state.hidden === n ? 1 : 0)), state.guesses]'},
      metrics: (state) => ({ right: state.right / Math.max(1, state.guesses) }),
    })`
  const manifest = { ...validPackage, agentgym: { ...validPackage.agentgym, success } }
  return withFolder({ 'package.json': manifest, 'src/index.ts': entry }, async (folder) =>
    diagnoseScenario(await buildScenario(folder)),
  )
}

const ids = ({ findings }: DoctorReport) => findings.map(({ severity, id }) => `${severity} ${id}`)
const oracle = 'oracle: (state) => state.hidden,'

describe.concurrent('scenario doctor', () => {
  test('finds only that the reward names each answer, in a scenario without faults', async () => {
    const report = await examine({ more: oracle })
    expect(ids(report)).toEqual(['note greedy_succeeds', 'note never_terminates'])
    const player = (name: string) => report.players.find(({ player }) => player === name)
    expect(player('the oracle')).toMatchObject({ return_mean: 10, meets_success: true, metrics: { right: 1 } })
    expect(player('greedy on the next reward')).toMatchObject({ meets_success: true, return_mean: 10 })
    expect(player('random actions')?.return_mean).toBeLessThan(4)
    expect(player('always action 2 (c)')?.meets_success).toBe(false)
    expect(report.not_shown).toEqual([])
  })

  test('reports returns by level, of a scenario that has some', async () => {
    const more = `levels: [{ name: 'low' }, { name: 'high' }], ${oracle}`
    const step = `
        const right = action === state.hidden
        state.guesses += 1
        state.hidden = rng.int(4)
        return { reward: right ? 1 + level : 0, terminated: false }`
    const { players } = await examine({ more, step, success: {} })
    const levels = players.find(({ player }) => player === 'the oracle')?.levels
    expect(levels).toEqual([
      { name: 'low', return_mean: 10 },
      { name: 'high', return_mean: 20 },
    ])
    expect(players.every((player) => player.levels?.length === 2)).toBe(true)
  })

  test('words of a text share tokens, and a vocabulary in which they do not', async () => {
    const say = (vocabulary: number) =>
      examine({
        before: `const words = ['cold', 'warm', 'hot', 'idle', 'broken', 'old', 'new', 'loud']`,
        more: `${oracle} observation: text({ maxTokens: 4, vocabulary: ${vocabulary} }),`,
        observe: "'the reactor is ' + words[state.hidden + 4 * (state.guesses % 2)]",
      })
    const report = await say(16)
    const finding = report.findings.find(({ id }) => id === 'words_share_tokens')
    expect(finding).toMatchObject({ severity: 'warning', message: expect.stringMatching(/such as "\w+" and "\w+"/) })
    expect(finding?.evidence).toMatchObject({ text: 'obs', words: 11, vocabulary: 16 })
    const better = await say(Number(finding?.evidence.better_vocabulary))
    expect(better.findings.map(({ id }) => id)).not.toContain('words_share_tokens')
  })

  test('a player that learns nothing succeeds', async () => {
    const report = await examine({ more: oracle, success: { right: 0.1 } })
    expect(ids(report)).toContain('problem random_succeeds')
    expect(ids(report)).toContain('problem constant_succeeds')
  })

  test('reward is to be had without solving', async () => {
    const step = `
      state.guesses += 1
      if (action === state.hidden) state.right += 1
      return { reward: action === 3 ? 2 : action === state.hidden ? 1 : 0, terminated: false }`
    const report = await examine({ more: oracle, step })
    expect(ids(report)).toContain('problem reward_hacking')
    const [finding] = report.findings.filter(({ id }) => id === 'reward_hacking')
    expect(finding.evidence).toMatchObject({ return_mean: 20, seed: 1 })
    expect(finding.message).toMatch(/return 20, more than the oracle's/)
  })

  test('one number solves it, and others never change', async () => {
    const report = await examine({ more: oracle, observe: '[7, state.noise, state.hidden, 0, 1]' })
    const [finding] = report.findings.filter(({ id }) => id === 'one_number_solves')
    expect(finding).toMatchObject({ severity: 'warning', evidence: { column: 'observation[2]', accuracy: 1 } })
    const [constant] = report.findings.filter(({ id }) => id === 'constant_observation')
    expect(constant.message).toMatch(/observation\[0\], observation\[3\], observation\[4\]/)
  })

  test('no signal, rewards out of scale, an end at once', async () => {
    const silent = await examine({ step: 'return { reward: 0, terminated: false }' })
    expect(ids(silent)).toEqual(expect.arrayContaining(['problem no_signal', 'note no_oracle']))
    const huge = await examine({ step: 'return { reward: 5000 * rng(), terminated: true }' })
    expect(ids(huge)).toEqual(expect.arrayContaining(['warning reward_scale', 'warning ends_at_once']))
  })

  test('splits that overlap, and tasks that are all alike', async () => {
    const tasks = 'tasks: { train: 200, eval: 1_000_000 },'
    const reset = (noise: string) => `({ hidden: 0, noise: ${noise}, guesses: 0, right: 0 })`
    // Evaluation walks through the tasks of training, one after another.
    const shared = await examine({ more: 'tasks: { train: 900, eval: 900 },', reset: reset('task.index') })
    const [overlap] = shared.findings.filter(({ id }) => id === 'splits_overlap')
    expect(overlap.evidence).toMatchObject({ eval_episodes: 512, seed: 1 })
    expect(Number(overlap.evidence.shared)).toBeGreaterThan(150)
    const few = await examine({ more: tasks, reset: reset('task.index % 200') })
    expect(ids(few)).toContain('note splits_overlap')
    const apart = await examine({ more: tasks, reset: reset("task.index + (task.split === 'eval' ? 1000 : 0)") })
    expect(ids(apart).filter((id) => id.includes('splits'))).toEqual([])
    const alike = await examine({ more: tasks, reset: '({ hidden: 0, noise: 0, guesses: 0, right: 0 })' })
    expect(ids(alike)).toContain('warning tasks_alike')
  })

  test('a fault of the scenario is an error with its place', async () => {
    const step = "throw new Error('lost at sea')"
    await expect(examine({ step })).rejects.toMatchObject({ code: 'scenario_threw', data: { file: 'src/index.ts' } })
  })
})
