/**
 * Missions in words for a robot in three rooms: go to a thing, fetch it, open a door, put one thing next to another. What is behind
 * a closed door is not seen, and a locked one needs the key of its color.
 *
 * After Chevalier-Boisvert et al. (2019), "BabyAI", with skills that drive instead of single steps.
 */
import { box, defineToolScenario, dict, list, oneHot, pointer, text, tool } from '@agentgym/scenario'
import { drawRooms } from './draw-rooms.ts'
import { drawTask, MOST_CALLS } from './draw-task.ts'
import { instruction, isDone, type Order } from './mission.ts'
import { nextCall } from './plan.ts'
import { distancesToFace } from './routes.ts'
import { canPerform, perform, type Skill } from './skills.ts'
import {
  canOpen,
  carriedThing,
  colors,
  front,
  type Item,
  isCarried,
  isSeen,
  isThing,
  kinds,
  nameOf,
  type World,
} from './world.ts'

const TRAIN_MISSIONS = 100_000
const HELD_OUT_MISSIONS = 1_000_000_000
/** Calls beyond those of someone who sees all rooms. */
const SPARE_CALLS = 4
const MAX_CALLS = MOST_CALLS + SPARE_CALLS
/** Doors and things. */
const ITEMS = 8
const shownKinds = [...kinds, 'door'] as const
/** Numbers for each item, see `featuresOf`. */
const FEATURES = colors.length + shownKinds.length + 7
const PROGRESS = 0.2
const DETOUR = -0.1

export type State = {
  world: World
  order: Order
  /** For each cell, how far the robot is from having it in front. */
  distances: Int8Array
  callsLeft: number
  steps: number
  /** What was called last, in words. */
  lastCall: string
}

export default defineToolScenario({
  observation: dict({
    instruction: text({ maxTokens: 12, vocabulary: 512 }),
    items: list({ slots: ITEMS, features: FEATURES }),
    /** Calls left; whether something is carried. */
    robot: box({ shape: [2], low: 0, high: 1 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_MISSIONS, eval: HELD_OUT_MISSIONS },

  start({ task }): State {
    const { world, order, calls } = drawTask(task)
    return { world, order, distances: distancesToFace(world), callsLeft: calls + SPARE_CALLS, steps: 0, lastCall: '' }
  },

  tools: {
    go_to: tool({
      description: 'Drive to a thing or a door until it is in front',
      parameters: { item: pointer('items') },
      cost: { tokens: 20 },
      allowed: (state: State) => ({ item: idsFor(state, 'go_to') }),
      run: (state: State, { item }) => carryOut(state, 'go_to', item),
    }),
    pick_up: tool({
      description: 'Drive to a thing and pick it up; the hand must be empty',
      parameters: { item: pointer('items') },
      cost: { tokens: 20 },
      allowed: (state: State) => ({ item: idsFor(state, 'pick_up') }),
      run: (state: State, { item }) => carryOut(state, 'pick_up', item),
    }),
    open: tool({
      description: 'Drive to a door and open it; a locked one needs the key of its color in the hand',
      parameters: { item: pointer('items') },
      cost: { tokens: 20 },
      allowed: (state: State) => ({ item: idsFor(state, 'open') }),
      run: (state: State, { item }) => carryOut(state, 'open', item),
    }),
    put_next_to: tool({
      description: 'Put what is carried down next to a thing',
      parameters: { item: pointer('items') },
      cost: { tokens: 20 },
      allowed: (state: State) => ({ item: idsFor(state, 'put_next_to') }),
      run: (state: State, { item }) => carryOut(state, 'put_next_to', item),
    }),
    put_down: {
      description: 'Put what is carried down at the nearest place',
      cost: { tokens: 15 },
      run: (state: State) => carryOut(state, 'put_down', null),
    },
  },

  available({ world, distances }) {
    const skills = ['go_to', 'pick_up', 'open', 'put_next_to'] as const
    return canPerform(world, distances, 'put_down', null) ? [...skills, 'put_down'] : [...skills]
  },

  observe({ world, order, distances, callsLeft }) {
    return {
      instruction: instruction(world, order),
      items: shownItems(world).map((item) => ({ id: nameOf(item), features: featuresOf(world, distances, item) })),
      robot: [callsLeft / MAX_CALLS, Number(carriedThing(world) !== undefined)],
    }
  },

  /** Sees all rooms. */
  oracle({ world, order }) {
    const call = nextCall(world, order.mission)
    if (call === null || call.skill === 'put_down' || call.item === null) return { tool: 'put_down' }
    return { tool: call.skill, arguments: { item: nameOf(call.item) } }
  },

  outcome: ({ world, order }) => (isDone(world, order.mission) ? 1 : 0),
  metrics: ({ steps, callsLeft }) => ({ steps, spare_calls: callsLeft }),
  render: (state) => drawRooms(state),
})

/** Carries out a skill and pays for what it has brought. */
function carryOut(state: State, skill: Skill, name: string | null) {
  const { world, order } = state
  const item = shownItems(world).find((each) => nameOf(each) === name) ?? null
  const planned = nextCall(world, order.mission)
  const right = (planned?.skill === skill && planned.item === item) || (skill === 'open' && isSearching(state))
  const seconds = perform(world, skill, item) ?? 0
  state.distances = distancesToFace(world)
  state.steps += seconds
  state.callsLeft -= 1
  state.lastCall = [skill, name ?? []].flat().join(' ')
  const done = isDone(world, order.mission) || state.callsLeft === 0
  return { right, reward: right ? PROGRESS : DETOUR, done, seconds }
}

/** Whether a thing that is needed now has not been seen yet: any door may lead to it. */
function isSearching({ world, order: { mission } }: State): boolean {
  if (mission.kind === 'open') return false
  const { things } = world
  const wanted = things[mission.kind === 'put' && isCarried(things[mission.thing]) ? mission.beside : mission.thing]
  return !isShown(world, wanted)
}

function isShown(world: World, item: Item): boolean {
  return !isThing(item) || isCarried(item) || isSeen(world, item.cell)
}

/** The doors, then the things that are seen or carried. */
function shownItems(world: World): Item[] {
  return [...world.doors, ...world.things].filter((item) => isShown(world, item))
}

function idsFor({ world, distances }: State, skill: Skill): string[] {
  return shownItems(world)
    .filter((item) => canPerform(world, distances, skill, item))
    .map(nameOf)
}

/**
 * Color and kind; whether it is carried, closed, locked, in front; whether a key fits a locked door, and a locked door the key in the
 * hand; whether there is a way to it, and how near it is.
 */
function featuresOf(world: World, distances: Int8Array, item: Item): number[] {
  const isKey = isThing(item) && item.kind === 'key'
  const state = isThing(item) ? null : item.state
  const fits = isKey
    ? world.doors.some((door) => door.state === 'locked' && door.color === item.color)
    : !isThing(item) && item.state === 'locked' && canOpen(world, item)
  const distance = isCarried(item) ? 0 : distances[item.cell]
  return [
    ...oneHot(colors, item.color),
    ...oneHot(shownKinds, isThing(item) ? item.kind : 'door'),
    ...[isCarried(item), state === 'closed', state === 'locked', front(world) === item.cell, fits, distance >= 0].map(
      Number,
    ),
    distance < 0 ? 0 : 1 / (1 + distance),
  ]
}
