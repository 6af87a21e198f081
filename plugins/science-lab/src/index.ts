/**
 * A small laboratory: a sheet asks in words for something to be found out, made or grown. Take the right thing, calibrate the
 * instrument if it needs that, heat, cool, dissolve, test, mix or water, and hand in or report what came of it.
 *
 * After Wang et al. (2022), "ScienceWorld: Is your Agent Smarter than a 5th Grader?"
 */
import {
  answer,
  box,
  choice,
  defineToolScenario,
  dict,
  list,
  oneHot,
  pointer,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import { drawLab } from './draw-lab.ts'
import * as lab from './experiment.ts'
import {
  type Call,
  dueCalls,
  type Experiment,
  FIRST_PAINT,
  FIRST_SPECIMEN,
  PLANT,
  THINGS,
  WATER,
} from './experiment.ts'
import { FLOWERING, paints, phaseOf, places, waterPlant } from './physics.ts'
import { generateLab, SAMPLES } from './sheets.ts'

const MAX_CALLS = 24
/** With so many tokens, no two words of the sheets have the same one. */
export const VOCABULARY = 3312
const TRAIN_LABS = 100_000
const HELD_OUT_LABS = 1_000_000_000
const PROGRESS = 0.2
const MISTAKE = -0.05
/** What several things are. */
const shared = ['paint', 'specimen']
const acidities = ['acid', 'neutral', 'alkaline'] as const
const phases = ['solid', 'melting', 'liquid', 'boiling'] as const

export default defineToolScenario({
  observation: dict({
    sheet: text({ maxTokens: 24, vocabulary: VOCABULARY }),
    /** The thing in hand, the instruments, the cup, the plant, the time. */
    facts: box({ shape: [30] }),
    /** In hand; named on the sheet; alive (1 yes, −1 no, 0 unknown). */
    things: list({ slots: THINGS, features: 3 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_LABS, eval: HELD_OUT_LABS },
  baselines: { tokens: 2_000, seconds: 1_800 },

  start({ task }): Experiment {
    const drawn = generateLab(taskRng(task, TRAIN_LABS), task.split)
    const things = [
      ...drawn.samples.map(({ name }) => name),
      'water',
      ...paints.map((paint) => `${paint} paint`),
      ...drawn.specimens.map((_, i) => `specimen ${i + 1}`),
      'plant',
    ]
    return {
      ...{ lab: drawn, things, places: things.map(() => 'bench'), taken: null, thermometerOn: null },
      calibrated: { thermometer: drawn.thermometerOff === 0, tester: !drawn.testerOff },
      ...{ dissolved: new Set<number>(), notes: things.map(() => ({})), cup: [], stoveFails: drawn.stoveFails },
      ...{ failed: false, ending: null, callsLeft: MAX_CALLS, made: new Set<string>(), message: '' },
    }
  },

  tools: {
    take: tool({
      description: 'Take a thing in hand: the other tools act on it',
      parameters: { thing: pointer('things') },
      cost: { tokens: 30, seconds: 10 },
      allowed: ({ things, taken }: Experiment) => ({ thing: things.filter((_, thing) => thing !== taken) }),
      run: (experiment: Experiment, { thing }) =>
        act(experiment, { tool: 'take', arguments: { thing } }, () => {
          experiment.taken = experiment.things.indexOf(thing)
        }),
    }),
    calibrate_thermometer: tool({
      description: 'Calibrate the thermometer',
      cost: { tokens: 40, seconds: 120 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'calibrate_thermometer' }, () => {
          experiment.calibrated.thermometer = true
        }),
    }),
    calibrate_tester: tool({
      description: 'Calibrate the conductivity tester',
      cost: { tokens: 40, seconds: 120 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'calibrate_tester' }, () => {
          experiment.calibrated.tester = true
        }),
    }),
    attach_thermometer: tool({
      description: 'Put the thermometer on the thing in hand; it notes at what it begins to melt',
      cost: { tokens: 30, seconds: 20 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'attach_thermometer' }, () => {
          experiment.thermometerOn = experiment.taken
        }),
    }),
    test_conductivity: tool({
      description: 'Test whether the sample in hand conducts',
      cost: { tokens: 40, seconds: 30 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'test_conductivity' }, (thing) => {
          const { samples, testerOff } = experiment.lab
          const wrong = testerOff && !experiment.calibrated.tester
          experiment.notes[thing].conducts = samples[thing].conducts !== wrong
        }),
    }),
    test_acidity: tool({
      description: 'Dip a strip into the sample in hand; it stays dry in a solid',
      cost: { tokens: 40, seconds: 30 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'test_acidity' }, (thing) => {
          const sample = experiment.lab.samples[thing]
          if (experiment.dissolved.has(thing) || phaseOf(sample) === 'liquid')
            experiment.notes[thing].acidity = sample.acidity
          else experiment.failed = true
        }),
    }),
    dissolve: tool({
      description: 'Dissolve the sample in hand in water. Its melting point is lost',
      cost: { tokens: 30, seconds: 60 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'dissolve' }, (thing) => {
          experiment.dissolved.add(thing)
        }),
    }),
    use_microscope: tool({
      description: 'Look at the specimen in hand: is it alive?',
      cost: { tokens: 60, seconds: 60 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'use_microscope' }, (thing) => {
          experiment.notes[thing].alive = experiment.lab.specimens[thing - FIRST_SPECIMEN].alive
        }),
    }),
    put_on: tool({
      description: 'Put the thing in hand on the stove, into the freezer, to the window or back on the bench',
      parameters: { place: choice(places) },
      cost: { tokens: 30, seconds: 15 },
      allowed: ({ taken, places: now }: Experiment) => ({
        place: places.filter((place) => taken !== null && place !== now[taken]),
      }),
      run: (experiment: Experiment, { place }) =>
        act(experiment, { tool: 'put_on', arguments: { place } }, (thing) => {
          // The stove does not light at the first attempt.
          if (place === 'stove' && experiment.stoveFails) {
            experiment.stoveFails = false
            experiment.failed = true
          } else experiment.places[thing] = place
        }),
    }),
    pour: tool({
      description: 'Pour the paint in hand into the cup. Cannot be undone',
      cost: { tokens: 30, seconds: 20 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'pour' }, (thing) => {
          experiment.cup.push(paints[thing - FIRST_PAINT])
        }),
    }),
    water: tool({
      description: 'Water the plant in hand; it rots if it is too wet',
      cost: { tokens: 30, seconds: 20 },
      run: (experiment: Experiment) => act(experiment, { tool: 'water' }, () => waterPlant(experiment.lab.plant)),
    }),
    wait: tool({
      description: 'Wait a minute',
      cost: { tokens: 10, seconds: 60 },
      run: (experiment: Experiment) => act(experiment, { tool: 'wait' }, () => {}),
    }),
    hand_in: tool({
      description: 'Hand in the thing in hand, in the box for what was measured. Ends the experiment',
      parameters: { box: choice(lab.boxes) },
      cost: { tokens: 40, seconds: 10 },
      allowed: (experiment: Experiment) => ({
        box: experiment.taken === null ? [] : lab.boxesOpen(experiment, experiment.taken),
      }),
      run: (experiment: Experiment, { box }) =>
        act(experiment, { tool: 'hand_in', arguments: { box } }, (thing) => {
          experiment.ending = { solved: isRight(experiment, thing, box) }
        }),
    }),
    report: tool({
      description: 'Report that it is made, as it is now. Ends the experiment',
      cost: { tokens: 60, seconds: 10 },
      run: (experiment: Experiment) =>
        act(experiment, { tool: 'report' }, () => {
          experiment.ending = { solved: lab.isMade(experiment) }
        }),
    }),
  },

  available({ taken, cup, calibrated, notes, dissolved, thermometerOn }) {
    const always = [
      ...(['take', 'wait'] as const),
      // A valid calibration is not repeated.
      ...(calibrated.thermometer ? [] : (['calibrate_thermometer'] as const)),
      ...(calibrated.tester ? [] : (['calibrate_tester'] as const)),
    ]
    if (taken === null) return [...always]
    const { conducts, acidity, alive } = notes[taken]
    const isSample = taken < SAMPLES
    const isPaint = taken >= FIRST_PAINT && taken < FIRST_SPECIMEN
    const isSpecimen = taken >= FIRST_SPECIMEN && taken < PLANT
    return [
      ...always,
      // What is in the notes is not measured again.
      ...(isSample && conducts === undefined ? (['test_conductivity'] as const) : []),
      ...(isSample && acidity === undefined ? (['test_acidity'] as const) : []),
      ...(isSample && !dissolved.has(taken) ? (['dissolve'] as const) : []),
      ...(taken <= WATER && thermometerOn !== taken ? (['attach_thermometer'] as const) : []),
      ...(taken <= WATER || taken === PLANT ? (['put_on'] as const) : []),
      ...(isPaint && !cup.includes(paints[taken - FIRST_PAINT]) ? (['pour'] as const) : []),
      ...(isSpecimen && alive === undefined ? (['use_microscope'] as const) : []),
      ...(taken === PLANT ? (['water'] as const) : []),
      ...(isSample || isSpecimen ? (['hand_in'] as const) : []),
      // What could have been made: something of the water, the plant, or in the cup.
      ...(taken === WATER || taken === PLANT || cup.length > 0 ? (['report'] as const) : []),
    ]
  },

  observe(experiment) {
    const {
      lab: drawn,
      things,
      taken,
      calibrated,
      notes,
      cup,
      failed,
      callsLeft,
      dissolved,
      thermometerOn,
    } = experiment
    const { sheet, plant } = drawn
    const asked = 'degrees' in sheet ? sheet.degrees : null
    const matter = taken === null ? null : lab.matterOf(experiment, taken)
    const reading = taken === null ? null : lab.readingOf(experiment, taken)
    const { conducts, acidity, meltedAt } = taken === null ? ({} as lab.Notes) : notes[taken]
    const words = drawn.text.toLowerCase()
    // By its name, or as one of the paints or specimens that the sheet speaks of.
    const isNamed = (id: string) =>
      words.includes(id) || id.split(' ').some((word) => shared.includes(word) && words.includes(word))
    return {
      sheet: drawn.text,
      facts: [
        ...oneHot(phases, matter === null ? null : phaseOf(matter)),
        ...oneHot(places, taken === null ? null : experiment.places[taken]),
        Number(taken !== null && thermometerOn === taken),
        reading === null ? 0 : reading / 100,
        reading === null || asked === null ? 0 : clip((reading - asked) / 20),
        meltedAt === undefined ? 0 : 1,
        meltedAt === undefined || asked === null ? 0 : clip((meltedAt - asked) / 20),
        answer(conducts),
        ...oneHot(acidities, acidity),
        Number(taken !== null && dissolved.has(taken)),
        Number(calibrated.thermometer),
        Number(calibrated.tester),
        ...paints.map((paint) => Number(cup.includes(paint))),
        clip(plant.moisture - 0.5),
        plant.growth / FLOWERING,
        Number(plant.growth >= FLOWERING),
        Number(plant.rotten),
        Number(failed),
        callsLeft / MAX_CALLS,
        asked === null ? 0 : asked / 100,
      ],
      things: things.map((id, thing) => ({
        id,
        features: [Number(thing === taken), Number(isNamed(id)), answer(notes[thing].alive)],
      })),
    }
  },

  oracle: (experiment) => dueCalls(experiment)[0],

  render: drawLab,

  outcome: ({ ending }) => (ending?.solved ? 2 : -0.5),
})

/** Judges a call by the procedure, then makes it with the thing in hand; a minute passes. */
function act(experiment: Experiment, call: Call, run: (thing: number) => void) {
  const name = JSON.stringify(call)
  const right = dueCalls(experiment).some((due) => JSON.stringify(due) === name)
  // To do it again with the same thing, such as taking turns with two samples, is not paid. Time and water are needed again.
  const once = call.tool === 'take' ? name : `${name} with ${experiment.taken}`
  const paid = right && (call.tool === 'wait' || call.tool === 'water' || !experiment.made.has(once))
  experiment.made.add(once)
  experiment.callsLeft -= 1
  experiment.failed = false
  experiment.message = `${call.tool} ${'arguments' in call ? Object.values(call.arguments).join(' ') : ''}`
  run(experiment.taken ?? -1)
  lab.passMinute(experiment)
  const reward = paid ? (call.tool === 'wait' ? PROGRESS / 4 : PROGRESS) : right ? 0 : MISTAKE
  return { right, reward, done: experiment.ending !== null || experiment.callsLeft === 0 }
}

/** Whether the thing is the one that was asked for, in the box for what it is. */
function isRight(experiment: Experiment, thing: number, box: lab.Box): boolean {
  const { sheet, samples, specimens } = experiment.lab
  switch (sheet.kind) {
    case 'conductivity':
      return thing === sheet.sample && box === (samples[thing].conducts ? 'conductor' : 'insulator')
    case 'acidity':
      return thing === sheet.sample && box === samples[thing].acidity
    case 'melting':
      return thing === sheet.sample && box === (samples[thing].meltsAt < sheet.degrees ? 'melts below' : 'melts above')
    case 'living':
      return box === sheet.sought && specimens[thing - FIRST_SPECIMEN]?.alive === (sheet.sought === 'alive')
    default:
      return false
  }
}

function clip(value: number): number {
  return Math.max(-1, Math.min(1, value))
}
