import { AgentGymError, type createOrderRequestSchema, formatAmount, type PriceKind } from '@agentgym/contract'
import { sql } from 'kysely'
import semver from 'semver'
import type { z } from 'zod'
import { type Actor, packageNotFound } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { heldFirst, inEffect, isUnlicensed, packageTakenDown } from '../entitlements/index.ts'
import { type Candidate, findablePackageName, selectVersion, versionNotFound } from '../packages/index.ts'

type CurrentPrice = { id: string | null; kind: PriceKind; amountMinor: number; currency: string }

/** The current state of what the buyer wants to buy. */
export type OrderSubject = {
  packageId: string
  name: string
  kind: 'scenario' | 'agent'
  seller: { id: string; username: string }
  version: { id: string; version: string; major: number; license: string | null }
  /** The seller's own terms; empty if there are none. */
  terms: string
  /** The buyer's order for a license of this major version, if any. */
  heldOrder: string | null
  /** Whether the caller belongs to the seller and may use it without a license. */
  member: boolean
  /** Buyer and seller share an owner, admin or payout bank account, or the caller belongs to the seller. */
  selfPurchase: boolean
  price: CurrentPrice
}

type Row = {
  id: string
  name: string
  kind: 'scenario' | 'agent'
  visibility: 'public' | 'private'
  owner_id: string
  seller: string
  taken_down_reason: string | null
  taken_down_at: Date | null
  price_id: string | null
  price_kind: PriceKind | null
  amount_minor: number | null
  currency: string | null
  member: boolean
  shared: boolean
  terms: string
  versions: (Candidate & { id: string; license: string | null })[] | null
  tags: Record<string, string> | null
  held: { major: number; order: string }[] | null
}

type Buying = { actor: Actor; buyerId: string; name: string; range: string; currency: string }

/**
 * Package, version, price and parties, in one round trip. Throws `package_not_found` (also for private packages),
 * `version_not_found`, `version_yanked`, `package_taken_down`.
 */
export async function findOrderSubject(query: Queries, buying: Buying): Promise<OrderSubject> {
  const name = findablePackageName(buying.name)
  const row = name === null ? undefined : await findRow(query, buying, name)
  if (row === undefined || !isVisible(row, buying.actor)) throw packageNotFound(buying.name.slice(0, 214))
  if (row.taken_down_at !== null && !row.member)
    throw packageTakenDown(row.name, { at: row.taken_down_at, reason: row.taken_down_reason })
  const version = chooseVersion(row, buying.range)
  return {
    packageId: row.id,
    name: row.name,
    kind: row.kind,
    seller: { id: row.owner_id, username: row.seller },
    version,
    terms: row.terms,
    heldOrder: row.held?.find(({ major }) => major === version.major)?.order ?? null,
    member: row.member,
    selfPurchase: row.member || row.shared,
    price: {
      id: row.price_id,
      kind: row.price_kind ?? 'free',
      amountMinor: row.amount_minor ?? 0,
      currency: row.currency ?? buying.currency,
    },
  }
}

/** The account itself and, for an organization, its owners and admins. */
const controllers = (account: ReturnType<typeof sql.ref> | ReturnType<typeof sql.val>) => sql`
  select ${account}::uuid as id
  union all select user_id from memberships where organisation_id = ${account} and role in ('owner', 'admin')`

async function findRow(query: Queries, { actor, buyerId }: Buying, name: string): Promise<Row | undefined> {
  const { rows } = await sql<Row>`
    select package.id, package.name, package.kind, package.visibility, package.owner_id, seller.username as seller,
      package.taken_down_at, package.taken_down_reason,
      price.id as price_id, price.kind as price_kind, price.amount_minor, price.currency,
      package.owner_id = ${actor.accountId} or exists (select from memberships
        where organisation_id = package.owner_id and user_id = ${actor.accountId}) as member,
      exists (select from (${controllers(sql.val(buyerId))}) buyers
        join (${controllers(sql.ref('package.owner_id'))}) sellers using (id))
        or exists (select from (${controllers(sql.val(buyerId))}) buyers
          join payout_destinations ours on ours.account_id = buyers.id
          join payout_destinations theirs on theirs.provider = ours.provider and theirs.payee = ours.payee
          join (${controllers(sql.ref('package.owner_id'))}) sellers on sellers.id = theirs.account_id) as shared,
      (select json_agg(json_build_object('id', id, 'version', version, 'deprecated', deprecated, 'license', manifest ->> 'license',
          'yanked', yanked_at is not null) order by created_at, id)
        from versions where package_id = package.id and state = 'published') as versions,
      coalesce((select terms from sale_terms where package_id = package.id), '') as terms,
      (select json_object_agg(tag, version) from tags where package_id = package.id) as tags,
      (select json_agg(json_build_object('major', major, 'order', order_id)) from entitlements
        where holder_id = ${buyerId} and package_id = package.id and revoked_at is null) as held
    from packages package join accounts seller on seller.id = package.owner_id
    left join lateral (
      select id, kind, amount_minor, currency from prices
      where prices.package_id = package.id and ${inEffect} order by ${heldFirst} limit 1
    ) price on true
    where package.name = ${name}`.execute(query)
  return rows[0]
}

/** As for reading: public packages with a published version are visible to everyone, others to members. */
function isVisible({ visibility, versions, member }: Row, { scopes }: Actor): boolean {
  return (visibility === 'public' && versions !== null) || (member && scopes.has('packages:read'))
}

function chooseVersion({ name, versions, tags }: Row, range: string): OrderSubject['version'] {
  const candidates = versions ?? []
  const tagged = new Map(Object.entries(tags ?? {}))
  const chosen = selectVersion(candidates, tagged, range)
  const found = candidates.find(({ version }) => version === chosen?.version)
  if (found === undefined) throw versionNotFound(name, range, tagged)
  if (found.yanked)
    throw new AgentGymError({
      code: 'version_yanked',
      message: `${name}@${found.version} is yanked and cannot be bought.`,
      hint: 'Choose another version, or omit it to use the latest one.',
      data: { name, version: found.version },
    })
  const { id, version, license } = found
  return { id, version, license, major: semver.major(version, { loose: true }) }
}

type Expected = z.output<typeof createOrderRequestSchema>['expected_price']

/** Buyers never pay a price other than the one they saw. Throws `price_changed`. */
export function requireExpectedPrice(
  { packageId, name, price }: Pick<OrderSubject, 'packageId' | 'name' | 'price'>,
  expected: Expected,
): void {
  if (expected === undefined) return
  // If no price was ever set, the package's id is used instead: see `unsetPrice`.
  const sameId = expected.id === undefined || expected.id === (price.id ?? packageId)
  if (sameId && expected.amount_minor === price.amountMinor) return
  const now = price.kind === 'free' ? 'is free now' : `costs ${formatAmount(price.amountMinor, price.currency)} now`
  throw new AgentGymError({
    code: 'price_changed',
    message: `${name} ${now}${price.kind === 'per_run' ? ' for each run' : ''}. Nothing was bought.`,
    hint: 'To accept the new price, send the request again with it.',
    data: {
      price: { id: price.id, kind: price.kind, amount_minor: price.amountMinor, currency: price.currency },
      expected,
    },
  })
}

/** Buyers must get terms: the license's, or the seller's own. Throws `not_for_sale`. */
export function requireTerms({ name, version: { version, license }, terms, price }: OrderSubject): void {
  if (price.amountMinor === 0 || terms.trim() !== '' || !isUnlicensed(license)) return
  throw new AgentGymError({
    code: 'not_for_sale',
    message: `${name}@${version} is not sold: its license is UNLICENSED, which allows buyers nothing, and it has no terms.`,
    hint: 'Ask the seller to set terms for it, or to publish a version with a license.',
    data: { name, version, license },
  })
}

/** Throws `self_purchase`. */
export function requireOthers({ name, seller, selfPurchase }: OrderSubject): void {
  if (!selfPurchase) return
  throw new AgentGymError({
    code: 'self_purchase',
    message: `You cannot buy ${name} from ${seller.username}: you are a member of the seller, or both accounts share an owner, an admin or a payout account.`,
    hint: 'Members of its account can use it without a license.',
    data: { name, seller: seller.username },
  })
}
