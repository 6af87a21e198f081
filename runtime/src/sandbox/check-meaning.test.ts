/** Criteria that mean nothing, tasks that can be learned by heart, and what only a second process shows. */
import { checksFailedText, type ScenarioCheck } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { checkScenario } from './check-scenario.ts'
import { checkIds } from './checks/check-messages.ts'
import { validPackage, withFolder } from './testing/scenario-folder.ts'

type Parts = {
  /** Statements before the definition. */
  before?: string
  tasks?: string
  metrics?: string
  reset?: string
  reward?: string
  terminated?: string
  observe?: string
  maxSteps?: number
  success?: Record<string, number>
}

/** A scenario whose episodes end after `maxSteps` steps and pay what `reward` says. */
async function check(parts: Parts, options: Parameters<typeof checkScenario>[1] = {}) {
  const { before = '', tasks = '', metrics = '', reset = '({ luck: rng(), step: 0 })', maxSteps = 20 } = parts
  const entry = `
    import { box, defineScenario, discrete } from '@agentgym/scenario'
    ${before}
    export default defineScenario({
      observation: box({ shape: [2] }), action: discrete({ n: 2 }), maxSteps: ${maxSteps}, ${tasks} ${metrics}
      reset: ({ rng, task, level }) => ${reset},
      step(state, action, { rng, level }) {
        state.step += 1
        return { reward: ${parts.reward ?? 'rng()'}, terminated: ${parts.terminated ?? 'false'} }
      },
      observe: (state) => [state.step, ${parts.observe ?? 'state.luck'}],
    })`
  const manifest = { ...validPackage, agentgym: { ...validPackage.agentgym, success: parts.success ?? {} } }
  const files = { 'package.json': manifest, 'src/index.ts': entry }
  const limits = { loadMs: 5_000, crossingMs: 2_000, graceMs: 500 }
  const report = await withFolder(files, (folder) => checkScenario(folder, { limits, ...options }))
  return { report, ...Object.fromEntries(report.checks.map((check) => [check.id, check])) } as {
    report: typeof report
  } & Record<string, ScenarioCheck>
}

test('levels are measured one by one, with random actions and the oracle', async () => {
  const levels = "levels: [{ name: 'cheap' }, { name: 'dear', description: 'Pays ten' }],"
  const { levels: measured } = await check({
    ...{ tasks: `${levels} oracle: () => 1,`, reward: '(level === 0 ? 1 : 10) * action', maxSteps: 2 },
  })
  expect(measured.message).toMatch(
    /^2 levels, with mean returns: cheap \(random [\d.]+, oracle 2\), dear \(random [\d.]+, oracle 20\)$/,
  )
  expect(measured.levels).toMatchObject([
    { name: 'cheap', oracle: 2 },
    { name: 'dear', description: 'Pays ten', oracle: 20 },
  ])
  // Of 2 steps with probability 1/2: 1 and 10, each over 48 episodes.
  expect(measured.levels?.[0].random).toBeCloseTo(1, 0)
  expect(Math.abs((measured.levels?.[1].random ?? 0) - 10)).toBeLessThan(5)
  const { levels: none } = await check({})
  expect(none).toEqual({ id: 'levels', ok: true, message: 'no levels' })
})

describe.concurrent('what a check does not let pass', () => {
  test('success on a metric that no episode reports', async () => {
    const metrics = 'metrics: () => ({ solved: 1 }),'
    const { report, metrics: failed } = await check({ metrics, success: { solved: 1, sovled: 0.9, constructor: 0 } })
    expect(failed).toMatchObject({ ok: false })
    expect(failed.message).toMatch(
      /Success asks for "sovled", "constructor".*reported: only solved\..*metrics\(state\)/,
    )
    expect(checksFailedText(report.checks)).toMatch(
      new RegExp(`^1 of ${checkIds.length} checks failed, \\d+ were not run$`),
    )
    const none = await check({ success: { solved: 1 } })
    expect(none.metrics.message).toMatch(/metrics reported: none\./)
  })

  test('episodes that do not end in the time that an evaluation would need', async () => {
    const { episode_ends: failed, baselines } = await check({ maxSteps: 1e9 }, { episodeMs: 200 })
    expect(failed).toMatchObject({ ok: false, message: expect.stringMatching(/No episode ended.*lower maxSteps/) })
    expect(baselines.message).toMatch(/^not run/)
  })

  test('a recursion as deep as the stack allows', async () => {
    // How deep an array JSON takes is a property of the stack alone: no compiler changes it.
    const before = `let depth = 0
      for (let n = 500; ; n += 500) {
        let nested: unknown[] = []
        for (let i = 0; i < n; i += 1) nested = [nested]
        try { JSON.stringify(nested) } catch { break }
        depth = n
      }`
    const { determinism, processes, report } = await check({ before, observe: 'depth' })
    expect(determinism).toMatchObject({ ok: true })
    expect(processes).toMatchObject({
      ok: false,
      message: expect.stringMatching(/different episodes, from step 0 of environment 0 on\. Do not catch stack/),
    })
    expect(report.ok).toBe(false)
  })
})

describe.concurrent('what a check warns of', () => {
  test('nothing, where there is nothing to mend', async () => {
    const tasks = 'tasks: { train: 10, eval: 1_000_000 },'
    const { report, held_out, processes } = await check({ tasks, success: { return_mean: 19 } })
    expect(report.ok).toBe(true)
    expect(report.checks.filter(({ warning }) => warning)).toEqual([])
    expect(held_out.message).toBe('1,000,000 evaluation tasks beside 10 for training')
    expect(processes.message).toMatch(/^\d+ steps of 4 environments \(8 whole episodes\) are the same in two processes/)
  })

  test('evaluation tasks that can be learned by heart, and those of training', async () => {
    const few = await check({ tasks: 'tasks: { train: 1000, eval: 200 },' })
    expect(few.report.ok).toBe(true)
    expect(few.held_out).toMatchObject({ ok: true, warning: true })
    expect(few.held_out.message).toMatch(/a fixed set of 200, public.*Generate tasks/)
    const none = await check({ tasks: 'tasks: { train: 1000 },' })
    expect(none.held_out).toMatchObject({
      ok: true,
      warning: true,
      message: expect.stringMatching(/the 1,000 of train/),
    })
  })

  test('splits that differ in difficulty', async () => {
    const reset = "({ luck: rng() + (task.split === 'eval' ? 1 : 0), step: 0 })"
    const { report, held_out } = await check({ reset, reward: 'state.luck' })
    expect(report.ok).toBe(true)
    expect(held_out).toMatchObject({ ok: true, warning: true })
    expect(held_out.message).toMatch(
      /differ in difficulty: random actions return [\d.]+ in training and [\d.]+ in evaluat/,
    )
  })

  test('criteria that an untrained policy meets', async () => {
    const metrics = 'metrics: (state) => ({ solved: state.step > 5 ? 1 : 0 }),'
    const { report, baselines } = await check({ metrics, success: { solved: 0.9 } })
    expect(report.ok).toBe(true)
    expect(baselines).toMatchObject({ ok: true, warning: true })
    expect(baselines.message).toMatch(/already meet every success criterion: solved 1 \(success: 0\.9\)\. Raise/)
    const harder = await check({ metrics, success: { solved: 0.9, return_mean: 19 } })
    expect(harder.baselines.warning).toBeUndefined()
  })

  test('a replay of no action, and replays more where the last episode ended with the last step', async () => {
    const short = await check({ terminated: 'true' })
    expect(short.replay).toMatchObject({ ok: true, warning: true, message: expect.stringMatching(/^not shown:/) })
    // 200 steps are compared: ten episodes, the last of which ends with them.
    const whole = await check({})
    expect(whole.replay.warning).toBeUndefined()
    expect(whole.replay.message).toBe('episode 9 played again from its 19 actions is the same')
  })
})
