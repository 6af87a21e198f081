import type { PriceKind } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { heldFirst, heldPrice, inEffect } from '../entitlements/index.ts'
import { lockPackage } from '../packages/index.ts'

export function priceTasks(services: Pick<Services, 'database'>): ScheduledTask[] {
  return [{ name: 'market.prices-take-effect', everyMs: 30_000, run: () => takeEffect(services) }]
}

/** Updates the price that lists show and filter by. Orders read the current price from `prices`. */
export async function showPrice(
  query: Queries,
  packageId: string,
  { kind, amount_minor: amountMinor }: { kind: PriceKind; amount_minor: number },
): Promise<void> {
  await query
    .updateTable('packages')
    .set({ price_kind: kind, price_minor: amountMinor })
    .where('id', '=', packageId)
    .execute()
}

/**
 * Applies announced prices and terms that are due: lists show the new prices, and the new terms replace the old ones.
 */
export async function takeEffect({ database }: Pick<Services, 'database'>): Promise<void> {
  for (const { id, name } of await changedPackages(database.query))
    await database.transaction(async (query) => {
      await lockPackage(database, query, name)
      await refreshPrice(query, id)
    })
  await sql`
    update sale_terms set royalty_basis_points = next_royalty_basis_points, calls_price_minor = next_calls_price_minor,
      trial_calls = next_trial_calls, next_royalty_basis_points = null, next_calls_price_minor = null,
      next_trial_calls = null, next_at = null, updated_at = next_at
    where next_at <= now()`.execute(database.query)
}

async function changedPackages(query: Queries): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    select packages.id, packages.name
    from (
      select distinct on (package_id) package_id, kind, amount_minor from prices
      where ${inEffect} order by package_id, ${heldFirst}
    ) held join packages on packages.id = held.package_id
    where (packages.price_kind, packages.price_minor) <> (held.kind, held.amount_minor)`.execute(query)
  return rows
}

async function refreshPrice(query: Transaction<Schema>, packageId: string): Promise<void> {
  const { kind, amountMinor } = await heldPrice(query, packageId)
  await showPrice(query, packageId, { kind, amount_minor: amountMinor })
}
