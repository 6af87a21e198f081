/** For tests of scenarios that observe texts. */
import { tokenize } from '@agentgym/scenario'

/**
 * Words of these texts that have the same token in a vocabulary of this size: an agent cannot tell them apart. A size without such
 * words is to be found by trying.
 */
export function sharedTokens(texts: Iterable<string>, vocabulary: number): string[][] {
  const byToken = new Map<number, Set<string>>()
  for (const text of texts) {
    for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
      const [token] = tokenize(word, { maxTokens: 1, vocabulary })
      byToken.set(token, (byToken.get(token) ?? new Set()).add(word))
    }
  }
  return [...byToken.values()].filter(({ size }) => size > 1).map((words) => [...words])
}
