import type { Turn } from './episode-session.ts'

/** The observation in words, and what may be done: all that a language model sees of a turn. */
export function turnText({ text, legalActions, done }: Turn): string {
  if (done) return `${text}\nThe episode has ended.`
  return legalActions === null ? text : `${text}\nLegal actions: ${legalActions.join('; ')}`
}
