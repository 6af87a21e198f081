/** A task sheet: what is to be found out or made, in words, and the things in the lab. */
import { fillIn, type Rng } from '@agentgym/scenario'
import { FLOWERING, type Matter, mixedColors, type Plant } from './physics.ts'

export type Acidity = 'acid' | 'neutral' | 'alkaline'
export type Sample = Matter & { name: string; conducts: boolean; acidity: Acidity }

export type Sheet =
  | { kind: 'conductivity'; sample: number }
  | { kind: 'acidity'; sample: number }
  | { kind: 'melting'; sample: number; degrees: number }
  | { kind: 'phase'; sought: 'boiling' | 'frozen' }
  | { kind: 'warming'; degrees: number }
  | { kind: 'mixing'; color: string }
  | { kind: 'living'; sought: 'alive' | 'lifeless' }
  | { kind: 'growing' }

export const kinds = ['conductivity', 'acidity', 'melting', 'phase', 'warming', 'mixing', 'living', 'growing'] as const
export const SAMPLES = 2
export const SPECIMENS = 3

export type Lab = {
  sheet: Sheet
  text: string
  samples: readonly Sample[]
  water: Matter
  specimens: readonly { name: string; alive: boolean }[]
  plant: Plant
  /** Degrees by which the thermometer reads too much before it is calibrated; 0: it is right. */
  thermometerOff: number
  /** Whether the tester says the opposite before it is calibrated. */
  testerOff: boolean
  /** Whether the stove fails to light the first time. */
  stoveFails: boolean
}

/** Names of samples, and sentences, are put together of parts that occur in both splits; which combinations do is split. */
const looks = ['grey', 'white', 'brown', 'black', 'pale', 'pink', 'green', 'silver', 'amber', 'beige'] as const
const forms = ['powder', 'crystals', 'lump', 'flakes', 'wax', 'grains', 'pellets', 'dust', 'chips', 'beads'] as const
const openers = ['Please', 'Next,', 'Today,', 'If you can,', 'As usual,', 'For a customer,'] as const
const closers = ['', ' Thank you.', ' It is urgent.', ' Take your time.', ' Be careful.'] as const
/** A combination in this many is for evaluation. */
const HELD_OUT = 3

const living = ['moss', 'yeast', 'algae', 'lichen', 'plankton', 'mold', 'spores', 'larva']
const lifeless = ['pebble', 'sand', 'glass', 'rust', 'chalk', 'soot', 'quartz', 'clay']

const wordings: { [Each in Sheet['kind']]: readonly string[] } = {
  conductivity: ['find out whether the {name} {a}.', 'tell me if the {name} {a}.', 'test whether the {name} {a}.'],
  acidity: ['find out whether the {name} is {a}.', 'tell me if the {name} is {a}.', 'test whether the {name} is {a}.'],
  melting: [
    'find out whether the {name} {a} {degrees} degrees.',
    'tell me if the {name} {a} {degrees} degrees.',
    'test whether the {name} {a} {degrees} degrees.',
  ],
  phase: ['{a} the water.', 'see that you {a} the water.', 'take the water and {a} it.'],
  warming: [
    'warm the water to {degrees} degrees.',
    'bring the water to a warm {degrees} degrees.',
    'see that the water is warm, at {degrees} degrees.',
  ],
  mixing: ['mix {a} paint.', 'make {a} paint in the cup.', 'fill the cup with {a} paint.'],
  living: ['find a specimen that is {a}.', 'tell me which specimen is {a}.', 'hand in a specimen that is {a}.'],
  growing: ['grow the plant until it flowers.', 'make the plant flower.', 'see that the plant comes into flower.'],
}

/** By what is sought, or by the kind of a sheet where that does not matter. */
const words: { [sought: string]: readonly string[] } = {
  conductivity: ['conducts', 'insulates', 'is a conductor', 'is an insulator'],
  acidity: ['acid', 'alkaline', 'neutral', 'acid, neutral or alkaline'],
  melting: ['melts below', 'melts above', 'has melted at'],
  boiling: ['boil', 'evaporate', 'vaporize'],
  frozen: ['freeze', 'solidify', 'ice'],
  alive: ['alive', 'living', 'animate'],
  lifeless: ['lifeless', 'dead', 'inanimate'],
}

export function generateLab(rng: Rng, split: 'train' | 'eval'): Lab {
  const sheet = drawSheet(rng)
  const names = drawNames(split, rng)
  const drawn = names.map((name): Sample => {
    const meltsAt = 35 + rng.int(85)
    return {
      ...{ name, meltsAt, boilsAt: 400, degrees: 20, molten: 0, boiled: 0 },
      ...{ conducts: rng.int(2) === 0, acidity: rng.pick(['acid', 'neutral', 'alkaline', 'acid', 'alkaline']) },
    }
  })
  if (sheet.kind === 'melting') drawn[sheet.sample].meltsAt = sheet.degrees + rng.pick([-1, 1]) * (8 + rng.int(22))
  const alive = rng.shuffle([true, false, rng.int(2) === 0])
  const [alives, deads] = [rng.shuffle(living), rng.shuffle(lifeless)]
  return {
    sheet,
    text: write(sheet, names, split, rng),
    samples: drawn,
    water: { degrees: 12 + rng.int(12), meltsAt: 0, boilsAt: 100, molten: 1, boiled: 0 },
    specimens: alive.map((lives, i) => ({ name: lives ? alives[i] : deads[i], alive: lives })),
    plant: { moisture: 0.1 + 0.5 * rng(), growth: rng.int(FLOWERING - 2), rotten: false },
    thermometerOff: rng.int(2) * rng.pick([-1, 1]) * (15 + rng.int(25)),
    testerOff: rng.int(2) === 0,
    stoveFails: rng.int(4) === 0,
  }
}

function drawSheet(rng: Rng): Sheet {
  const sample = rng.int(SAMPLES)
  const kind = rng.pick(kinds)
  switch (kind) {
    case 'conductivity':
      return { kind, sample }
    case 'acidity':
      return { kind, sample }
    case 'melting':
      return { kind, sample, degrees: 60 + rng.int(40) }
    case 'phase':
      return { kind, sought: rng.pick(['boiling', 'frozen']) }
    case 'warming':
      return { kind, degrees: 45 + rng.int(40) }
    case 'mixing':
      return { kind, color: rng.pick(mixedColors) }
    case 'living':
      return { kind, sought: rng.pick(['alive', 'lifeless']) }
    case 'growing':
      return { kind }
  }
}

function write(sheet: Sheet, names: readonly string[], split: 'train' | 'eval', rng: Rng): string {
  const slots: { [slot: string]: string } = {}
  if (sheet.kind === 'mixing') slots.a = sheet.color
  else if (sheet.kind in words) slots.a = rng.pick(words[sheet.kind])
  else if ('sought' in sheet) slots.a = rng.pick(words[sheet.sought])
  if ('sample' in sheet) slots.name = names[sheet.sample]
  if ('degrees' in sheet) slots.degrees = String(sheet.degrees)
  const [opener, core, closer] = drawParts([openers, wordings[sheet.kind], closers], split, rng)
  return fillIn(`${opener} ${core}${closer}`, slots, rng)
}

/** Two different names. */
function drawNames(split: 'train' | 'eval', rng: Rng): string[] {
  const names = new Set<string>()
  while (names.size < SAMPLES) names.add(drawParts([looks, forms], split, rng).join(' '))
  return [...names]
}

/** One of each list. The sum of their places says which split a combination belongs to. */
function drawParts(lists: readonly (readonly string[])[], split: 'train' | 'eval', rng: Rng): string[] {
  for (;;) {
    const places = lists.map(({ length }) => rng.int(length))
    const heldOut = places.reduce((sum, place) => sum + place, 0) % HELD_OUT === 0
    if (heldOut === (split === 'eval')) return places.map((place, i) => lists[i][place])
  }
}
