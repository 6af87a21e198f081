/** An experiment under way, and the procedure for it: which calls are due next. */

import {
  colorOf,
  DRY,
  FLOWERING,
  type Matter,
  type Paint,
  type Place,
  paints,
  paintsOf,
  passHeat,
  passTime,
  phaseOf,
} from './physics.ts'
import { type Acidity, type Lab, SPECIMENS } from './sheets.ts'

/** Things in the order of the list: two samples, the water, three paints, three specimens, the plant. */
export const WATER = 2
export const FIRST_PAINT = 3
export const FIRST_SPECIMEN = 6
export const PLANT = 9
export const THINGS = 10

/** The thermometer is read this near to what is asked for, in degrees. */
const NEAR = 5

/** What the box says that a thing is handed in with. */
export const boxes = [
  ...(['conductor', 'insulator', 'acid', 'neutral', 'alkaline'] as const),
  ...(['melts below', 'melts above', 'alive', 'lifeless'] as const),
]
export type Box = (typeof boxes)[number]

export type Notes = {
  conducts?: boolean
  acidity?: Acidity
  /** What the thermometer read when it began to melt. */
  meltedAt?: number
  alive?: boolean
}

export type Experiment = {
  lab: Lab
  things: readonly string[]
  /** Where each thing is. */
  places: Place[]
  taken: number | null
  thermometerOn: number | null
  calibrated: { thermometer: boolean; tester: boolean }
  dissolved: Set<number>
  /** What has been found out, by thing. */
  notes: Notes[]
  cup: Paint[]
  stoveFails: boolean
  failed: boolean
  /** How it ended; null before. */
  ending: { solved: boolean } | null
  callsLeft: number
  /** Calls that have been made, with the thing that was in hand. */
  made: Set<string>
  message: string
}

export type Call =
  | { tool: 'take'; arguments: { thing: string } }
  | { tool: 'put_on'; arguments: { place: Place } }
  | { tool: 'hand_in'; arguments: { box: Box } }
  | {
      tool:
        | 'calibrate_thermometer'
        | 'calibrate_tester'
        | 'attach_thermometer'
        | 'test_conductivity'
        | 'test_acidity'
        | 'dissolve'
        | 'use_microscope'
        | 'pour'
        | 'water'
        | 'wait'
        | 'report'
    }

export function matterOf({ lab }: Experiment, thing: number): Matter | null {
  return thing === WATER ? lab.water : (lab.samples[thing] ?? null)
}

/** What the thermometer shows; null if it is not on this thing. */
export function readingOf(experiment: Experiment, thing: number): number | null {
  const matter = matterOf(experiment, thing)
  if (matter === null || experiment.thermometerOn !== thing) return null
  const { lab, calibrated } = experiment
  return matter.degrees + (calibrated.thermometer ? 0 : lab.thermometerOff)
}

/** A minute for everything in the lab. */
export function passMinute(experiment: Experiment): void {
  for (let thing = 0; thing <= WATER; thing += 1) {
    const matter = matterOf(experiment, thing)
    if (matter === null) continue
    const before = phaseOf(matter)
    passHeat(matter, experiment.places[thing])
    const reading = readingOf(experiment, thing)
    const melts = before === 'solid' && phaseOf(matter) !== 'solid'
    if (melts && reading !== null && !experiment.dissolved.has(thing)) experiment.notes[thing].meltedAt ??= reading
  }
  passTime(experiment.lab.plant, experiment.places[PLANT])
}

/** The thing that the sheet is about, as far as it is one. */
function subjectOf({ lab: { sheet } }: Experiment): number | null {
  if ('sample' in sheet) return sheet.sample
  if (sheet.kind === 'phase' || sheet.kind === 'warming') return WATER
  return sheet.kind === 'growing' ? PLANT : null
}

/** The box for what has been found out about a thing, as far as the sheet asks for it; null while that is unknown. */
function boxFor({ lab: { sheet }, notes }: Experiment, thing: number): Box | null {
  const { conducts, acidity, meltedAt, alive } = notes[thing]
  if (sheet.kind === 'conductivity' && conducts !== undefined) return conducts ? 'conductor' : 'insulator'
  if (sheet.kind === 'acidity') return acidity ?? null
  if (sheet.kind === 'melting' && meltedAt !== undefined)
    return meltedAt < sheet.degrees ? 'melts below' : 'melts above'
  if (sheet.kind === 'living' && alive !== undefined) return alive ? 'alive' : 'lifeless'
  return null
}

/** The boxes that fit what has been measured of a thing, whatever that was. */
export function boxesOpen({ lab: { sheet }, notes }: Experiment, thing: number): Box[] {
  const { conducts, acidity, meltedAt, alive } = notes[thing]
  return [
    ...(conducts === undefined ? [] : (['conductor', 'insulator'] as const)),
    ...(acidity === undefined ? [] : (['acid', 'neutral', 'alkaline'] as const)),
    ...(meltedAt === undefined || sheet.kind !== 'melting' ? [] : (['melts below', 'melts above'] as const)),
    ...(alive === undefined ? [] : (['alive', 'lifeless'] as const)),
  ]
}

/** Whether what was to be made is there. */
export function isMade({ lab: { sheet, water, plant }, cup }: Experiment): boolean {
  switch (sheet.kind) {
    case 'phase':
      return phaseOf(water) === (sheet.sought === 'boiling' ? 'boiling' : 'solid')
    case 'warming':
      return Math.abs(water.degrees - sheet.degrees) <= NEAR
    case 'mixing':
      return colorOf(cup) === sheet.color
    case 'growing':
      return plant.growth >= FLOWERING && !plant.rotten
    default:
      return false
  }
}

/** The calls that bring the experiment forward, whatever has been done before. */
export function dueCalls(experiment: Experiment): Call[] {
  const { lab, things, taken, calibrated, places, notes, cup } = experiment
  const { sheet } = lab
  const subject = subjectOf(experiment)
  const take = (thing: number): Call => ({ tool: 'take', arguments: { thing: things[thing] } })
  if (isMade(experiment)) return subject === null || taken === subject ? [{ tool: 'report' }] : [take(subject)]
  const handIn = (thing: number, box: Box): Call[] =>
    taken === thing ? [{ tool: 'hand_in', arguments: { box } }] : [take(thing)]
  if (sheet.kind === 'mixing') {
    const missing = paints.filter((paint) => paintsOf(sheet.color).includes(paint) && !cup.includes(paint))
    const inHand = missing.some((paint) => taken === FIRST_PAINT + paints.indexOf(paint))
    return inHand ? [{ tool: 'pour' }] : missing.map((paint) => take(FIRST_PAINT + paints.indexOf(paint)))
  }
  if (sheet.kind === 'living') {
    const specimens = Array.from({ length: SPECIMENS }, (_, i) => FIRST_SPECIMEN + i)
    const found = specimens.find((thing) => boxFor(experiment, thing) === sheet.sought)
    if (found !== undefined) return handIn(found, sheet.sought)
    const unknown = specimens.filter((thing) => notes[thing].alive === undefined)
    return unknown.includes(taken ?? -1) ? [{ tool: 'use_microscope' }] : unknown.map(take)
  }
  if (subject === null) return []
  const box = boxFor(experiment, subject)
  if (box !== null) return handIn(subject, box)
  const calls: Call[] = taken === subject ? [] : [take(subject)]
  if (sheet.kind === 'conductivity') {
    if (!calibrated.tester) calls.push({ tool: 'calibrate_tester' })
    return calls.length > 0 ? calls : [{ tool: 'test_conductivity' }]
  }
  if (sheet.kind === 'acidity') {
    if (calls.length > 0) return calls
    return [{ tool: experiment.dissolved.has(subject) ? 'test_acidity' : 'dissolve' }]
  }
  if (sheet.kind === 'growing') {
    if (calls.length > 0) return calls
    if (lab.plant.moisture < DRY) return [{ tool: 'water' }]
    return [places[PLANT] === 'window' ? { tool: 'wait' } : { tool: 'put_on', arguments: { place: 'window' } }]
  }
  if (calls.length > 0) return calls
  if (sheet.kind === 'melting' || sheet.kind === 'warming') {
    if (!calibrated.thermometer) calls.push({ tool: 'calibrate_thermometer' })
    if (experiment.thermometerOn !== subject) calls.push({ tool: 'attach_thermometer' })
    if (calls.length > 0) return calls
  }
  const place = duePlace(experiment)
  return [places[subject] === place ? { tool: 'wait' } : { tool: 'put_on', arguments: { place } }]
}

/** Where the subject is warmed or cooled. */
function duePlace({ lab: { sheet, water } }: Experiment): Place {
  if (sheet.kind === 'phase' && sheet.sought === 'frozen') return 'freezer'
  return sheet.kind === 'warming' && water.degrees > sheet.degrees ? 'bench' : 'stove'
}
