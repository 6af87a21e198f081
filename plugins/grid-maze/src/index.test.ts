import { createRng, type Rng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario from './index.ts'
import { MOVES, SIZE } from './maze.ts'

type Observation = ReturnType<typeof scenario.observe>
type Policy = (observation: Observation, legal: number[], rng: Rng) => number

const VIEW = 5
const CENTRE = 12
/** The four squares next to the agent in a channel of the view: up, right, down, left. */
const BESIDE = [CENTRE - VIEW, CENTRE + 1, CENTRE + VIEW, CENTRE - 1]

async function openMaze(split: 'train' | 'eval', index: number) {
  const context = { rng: createRng(index), task: { split, index } } as const
  const state = await scenario.reset(context)
  // Tests rebuild their maze; the scenario shows it again to others.
  return { context, state: { ...state, maze: { ...state.maze, open: state.maze.open.slice() } } }
}

function legalActions(state: Awaited<ReturnType<typeof openMaze>>['state']): number[] {
  return scenario.actionMask?.(state).flatMap((legal, action) => (legal ? [action] : [])) ?? []
}

const tasks = { train: 0, eval: 0, ...scenario.tasks }

async function solvedFraction(policy: Policy, episodes: number, seed: number): Promise<number> {
  const rng = createRng(seed)
  let solved = 0
  for (let episode = 0; episode < episodes; episode += 1) {
    const { context, state } = await openMaze('eval', rng.int(tasks.eval))
    for (let step = 0; step < scenario.maxSteps; step += 1) {
      const action = policy(scenario.observe(state), legalActions(state), rng)
      const { terminated } = await scenario.step(state, action, context)
      if (terminated) break
    }
    solved += scenario.metrics?.(state).solved ?? 0
  }
  return solved / episodes
}

const random: Policy = (_, legal, rng) => rng.pick(legal)

/** No memory but the trail: goes where the scent is weakest, by the compass where that leaves a choice. */
const followTrail: Policy = ({ view, compass }, legal) => {
  const towardsGoal = [-compass[1], compass[0], compass[1], -compass[0]]
  const score = (action: number) => {
    const scent = view[VIEW * VIEW + BESIDE[action]]
    return -4 * scent - (scent > 0 ? 1 : 0) + 0.5 * towardsGoal[action]
  }
  return legal.reduce((best, action) => (score(action) > score(best) ? action : best))
}

test('what the agent sees is enough to solve held-out mazes, and chance is not', async () => {
  expect(await solvedFraction(followTrail, 200, 1)).toBeGreaterThanOrEqual(0.98)
  expect(await solvedFraction(random, 200, 1)).toBeLessThan(0.2)
})

test('evaluation draws from a thousand million mazes, and shows none of training', async () => {
  const fingerprint = async (split: 'train' | 'eval', index: number) => {
    const { maze } = (await openMaze(split, index)).state
    return `${maze.open.join('')} ${maze.start} ${maze.goal}`
  }
  expect(tasks).toEqual({ train: 2000, eval: 1_000_000_000 })
  const trained = new Set<string>()
  for (let index = 0; index < tasks.train; index += 1) trained.add(await fingerprint('train', index))
  expect(trained.size).toBe(tasks.train)
  const rng = createRng(8)
  const held = new Set<string>()
  const numbers = [0, 1, tasks.eval - 1, ...Array.from({ length: 4000 }, () => rng.int(tasks.eval))]
  for (const index of numbers) held.add(await fingerprint('eval', index))
  // Drawn uniformly from a million mazes, 4,000 would hold eight pairs; these hold none.
  expect(held.size).toBe(numbers.length)
  for (const maze of held) expect(trained.has(maze)).toBe(false)
})

test('the view ends two squares away', async () => {
  const { state } = await openMaze('train', 3)
  const before = scenario.observe(state)
  const column = state.square % SIZE
  const row = Math.floor(state.square / SIZE)
  for (let square = 0; square < SIZE * SIZE; square += 1) {
    const far = Math.abs((square % SIZE) - column) > 2 || Math.abs(Math.floor(square / SIZE) - row) > 2
    if (far) state.maze.open[square] = 1 - state.maze.open[square]
  }
  expect(scenario.observe(state)).toEqual(before)
})

test('exactly the walls beside the agent are masked, and the mask agrees with the view', async () => {
  const rng = createRng(9)
  for (let index = 0; index < 20; index += 1) {
    const { context, state } = await openMaze('train', index)
    for (let step = 0; step < 30; step += 1) {
      const mask = scenario.actionMask?.(state)
      const { view } = scenario.observe(state)
      expect(mask).toEqual(MOVES.map((move) => state.maze.open[state.square + move] === 1))
      expect(mask).toEqual(BESIDE.map((cell) => view[cell] === 0))
      const { terminated } = await scenario.step(state, rng.pick(legalActions(state)), context)
      if (terminated) break
    }
  }
})

test('the trail fades with age and the goal is seen', async () => {
  const { context, state } = await openMaze('train', 1)
  const [first] = legalActions(state)
  await scenario.step(state, first, context)
  const scent = scenario.observe(state).view.slice(VIEW * VIEW, 2 * VIEW * VIEW)
  expect(scent[CENTRE]).toBe(1)
  expect(scent[BESIDE[(first + 2) % 4]]).toBeCloseTo(1 / (1 + 1 / 8), 6)
  state.square = state.maze.goal
  expect(scenario.observe(state).view[2 * VIEW * VIEW + CENTRE]).toBe(1)
})

test('a shortest path is worth 1 less the steps, and is reported as fully efficient', async () => {
  const { context, state } = await openMaze('train', 2)
  state.maze.shortest = 1
  const [action] = legalActions(state)
  state.maze.goal = state.square + MOVES[action]
  const { reward, terminated } = await scenario.step(state, action, context)
  expect(reward).toBeCloseTo(0.99, 12)
  expect(terminated).toBe(true)
  expect(scenario.metrics?.(state)).toEqual({ solved: 1, path_efficiency: 1 })
})
