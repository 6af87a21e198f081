import { createRng } from '@agentgym/scenario'
import { describe, expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { drawTask } from './draw-task.ts'
import scenario, { type State } from './index.ts'
import { instruction, type Mission, missionKinds } from './mission.ts'
import { callsTo } from './plan.ts'
import { distancesToFace, routeTo } from './routes.ts'
import { perform } from './skills.ts'
import { areNeighbors, cellAt, type Door, freeCells, front, type Thing, type World, walk } from './world.ts'

/**
 * Rooms with the robot at the left of the middle one, looking right:
 *
 *     . . . . # . . . . # . . . .
 *     . R . . L > . . b C . . . G    R red ball, b blue box, G green ball
 *     . . . . # . . y . # . . . .    y yellow key of the yellow, locked door L; the green door C is closed
 *     . . . . # . . . . # . . . .
 */
function openRooms(): World {
  const things: Thing[] = [
    { color: 'red', kind: 'ball', cell: cellAt(1, 1) },
    { color: 'blue', kind: 'box', cell: cellAt(8, 1) },
    { color: 'yellow', kind: 'key', cell: cellAt(7, 2) },
    { color: 'green', kind: 'ball', cell: cellAt(13, 1) },
  ]
  const doors: Door[] = [
    { color: 'yellow', cell: cellAt(4, 1), room: 0, state: 'locked' },
    { color: 'green', cell: cellAt(9, 3), room: 2, state: 'closed' },
  ]
  return { things, doors, cell: cellAt(5, 1), direction: 0 }
}

/** An episode in these rooms, and a way to call tools by name. */
async function openEpisode(mission: Mission) {
  const context = { rng: createRng(1), task: { split: 'train', index: 0 } } as const
  const episode = await scenario.reset(context)
  const state: State = episode.state
  const world = openRooms()
  Object.assign(state, {
    world,
    distances: distancesToFace(world),
    order: { mission, sentences: ['first', 'second'] },
    callsLeft: 8,
  })
  const tools = ['go_to', 'pick_up', 'open', 'put_next_to', 'put_down']
  const items = () => scenario.observe(episode).items.map(({ id }) => id)
  return {
    state,
    items,
    call(name: string, item = '') {
      return scenario.step(
        episode,
        { tool: tools.indexOf(name), [name]: { item: items().indexOf(item) } } as never,
        context,
      )
    },
    instruction: () => scenario.observe(episode).instruction,
    features: (name: string) => scenario.observe(episode).items.find(({ id }) => id === name)?.features,
  }
}

test('someone who sees all rooms carries out every mission; chance carries out few', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, tool_reliability: 1, spare_calls: 4 })
  expect(meansOf(scenario, 'random', 192).solved).toBeLessThan(0.2)
  expect(meansOf(scenario, 'first', 192).solved).toBeLessThan(0.05)
})

describe('the rooms', () => {
  test('a route turns and steps around things, and ends in front of its goal', () => {
    const world = openRooms()
    const route = routeTo(world, (cell) => cell === cellAt(8, 2)) ?? []
    // Down to the row of the key, which is in the way; the shortest way looks at the cell from above or below.
    walk(world, route)
    expect(distancesToFace(openRooms())[cellAt(8, 2)]).toBe(route.length)
    expect(front(world)).toBe(cellAt(8, 2))
    expect(freeCells(world)[world.cell]).toBe(1)
  })

  test('a locked door needs the key of its color in the hand; what is carried away is no longer in the way', () => {
    const world = openRooms()
    const [yellow] = world.doors
    expect(perform(world, 'open', yellow)).toBeNull()
    expect(perform(world, 'pick_up', world.things[2])).toBeGreaterThan(0)
    expect(perform(world, 'pick_up', world.things[1])).toBeNull()
    expect(perform(world, 'open', yellow)).toBeGreaterThan(0)
    expect(yellow.state).toBe('open')
    expect(perform(world, 'put_down', null)).toBeGreaterThan(0)
    const key = world.things[2]
    expect(world.doors.some(({ cell }) => areNeighbors(cell, key.cell))).toBe(false)
  })

  test('calls are counted to the end: key, door, put down, pick up', () => {
    expect(callsTo(openRooms(), { kind: 'fetch', thing: 0 })).toBe(4)
    expect(callsTo(openRooms(), { kind: 'go', thing: 0 })).toBe(3)
    expect(callsTo(openRooms(), { kind: 'open', door: 0 })).toBe(2)
    expect(callsTo(openRooms(), { kind: 'put', thing: 1, beside: 3 })).toBe(3)
    expect(callsTo(openRooms(), { kind: 'go', thing: 1 })).toBe(1)
  })
})

test('a room is seen once its door is open', async () => {
  const { items, call } = await openEpisode({ kind: 'go', thing: 3 })
  expect(items()).toEqual(['yellow door', 'green door', 'blue box', 'yellow key'])
  // Any door may lead to what has not been seen.
  expect(await call('open', 'green door')).toMatchObject({ reward: 0.2, terminated: false })
  expect(items()).toContain('green ball')
  expect(await call('go_to', 'green ball')).toMatchObject({ reward: 1.2, terminated: true })
})

test('what does not help costs, and calls run out', async () => {
  const { state, call } = await openEpisode({ kind: 'fetch', thing: 1 })
  expect(await call('go_to', 'yellow key')).toMatchObject({ reward: -0.1, terminated: false })
  expect(state.steps).toBeGreaterThan(1)
  state.callsLeft = 1
  expect(await call('go_to', 'green door')).toMatchObject({ reward: -0.1, terminated: true })
})

test('the second sentence follows when the thing is carried', async () => {
  const { state, call, instruction } = await openEpisode({ kind: 'put', thing: 1, beside: 2 })
  expect(instruction()).toBe('first')
  await call('pick_up', 'blue box')
  expect(instruction()).toBe('second')
  expect(await call('put_next_to', 'yellow key')).toMatchObject({ terminated: true })
  expect(areNeighbors(state.world.things[1].cell, state.world.things[2].cell)).toBe(true)
})

test('tasks alternate, can be carried out, and share no order between the splits', () => {
  const orders = { train: new Set<string>(), eval: new Set<string>() }
  const worlds = new Set<string>()
  for (const split of ['train', 'eval'] as const) {
    for (let index = 0; index < 400; index += 1) {
      const { world, order, calls } = drawTask({ split, index })
      expect(order.mission.kind).toBe(missionKinds[index % 4])
      expect(callsTo(world, order.mission)).toBe(calls)
      expect(calls).toBeGreaterThanOrEqual(2)
      expect(instruction(world, order)).toBe(order.sentences[0])
      orders[split].add(order.sentences.join(', '))
      if (split === 'eval') worlds.add(JSON.stringify([world, order.sentences]))
    }
  }
  expect([...orders.eval].filter((order) => orders.train.has(order))).toEqual([])
  expect(worlds.size).toBe(400)
  // Every word of a held-out order is known from training.
  const known = new Set([...orders.train].flatMap((order) => order.split(/,? /)))
  expect([...orders.eval].flatMap((order) => order.split(/,? /)).filter((word) => !known.has(word))).toEqual([])
})

test('the picture says the order and the calls left', async () => {
  const { state, call } = await openEpisode({ kind: 'go', thing: 3 })
  await call('pick_up', 'yellow key')
  const scene = scenario.render?.({ state } as never)
  const texts = scene?.shapes.flatMap((shape) => (shape.kind === 'text' ? shape.text : []))
  expect(texts).toEqual(['first', '7 calls left', 'pick_up yellow key'])
  expect(state.world.things[2].cell).toBe(-1)
})
