/** What can be asked for: six kinds of chores, the things and places that they name, and the words for them. */
import { fillIn, type Rng } from '@agentgym/scenario'

export const places = ['fridge', 'microwave', 'sink', 'stove', 'counter', 'table', 'shelf', 'drawer'] as const
export type Place = (typeof places)[number]

export const rooms = ['kitchen', 'living room'] as const
export type Room = (typeof rooms)[number]

export const roomOf: Record<Place, Room> = {
  fridge: 'kitchen',
  microwave: 'kitchen',
  sink: 'kitchen',
  stove: 'kitchen',
  counter: 'kitchen',
  table: 'living room',
  shelf: 'living room',
  drawer: 'living room',
}

/** Closed when the chore begins; what is inside is seen, and reached, only after opening. */
export const closable: readonly Place[] = ['fridge', 'microwave', 'drawer']

const foods = ['apple', 'bread', 'egg', 'potato'] as const
const dishes = ['mug', 'plate', 'pan'] as const
const belongings = ['book', 'phone', 'keys'] as const
export const kinds = [...foods, ...dishes, ...belongings] as const
export type Kind = (typeof kinds)[number]

/** How likely a thing is to be in a place; elsewhere 0.3, so that it may be anywhere. */
const likely: Record<Kind, Partial<Record<Place, number>>> = {
  apple: { fridge: 4, counter: 5, table: 4 },
  bread: { counter: 6, microwave: 2, table: 3 },
  egg: { fridge: 9, counter: 2, stove: 1 },
  potato: { counter: 3, microwave: 3, sink: 2, stove: 3 },
  mug: { sink: 4, microwave: 4, table: 4, shelf: 1 },
  plate: { sink: 4, counter: 3, microwave: 3, table: 3 },
  pan: { stove: 8, sink: 4 },
  book: { shelf: 8, table: 4 },
  phone: { table: 5, shelf: 3, drawer: 3, counter: 2 },
  keys: { drawer: 7, table: 3, shelf: 3 },
}
const ANYWHERE = 0.3

/** Where the lamp stands. */
const lampPlaces: Partial<Record<Place, number>> = { table: 6, shelf: 4, counter: 2 }

export const operations = ['move', 'heat', 'cool', 'clean', 'look', 'two'] as const
export type Operation = (typeof operations)[number]

/** Which things a chore can be about. */
const subjects: Record<Operation, readonly Kind[]> = {
  move: kinds,
  heat: ['apple', 'bread', 'egg', 'potato', 'mug', 'plate'],
  cool: ['apple', 'bread', 'egg', 'potato', 'mug', 'pan'],
  clean: ['apple', 'potato', 'mug', 'plate', 'pan'],
  look: ['book', 'phone', 'keys', 'mug', 'plate'],
  two: kinds,
}

/** Where a thing can be wanted. */
function destinationsOf(kind: Kind): readonly Place[] {
  if ((foods as readonly Kind[]).includes(kind)) return ['fridge', 'microwave', 'counter', 'table', 'shelf']
  if ((dishes as readonly Kind[]).includes(kind)) return ['sink', 'stove', 'counter', 'table', 'shelf', 'drawer']
  return ['counter', 'table', 'shelf', 'drawer']
}

/** The place that changes a thing: a chore does not ask to leave it there. */
export const stationOf: Partial<Record<Operation, Place>> = { heat: 'microwave', cool: 'fridge', clean: 'sink' }

export type Chore = {
  operation: Operation
  kind: Kind
  /** Null where the thing is only to be looked at. */
  destination: Place | null
  text: string
}

export type Thing = {
  id: string
  kind: Kind
  /** Null while it is in the hand. */
  place: Place | null
  hot: boolean
  cold: boolean
  clean: boolean
}

export type House = { chore: Chore; things: Thing[]; lamp: Place }

/** Things that fit on a place. */
export const CAPACITY = 4
/** At the beginning, so that two more fit on the destination. */
const INITIAL_MOST = 2
const OTHERS = 8

/**
 * Which things can be wanted where, for one kind of chore. One in five is asked for in evaluation only, spread so that each thing and
 * each place occurs in training, too. A look names no place, so its things are in both splits.
 */
function combinations(split: 'train' | 'eval', operation: Operation): { kind: Kind; destination: Place | null }[] {
  if (operation === 'look') return subjects.look.map((kind) => ({ kind, destination: null }))
  return subjects[operation].flatMap((kind) =>
    destinationsOf(kind)
      .filter((destination) => destination !== stationOf[operation])
      .filter((destination) => isHeldOut(operation, kind, destination) === (split === 'eval'))
      .map((destination) => ({ kind, destination })),
  )
}

function isHeldOut(operation: Operation, kind: Kind, destination: Place): boolean {
  return (operations.indexOf(operation) + 2 * kinds.indexOf(kind) + places.indexOf(destination)) % 5 === 0
}

const inOrOn: Record<Place, string> = {
  fridge: 'in the fridge',
  microwave: 'in the microwave',
  sink: 'in the sink',
  stove: 'on the stove',
  counter: 'on the counter',
  table: 'on the table',
  shelf: 'on the shelf',
  drawer: 'in the drawer',
}

/** The words of each kind of chore; the last two are heard in evaluation only. */
const sentences: Record<Operation, readonly string[]> = {
  move: [
    'put {thing} {place}',
    'please bring {thing} and leave it {place}',
    '{thing} should be {place}',
    'I want {thing} {place}',
    'find {thing} and put it {place}',
    'please leave {thing} {place}',
    'I want you to bring {thing}, put it {place}',
  ],
  heat: [
    'put a hot {kind} {place}',
    'heat {thing} and leave it {place}',
    'warm {thing} up, then put it {place}',
    'I want a warm {kind} {place}',
    'please microwave {thing} and bring it: {place}',
    'a hot {kind} should be {place}',
    'find {thing}, warm it up and leave it {place}',
  ],
  cool: [
    'put a cold {kind} {place}',
    'cool {thing} and leave it {place}',
    'chill {thing}, then put it {place}',
    'I want a chilled {kind} {place}',
    'please cool {thing} down and bring it: {place}',
    'a cold {kind} should be {place}',
    'find {thing}, cool it down and leave it {place}',
  ],
  clean: [
    'put a clean {kind} {place}',
    'wash {thing} and leave it {place}',
    'rinse {thing}, then put it {place}',
    'I want a washed {kind} {place}',
    'please clean {thing} and bring it: {place}',
    'a clean {kind} should be {place}',
    'find {thing}, wash it and leave it {place}',
  ],
  look: [
    'look at {thing} under the lamp',
    'examine {thing} in the light',
    'hold {thing} under the lamp and look at it',
    'I want you to examine {thing} with the lamp on',
    'please look at {thing} in good light',
    'find {thing} and examine it under the lamp',
    'please hold {thing} in the light of the lamp',
  ],
  two: [
    'put two {kinds} {place}',
    'please bring both {kinds} and leave them {place}',
    'two {kinds} should be {place}',
    'I want both {kinds} {place}',
    'find two {kinds} and put them {place}',
    'please leave two {kinds} {place}',
    'I want you to bring both {kinds}, put them {place}',
  ],
}
const HELD_OUT_SENTENCES = 2

const plurals: Record<Kind, string> = {
  apple: 'apples',
  bread: 'breads',
  egg: 'eggs',
  potato: 'potatoes',
  mug: 'mugs',
  plate: 'plates',
  pan: 'pans',
  book: 'books',
  phone: 'phones',
  keys: 'keys',
}

function drawChore(split: 'train' | 'eval', rng: Rng): Chore {
  const operation = rng.pick(operations)
  const { kind, destination } = rng.pick(combinations(split, operation))
  const known = sentences[operation].slice(0, -HELD_OUT_SENTENCES)
  // Half of the evaluation is asked for in sentences that training does not have.
  const heard = split === 'eval' && rng.int(2) === 0 ? sentences[operation].slice(-HELD_OUT_SENTENCES) : known
  const text = fillIn(
    rng.pick(heard),
    {
      ...{ kind, kinds: plurals[kind], place: destination === null ? '' : inOrOn[destination] },
      thing: kind === 'keys' ? ['the keys', 'some keys'] : [`the ${kind}`, `a ${kind}`],
    },
    rng,
  )
  return { operation, kind, destination, text }
}

/** A chore and a house in which it can be done. */
export function drawHouse(split: 'train' | 'eval', rng: Rng): House {
  const chore = drawChore(split, rng)
  const things: Thing[] = []
  const add = (kind: Kind, forbidden: Place | null) => {
    const free = places.filter(
      (place) => place !== forbidden && things.filter((thing) => thing.place === place).length < INITIAL_MOST,
    )
    const place = pickWeighted(free, (each) => likely[kind][each] ?? ANYWHERE, rng)
    const id = `${kind} ${things.filter((thing) => thing.kind === kind).length + 1}`
    things.push({ id, kind, place, hot: false, cold: false, clean: false })
  }
  for (let count = chore.operation === 'two' ? 2 : 1; count > 0; count -= 1) add(chore.kind, chore.destination)
  const others = kinds.filter((kind) => kind !== chore.kind)
  for (let count = 0; count < OTHERS; count += 1) add(rng.pick(others), null)
  const lamp = pickWeighted(places, (each) => lampPlaces[each] ?? 0, rng)
  return { chore, things: rng.shuffle(things), lamp }
}

function pickWeighted<Value>(values: readonly Value[], weightOf: (value: Value) => number, rng: Rng): Value {
  let left = rng() * values.reduce((sum, value) => sum + weightOf(value), 0)
  for (const value of values) {
    left -= weightOf(value)
    if (left < 0) return value
  }
  return values[values.length - 1]
}
