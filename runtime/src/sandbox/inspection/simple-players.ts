import { RandomActions } from '@agentgym/playing'
import {
  type ActionLeaf,
  actionLeaves,
  type EnvironmentBuffers,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'
import type { Use } from '../checks/repeat-checks.ts'
import { endedIn, type Played, type Policy, summary } from '../checks/whole-episodes.ts'
import type { ScenarioDescription } from '../vector-environment.ts'

const MOST_CONSTANTS = 12
/** Of a box: its lower bound (or -1), its middle, its upper bound (or 1). */
const BOX_CONSTANTS = 3

/** How many constant players a scenario has: one a choice of its largest component. */
export function countConstants({ action }: ScenarioDescription): number {
  const counts = actionLeaves(action)
    .filter(({ when }) => when === undefined)
    .map(({ kind, counts }) => (kind === 'box' ? BOX_CONSTANTS : Math.max(...counts)))
  return Math.min(MOST_CONSTANTS, Math.max(...counts))
}

/** What a constant player does, in words. */
export function constantName({ action }: ScenarioDescription, index: number): string {
  const label = action.type === 'discrete' ? action.labels?.[index] : undefined
  if (action.type === 'box') return `always the ${['lowest', 'middle', 'highest'][index]} action`
  return label === undefined ? `always action ${index}` : `always action ${index} (${label.slice(0, 64)})`
}

/** Always choice `index` of every component, or the next legal one; in boxes one of three points. */
export class ConstantActions implements Policy {
  readonly #leaves: ActionLeaf[]
  readonly #description: ScenarioDescription
  readonly #index: number

  constructor(description: ScenarioDescription, index: number) {
    this.#leaves = actionLeaves(description.action)
    this.#description = description
    this.#index = index
  }

  fill(buffers: EnvironmentBuffers): void {
    for (let row = 0; row < buffers.flags.length; row++) this.fillRow(buffers, row)
  }

  fillRow({ actions, masks }: EnvironmentBuffers, row: number): void {
    const { action, mask } = this.#description.sizes
    for (const leaf of this.#leaves) {
      const offset = row * action + leaf.offset
      if (leaf.kind === 'box') {
        for (let i = 0; i < leaf.size; i++) actions[offset + i] = pointOf(leaf, i, this.#index)
        continue
      }
      let column = row * mask + leaf.maskOffset
      for (const [component, count] of leaf.counts.entries()) {
        const wanted = Math.min(this.#index, count - 1)
        actions[offset + component] = mask === 0 ? wanted : nextLegal(masks, column, count, wanted)
        column += count
      }
    }
  }
}

function pointOf({ low, high }: ActionLeaf, column: number, index: number): number {
  const [from, to] = [low[column] ?? -1, high[column] ?? 1]
  return [from, (from + to) / 2, to][Math.min(index, BOX_CONSTANTS - 1)]
}

function nextLegal(masks: Uint8Array, from: number, count: number, wanted: number): number {
  for (let i = 0; i < count; i++) {
    const choice = (wanted + i) % count
    if (masks[from + choice] === 1) return choice
  }
  return wanted
}

const MOST_CANDIDATES = 8
const GREEDY_EPISODES = 4

/**
 * Tries actions one step ahead and takes the one with the highest reward; chance decides between equals. The environments
 * of a group play the same episode: each tries another action, and all are replayed to where the best one leads. Null
 * where no episode ended within the budget.
 */
export function playGreedily(use: Use, seed: number, budgetMs: number): Played | null {
  const rows = MOST_CANDIDATES
  return use({ environments: rows, seed, plan: { split: 'train', groupSize: rows } }, (environment) => {
    const { buffers, description } = environment
    const columns = description.sizes.action
    const constants = countConstants(description)
    const fixed = Array.from({ length: constants }, (_, index) => new ConstantActions(description, index))
    const random = new RandomActions(description, seed)
    const ends = []
    const endMs = performance.now() + budgetMs
    for (let episode = 0; episode < GREEDY_EPISODES; episode++) {
      const taken: number[] = []
      for (environment.reset(episode); ; ) {
        if (performance.now() > endMs) return ends.length === 0 ? null : summary(ends, environment.metricNames())
        random.fill(buffers)
        // A first candidate of chance, so that a tie of all is no constant player.
        for (let row = 1; row < rows && row <= constants; row++) fixed[row - 1].fillRow(buffers, row)
        environment.step()
        const best = bestRow(buffers.rewards)
        taken.push(...buffers.actions.subarray(best * columns, (best + 1) * columns))
        if ((buffers.flags[best] & (TERMINATED | TRUNCATED)) !== 0) {
          ends.push(endedIn(environment, best))
          break
        }
        const actions = Float32Array.from(taken)
        for (let row = 0; row < rows; row++) if (row !== best) environment.restore(row, episode, actions)
      }
    }
    return summary(ends, environment.metricNames())
  })
}

/** The first of the highest: row 0 plays at random. */
function bestRow(rewards: Float32Array): number {
  let best = 0
  for (let row = 1; row < rewards.length; row++) if (rewards[row] > rewards[best]) best = row
  return best
}
