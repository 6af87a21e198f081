import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** An account and the agent that it calls. */
export type Called = { account: string; package: string; version: string }

/** The relation of an account to an agent that it calls, at this time. */
export type CallerAccess = {
  accountId: string
  packageId: string
  versionId: string
  name: string
  /** The account owns the agent or belongs to its owner: its calls cost nothing. */
  own: boolean
  free: boolean
  /** It holds a license for the major version, directly or through an organization. */
  bought: boolean
  takenDown: { at: Date; reason: string | null; forAll: boolean } | null
  /** Free calls that the seller grants to each account. */
  trialCalls: number
  /** Price of 1,000 calls. */
  callsPriceMinor: number
}

type Row = {
  ordinal: number
  account_id: string | null
  package_id: string | null
  version_id: string | null
  name: string | null
  kind: 'scenario' | 'agent' | null
  own: boolean
  hidden: boolean
  free: boolean
  bought: boolean
  taken_down_at: Date | null
  taken_down_reason: string | null
  taken_down_for_all: boolean
  trial_calls: number
  calls_price_minor: number
}

/** The problem with a call: the account, an agent visible to it, or a published version does not exist. */
export type Unknown = 'account' | 'package' | 'version' | 'kind'

/** One per call, in order, in one round trip. */
export async function readCallerAccess(
  query: Queries,
  called: readonly Called[],
): Promise<(CallerAccess | { unknown: Unknown })[]> {
  const request = called.map((one, ordinal) => ({
    ordinal,
    account: one.account.toLowerCase(),
    package: one.package.toLowerCase(),
    version: one.version,
  }))
  const { rows } = await sql<Row>`
    select request.ordinal, account.id as account_id, package.id as package_id, version.id as version_id, package.name,
      package.kind, coalesce(membership.own, false) as own,
      package.visibility = 'private' and not membership.own as hidden,
      coalesce(price.kind, 'free') = 'free' as free,
      exists (select from entitlements join orders on orders.id = entitlements.order_id
        where entitlements.package_id = package.id and entitlements.revoked_at is null
          and entitlements.major = split_part(version.version, '.', 1)::bigint and orders.price_kind <> 'per_run'
          and (entitlements.holder_id = account.id or entitlements.holder_id in (
            select organisation_id from memberships where user_id = account.id))) as bought,
      package.taken_down_at, package.taken_down_reason, package.taken_down_for_all,
      coalesce(case when terms.next_at <= now() then terms.next_trial_calls else terms.trial_calls end, 0) as trial_calls,
      coalesce(case when terms.next_at <= now() then terms.next_calls_price_minor else terms.calls_price_minor end, 0)
        as calls_price_minor
    from jsonb_to_recordset(${JSON.stringify(request)}::text::jsonb)
      as request (ordinal integer, account text, package text, version text)
    left join accounts account on account.username = request.account and account.disabled_at is null
    left join packages package on package.name = request.package
    left join versions version on version.package_id = package.id and version.version = request.version
      and version.state = 'published'
    left join sale_terms terms on terms.package_id = package.id
    left join lateral (select package.owner_id = account.id or exists (
      select from memberships where organisation_id = package.owner_id and user_id = account.id) as own) membership on true
    left join lateral (
      select kind from prices where prices.package_id = package.id and withdrawn_at is null and effective_at <= now()
      order by effective_at desc, created_at desc, id limit 1) price on true
    order by request.ordinal`.execute(query)
  return rows.map(accessOfRow)
}

function accessOfRow(row: Row): CallerAccess | { unknown: Unknown } {
  const { account_id: accountId, package_id: packageId, version_id: versionId, name } = row
  if (accountId === null) return { unknown: 'account' }
  if (packageId === null || name === null || row.hidden) return { unknown: 'package' }
  if (row.kind !== 'agent') return { unknown: 'kind' }
  if (versionId === null) return { unknown: 'version' }
  const { taken_down_at: at, taken_down_reason: reason, taken_down_for_all: forAll } = row
  return {
    ...{ accountId, packageId, versionId, name, own: row.own, free: row.free, bought: row.bought },
    takenDown: at === null ? null : { at, reason, forAll },
    trialCalls: row.trial_calls,
    callsPriceMinor: row.own ? 0 : row.calls_price_minor,
  }
}

/**
 * Whether calls count toward the trial: the agent is not the caller's own, and calls cost money or need a license.
 * Every account has the trial, with or without a license.
 */
export function isOnTrial({ own, bought, free, callsPriceMinor }: CallerAccess): boolean {
  return !own && !((bought || free) && callsPriceMinor === 0)
}

/** Price of 1,000 calls beyond the trial. A caller without access has not agreed to any price. */
export function callsPrice({ own, bought, free, callsPriceMinor }: CallerAccess): number {
  return !own && (bought || free) ? callsPriceMinor : 0
}
