import type { PriceKind } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import { type HeldPrice, heldFirst, heldPriceOf, inEffect } from './prices.store.ts'

/** A licence that somebody holds, themselves or through an organisation. */
export type Licence = { orderId: string; used: boolean }

/** How somebody stands to a major version of a package at this moment. */
export type Standing = {
  price: HeldPrice
  takenDown: TakenDown | null
  licence: Licence | null
}

/** `forAll`: those who have bought it, too. */
export type TakenDown = { at: Date; reason: string | null; forAll: boolean }

type Row = {
  id: string | null
  kind: PriceKind | null
  amount_minor: number | null
  currency: string | null
  taken_down_at: Date | null
  taken_down_reason: string | null
  taken_down_for_all: boolean
  order_id: string | null
  used_at: Date | null
}

/**
 * Price, licence and whether it was taken down, in one round trip and so of one moment. A token needs the scope
 * `packages:read` for what was bought, as for what is private: without it, it holds nothing.
 */
export async function standingOf(
  query: Queries,
  actor: Actor | null,
  { packageId, major }: { packageId: string; major: number },
): Promise<Standing> {
  const { rows } = await sql<Row>`
    select price.id, price.kind, price.amount_minor, price.currency,
      packages.taken_down_at, packages.taken_down_reason, packages.taken_down_for_all, licence.order_id, licence.used_at
    from packages
    left join lateral (
      select id, kind, amount_minor, currency from prices
      where prices.package_id = packages.id and ${inEffect} order by ${heldFirst} limit 1
    ) price on true
    left join lateral (${licencesOf(actor, sql`entitlements.major = ${major}`)} limit 1) licence on true
    where packages.id = ${packageId}`.execute(query)
  const [row] = rows
  const { taken_down_at: at, taken_down_reason: reason, taken_down_for_all: forAll } = row
  return {
    price: heldPriceOf(row),
    takenDown: at === null ? null : { at, reason, forAll },
    licence: row.order_id === null ? null : { orderId: row.order_id, used: row.used_at !== null },
  }
}

/**
 * Licences of a row of `packages` that the actor may use, their own first. What is paid by the run gives no licence; a
 * licence that was bought holds whatever the package costs by now.
 */
function licencesOf(actor: Actor | null, which: ReturnType<typeof sql>) {
  const holder = actor?.scopes.has('packages:read') ? actor.accountId : null
  return sql`
    select entitlements.order_id, entitlements.used_at
    from entitlements join orders on orders.id = entitlements.order_id
    where entitlements.package_id = packages.id and ${which} and entitlements.revoked_at is null
      and orders.price_kind <> 'per_run'
      and (entitlements.holder_id = ${holder}::uuid
        or entitlements.holder_id in (select organisation_id from memberships where user_id = ${holder}::uuid))
    order by entitlements.holder_id = ${holder}::uuid desc, entitlements.granted_at`
}

/** Whether the actor holds a licence of any major version. */
export async function holdsAnyLicence(query: Queries, actor: Actor | null, packageId: string): Promise<boolean> {
  const { rows } = await sql<{ holds: boolean }>`
    select exists (${licencesOf(actor, sql`true`)}) as holds from packages where id = ${packageId}`.execute(query)
  return rows[0]?.holds ?? false
}

/**
 * Notes that a licence was used, which ends its buyer's right to give it back unasked. False where it was used before, or is
 * no longer held: a refund at the same moment came first.
 */
export async function useLicence(query: Queries, orderId: string): Promise<boolean> {
  const { rows } = await sql<{ order_id: string }>`
    update entitlements set used_at = now()
    where order_id = ${orderId} and revoked_at is null and used_at is null returning order_id`.execute(query)
  return rows.length === 1
}
