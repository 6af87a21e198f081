import type { SampleEpisode } from '@agentgym/contract'
import { shownNumber } from './shown-number.ts'

export type Seen = SampleEpisode['last']

/** What was seen before action `index`, or, after the last one, at the end. */
export function seenAt(episode: SampleEpisode, index: number): Seen {
  return episode.steps[index] ?? episode.last
}

/** The last index: one more than there are actions. */
export function lastMoment(episode: SampleEpisode): number {
  return episode.steps.length
}

/** Sum of the rewards of the first `index` actions. */
export function returnAt(episode: SampleEpisode, index: number): number {
  return episode.steps.slice(0, index).reduce((sum, { reward }) => sum + reward, 0)
}

/** A choice by its name, numbers as they are: `right`, `tool: refund, amount: 2`, `0.5, −1`. */
export function actionName(episode: SampleEpisode, action: readonly number[]): string {
  let column = 0
  const parts = episode.action.map(({ name, kind, size, labels }) => {
    const values = action.slice(column, column + size)
    column += size
    const shown =
      kind === 'discrete' ? (labels[values[0]] ?? `action ${values[0] ?? 0}`) : values.map(shownNumber).join(', ')
    return name === '' ? shown : `${name}: ${shown}`
  })
  return parts.join(', ') || 'no action'
}

/** What a column of the observation is called: by the view's own names, else by its leaf. */
export function columnNames(episode: SampleEpisode): string[] {
  const names: string[] = []
  for (const { name, size } of episode.observation) {
    for (let i = 0; i < size && names.length < 256; i++) {
      const base = name === '' ? 'observation' : name
      names.push(size === 1 && name !== '' ? base : `${base}[${i}]`)
    }
  }
  return names
}

const ends = {
  terminated: 'the scenario ended it',
  truncated: 'the time limit ended it',
  cut: 'it went on',
} as const

/** Who played, how far, and what came of it. */
export function episodeSummary(episode: SampleEpisode): string {
  const steps = episode.steps.length
  const who = episode.policy === 'agent' ? 'The trained agent' : 'Random actions'
  const total = shownNumber(Number(returnAt(episode, steps).toPrecision(4)))
  return `${who}: ${steps} ${steps === 1 ? 'step' : 'steps'}, return ${total}; ${ends[episode.end]}.`
}
