import type { ProgressEvent } from '@agentgym/contract'

/** A point of a curve: iteration `iteration` of steps of 2,048, with these differences. */
export function progressPoint(iteration: number, changes: Partial<ProgressEvent> = {}): ProgressEvent {
  return {
    event: 'progress',
    iteration,
    steps: iteration * 2048,
    steps_total: 100_000,
    steps_per_second: 12_345.5,
    seconds: iteration * 0.25,
    collect_seconds: 0.125,
    update_seconds: 0.0625,
    episodes: 3,
    episodes_total: iteration * 3,
    return_mean: iteration * 1.5,
    length_mean: 20,
    metrics: { solved: 0.5 },
    learner: {
      policy_loss: -0.015625,
      value_loss: 2.5,
      entropy: 0.6875,
      approximate_kl: 1e-7,
      clip_fraction: 0,
      explained_variance: -0.25,
      kl_to_reference: null,
      zero_variance_groups: null,
      gradient_norm: 0.5,
      learning_rate: 0.0003,
    },
    ...changes,
  }
}

/** Collects everything that a generator yields. */
export async function gather<Piece>(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const all: Piece[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}
