// @module-tag full
import { describe, expect, test } from 'vitest'
import { type BuiltScenario, buildScenario } from '../build-scenario.ts'
import { validPackage, withFolder } from '../testing/scenario-folder.ts'
import { diffScenarios } from './run-inspection.ts'
import { changeOf, describeChange } from './version-changes.ts'

const source = `
import { box, defineScenario, discrete } from '@agentgym/scenario'
export default defineScenario({
  observation: box({ shape: [2], low: 0, high: 99 }),
  action: discrete({ n: 2, labels: ['wait', 'count'] }),
  maxSteps: 20,
  reset: ({ rng }) => ({ count: 0, luck: rng() }),
  step(state, action) {
    state.count += action
    return { reward: action, terminated: state.count >= 8 }
  },
  observe: (state) => [state.count, state.luck],
  metrics: (state) => ({ counted: state.count }),
})
`

async function version(number: string, change: [string, string] = ['', ''], success = {}): Promise<BuiltScenario> {
  expect(source).toContain(change[0])
  const manifest = { ...validPackage, version: number, agentgym: { ...validPackage.agentgym, success } }
  const files = { 'package.json': manifest, 'src/index.ts': source.replace(...change) }
  return withFolder(files, (folder) => buildScenario(folder))
}

async function compare(change: [string, string], number = '1.0.1') {
  const changes = await diffScenarios(await version('1.0.0'), await version(number, change))
  return { ...changes, shown: changes.changes.map((one) => `${one.kind}: ${describeChange(one)}`) }
}

describe.concurrent('scenario diff', () => {
  test('a change that no agent sees is a patch', async () => {
    const { ok, needed, declared, changes, compared_steps } = await compare([
      'state.count += action',
      'if (action) state.count++',
    ])
    expect({ ok, needed, declared, changes }).toEqual({ ok: true, needed: 'none', declared: 'patch', changes: [] })
    expect(compared_steps).toBe(6_400)
  })

  test.for<[string, [string, string], RegExp]>([
    [
      'a reward',
      ['reward: action', 'reward: 2 * action'],
      /^reward: reward: 1 → 2 \(train, seed 1, environment \d, step \d+; 4 of 4 runs\)$/,
    ],
    ['the end of episodes', ['>= 8', '>= 9'], /^end: the step terminates → goes on \(/],
    [
      'an observation',
      ['luck: rng()', 'luck: rng() / 2'],
      /^observation: observation\[1\]: 0\.\d+ → 0\.\d+ \(train, seed 1, environment 0, step 0;/,
    ],
    [
      'the mask',
      ['maxSteps: 20,', 'maxSteps: 20, actionMask: () => [true, true],'],
      /^setting: actionMask: false → true$/,
    ],
    [
      'levels',
      ['maxSteps: 20,', "maxSteps: 20, levels: [{ name: 'a' }, { name: 'b' }],"],
      /^setting: levels: absent → \["a","b"\]$/,
    ],
    ['the time limit', ['maxSteps: 20', 'maxSteps: 30'], /^setting: maxSteps: 20 → 30$/],
    ['a metric', ['counted: state.count', 'counted: state.count + 1'], /^metric: metric counted: \d+ → \d+ \(/],
    ["a metric's name", ['counted:', 'total:'], /^metric: metric counted is no longer reported$/],
  ])('%s needs a minor version', async ([, change, shown]) => {
    const patch = await compare(change)
    expect(patch).toMatchObject({ ok: false, needed: 'minor', declared: 'patch' })
    expect(patch.shown).toContainEqual(expect.stringMatching(shown))
  })

  test('other spaces need a major version, also where only a label differs', async () => {
    const wider = await compare(['shape: [2]', 'shape: [3]'], '1.1.0').catch((error) => error)
    // Three numbers are declared and two shown: the new version's fault is named.
    expect(wider).toMatchObject({ code: 'observation_invalid', data: { version: '1.1.0' } })
    const renamed = await compare(["'wait', 'count'", "'count', 'wait'"], '1.1.0')
    expect(renamed).toMatchObject({ ok: false, needed: 'major', declared: 'minor', compared_steps: 0 })
    expect(renamed.shown).toEqual(['space: action.labels: ["wait","count"] → ["count","wait"]'])
    expect(await compare(["'wait', 'count'", "'count', 'wait'"], '2.0.0')).toMatchObject({ ok: true })
  })

  test('other success criteria need a minor version', async () => {
    const changes = await diffScenarios(await version('1.0.0'), await version('1.0.1', undefined, { counted: 5 }))
    expect(changes).toMatchObject({ ok: false, needed: 'minor', changes: [{ kind: 'criterion' }] })
  })
})

test('which part of a version number differs', () => {
  const of = (one: string, other: string) => changeOf(one, other)
  expect([of('1.0.0', '1.0.0'), of('1.0.0', '1.0.2'), of('1.0.9', '1.1.0'), of('1.9.9', '2.0.0')]).toEqual([
    'none',
    'patch',
    'minor',
    'major',
  ])
  expect([of('1.1.0-rc.1', '1.1.0'), of('1.0.0', '1.1.0-rc.1')]).toEqual(['patch', 'minor'])
})
