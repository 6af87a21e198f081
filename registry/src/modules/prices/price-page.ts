import type { Price, PricePage } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { priceEntries, priceOf, type StoredPrice, unsetPrice, upcomingPrices } from '../entitlements/index.ts'
import { findReadablePackage, type ReadablePackage } from '../packages/index.ts'
import { type StoredTerms, saleTerms } from './sale-terms.ts'

/** A package's current, upcoming and past prices, if it is visible to the actor. Throws `package_not_found`. */
export async function pricePage(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  name: string,
): Promise<PricePage> {
  const found = await findReadablePackage(database.query, actor, name)
  const { current, upcoming, history, terms } = await pricesNow(database.query, found, config.training.currency)
  const { next, ...said } = terms
  return { package: found.name, current, upcoming, history, ...said, upcoming_terms: announced(next) }
}

function announced(next: StoredTerms['next']): PricePage['upcoming_terms'] {
  if (next === null) return null
  const { at, ...terms } = next
  return { ...terms, effective_at: at.toISOString() }
}

export type PricesNow = {
  current: Price
  upcoming: Price | null
  /** All prices that were ever in effect, newest first. */
  history: Price[]
  terms: StoredTerms
}

/** Current prices and terms of a package. `currency`: used if the package never had a price. */
export async function pricesNow(
  query: Queries,
  found: Pick<ReadablePackage, 'id' | 'created_at'>,
  currency: string,
): Promise<PricesNow> {
  const at = await databaseTime(query)
  const entries = await priceEntries(query, found.id)
  return pricesAt(found, { at, entries, terms: await saleTerms(query, found.id, at) }, currency)
}

/** The same, from all prices ever set and the terms in effect `at` that time. */
export function pricesAt(
  found: Pick<ReadablePackage, 'id' | 'created_at'>,
  { at, entries, terms }: { at: Date; entries: StoredPrice[]; terms: StoredTerms },
  currency: string,
): PricesNow {
  const history = entries
    .filter(({ withdrawnAt, effectiveAt }) => !withdrawnAt && effectiveAt <= at)
    .reverse()
    .map(priceOf)
  const [upcoming] = upcomingPrices(entries, at)
  return {
    current: history.at(0) ?? unsetPrice(found, currency),
    upcoming: upcoming === undefined ? null : priceOf(upcoming),
    history,
    terms,
  }
}

/** The current time for prices, in milliseconds, by the database's clock, which all replicas share. */
export async function databaseTime(query: Queries): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select date_trunc('milliseconds', clock_timestamp()) as at`.execute(query)
  return rows[0].at
}
