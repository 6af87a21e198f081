import type { SampleEpisode } from '@agentgym/contract'
import { actionName, lastMoment, returnAt } from './episode-moments.ts'
import { shownNumber } from './shown-number.ts'

/** A moment in words: what was done before it, what came of that, and what has come together. */
export function momentWords(episode: SampleEpisode, index: number): string {
  const sum = shownNumber(Number(returnAt(episode, index).toPrecision(4)))
  const step = episode.steps[index - 1]
  if (step === undefined) return `Start of ${lastMoment(episode)} steps.`
  return `Step ${index}: ${actionName(episode, step.action)}, reward ${shownNumber(step.reward)}, return so far ${sum}.`
}
