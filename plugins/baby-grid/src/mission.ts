/** Missions, and the words they are given in. */
import type { Rng } from '@agentgym/scenario'
import { areNeighbors, type Color, front, isCarried, type World } from './world.ts'

export const missionKinds = ['go', 'fetch', 'open', 'put'] as const

/** Things and doors by their place in the world's lists. */
export type Mission =
  | { kind: 'go' | 'fetch'; thing: number }
  | { kind: 'open'; door: number }
  | { kind: 'put'; thing: number; beside: number }

export type Order = {
  mission: Mission
  /** What is asked; for `put` the second sentence is what is asked once the thing is carried. */
  sentences: readonly string[]
}

const wordings = {
  go: ['go to', 'walk to', 'move to', 'drive to'],
  fetch: ['pick up', 'take', 'grab', 'get'],
  open: ['open', 'open up', 'unlock', 'clear'],
  put: ['put it next to', 'place it beside', 'set it down by', 'leave it near'],
} as const
const manners = ['', 'please', 'now', 'robot'] as const

/** One order in so many is held out, by its words. */
const SPLITS = 4

export function drawOrder({ things, doors }: World, kind: Mission['kind'], rng: Rng): Order {
  const [thing, beside] = rng.shuffle([...things.keys()])
  const say = (verb: keyof typeof wordings, color: Color, what: string) =>
    `${rng.pick(manners)} ${rng.pick(wordings[verb])} the ${color} ${what}`.trim()
  if (kind === 'open') {
    const door = rng.int(doors.length)
    return { mission: { kind, door }, sentences: [say(kind, doors[door].color, 'door')] }
  }
  const first = say(kind === 'go' ? 'go' : 'fetch', things[thing].color, things[thing].kind)
  if (kind !== 'put') return { mission: { kind, thing }, sentences: [first] }
  const second = say('put', things[beside].color, things[beside].kind)
  return { mission: { kind, thing, beside }, sentences: [first, second] }
}

/** By a hash of the words: a held-out order is made of words that training knows, in a combination that it never shows. */
export function splitOf({ sentences }: Order): 'train' | 'eval' {
  let hash = 0x811c9dc5
  for (const letter of sentences.join(', ')) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  hash ^= hash >>> 15
  return (hash >>> 0) % SPLITS === 0 ? 'eval' : 'train'
}

export function isDone(world: World, mission: Mission): boolean {
  const { things, doors } = world
  switch (mission.kind) {
    case 'go':
      return front(world) === things[mission.thing].cell
    case 'fetch':
      return isCarried(things[mission.thing])
    case 'open':
      return doors[mission.door].state === 'open'
    case 'put':
      return areNeighbors(things[mission.thing].cell, things[mission.beside].cell)
  }
}

/** The sentence that is to be carried out now. */
export function instruction(world: World, { sentences, mission }: Order): string {
  return mission.kind === 'put' && isCarried(world.things[mission.thing]) ? sentences[1] : sentences[0]
}
