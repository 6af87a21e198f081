import { createRng, taskRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { Application, inputs, isAsExpected, kinds, type Screen, screens, severityOf, shownBy } from './application.ts'
import scenario from './index.ts'
import { generateRelease, type Note, type Release } from './release.ts'
import { dueVerdict } from './testing.ts'

const tools = ['read_note', 'open_screen', 'submit', 'repeat', 'report', 'release', 'hold_back']
const limits = Object.fromEntries(screens.map((screen) => [screen, 100])) as Record<Screen, number>

/** The test of the first training release that fits, and a way to call its tools by name. */
async function startTest(accepts: (release: Release) => boolean) {
  for (let index = 0; index < 5000; index += 1) {
    const context = { rng: createRng(index), task: { split: 'train', index } } as const
    const episode = await scenario.reset(context)
    const testing = episode.state
    if (!accepts(testing.release)) continue
    const call = (name: string, args?: object) =>
      scenario.step(episode, { tool: tools.indexOf(name), ...(args ? { [name]: args } : {}) } as never, context)
    const legal = () => {
      scenario.observe(episode)
      const mask = scenario.actionMask?.(episode) as { tool: boolean[] } | undefined
      return tools.filter((_, i) => mask?.tool[i])
    }
    const tryOut = async ({ screen, input }: Pick<Note, 'screen' | 'input'>) => {
      await call('open_screen', { screen: screens.indexOf(screen) })
      await call('submit', { input: inputs.indexOf(input) })
    }
    const metrics = () => scenario.metrics?.(episode) ?? {}
    return { testing, notes: testing.release.notes, call, legal, tryOut, metrics }
  }
  throw new Error('no such release')
}

const isGood = ({ notes }: Release) => notes.every(({ fault, glitch }) => fault === null && glitch === null)
const beginsWithFault = ({ notes: [first, second] }: Release) =>
  first.fault !== null && second.fault === null && second.glitch === null
const beginsFlaky = ({ notes: [first] }: Release) => first.glitch !== null

test('the oracle solves every release; random and constant players hardly any', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({
    ...{ solved: 1, tool_reliability: 1, covered: 1, found: 1 },
    ...{ wrong_reports: 0, bad_release: 0, needless_hold: 0 },
  })
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 192).solved).toBeLessThan(0.05)
})

test('a good release is released after what it changes has been tested', async () => {
  const { notes, call, tryOut, metrics } = await startTest(isGood)
  await tryOut(notes[0])
  await call('read_note')
  await tryOut(notes[1])
  const end = await call('release')
  expect(end.terminated).toBe(true)
  expect(end.reward).toBeGreaterThan(4)
  expect(metrics()).toMatchObject({ solved: 1, covered: 1, wrong_reports: 0 })
})

test('a release that was not tested is not solved, and a wrong verdict costs', async () => {
  const untested = await startTest(isGood)
  await untested.call('read_note')
  expect(await untested.call('release')).toMatchObject({ terminated: true, reward: 0 })
  const held = await startTest(isGood)
  await held.call('read_note')
  expect(await held.call('hold_back')).toMatchObject({ terminated: true, reward: -2 })
  expect(held.metrics()).toMatchObject({ solved: 0, needless_hold: 1, bad_release: 0 })
})

test('a verdict is possible once all notes have been read', async () => {
  const { call, legal } = await startTest(isGood)
  expect(legal()).toEqual(['read_note', 'open_screen'])
  await call('read_note')
  expect(legal()).toEqual(['open_screen', 'release', 'hold_back'])
})

test('a fault is repeated, reported as what it is, and decides about the release', async () => {
  const { testing, notes, call, legal, tryOut, metrics } = await startTest(beginsWithFault)
  const { fault } = notes[0]
  if (fault === null) throw new Error('no fault')
  await tryOut(notes[0])
  expect(legal()).toEqual(['repeat', 'report'])
  await call('repeat')
  expect(testing.failures).toBe(2)
  const severity = severityOf(fault.kind, fault.screen)
  await call('report', { kind: kinds.indexOf(fault.kind), severity: severity === 'blocking' ? 1 : 0 })
  await call('read_note')
  await tryOut(notes[1])
  expect((await call(dueVerdict(testing.release))).reward).toBeGreaterThan(4)
  expect(metrics()).toMatchObject({ solved: 1, found: 1 })
})

test('a test that is flaky passes when it is repeated, and its report is wrong', async () => {
  const repeated = await startTest(beginsFlaky)
  await repeated.tryOut(repeated.notes[0])
  expect(repeated.testing.failures).toBe(1)
  await repeated.call('repeat')
  expect(repeated.testing).toMatchObject({ failures: 0, wrongReports: 0 })
  expect(repeated.testing.covered.has(repeated.notes[0])).toBe(true)
  const reported = await startTest(beginsFlaky)
  await reported.tryOut(reported.notes[0])
  await reported.call('report', { kind: 0, severity: 0 })
  expect(reported.testing.wrongReports).toBe(1)
})

test('a fault does not show on another screen or with another input', async () => {
  const { testing, notes, tryOut } = await startTest(beginsWithFault)
  const untouched = screens.find((screen) => notes.every((note) => note.screen !== screen))
  if (untouched === undefined) throw new Error('all screens are touched')
  for (const input of inputs) {
    await tryOut({ screen: untouched, input })
    expect(testing.failures).toBe(0)
  }
  expect(testing.covered.size).toBe(0)
})

test('an application without faults does what its specification says, for every screen and input', () => {
  const application = new Application(limits, [])
  for (const screen of screens) {
    for (const input of inputs) {
      expect(isAsExpected(application.submit(screen, input), application.expected(screen, input))).toBe(true)
    }
    // An ordinary value, the highest one, and one of two equal requests.
    expect(application.recordsOf(screen)).toEqual([50, 100, 50])
  }
})

test('each kind of fault shows by its inputs, and only there', () => {
  for (const kind of kinds) {
    for (const input of shownBy[kind]) {
      const application = new Application(limits, [{ kind, screen: 'basket', input }])
      for (const screen of screens) {
        for (const each of inputs) {
          const isFaulty = screen === 'basket' && each === input
          expect(isAsExpected(application.submit(screen, each), application.expected(screen, each))).toBe(!isFaulty)
        }
      }
    }
  }
})

test('no release and no release note is in both splits', () => {
  const write = (split: 'train' | 'eval') =>
    Array.from({ length: 3000 }, (_, index) => generateRelease(split, taskRng({ split, index }, 100_000)))
  const texts = (releases: Release[]) => releases.flatMap(({ notes }) => notes.map(({ text }) => text))
  const [trained, held] = [write('train'), write('eval')]
  const known = new Set(texts(trained))
  expect(texts(held).filter((text) => known.has(text))).toEqual([])
  const distinct = (releases: Release[]) =>
    new Set(
      releases.map((release) => JSON.stringify([release, screens.map((each) => release.application.limitOf(each))])),
    )
  expect(distinct(held).size).toBe(held.length)
})

test('a test is drawn with its notes, its result and the verdict', async () => {
  const { testing, notes, call, tryOut } = await startTest(beginsWithFault)
  const words = () =>
    (scenario.render?.({ state: testing, progress: { step: 0 } } as never)?.shapes ?? []).flatMap((shape) =>
      shape.kind === 'text' ? [shape.text] : [],
    )
  expect(words()).toContain('A release note that has not been read')
  await tryOut(notes[0])
  expect(words()).toEqual(expect.arrayContaining(['failed once', notes[0].input]))
  await call('report', { kind: 0, severity: 1 })
  await call('read_note')
  await call('hold_back')
  expect(words()).toEqual(expect.arrayContaining(['bugs reported: 1 blocking, 0 minor', 'HELD BACK']))
})
