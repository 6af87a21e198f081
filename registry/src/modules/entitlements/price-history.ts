import type { PriceKind } from '@agentgym/contract'

/** What a package costs: nothing, once, or for each run. `amountMinor` is 0 where it is free. */
export type PriceTerms = { kind: PriceKind; amountMinor: bigint }

/** One that was set, and from when it holds. One that is withdrawn before it held never holds. */
export type PriceEntry = PriceTerms & { effectiveAt: Date; createdAt: Date; withdrawnAt?: Date | null }

const free: PriceTerms = { kind: 'free', amountMinor: 0n }

/**
 * When a price that is set now takes effect: a raise after the notice period, anything else at once. A raise is whatever may
 * cost some buyer more: more of the same kind, a price for what was free, a price for each run instead of one for all of
 * them, and one for all of them that is above that of one run.
 */
export function priceTakesEffectAt(
  { current, next }: { current: PriceTerms; next: PriceTerms },
  { at, noticeMs }: { at: Date; noticeMs: number },
): Date {
  return isRaise(current, next) ? new Date(at.getTime() + noticeMs) : at
}

export function isRaise(current: PriceTerms, next: PriceTerms): boolean {
  if (next.kind === 'free') return false
  if (current.kind === 'one_time' && next.kind === 'per_run') return true
  return current.kind === 'free' || next.amountMinor > current.amountMinor
}

/** The one that holds at a moment: the latest that has taken effect; of two from the same moment the one set last. */
export function priceAt<Entry extends PriceEntry>(entries: readonly Entry[], at: Date): Entry | typeof free {
  return entries.filter((entry) => isHeld(entry) && entry.effectiveAt <= at).sort(latestFirst)[0] ?? free
}

/** What is announced: all that has not taken effect, the next one first. */
export function upcomingPrices<Entry extends PriceEntry>(entries: readonly Entry[], at: Date): Entry[] {
  return entries
    .filter((entry) => isHeld(entry) && entry.effectiveAt > at)
    .sort((first, second) => latestFirst(second, first))
}

const isHeld = ({ withdrawnAt }: PriceEntry): boolean => !withdrawnAt

function latestFirst(first: PriceEntry, second: PriceEntry): number {
  return (
    second.effectiveAt.getTime() - first.effectiveAt.getTime() || second.createdAt.getTime() - first.createdAt.getTime()
  )
}
