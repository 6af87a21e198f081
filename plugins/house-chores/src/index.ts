/**
 * Household chores: find a thing in a house, wash, heat or cool it, and put it where it is wanted. The chore is asked for in words.
 * Things are likely to be in some places, but may be anywhere, and what is in a closed place is not seen.
 *
 * After Shridhar et al. (2021), "ALFWorld: Aligning Text and Embodied Environments for Interactive Learning", in small.
 */
import {
  box,
  defineToolScenario,
  dict,
  drawFailures,
  type Failures,
  fails,
  list,
  oneHot,
  pointer,
  type ToolCall,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import {
  CAPACITY,
  closable,
  drawHouse,
  type House,
  type Operation,
  type Place,
  places,
  roomOf,
  stationOf,
  type Thing,
} from './chores.ts'
import { drawHome } from './draw-home.ts'

const MAX_CALLS = 28
const TRAIN_HOUSES = 100_000
const HELD_OUT_HOUSES = 1_000_000_000

/** What fails once in so many houses: a door that sticks, a microwave that has not started. */
type Station = 'heat' | 'cool' | 'clean'
type ToolName = 'go_to' | 'open' | 'take' | 'put' | 'use' | Station

const chances = { open: 0.15, heat: 0.2 } as const

const FOUND = 0.1
const ARRIVED = 0.2
const TAKEN = 0.3
const CHANGED = 0.4
const DELIVERED = 0.6
const STEP = -0.03
const MISTAKE = -0.1

export type Home = House & {
  here: Place
  open: Set<Place>
  /** Places whose contents have been seen. */
  seen: Set<Place>
  /** What has been paid for already, so that no call is worth repeating. */
  paid: Set<string>
  failures: Failures<keyof typeof chances>
  lastCallFailed: boolean
  lookedAt: boolean
  /** A thing has been changed that was to stay as it is, or has been left as it must not stay. */
  spoiled: boolean
  callsLeft: number
}

export default defineToolScenario({
  observation: dict({
    chore: text({ maxTokens: 16, vocabulary: 1440 }),
    /**
     * Whether the hand holds a thing, one that the chore is about, as the chore wants it; whether this place is closed, is named by the
     * chore, is seen to have what is wanted; share delivered; last call failed; calls left.
     */
    facts: box({ shape: [9], low: 0, high: 1 }),
    places: list({ slots: places.length, features: places.length + 7 }),
    /** What lies here, if it can be seen: whether the chore is about it. */
    things: list({ slots: CAPACITY, features: 1 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_HOUSES, eval: HELD_OUT_HOUSES },

  start({ task }): Home {
    const rng = taskRng(task, TRAIN_HOUSES)
    const home: Home = {
      ...drawHouse(task.split, rng),
      ...{ here: 'table', open: new Set(), seen: new Set(), paid: new Set() },
      ...{
        failures: drawFailures(chances, rng),
        lastCallFailed: false,
        lookedAt: false,
        spoiled: false,
        callsLeft: MAX_CALLS,
      },
    }
    look(home)
    return home
  },

  tools: {
    go_to: tool({
      description: 'Go to a place, and see what is there unless it is closed',
      parameters: { place: pointer('places') },
      allowed: ({ here }: Home) => ({ place: places.filter((place) => place !== here) }),
      run(home: Home, { place }) {
        const far = roomOf[place as Place] !== roomOf[home.here]
        home.here = place as Place
        return { ...end(home, look(home) + arrive(home)), tokens: 40, seconds: far ? 12 : 5 }
      },
    }),
    open: tool({
      description: 'Open the place where you are. A door may stick: then try again',
      cost: { tokens: 25, seconds: 3 },
      run(home: Home) {
        if (fails(home.failures, 'open')) return fail(home)
        home.open.add(home.here)
        return end(home, look(home))
      },
    }),
    take: tool({
      description: 'Take a thing that is here',
      cost: { tokens: 30, seconds: 3 },
      parameters: { thing: pointer('things') },
      run(home: Home, { thing: id }) {
        const thing = home.things.find((each) => each.id === id)
        if (thing === undefined) throw new Error(`no thing ${id}`)
        const right = isWanted(home, thing)
        thing.place = null
        return end(home, right ? pay(home, `take ${id}`, TAKEN) : MISTAKE)
      },
    }),
    put: tool({
      description: 'Put the thing in your hand here',
      cost: { tokens: 30, seconds: 3 },
      run(home: Home) {
        const thing = inHand(home)
        if (thing === undefined) throw new Error('nothing to put')
        thing.place = home.here
        if (isDelivered(home, thing)) return end(home, pay(home, `deliver ${thing.id}`, DELIVERED))
        const { kind, destination } = home.chore
        if (thing.kind !== kind) return end(home, STEP)
        // As it was found, but where it is wanted: somebody will believe that the chore is done.
        home.spoiled = home.here === destination
        return end(home, MISTAKE)
      },
    }),
    heat: tool({
      description: 'Heat the thing in your hand in the microwave where you are. It may not start: then try again',
      run(home: Home) {
        if (fails(home.failures, 'heat')) return { ...fail(home), tokens: 25, seconds: 5 }
        return { ...change(home, 'heat'), tokens: 30, seconds: 60 }
      },
    }),
    cool: tool({
      description: 'Cool the thing in your hand in the fridge where you are',
      cost: { tokens: 30, seconds: 90 },
      run: (home: Home) => change(home, 'cool'),
    }),
    clean: tool({
      description: 'Wash the thing in your hand in the sink where you are',
      cost: { tokens: 30, seconds: 20 },
      run: (home: Home) => change(home, 'clean'),
    }),
    use: tool({
      description: 'Switch on the lamp that is here, and look at the thing in your hand',
      cost: { tokens: 40, seconds: 5 },
      run(home: Home) {
        const thing = inHand(home)
        home.lookedAt = home.chore.operation === 'look' && thing?.kind === home.chore.kind
        return end(home, home.lookedAt ? DELIVERED : MISTAKE)
      },
    }),
  },

  available(home) {
    const { here, lamp } = home
    const held = inHand(home)
    const reachable = isOpen(home, here)
    return [
      'go_to',
      ...(reachable ? [] : (['open'] as const)),
      ...(held || !reachable ? [] : (['take'] as const)),
      ...(held && reachable && thingsAt(home, here).length < CAPACITY ? (['put'] as const) : []),
      ...(held && here === 'microwave' && !held.hot ? (['heat'] as const) : []),
      ...(held && here === 'fridge' && !held.cold ? (['cool'] as const) : []),
      ...(held && here === 'sink' && !held.clean ? (['clean'] as const) : []),
      ...(held && here === lamp ? (['use'] as const) : []),
    ]
  },

  observe(home) {
    const { chore, here, seen, lamp, lastCallFailed, callsLeft } = home
    const held = inHand(home)
    const delivered = home.things.filter((thing) => isDelivered(home, thing)).length
    return {
      chore: chore.text,
      facts: [
        ...[held !== undefined, held?.kind === chore.kind, held?.kind === chore.kind && isReady(home, held)].map(flag),
        ...[!isOpen(home, here), here === chore.destination, isSeenIn(home, here)].map(flag),
        ...[delivered / 2, lastCallFailed ? 1 : 0, callsLeft / MAX_CALLS],
      ],
      places: places.map((place) => ({
        id: place,
        features: [
          ...oneHot(places, place),
          ...[
            place === here,
            place === chore.destination,
            seen.has(place),
            !isOpen(home, place),
            roomOf[place] === roomOf[here],
            isSeenIn(home, place),
            seen.has(place) && place === lamp,
          ].map(flag),
        ],
      })),
      things: isOpen(home, here)
        ? thingsAt(home, here).map((thing) => ({
            id: thing.id,
            features: [flag(isWanted(home, thing))],
          }))
        : [],
    }
  },

  oracle: nextCall,

  outcome: (home) => (isDone(home) && !home.spoiled ? 2 : 0),
  metrics: (home) => ({ places_seen: home.seen.size, unspoiled: home.spoiled ? 0 : 1 }),

  render(home) {
    const { chore, here, seen, lamp, spoiled } = home
    const held = inHand(home)
    return drawHome({
      ...{ chore, here, outcome: spoiled ? 'spoiled' : isDone(home) ? 'done' : 'running' },
      holding: held === undefined ? 'nothing' : describe(held),
      places: places.map((place) => ({
        ...{ place, closed: !isOpen(home, place), lamp: seen.has(place) && place === lamp },
        things: seen.has(place)
          ? thingsAt(home, place).map((thing) => ({ kind: describe(thing), wanted: isWanted(home, thing) }))
          : null,
      })),
    })
  },
})

const flag = (value: boolean | undefined) => (value ? 1 : 0)

/** The next call of a player who knows where everything is. */
function nextCall(home: Home): ToolCall<ToolName> {
  const { chore, here, lamp } = home
  const goTo = (place: Place) => ({ tool: 'go_to', arguments: { place } }) as const
  const held = inHand(home)
  if (held === undefined) {
    const wanted = home.things.find((thing) => isWanted(home, thing))
    if (wanted?.place == null) throw new Error('nothing is left to do')
    if (wanted.place !== here) return goTo(wanted.place)
    return isOpen(home, here) ? { tool: 'take', arguments: { thing: wanted.id } } : { tool: 'open' }
  }
  const station = stationOf[chore.operation]
  if (station !== undefined && !isReady(home, held))
    return here === station ? { tool: chore.operation as Station } : goTo(station)
  const destination = chore.destination ?? lamp
  if (here !== destination) return goTo(destination)
  if (chore.destination === null) return { tool: 'use' }
  return isOpen(home, here) ? { tool: 'put' } : { tool: 'open' }
}

/** Notes what can be seen here, and what that is worth. */
function look(home: Home): number {
  const { here, seen } = home
  if (!isOpen(home, here) || seen.has(here)) return STEP
  seen.add(here)
  const found = thingsAt(home, here).filter((thing) => isWanted(home, thing))
  return found.reduce((sum, { id }) => sum + pay(home, `find ${id}`, FOUND), STEP)
}

/** What it is worth to be here with the thing: where it is to be changed, and afterwards where it is wanted. */
function arrive(home: Home): number {
  const { chore, here, lamp } = home
  const thing = inHand(home)
  if (thing?.kind !== chore.kind) return 0
  const next = isReady(home, thing) ? (chore.destination ?? lamp) : stationOf[chore.operation]
  return here === next && !home.paid.has(`arrive ${here} ${thing.id}`)
    ? pay(home, `arrive ${here} ${thing.id}`, ARRIVED)
    : 0
}

/** Heats, cools or washes what is in the hand. */
function change(home: Home, operation: Operation) {
  const thing = inHand(home)
  if (thing === undefined) throw new Error(`nothing to ${operation}`)
  const right = home.chore.operation === operation && isWanted(home, thing) && !isReady(home, thing)
  if (operation === 'clean') thing.clean = true
  else {
    thing.hot = operation === 'heat'
    thing.cold = operation === 'cool'
  }
  // To heat again what is hot is needless, but does no harm.
  home.spoiled = home.chore.operation !== operation || thing.kind !== home.chore.kind
  return end(home, right ? pay(home, operation, CHANGED) : MISTAKE)
}

/** What progress is worth, the first time. */
function pay(home: Home, what: string, reward: number): number {
  if (home.paid.has(what)) return STEP
  home.paid.add(what)
  return reward
}

function end(home: Home, reward: number) {
  home.lastCallFailed = false
  home.callsLeft -= 1
  return { right: reward > MISTAKE, reward, done: home.spoiled || isDone(home) }
}

function fail(home: Home) {
  home.lastCallFailed = true
  home.callsLeft -= 1
  return { reward: STEP }
}

function describe({ kind, hot, cold, clean }: Thing): string {
  return [hot && 'hot', cold && 'cold', clean && 'clean', kind].filter(Boolean).join(' ')
}

const inHand = ({ things }: Home) => things.find(({ place }) => place === null)
const thingsAt = ({ things }: House, place: Place) => things.filter((thing) => thing.place === place)
const isOpen = ({ open }: Home, place: Place) => open.has(place) || !closable.includes(place)

/** Whether it is as the chore wants it. */
function isReady({ chore }: House, { hot, cold, clean }: Thing): boolean {
  if (chore.operation === 'heat') return hot
  if (chore.operation === 'cool') return cold
  return chore.operation !== 'clean' || clean
}

function isDelivered(home: House, thing: Thing): boolean {
  const { kind, destination } = home.chore
  return thing.kind === kind && thing.place === destination && destination !== null && isReady(home, thing)
}

/** Whether what is wanted has been seen there, and is there. */
function isSeenIn(home: Home, place: Place): boolean {
  return home.seen.has(place) && thingsAt(home, place).some((thing) => isWanted(home, thing))
}

/** Whether it is what the chore names, and not yet where it belongs. */
function isWanted(home: House, thing: Thing): boolean {
  return thing.kind === home.chore.kind && !isDelivered(home, thing)
}

function isDone(home: Home): boolean {
  const { chore, things, lookedAt } = home
  const delivered = things.filter((thing) => isDelivered(home, thing)).length
  return chore.operation === 'look' ? lookedAt : delivered >= (chore.operation === 'two' ? 2 : 1)
}
