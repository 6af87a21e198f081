import { AgentGymError, nearestName } from '@agentgym/contract'
import { safeText } from '../terminal/text.ts'

/** Which held-out episodes are played, by their numbers: with a level, only those of that level. */
export type EpisodeOrder = {
  /** Number of the episode that is played as the i-th, from 0. */
  number(i: number): number
  /** Name of the level that an episode belongs to; null where the scenario has no levels. */
  level(number: number): string | null
  /** Whether episodes of other levels are left out. */
  skips: boolean
}

export const levelOptionText = 'play one level only: its name, or its number from 1'

/**
 * The order for `--level`; every episode in turn where it is left out. `levels` are the names of the scenario's levels: episode
 * e is of level e modulo their number. Throws `config_invalid` for a level that the scenario does not have.
 */
export function episodeOrder(levels: readonly string[], chosen: string | undefined): EpisodeOrder {
  const level = (number: number) => (levels.length === 0 ? null : levels[number % levels.length])
  if (chosen === undefined) return { number: (i) => i, level, skips: false }
  const named = levels.indexOf(chosen)
  const index = named >= 0 || !/^\d{1,2}$/.test(chosen) ? named : Number(chosen) - 1
  if (index < 0 || index >= levels.length) throw noSuchLevel(levels, chosen)
  return { number: (i) => index + i * levels.length, level, skips: true }
}

function noSuchLevel(levels: readonly string[], chosen: string): AgentGymError {
  const shown = JSON.stringify(chosen.slice(0, 100))
  const nearest = nearestName(chosen, levels)
  const names = levels.map((name, i) => `${i + 1} ${name}`).join(', ')
  return new AgentGymError({
    code: 'config_invalid',
    message:
      levels.length === 0
        ? `--level is ${shown}, and the scenario has no levels`
        : `--level is ${shown}, which is no level`,
    hint:
      levels.length === 0
        ? 'Leave --level out.'
        : `${nearest === undefined ? '' : `Did you mean ${nearest}? `}The levels are: ${names}.`,
    data: { field: 'level', value: chosen.slice(0, 100) },
  })
}

/** `, level: NAME`, or nothing. */
export function levelText(order: EpisodeOrder, number: number): string {
  const level = order.level(number)
  return level === null ? '' : `, level: ${safeText(level, 40)}`
}
