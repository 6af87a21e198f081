import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { sharedTokens } from '../../shared-tokens.ts'
import { boxes, type Call, dueCalls, type Experiment } from './experiment.ts'
import scenario, { VOCABULARY } from './index.ts'
import { colorOf, type Matter, passHeat, passTime, phaseOf, places, waterPlant } from './physics.ts'
import { generateLab, kinds } from './sheets.ts'

const tools: Call['tool'][] = [
  'take',
  'calibrate_thermometer',
  'calibrate_tester',
  'attach_thermometer',
  'test_conductivity',
  'test_acidity',
  'dissolve',
  'use_microscope',
  'put_on',
  'pour',
  'water',
  'wait',
  'hand_in',
  'report',
]

/** An experiment, and a way to make calls by name. */
async function open(index: number) {
  const context = { rng: createRng(index), task: { split: 'train', index } } as const
  const episode = await scenario.reset(context)
  return {
    state: episode.state,
    draw: () => scenario.render?.(episode),
    async call(call: Call) {
      const { things } = scenario.observe(episode)
      const given = Object.entries('arguments' in call ? call.arguments : {}).map(([name, word]) => {
        const choices = { thing: things.map(({ id }) => id), place: [...places], box: [...boxes] }
        return [name, choices[name as keyof typeof choices].indexOf(word as never)]
      })
      const action = { tool: tools.indexOf(call.tool), [call.tool]: Object.fromEntries(given) }
      return await scenario.step(episode, action as never, context)
    },
  }
}

/** The first experiment of this kind, brought by the procedure to where a call of this tool is due. */
async function openAt(tool: Call['tool'], accepts: (state: Experiment) => boolean) {
  for (let index = 0; index < 2000; index += 1) {
    const opened = await open(index)
    if (!accepts(opened.state)) continue
    for (let due = dueCalls(opened.state)[0]; opened.state.ending === null; due = dueCalls(opened.state)[0]) {
      if (due.tool === tool) return { ...opened, due }
      await opened.call(due)
    }
  }
  throw new Error(`no task for ${tool}`)
}

/** Follows the procedure to the end. */
async function finish({ state, call }: Pick<Awaited<ReturnType<typeof open>>, 'state' | 'call'>) {
  while (state.ending === null && state.callsLeft > 0) await call(dueCalls(state)[0])
  return state.ending?.solved
}

test('the procedure solves every experiment; chance solves hardly any', () => {
  expect(meansOf(scenario, 'oracle', 256)).toMatchObject({ solved: 1 })
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 96).solved).toBeLessThan(0.08)
})

test('matter melts at its melting point, and takes heat for it before it becomes warmer', () => {
  const wax: Matter = { degrees: 20, meltsAt: 60, boilsAt: 300, molten: 0, boiled: 0 }
  const seen: { degrees: number; phase: string }[] = []
  for (let minute = 0; minute < 40; minute += 1) {
    passHeat(wax, 'stove')
    seen.push({ degrees: wax.degrees, phase: phaseOf(wax) })
  }
  for (const { degrees, phase } of seen) {
    if (phase === 'melting') expect(degrees).toBe(60)
    if (phase === 'solid') expect(degrees).toBeLessThanOrEqual(60)
    if (phase === 'liquid') expect(degrees).toBeGreaterThanOrEqual(60)
  }
  expect(seen.map(({ phase }) => phase)).toContain('melting')
  expect(wax.degrees).toBeCloseTo(180, 0)
  for (let minute = 0; minute < 40; minute += 1) passHeat(wax, 'freezer')
  expect(wax).toMatchObject({ molten: 0, degrees: expect.closeTo(-25, 0) })
})

test('water boils at 100 degrees and freezes at 0', () => {
  const water: Matter = { degrees: 20, meltsAt: 0, boilsAt: 100, molten: 1, boiled: 0 }
  while (phaseOf(water) !== 'boiling') passHeat(water, 'stove')
  expect(water.degrees).toBe(100)
  while (phaseOf(water) !== 'solid') passHeat(water, 'freezer')
  expect(water).toMatchObject({ molten: 0, boiled: 0 })
  expect(water.degrees).toBeLessThanOrEqual(0)
})

test('a plant grows in the light while it is watered, and rots if it is too wet', () => {
  const plant = { moisture: 0.5, growth: 0, rotten: false }
  passTime(plant, 'bench')
  expect(plant.growth).toBe(0)
  passTime(plant, 'window')
  expect(plant.growth).toBe(1)
  for (let minute = 0; minute < 5; minute += 1) passTime(plant, 'window')
  expect(plant.growth).toBe(2)
  waterPlant(plant)
  passTime(plant, 'window')
  expect(plant.growth).toBe(3)
  for (let can = 0; can < 3; can += 1) waterPlant(plant)
  passTime(plant, 'window')
  expect(plant).toMatchObject({ growth: 3, rotten: true })
})

test('paints mix', () => {
  expect(colorOf([])).toBe('empty')
  expect(colorOf(['red'])).toBe('red')
  expect(colorOf(['blue', 'yellow'])).toBe('green')
  expect(colorOf(['blue', 'yellow', 'red'])).toBe('brown')
})

test('an instrument that is not calibrated misleads', async () => {
  const tester = await openAt('calibrate_tester', ({ lab: { sheet } }) => sheet.kind === 'conductivity')
  const [thing] = [tester.state.taken ?? -1]
  await tester.call({ tool: 'test_conductivity' })
  expect(tester.state.notes[thing].conducts).toBe(!tester.state.lab.samples[thing].conducts)
  expect(await finish(tester)).toBe(false)
  const thermometer = await openAt('calibrate_thermometer', ({ lab: { sheet } }) => sheet.kind === 'melting')
  await thermometer.call({ tool: 'attach_thermometer' })
  await thermometer.call({ tool: 'put_on', arguments: { place: 'stove' } })
  const sample = thermometer.state.taken ?? -1
  while (thermometer.state.notes[sample].meltedAt === undefined) {
    const place = thermometer.state.places[sample]
    await thermometer.call(place === 'stove' ? { tool: 'wait' } : { tool: 'put_on', arguments: { place: 'stove' } })
  }
  const { samples, thermometerOff } = thermometer.state.lab
  expect(thermometer.state.notes[sample].meltedAt).toBeCloseTo(samples[sample].meltsAt + thermometerOff, 6)
})

test('a strip stays dry in a solid, and a wrong box fails', async () => {
  const { state, call } = await openAt('dissolve', ({ lab: { sheet } }) => sheet.kind === 'acidity')
  await call({ tool: 'test_acidity' })
  expect(state).toMatchObject({ failed: true })
  expect(state.notes[state.taken ?? -1].acidity).toBeUndefined()
  await call({ tool: 'dissolve' })
  await call({ tool: 'test_acidity' })
  const { acidity } = state.lab.samples[state.taken ?? -1]
  const wrong = acidity === 'acid' ? 'neutral' : 'acid'
  expect(await call({ tool: 'hand_in', arguments: { box: wrong } })).toMatchObject({ terminated: true })
  expect(state.ending).toEqual({ solved: false })
})

test('a wrong paint spoils the cup, and a report too early ends the experiment', async () => {
  const { state, call } = await openAt('report', ({ lab: { sheet } }) => sheet.kind === 'mixing')
  const third = (['red', 'yellow', 'blue'] as const).find((paint) => !state.cup.includes(paint))
  await call({ tool: 'take', arguments: { thing: `${third} paint` } })
  await call({ tool: 'pour' })
  await call({ tool: 'report' })
  expect(state.ending).toEqual({ solved: false })
})

test('no lab is in both splits, and every kind of task is about as frequent', () => {
  const labsOf = (split: 'train' | 'eval', first: number) =>
    Array.from({ length: 2000 }, (_, i) => generateLab(createRng(first + i), split))
  const [trained, held] = [labsOf('train', 0), labsOf('eval', 100_000)]
  const texts = new Set(trained.map((lab) => JSON.stringify(lab)))
  expect(held.filter((lab) => texts.has(JSON.stringify(lab)))).toEqual([])
  expect(new Set(held.map((lab) => JSON.stringify(lab))).size).toBe(held.length)
  for (const kind of kinds) {
    const count = held.filter(({ sheet }) => sheet.kind === kind).length
    expect(count, kind).toBeGreaterThan(2000 / kinds.length / 1.4)
  }
})

test('an agent can tell all words apart', () => {
  const splits = ['train', 'eval'] as const
  const labs = splits.flatMap((split) => Array.from({ length: 2000 }, (_, i) => generateLab(createRng(i), split)))
  expect(
    sharedTokens(
      labs.map(({ text }) => text),
      VOCABULARY,
    ),
  ).toEqual([])
})

test('every moment of every kind of experiment can be drawn', async () => {
  const seen = new Set<string>()
  for (let index = 0; index < 60; index += 1) {
    const { state, call, draw } = await open(index)
    seen.add(state.lab.sheet.kind)
    while (state.ending === null) {
      expect(draw()?.shapes.length).toBeGreaterThan(20)
      await call(dueCalls(state)[0])
    }
  }
  expect([...seen].sort()).toEqual([...kinds].sort())
})
