/**
 * Grid maze: find the goal of a maze never seen before, with a view of a few squares, a compass and a trail of
 * breadcrumbs. Each task number is one maze; evaluation draws from a thousand million mazes that training never shows.
 */
import { box, createRng, defineScenario, dict, discrete } from '@agentgym/scenario'
import { distancesFrom, generateMazeOf, type Maze, MOVES, SIZE } from './maze.ts'

/** The agent sees this many squares in each direction. */
const SIGHT = 2
const VIEW = 2 * SIGHT + 1
const CHANNELS = 3
const GOAL_REWARD = 1
const STEP_PENALTY = 0.01
/** Age, in steps, at which a breadcrumb has lost half of its scent. */
const SCENT_HALF_AGE = 8

type State = {
  maze: Maze
  square: number
  steps: number
  /** For each square the step at which the agent was last there; -1 never. */
  lastVisit: Int16Array
}

export default defineScenario({
  observation: dict({
    /** Channels: wall, scent of the agent's own trail (1 just now, 0 never been there), goal. */
    view: box({ shape: [CHANNELS, VIEW, VIEW], low: 0, high: 1 }),
    /** Columns to the right and rows down to the goal, over the maze's size. */
    compass: box({ shape: [2], low: -1, high: 1 }),
  }),
  action: discrete({ n: 4, labels: ['up', 'right', 'down', 'left'] }),
  maxSteps: 120,
  tasks: { train: 2000, eval: 1_000_000_000 },

  reset({ task }): State {
    const maze = mazeOf(task)
    const lastVisit = new Int16Array(SIZE * SIZE).fill(-1)
    lastVisit[maze.start] = 0
    return { maze, square: maze.start, steps: 0, lastVisit }
  },

  step(state, action) {
    state.square += MOVES[action]
    state.steps += 1
    state.lastVisit[state.square] = state.steps
    const terminated = state.square === state.maze.goal
    return { reward: (terminated ? GOAL_REWARD : 0) - STEP_PENALTY, terminated }
  },

  observe({ maze, square, steps, lastVisit }) {
    // A plain array: each small typed array has memory of its own that must be freed.
    const view: number[] = new Array(CHANNELS * VIEW * VIEW).fill(0)
    const column = square % SIZE
    const row = Math.floor(square / SIZE)
    for (let dy = -SIGHT; dy <= SIGHT; dy += 1) {
      for (let dx = -SIGHT; dx <= SIGHT; dx += 1) {
        const inside = column + dx >= 0 && column + dx < SIZE && row + dy >= 0 && row + dy < SIZE
        const seen = square + dy * SIZE + dx
        const cell = (dy + SIGHT) * VIEW + dx + SIGHT
        view[cell] = inside && maze.open[seen] === 1 ? 0 : 1
        if (!inside) continue
        if (lastVisit[seen] >= 0) view[VIEW * VIEW + cell] = 1 / (1 + (steps - lastVisit[seen]) / SCENT_HALF_AGE)
        if (seen === maze.goal) view[2 * VIEW * VIEW + cell] = 1
      }
    }
    const goalColumn = maze.goal % SIZE
    const goalRow = Math.floor(maze.goal / SIZE)
    return { view, compass: [(goalColumn - column) / SIZE, (goalRow - row) / SIZE] }
  },

  /** Walls are illegal moves. */
  actionMask({ maze, square }) {
    return MOVES.map((move) => maze.open[square + move] === 1)
  },

  metrics({ maze, square, steps }) {
    const solved = square === maze.goal
    return { solved: solved ? 1 : 0, path_efficiency: solved ? maze.shortest / steps : 0 }
  },

  /** Sees the whole maze, and walks a shortest way. */
  oracle({ maze, square }) {
    const distance = distancesFrom(maze.open, maze.goal)
    return MOVES.findIndex((move) => distance[square + move] === distance[square] - 1)
  },
})

/** Training meets its mazes again and again, so they are made once; a held-out maze is hardly met twice. */
const made: Maze[] = []

function mazeOf(task: { split: 'train' | 'eval'; index: number }): Maze {
  if (task.split === 'eval') return generateMazeOf('eval', createRng(mazeSeed(task)))
  made[task.index] ??= generateMazeOf('train', createRng(mazeSeed(task)))
  return made[task.index]
}

/** Seeds of training are below 2^30, those of evaluation from there on. */
function mazeSeed(task: { split: 'train' | 'eval'; index: number }): number {
  return task.split === 'train' ? task.index : 0x4000_0000 + task.index
}
