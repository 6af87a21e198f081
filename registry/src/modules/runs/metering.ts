import { trainingCostMinor } from '@agentgym/contract'

/** Of a run's row, what its cost is made of. */
export type Metered = {
  price_minor_per_hour: number | null
  attempt_price_milliseconds: number
  attempt_metered_ms: number
  price_milliseconds: number
  budget_minor: number | null
}

const millisecondsPerHour = 3_600_000
/** How far a worker's clock may be ahead of ours within one attempt. */
const clockSlackMs = 1_000
const warnedShare = 0.75

/**
 * The run's meter after a worker has told its training time in this attempt. What it tells counts up to the time since its
 * lease, and never less than it has told before. `price_milliseconds` is Σ price an hour × milliseconds.
 */
export function meter(
  run: Metered,
  { meteredMs, leasedMs }: { meteredMs: number; leasedMs: number },
): Pick<Metered, 'attempt_metered_ms' | 'price_milliseconds'> {
  const possible = Math.floor(Math.min(meteredMs, Math.max(0, leasedMs) + clockSlackMs))
  const metered = Math.max(run.attempt_metered_ms, possible)
  const price = run.attempt_price_milliseconds + (run.price_minor_per_hour ?? 0) * metered
  return {
    attempt_metered_ms: metered,
    price_milliseconds: Math.min(Math.max(run.price_milliseconds, price), Number.MAX_SAFE_INTEGER),
  }
}

/** What the run costs so far, in minor units: never more than its budget. */
export function spentMinor({ price_milliseconds, budget_minor }: Pick<Metered, 'price_milliseconds' | 'budget_minor'>) {
  return Math.min(trainingCostMinor(price_milliseconds), budget_minor ?? Number.POSITIVE_INFINITY)
}

/** Whether all of the budget is used. A run without one goes on for ever. */
export function isSpent({ price_milliseconds, budget_minor }: Pick<Metered, 'price_milliseconds' | 'budget_minor'>) {
  return budget_minor !== null && price_milliseconds >= budget_minor * millisecondsPerHour
}

/** Whether so much of the budget is used that its owner is to be told. */
export function isNearlySpent({
  price_milliseconds,
  budget_minor,
}: Pick<Metered, 'price_milliseconds' | 'budget_minor'>) {
  return budget_minor !== null && price_milliseconds >= warnedShare * budget_minor * millisecondsPerHour
}
