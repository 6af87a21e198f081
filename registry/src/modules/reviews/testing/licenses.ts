import { randomUUID } from 'node:crypto'
import type { Actor } from '../../../core/access/authorize.ts'
import { putMember } from '../../../core/access/memberships.store.ts'
import type { Database } from '../../../core/database/database.ts'
import { insertAccount } from '../../accounts/accounts.store.ts'

type License = {
  buyer: string
  name: string
  version?: string
  totalMinor?: number
  priceKind?: 'one_time' | 'per_run'
}

/** Inserts rows as a purchase leaves them, without the money; returns the order. */
export async function insertLicense(
  { query }: Database,
  { buyer, name, version = '1.0.0', totalMinor = 500, priceKind = 'one_time' }: License,
): Promise<string> {
  const row = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['versions.id', 'packages.id as package_id', 'packages.owner_id'])
    .where('packages.name', '=', name)
    .where('versions.version', '=', version)
    .executeTakeFirstOrThrow()
  const major = Number(version.split('.')[0])
  const id = randomUUID()
  await query
    .insertInto('orders')
    .values({
      ...{ id, state: 'paid', buyer_id: buyer, placed_by: buyer, seller_id: row.owner_id, pay_with: 'balance' },
      ...{ package_id: row.package_id, version_id: row.id, major, price_kind: priceKind, total_minor: totalMinor },
      ...{ fee_minor: 0, royalty_minor: 0, currency: 'USD', paid_at: new Date() },
    })
    .execute()
  if (priceKind === 'one_time')
    await query
      .insertInto('entitlements')
      .values({ order_id: id, holder_id: buyer, package_id: row.package_id, major })
      .execute()
  return id
}

/** As a whole refund leaves it. */
export async function revokeLicense({ query }: Database, order: string): Promise<void> {
  await query.updateTable('entitlements').set({ revoked_at: new Date() }).where('order_id', '=', order).execute()
  await query.updateTable('orders').set({ state: 'refunded', ended_at: new Date() }).where('id', '=', order).execute()
}

/** A price that took effect a while ago, or takes effect now. */
export async function insertPrice(
  { query }: Database,
  {
    seller,
    packageId,
    amountMinor,
    at = new Date(),
  }: { seller: Actor; packageId: string; amountMinor: number; at?: Date },
): Promise<void> {
  await query
    .insertInto('prices')
    .values({
      ...{ package_id: packageId, kind: amountMinor === 0 ? 'free' : 'one_time', amount_minor: amountMinor },
      ...{ currency: 'USD', effective_at: at, set_by: seller.accountId },
    })
    .execute()
}

/** An organization with that member. */
export async function organizationWith(database: Database, member: Actor, role: 'viewer' | 'owner' = 'viewer') {
  return database.transaction(async (query) => {
    const { id, username } = await insertAccount(query, {
      kind: 'organisation',
      username: `org${randomUUID().slice(0, 13)}`,
    })
    await putMember(query, id, member.accountId, role)
    return { id, username }
  })
}
