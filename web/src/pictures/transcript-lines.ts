import type { SampleEpisode } from '@agentgym/contract'
import { actionName, seenAt } from './episode-moments.ts'
import { shownNumber } from './shown-number.ts'

/** What was read before the first action. */
export function transcriptTexts(episode: SampleEpisode): string[] {
  return seenAt(episode, 0).texts.filter((text) => text.trim() !== '')
}

export type TranscriptCall = {
  action: string
  reward: number
  /** Numbers of the observation that changed with it, and texts that did. */
  changes: string[]
}

/** What was done about it, call by call. `facts` names the observation's numbers, in order. */
export function transcriptCalls(episode: SampleEpisode, facts: readonly string[] = []): TranscriptCall[] {
  return episode.steps.map((step, index) => {
    const after = seenAt(episode, index + 1)
    const numbers = facts.flatMap((fact, column) => {
      const [was, is] = [step.observation[column] ?? 0, after.observation[column] ?? 0]
      return was === is ? [] : [`${fact}: ${yesNo(is)}`]
    })
    const texts = after.texts.filter((text, leaf) => text !== step.texts[leaf] && text.trim() !== '')
    return { action: actionName(episode, step.action), reward: step.reward, changes: [...numbers, ...texts] }
  })
}

function yesNo(value: number): string {
  if (value === 1) return 'yes'
  if (value === -1) return 'no'
  return shownNumber(value)
}
