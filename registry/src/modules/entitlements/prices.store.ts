import type { Price, PriceKind } from '@agentgym/contract'
import { type Selectable, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { PriceTable } from '../../core/database/market-schema.ts'

/** An entry of a package's prices as the rules know it, with its id and currency. */
export type StoredPrice = PriceEntry & { id: string; currency: string }

/** A package's current price. `id` is null if no price was ever set: it is free. */
export type HeldPrice = { id: string | null; kind: PriceKind; amountMinor: number; currency: string | null }

/**
 * SQL that orders the prices of a package that have taken effect, the current one first, in the same order as
 * `priceAt`. `now()` is the start of the transaction, so all of it sees one price.
 */
export const inEffect = sql<boolean>`prices.withdrawn_at is null and prices.effective_at <= now()`
export const heldFirst = sql`prices.effective_at desc, prices.created_at desc, prices.id`

/** The package's current price, which lists may not show yet. One round trip. */
export async function heldPrice(query: Queries, packageId: string): Promise<HeldPrice> {
  const row = await query
    .selectFrom('prices')
    .select(['id', 'kind', 'amount_minor', 'currency'])
    .where('package_id', '=', packageId)
    .where(inEffect)
    .orderBy(heldFirst)
    .limit(1)
    .executeTakeFirst()
  return heldPriceOf(row)
}

export function heldPriceOf(
  row: { id: string | null; kind: PriceKind | null; amount_minor: number | null; currency: string | null } | undefined,
): HeldPrice {
  if (row === undefined || row.kind === null || row.amount_minor === null)
    return { id: null, kind: 'free', amountMinor: 0, currency: null }
  return { id: row.id, kind: row.kind, amountMinor: row.amount_minor, currency: row.currency }
}

/** All prices ever set, oldest first. */
export async function priceEntries(query: Queries, packageId: string): Promise<StoredPrice[]> {
  const rows = await query
    .selectFrom('prices')
    .selectAll()
    .where('package_id', '=', packageId)
    .orderBy('effective_at')
    .orderBy('created_at')
    .execute()
  return rows.map(entryOf)
}

export function entryOf(row: Omit<Selectable<PriceTable>, 'package_id' | 'set_by'>): StoredPrice {
  const { id, kind, amount_minor, currency, effective_at, created_at, withdrawn_at } = row
  return {
    id,
    kind,
    amountMinor: BigInt(amount_minor),
    currency,
    effectiveAt: effective_at,
    createdAt: created_at,
    withdrawnAt: withdrawn_at,
  }
}

export function priceOf({ id, kind, amountMinor, currency, effectiveAt, createdAt }: StoredPrice): Price {
  return {
    id,
    kind,
    amount_minor: Number(amountMinor),
    currency,
    effective_at: effectiveAt.toISOString(),
    created_at: createdAt.toISOString(),
  }
}

/** The price of a package for which none was ever set: free from the beginning. Its id is the package's id. */
export function unsetPrice({ id, created_at: createdAt }: { id: string; created_at: Date }, currency: string): Price {
  const at = createdAt.toISOString()
  return { id, kind: 'free', amount_minor: 0, currency, effective_at: at, created_at: at }
}

/** Whether a license grants buyers nothing: npm's keyword for "all rights reserved". */
export function isUnlicensed(license: string | null): boolean {
  return license?.trim().toUpperCase() === 'UNLICENSED'
}

/** A package's price: free, one-time, or per run. `amountMinor` is 0 if it is free. */
export type PriceTerms = { kind: PriceKind; amountMinor: bigint }

/** A price that was set, and when it takes effect. One withdrawn before then never takes effect. */
export type PriceEntry = PriceTerms & { effectiveAt: Date; createdAt: Date; withdrawnAt?: Date | null }

const free: PriceTerms = { kind: 'free', amountMinor: 0n }

/**
 * When a price set now takes effect: an increase after the notice period, anything else at once. An increase is
 * anything that may cost a buyer more: a higher price of the same kind, any price for a free package, per-run instead
 * of one-time, or a one-time price above the price per run.
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

/** The price at a given time: the latest to take effect; of two at the same time, the one set last. */
export function priceAt<Entry extends PriceEntry>(entries: readonly Entry[], at: Date): Entry | typeof free {
  return entries.filter((entry) => isHeld(entry) && entry.effectiveAt <= at).sort(latestFirst)[0] ?? free
}

/** Announced prices that have not taken effect yet, the next one first. */
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
