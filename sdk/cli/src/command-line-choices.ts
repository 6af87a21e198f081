import { AgentGymError, nearestName } from '@agentgym/contract'

/** One of the words that an option takes. Throws `config_invalid` for another, with the nearest. */
export function oneOf<Word extends string>(field: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  const nearest = nearestName(text, words)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, which is none of ${words.join(', ')}`,
    hint: nearest ? `Did you mean ${nearest}?` : 'Name one of them.',
    data: { field, ...(nearest ? { suggestion: nearest } : {}) },
  })
}
