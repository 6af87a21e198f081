import { checkReportSchema } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { checkScenario } from './check-scenario.ts'
import { checkIds } from './checks/check-messages.ts'
import { countingScenario, validPackage, withFolder } from './testing/scenario-folder.ts'

const limits = { loadMs: 5_000, crossingMs: 1_000, graceMs: 500 }

async function check(entry: string, manifest: object = validPackage) {
  const seen: string[] = []
  const files = { 'package.json': manifest, 'src/index.ts': entry }
  const onCheck = ({ id }: { id: string }) => void seen.push(id)
  const report = await withFolder(files, (folder) => checkScenario(folder, { limits, onCheck }))
  expect(checkReportSchema.parse(report)).toEqual(report)
  expect(report.checks.map(({ id }) => id)).toEqual([...checkIds])
  expect([...seen].sort()).toEqual([...checkIds].sort())
  return report
}

/** Id and message of the check that failed; everything after it must not have run. */
async function failureOf(entry: string): Promise<string> {
  const report = await check(entry)
  expect(report.ok).toBe(false)
  const ran = report.checks.filter(({ message }) => !message.startsWith('not run: '))
  const failed = ran.filter(({ ok }) => !ok)
  expect(failed).toHaveLength(1)
  return `${failed[0].id}: ${failed[0].message}`
}

const counting = (from: string, to: string) => {
  expect(countingScenario).toContain(from)
  return countingScenario.replace(from, to)
}

describe.concurrent('checkScenario', () => {
  test('passes a healthy scenario and says what it saw', async () => {
    const report = await check(countingScenario)
    expect(report).toMatchObject({ ok: true, name: '@t/made', version: '1.0.0' })
    const messages = Object.fromEntries(report.checks.map(({ id, message }) => [id, message]))
    expect(messages.spaces).toBe('observes box [2], acts by discrete 2, at most 20 steps')
    expect(messages.rewards).toBe('rewards from 0 to 1, all finite')
    expect(messages.speed).toMatch(/environment steps a second/)
  })

  test.for<[string, string, string, RegExp]>([
    ['an import of Node', "import 'node:fs'", 'bundle', /src\/index\.ts:1/],
    ['a throw while loading', "throw new Error('not today')", 'loads', /not today/],
    ['no definition', 'export default 1', 'loads', /defineScenario/],
    [
      'a reset that throws',
      counting('({ count: 0, luck: rng() })', '{ throw new Error("no start") }'),
      'reset',
      /no start/,
    ],
    ['a step that hangs', counting('state.count += action', 'for (;;);'), 'steps', /did not return within 1 s/],
    ['NaN in an observation', counting('state.luck]', 'state.count > 3 ? NaN : 0]'), 'observations', /NaN/],
    [
      'a reward that is no number',
      counting('reward: action', 'reward: state.count > 3 ? undefined : 1'),
      'rewards',
      /undefined/,
    ],
    [
      'a mask without a choice',
      counting('maxSteps: 20,', 'maxSteps: 20, actionMask: () => [false, false],'),
      'reset',
      /legal/,
    ],
    [
      'metrics that are no numbers',
      counting('maxSteps: 20,', "maxSteps: 20, metrics: () => ({ solved: 'yes' }),"),
      'metrics',
      /solved/,
    ],
    [
      'state in the module',
      counting('export default', 'let total = 0\nexport default')
        .replace('state.count += action', 'state.count += action; total += 1')
        .replace('state.luck]', 'total]'),
      'independence',
      /Keep everything that changes/,
    ],
    [
      'changed built-ins',
      counting('export default', 'Array.prototype.map = Array.prototype.filter as never\nexport default'),
      'builtins',
      /Array\.prototype\.map/,
    ],
  ])('fails %s and says how to mend it', async ([, entry, id, message]) => {
    const failure = await failureOf(entry)
    expect(failure).toMatch(new RegExp(`^${id}: `))
    expect(failure).toMatch(message)
  })

  test('fails a success that needs no learning, and says what nothing and chance return', async () => {
    const demanding = (target: number) => ({
      ...validPackage,
      agentgym: { ...validPackage.agentgym, success: { return_mean: target } },
    })
    const message = ({ checks }: Awaited<ReturnType<typeof check>>) => checks.find(({ id }) => id === 'baselines')
    expect(message(await check(countingScenario, demanding(10.5)))).toMatchObject({
      ok: true,
      message: expect.stringMatching(
        /random actions return 9\.\d+, always the first action return 0; success asks for 10\.5/,
      ),
    })
    expect(message(await check(countingScenario, demanding(2)))).toMatchObject({
      ok: false,
      message: expect.stringMatching(/asks for a return of 2, and random actions already return/),
    })
  })

  test('ends a scenario that takes its process down', async () => {
    const bomb = counting('state.count += action', 'const map = new Map(); for (let i = 0; ; i += 1) map.set(i, [i])')
    expect(await failureOf(bomb)).toMatch(/^steps: .*(memory|did not return)/)
  })

  test('a folder that does not exist is an error, a bad package.json a failed check', async () => {
    await expect(checkScenario('/nowhere/at/all')).rejects.toMatchObject({ code: 'file_not_found' })
    const files = { 'package.json': { name: '@t/made', version: '1.0.0' } }
    const report = await withFolder(files, (folder) => checkScenario(folder))
    expect(report).toMatchObject({ ok: false, name: '@t/made', version: '1.0.0' })
    expect(report.checks[0]).toMatchObject({ id: 'manifest', ok: false })
  })
})
