import { emptyParts, episodeOf, type LoggedEpisode, type TraceFormat, type TraceParts } from './logged-episode.ts'
import { readRecords } from './read-records.ts'

/**
 * Traces that are open at once: their pieces come in any order, but near each other. The one that was added to least recently is
 * closed first.
 */
const OPEN_TRACES = 5_000

export type ReadCounts = {
  /** JSON values that were read, and those of no known format. */
  values: number
  unknown: number
  /** Traces by format. */
  formats: Partial<Record<TraceFormat, number>>
  /** Traces in which no message of a user was found. */
  withoutRequest: number
}

export function noCounts(): ReadCounts {
  return { values: 0, unknown: 0, formats: {}, withoutRequest: 0 }
}

/**
 * The episodes in the values of one or more logs, each as soon as its trace is complete. Counts into `counts`. Memory holds at most
 * 5,000 open traces, and the scores of traces.
 */
export async function* assembleEpisodes(
  values: AsyncIterable<unknown>,
  counts: ReadCounts,
): AsyncGenerator<LoggedEpisode> {
  const open = new Map<string, TraceParts>()
  const scores = new Map<string, TraceParts>()
  for await (const value of values) {
    counts.values += 1
    const records = readRecords(value, counts.values)
    if (records.length === 0) counts.unknown += 1
    for (const { format, trace, whole, score, add } of records) {
      const key = `${format} ${trace}`
      if (score) {
        const held = scores.get(key) ?? emptyParts(trace)
        scores.set(key, held)
        add(held)
        continue
      }
      const known = open.get(key)
      if (known === undefined) counts.formats[format] = (counts.formats[format] ?? 0) + 1
      const parts = known ?? emptyParts(trace)
      add(parts)
      // Behind all others: it was added to last.
      open.delete(key)
      open.set(key, parts)
      if (whole) yield* close(key)
    }
    // Scores of a trace may follow it in the log; where they come first, all of them are known.
    while (open.size > OPEN_TRACES) yield* close(open.keys().next().value as string)
  }
  for (const key of [...open.keys()]) yield* close(key)

  function* close(key: string): Generator<LoggedEpisode> {
    const parts = open.get(key)
    open.delete(key)
    if (parts === undefined) return
    Object.assign(parts.outcomes, scores.get(key)?.outcomes)
    scores.delete(key)
    const episode = episodeOf(parts)
    if (episode === null) counts.withoutRequest += 1
    else yield episode
  }
}
