import { AgentGymError } from '@agentgym/contract'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { EpisodeStart } from './episode-seat.ts'

export const splitNames = ['train', 'validation', 'test'] as const
export type SplitName = (typeof splitNames)[number]

/** A scenario without tasks has episodes instead, by their numbers. */
const EPISODES = 1_000_000_000

type Tasks = Pick<ScenarioDescription, 'tasks'>

/** Numbers of ours that a split stands for: from `first`, `count` of them. */
type Range = { split: 'train' | 'eval'; first: number; count: number }

/**
 * The splits of a scenario. Ours are training and held-out tasks; the first half of those that are held out is `test`, the second is
 * `validation`, so that a trainer can choose by one what it reports on the other. Without held-out tasks there is only `train`.
 */
function ranges({ tasks }: Tasks): Map<SplitName, Range> {
  const train = tasks.train === 0 ? EPISODES : tasks.train
  const heldOut = tasks.train === 0 ? EPISODES : tasks.eval
  const test = Math.ceil(heldOut / 2)
  const all: [SplitName, Range][] = [
    ['train', { split: 'train', first: 0, count: train }],
    ['validation', { split: 'eval', first: test, count: heldOut - test }],
    ['test', { split: 'eval', first: 0, count: test }],
  ]
  return new Map(all.filter(([, { count }]) => count > 0))
}

export function splitsOf(scenario: Tasks): SplitName[] {
  return [...ranges(scenario).keys()]
}

/** Tasks of a split. Throws `request_invalid` for a split that the scenario does not have. */
export function tasksIn(scenario: Tasks, split: string): number {
  return rangeOf(scenario, split).count
}

function rangeOf(scenario: Tasks, split: string): Range {
  const found = ranges(scenario).get(split as SplitName)
  if (found !== undefined) return found
  throw refuse(
    'split',
    `there is no split ${JSON.stringify(split.slice(0, 80))}; there are ${splitsOf(scenario).join(', ')}`,
  )
}

type Requested = { seed: number; split?: string; index?: number }

/**
 * The episode of a request. With a split and an index it plays that task, in the episode of that number; else a task drawn by the seed,
 * among those of training: episode 0 of a training with that seed. Throws `request_invalid`.
 */
export function episodeStart(scenario: Tasks, { seed, split, index }: Requested): EpisodeStart {
  if (split === undefined && index === undefined) return { seed, split: 'train', episode: 0, numbered: false }
  if (split === undefined || index === undefined) {
    const missing = split === undefined ? 'split' : 'index'
    throw refuse(missing, 'a task is named by split and index together')
  }
  const range = rangeOf(scenario, split)
  if (!Number.isInteger(index) || index < 0 || index >= range.count)
    throw refuse('index', `${split} has the tasks 0 to ${range.count - 1}`)
  return { seed, split: range.split, episode: range.first + index, numbered: true }
}

function refuse(field: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "${field}" is invalid: ${why}.`,
    data: { field },
  })
}
