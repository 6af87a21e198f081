import { z } from 'zod'

const count = z.int().nonnegative()

/** A run keeps at most this many of the episodes that are sampled during training. */
export const mostRunEpisodes = 12

/** Where in training an episode was sampled, and how it ended. */
export const runEpisodeFields = {
  iteration: count,
  /** Environment steps of training before it. */
  steps: count,
  /** Of the whole episode, of which a sample may have the first steps alone. */
  return: z.number(),
  length: z.int().positive(),
}

export const runEpisodeSchema = z.object(runEpisodeFields).meta({ id: 'RunEpisode' })
export type RunEpisode = z.infer<typeof runEpisodeSchema>

/** In order of steps. */
export const runEpisodeListSchema = z.object({ episodes: z.array(runEpisodeSchema) }).meta({ id: 'RunEpisodeList' })

/**
 * The episodes to keep, in order of steps: the first, the latest, and others spread evenly in between. One at a time, drops the
 * episode whose neighbors are closest to each other, so that no gap that this makes is wider than 2 / (most - 1) of all steps.
 */
export function thinEpisodes<Episode extends { steps: number }>(
  episodes: readonly Episode[],
  most: number = mostRunEpisodes,
): Episode[] {
  const kept = [...episodes].sort((a, b) => a.steps - b.steps)
  while (kept.length > Math.max(2, most)) {
    let closest = 1
    for (let i = 2; i < kept.length - 1; i++) if (gapWithout(kept, i) < gapWithout(kept, closest)) closest = i
    kept.splice(closest, 1)
  }
  return kept
}

function gapWithout(episodes: readonly { steps: number }[], index: number): number {
  return episodes[index + 1].steps - episodes[index - 1].steps
}
