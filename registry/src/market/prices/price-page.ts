import type { PricePage } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../../auth/actor.ts'
import type { Queries } from '../../database/database.ts'
import { findReadablePackage } from '../../packages/packages.store.ts'
import type { Services } from '../../server/services.ts'
import { upcomingPrices } from '../rules/price-history.ts'
import { priceEntries, priceOf, type StoredPrice, unsetPrice } from './prices.store.ts'
import { saleTerms } from './sale-terms.ts'

/** What a package costs, will cost and has cost, for whoever may know of it. Throws `package_not_found`. */
export async function pricePage(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  name: string,
): Promise<PricePage> {
  const { query } = database
  const found = await findReadablePackage(query, actor, name)
  const at = await databaseTime(query)
  const entries = await priceEntries(query, found.id)
  const { next, ...terms } = await saleTerms(query, found.id, at)
  const held = heldEver(entries, at).map(priceOf)
  const [upcoming] = upcomingPrices(entries, at)
  return {
    package: found.name,
    current: held.at(0) ?? unsetPrice(found, config.training.currency),
    upcoming: upcoming === undefined ? null : priceOf(upcoming),
    history: held,
    ...terms,
    upcoming_terms:
      next === null
        ? null
        : {
            royalty_basis_points: next.royalty_basis_points,
            calls_price_minor: next.calls_price_minor,
            effective_at: next.at.toISOString(),
          },
  }
}

/** The clock that prices take effect by, to the millisecond: that of the database, which all replicas share. */
export async function databaseTime(query: Queries): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select date_trunc('milliseconds', clock_timestamp()) as at`.execute(query)
  return rows[0].at
}

/** Newest first. */
function heldEver(entries: readonly StoredPrice[], at: Date): StoredPrice[] {
  return entries.filter(({ withdrawnAt, effectiveAt }) => !withdrawnAt && effectiveAt <= at).reverse()
}
