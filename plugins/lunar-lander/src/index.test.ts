import { readFileSync } from 'node:fs'
import { createRng, type Rng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario from './index.ts'
import { groundAt, HEIGHT, PAD_HEIGHT, PAD_REACH, STEP_SECONDS, WIDTH } from './lander.ts'

type Flight = { start: number[]; actions: number[]; end: number[]; rewards: number[] }
const { flights } = JSON.parse(readFileSync(new URL('../testdata/flights.json', import.meta.url), 'utf8')) as {
  flights: Flight[]
}
const STANDING_HEIGHT = 0.6

type State = Awaited<ReturnType<typeof scenario.reset>>
type Policy = (state: State, rng: Rng) => number

const context = (rng: Rng) => ({ rng, task: { split: 'train', index: 0 } }) as const
const observe = (state: State) => scenario.observe(state) as number[]

/** Puts the lander where an observation says. */
function place({ lander }: State, [x, y, vx, vy, angle, spin]: number[]): void {
  const originX = (x * WIDTH) / 2 + WIDTH / 2
  const originY = (y * HEIGHT) / 2 + PAD_HEIGHT + STANDING_HEIGHT
  lander.x = originX - 0.0898 * Math.sin(angle)
  lander.y = originY + 0.0898 * Math.cos(angle)
  lander.vx = vx / ((WIDTH / 2) * STEP_SECONDS)
  lander.vy = vy / ((HEIGHT / 2) * STEP_SECONDS)
  lander.angle = angle
  lander.spin = spin / (20 * STEP_SECONDS)
}

test('it flies as Gymnasium’s lander does', async () => {
  // No dispersion: 0.5 is in the middle.
  const still = context(Object.assign(() => 0.5, createRng(0)))
  for (const [index, flight] of flights.entries()) {
    const state = await scenario.reset(still)
    place(state, flight.start)
    observe(state).forEach((value, i) => {
      expect(value, `start of flight ${index}`).toBeCloseTo(flight.start[i], 5)
    })
    for (const action of flight.actions) await scenario.step(state, action, still)
    // The difference comes from legs that move a little on their joints.
    observe(state).forEach((value, i) => {
      expect(Math.abs(value - flight.end[i]), `flight ${index}, number ${i}`).toBeLessThan(0.03)
    })
  }
})

async function play(policy: Policy, seed: number): Promise<{ return: number; state: State; steps: number }> {
  const episode = context(createRng(seed))
  const rng = createRng(10_000 + seed)
  const state = await scenario.reset(episode)
  let sum = 0
  for (let step = 1; step <= scenario.maxSteps; step += 1) {
    const { reward, terminated } = await scenario.step(state, policy(state, rng), episode)
    sum += reward
    if (terminated) return { return: sum, state, steps: step }
  }
  return { return: sum, state, steps: scenario.maxSteps }
}

/** Gymnasium's own. */
const controller: Policy = (state) => scenario.oracle?.(state, context(createRng(0))) ?? 0

test('Gymnasium’s controller lands as often as there, and chance crashes', async () => {
  const episodes = 200
  const landings = await Promise.all(Array.from({ length: episodes }, (_, seed) => play(controller, seed)))
  const mean = landings.reduce((sum, landing) => sum + landing.return, 0) / episodes
  // There: 253 over 100 episodes, 91 of them above 200.
  expect(mean).toBeGreaterThan(220)
  expect(mean).toBeLessThan(290)
  expect(landings.filter((landing) => landing.return > 200).length / episodes).toBeGreaterThan(0.8)
  const falls = await Promise.all(Array.from({ length: episodes }, (_, seed) => play((_o, rng) => rng.int(4), seed)))
  // There: -193 over 200 episodes.
  const randomMean = falls.reduce((sum, fall) => sum + fall.return, 0) / episodes
  expect(randomMean).toBeLessThan(-120)
  expect(randomMean).toBeGreaterThan(-240)
  expect(falls.every(({ state }) => !state.landed)).toBe(true)
})

test('the pad is level, and the lander rests on it on both feet', async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const state = await scenario.reset(context(createRng(seed)))
    const pad = groundAt(state.lander, WIDTH / 2)
    expect(groundAt(state.lander, WIDTH / 2 - PAD_REACH)).toBeCloseTo(pad, 12)
    expect(groundAt(state.lander, WIDTH / 2 + PAD_REACH)).toBeCloseTo(pad, 12)
  }
  const { state } = await play(controller, 1)
  expect(state.landed).toBe(true)
  expect(observe(state).slice(6)).toEqual([1, 1])
  expect(Math.abs(observe(state)[1])).toBeLessThan(0.02)
})

test('a fall crashes, leaving the view ends the episode, and both cost 100', async () => {
  const fall = await play(() => 0, 3)
  expect(fall.return).toBeLessThan(-50)
  expect(fall.state.lander.crashed).toBe(true)
  const state = await scenario.reset(context(createRng(1)))
  place(state, [0.999, 1, 2, 0, 0, 0])
  expect(await scenario.step(state, 0, context(createRng(1)))).toEqual({ reward: -100, terminated: true })
})
