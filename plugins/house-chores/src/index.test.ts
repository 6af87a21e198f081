import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { CAPACITY, closable, drawHouse, operations, type Place, places, stationOf } from './chores.ts'
import scenario, { type Home } from './index.ts'

const tools = ['go_to', 'open', 'take', 'put', 'heat', 'cool', 'clean', 'use']

/** A house with the chore that is given, nothing that fails, and a way to call its tools by name. */
async function enter(index: number, accepts: (home: Home) => boolean = () => true) {
  for (let number = index; ; number += 1) {
    const context = { rng: createRng(number), task: { split: 'train', index: number } } as const
    const episode = await scenario.reset(context)
    const home = episode.state
    if (!accepts(home)) continue
    home.failures = {}
    return {
      home,
      legal: () => {
        scenario.observe(episode)
        const masks = scenario.actionMask?.(episode) as { tool: boolean[] } | undefined
        return tools.filter((_, each) => masks?.tool[each])
      },
      call(name: string, argument?: string) {
        const { places: spots, things } = scenario.observe(episode)
        const slot = (items: readonly { id: string }[]) => items.findIndex(({ id }) => id === argument)
        const action = { tool: tools.indexOf(name), go_to: { place: slot(spots) }, take: { thing: slot(things) } }
        return scenario.step(episode, action as never, context) as { reward: number; terminated: boolean }
      },
      solved: () => scenario.metrics?.(episode).solved,
    }
  }
}

/** Goes to what the chore names and takes it. */
function fetchThing({ home, call }: Awaited<ReturnType<typeof enter>>): string {
  const thing = home.things.find(({ kind, place }) => kind === home.chore.kind && place !== home.chore.destination)
  if (thing?.place == null) throw new Error('nothing to fetch')
  if (home.here !== thing.place) call('go_to', thing.place)
  if (closable.includes(thing.place) && !home.open.has(thing.place)) call('open')
  call('take', thing.id)
  return thing.id
}

const isFor =
  (operation: string, closed = false) =>
  (home: Home) =>
    home.chore.operation === operation && closable.includes(home.chore.destination ?? 'table') === closed

test('who knows where things are does every chore; chance does next to none', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, unspoiled: 1 })
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 192).solved).toBeLessThan(0.05)
})

test('what is in a closed place is neither seen nor reached before it is opened', async () => {
  const closedPlace = ({ chore, things }: Home) => things.find(({ kind }) => kind === chore.kind)?.place as Place
  const house = await enter(0, (home) => closable.includes(closedPlace(home)))
  const { home, legal, call } = house
  const place = closedPlace(home)
  call('go_to', place)
  expect(home.seen.has(place)).toBe(false)
  expect(legal()).not.toContain('take')
  expect(legal()).toContain('open')
  call('open')
  expect(home.seen.has(place)).toBe(true)
  expect(legal()).toContain('take')
  expect(legal()).not.toContain('open')
})

test('a door that sticks has to be tried again, and the agent sees that it has', async () => {
  const { home, call } = await enter(0)
  home.failures = { open: 1 }
  call('go_to', 'drawer')
  call('open')
  expect(home.open.has('drawer')).toBe(false)
  expect(home.lastCallFailed).toBe(true)
  call('open')
  expect(home.open.has('drawer')).toBe(true)
  expect(home.lastCallFailed).toBe(false)
})

test.each([
  ['heat', 'microwave'],
  ['cool', 'fridge'],
  ['clean', 'sink'],
] as const)('%s it in the right place, then leave it where it is wanted', async (operation, station) => {
  const house = await enter(0, isFor(operation))
  fetchThing(house)
  if (house.home.here !== station) house.call('go_to', station)
  expect(house.legal()).toContain(operation)
  expect(house.call(operation).reward).toBeGreaterThan(0.3)
  house.call('go_to', house.home.chore.destination ?? '')
  expect(house.legal()).not.toContain(operation)
  expect(house.call('put').terminated).toBe(true)
  expect(house.solved()).toBe(1)
})

test('a thing that is left where it is wanted, but not as it is wanted, spoils the chore', async () => {
  const house = await enter(0, isFor('heat'))
  fetchThing(house)
  house.call('go_to', house.home.chore.destination ?? '')
  expect(house.call('put').terminated).toBe(true)
  expect(house.solved()).toBe(0)
})

test('so does washing what was to be heated', async () => {
  const house = await enter(0, isFor('heat'))
  fetchThing(house)
  if (house.home.here !== 'sink') house.call('go_to', 'sink')
  expect(house.call('clean').terminated).toBe(true)
  expect(house.solved()).toBe(0)
})

test('two things are brought one after the other, and none twice', async () => {
  const house = await enter(0, isFor('two'))
  const { home, call } = house
  const first = fetchThing(house)
  call('go_to', home.chore.destination ?? '')
  expect(call('put').reward).toBeGreaterThan(0.5)
  // Taken away and put back, it pays nothing more.
  expect(call('take', first).reward).toBeLessThan(0)
  expect(call('put').reward).toBeLessThan(0)
  fetchThing(house)
  call('go_to', home.chore.destination ?? '')
  expect(call('put').terminated).toBe(true)
  expect(house.solved()).toBe(1)
})

test('a thing is looked at under the lamp', async () => {
  const house = await enter(0, (home) => home.chore.operation === 'look' && !closable.includes(home.lamp))
  fetchThing(house)
  if (house.home.here !== house.home.lamp) house.call('go_to', house.home.lamp)
  expect(house.call('use').terminated).toBe(true)
  expect(house.solved()).toBe(1)
})

test('who can read, but does not know the house, has calls enough', async () => {
  for (let index = 0; index < 200; index += 1) {
    const { home, call, solved } = await enter(index)
    const { chore } = home
    const goTo = (place: string) => home.here === place || call('go_to', place)
    // Looks into one place after the other until enough of what is wanted has been taken and brought.
    for (const place of places) {
      if (solved() === 1 || place === chore.destination) continue
      goTo(place)
      if (closable.includes(place)) call('open')
      const found = home.things.filter((thing) => thing.kind === chore.kind && thing.place === place)
      for (const { id } of found) {
        goTo(place)
        call('take', id)
        const station = stationOf[chore.operation]
        if (station !== undefined) {
          goTo(station)
          call(chore.operation)
        }
        goTo(chore.destination ?? home.lamp)
        if (chore.destination === null) call('use')
        else {
          if (closable.includes(home.here) && !home.open.has(home.here)) call('open')
          call('put')
        }
      }
    }
    expect(solved()).toBe(1)
  }
})

test('one hand holds one thing, and a place no more than fits', async () => {
  const house = await enter(0, isFor('move'))
  const { home, legal, call } = house
  fetchThing(house)
  expect(legal()).not.toContain('take')
  call('go_to', home.chore.destination ?? '')
  for (const thing of home.things.filter(({ place }) => place !== null).slice(0, CAPACITY)) thing.place = home.here
  expect(legal()).not.toContain('put')
})

test('a house repeats by its number, has room for the chore, and what is wanted is elsewhere', () => {
  const asked = new Set<string>()
  for (let number = 0; number < 2000; number += 1) {
    const house = drawHouse('train', createRng(number))
    expect(drawHouse('train', createRng(number))).toEqual(house)
    const { chore, things } = house
    asked.add(chore.operation)
    expect(things.filter(({ kind }) => kind === chore.kind)).toHaveLength(chore.operation === 'two' ? 2 : 1)
    for (const place of places) {
      const there = things.filter((thing) => thing.place === place)
      expect(there.length).toBeLessThanOrEqual(CAPACITY - 2)
      if (place === chore.destination) expect(there.some(({ kind }) => kind === chore.kind)).toBe(false)
    }
  }
  expect([...asked].sort()).toEqual([...operations].sort())
})

test('no chore that names a place is asked for in both splits, and half of the sentences are new', () => {
  const asked = (split: 'train' | 'eval') =>
    Array.from({ length: 5000 }, (_, number) => drawHouse(split, createRng(number)).chore)
  const combination = ({ operation, kind, destination }: ReturnType<typeof asked>[number]) =>
    `${operation} ${kind} ${destination}`
  const trained = new Set(asked('train').map(combination))
  const held = asked('eval').filter(({ operation }) => operation !== 'look')
  expect(held.filter((chore) => trained.has(combination(chore)))).toEqual([])
})

test('no house is in both splits', async () => {
  const drawn = async (split: 'train' | 'eval') =>
    Promise.all(
      Array.from({ length: 2000 }, async (_, index) => {
        const { state } = await scenario.reset({ rng: createRng(1), task: { split, index } })
        return JSON.stringify([state.chore, state.things])
      }),
    )
  const trained = new Set(await drawn('train'))
  const held = await drawn('eval')
  expect(new Set(held).size).toBe(held.length)
  expect(held.filter((house) => trained.has(house))).toEqual([])
})

test('the plan of the house shows what has been seen, and not more', async () => {
  const { home, call } = await enter(0)
  const shown = () =>
    (scenario.render?.({ state: home } as never)?.shapes ?? []).flatMap((shape) =>
      shape.kind === 'text' ? [shape.text] : [],
    )
  expect(shown().filter((line) => line === '?' || line === 'closed')).toHaveLength(places.length - home.seen.size)
  call('go_to', home.here === 'counter' ? 'table' : 'counter')
  expect(shown().filter((line) => line === '?' || line === 'closed')).toHaveLength(places.length - home.seen.size)
  expect(shown()).toContain(`“${home.chore.text}”`)
})
