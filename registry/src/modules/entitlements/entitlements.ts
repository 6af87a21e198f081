import assert from 'node:assert'
import { AgentGymError, formatAmount, type PriceKind } from '@agentgym/contract'
import { sql } from 'kysely'
import semver from 'semver'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import { type HeldPrice, heldFirst, heldPriceOf, inEffect } from './prices.store.ts'

/** A license the actor holds, directly or through an organization. */
type License = { orderId: string; used: boolean }

/** Price, takedown and license for one major version of a package, at this moment. */
type LicenseState = {
  price: HeldPrice
  takenDown: TakenDown | null
  license: License | null
}

/** `forAll`: buyers lose access, too. */
type TakenDown = { at: Date; reason: string | null; forAll: boolean }

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
 * Price, license and takedown in one round trip, so all from the same moment. For purchases, as for private packages, a
 * token needs the scope `packages:read`; without it, it holds nothing.
 */
export async function readLicenseState(
  query: Queries,
  actor: Actor | null,
  { packageId, major }: { packageId: string; major: number },
): Promise<LicenseState> {
  const { rows } = await sql<Row>`
    select price.id, price.kind, price.amount_minor, price.currency,
      packages.taken_down_at, packages.taken_down_reason, packages.taken_down_for_all, license.order_id, license.used_at
    from packages
    left join lateral (
      select id, kind, amount_minor, currency from prices
      where prices.package_id = packages.id and ${inEffect} order by ${heldFirst} limit 1
    ) price on true
    left join lateral (${licensesOf(actor, sql`entitlements.major = ${major}`)} limit 1) license on true
    where packages.id = ${packageId}`.execute(query)
  const [row] = rows
  const { taken_down_at: at, taken_down_reason: reason, taken_down_for_all: forAll } = row
  return {
    price: heldPriceOf(row),
    takenDown: at === null ? null : { at, reason, forAll },
    license: row.order_id === null ? null : { orderId: row.order_id, used: row.used_at !== null },
  }
}

/**
 * The actor's licenses for a row of `packages`, their own first. Paying per run gives no license. A purchased license
 * stays valid when the price changes.
 */
function licensesOf(actor: Actor | null, which: ReturnType<typeof sql>) {
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

/** Whether the actor holds a license of any major version. */
export async function holdsAnyLicense(query: Queries, actor: Actor | null, packageId: string): Promise<boolean> {
  const { rows } = await sql<{ holds: boolean }>`
    select exists (${licensesOf(actor, sql`true`)}) as holds from packages where id = ${packageId}`.execute(query)
  return rows[0]?.holds ?? false
}

/**
 * Marks a license as used, which ends the buyer's right to refund it without the seller. False if it was already used,
 * or is no longer held because a concurrent refund came first.
 */
export async function useLicense(query: Queries, orderId: string): Promise<boolean> {
  const { rows } = await sql<{ order_id: string }>`
    update entitlements set used_at = now()
    where order_id = ${orderId} and revoked_at is null and used_at is null returning order_id`.execute(query)
  return rows.length === 1
}

/** Whether a user may download a package that is visible to them. */
export type Access = 'granted' | 'taken_down' | 'payment_required' | 'hosted_only'

/**
 * Who may download the files: members of the owning account, always; license holders, whatever the package costs now,
 * unless it was taken down for all; everyone, if it is free and was not taken down. Pay-per-run packages cannot be
 * downloaded otherwise.
 */
export function tarballAccess(member: boolean, { price, takenDown, license }: LicenseState): Access {
  if (member) return 'granted'
  if (takenDown !== null && (takenDown.forAll || license === null)) return 'taken_down'
  if (license !== null || price.kind === 'free') return 'granted'
  return price.kind === 'per_run' ? 'hosted_only' : 'payment_required'
}

type TarballRequest = {
  actor: Actor | null
  found: { id: string; name: string; member: boolean }
  version: string
  publicUrl: string
}

/**
 * The access check before a tarball is sent. With `use`, marks the license as used before the first byte, so that the
 * buyer cannot both keep the files and refund the order.
 *
 * Throws `payment_required`, `hosted_only`, `package_taken_down`.
 */
export async function requireTarball(
  query: Queries,
  request: TarballRequest,
  { use }: { use: boolean },
): Promise<void> {
  if (request.found.member) return
  const { license } = await requireAccess(query, request)
  if (!use || license === null || license.used) return
  // It was unused but can no longer be marked: it was refunded meanwhile, or another download came first.
  if (!(await useLicense(query, license.orderId))) await requireAccess(query, request)
}

async function requireAccess(query: Queries, request: TarballRequest): Promise<LicenseState> {
  const { state, refused } = await judge(query, request)
  if (refused !== null) throw refused
  return state
}

/** What `requireTarball` would throw, or null, and whether it would use a license for the first time. */
export async function tarballReading(
  query: Queries,
  request: TarballRequest,
): Promise<{ refused: AgentGymError | null; unused: boolean }> {
  if (request.found.member) return { refused: null, unused: false }
  const { state, refused } = await judge(query, request)
  return { refused, unused: refused === null && state.license?.used === false }
}

/** The error that `requireTarball` would throw, or null. */
export async function tarballRefusal(query: Queries, request: TarballRequest): Promise<AgentGymError | null> {
  return request.found.member ? null : (await judge(query, request)).refused
}

async function judge(query: Queries, { actor, found, version, publicUrl }: TarballRequest) {
  const major = majorOf(version)
  const state = await readLicenseState(query, actor, { packageId: found.id, major })
  const access = tarballAccess(false, state)
  const wanted = { name: found.name, version, major, publicUrl, actor }
  return { state, refused: access === 'granted' ? null : refusal(access, wanted, state) }
}

export function refusal(
  access: Exclude<Access, 'granted'>,
  wanted: Wanted,
  { price, takenDown }: LicenseState,
): AgentGymError {
  if (access === 'payment_required') return paymentRequired(wanted, price)
  if (access === 'hosted_only') return hostedOnly(wanted)
  assert(takenDown !== null)
  return packageTakenDown(wanted.name, takenDown)
}

export function majorOf(version: string): number {
  return semver.major(version, { loose: true })
}

type Wanted = { name: string; version: string; major: number; publicUrl: string; actor: Actor | null }

/** The error if a license must be bought first. Includes how and where, because npm prints it. */
export function paymentRequired({ name, version, major, publicUrl, actor }: Wanted, price: HeldPrice): AgentGymError {
  const { id, kind, amountMinor, currency } = price
  const { page, command, cost } = howToBuy({ name, major, publicUrl }, price)
  return new AgentGymError({
    code: 'payment_required',
    message: `${name}@${version} requires a purchase.${cost}`,
    hint: `Run \`${command}\`, or buy it at ${page}.${ifBought(actor)}`,
    data: { name, version, price: { id, kind, amount_minor: amountMinor, currency }, command, page },
  })
}

type Price = Pick<HeldPrice, 'amountMinor' | 'currency'>

/** Where to buy, with which command and at what cost, as a sentence that may be empty. */
export function howToBuy(
  { name, major, publicUrl }: Pick<Wanted, 'name' | 'major' | 'publicUrl'>,
  { amountMinor, currency }: Price,
): { page: string; command: string; cost: string } {
  return {
    page: publicUrl + packagePagePath(name),
    command: `agentgym buy ${name}@${major}`,
    cost:
      currency === null
        ? ''
        : ` It costs ${formatAmount(amountMinor, currency)}, paid once for all ${major}.x versions.`,
  }
}

/** The same text for buyers and others, because a token without the scope cannot find out. */
function ifBought(actor: Actor | null): string {
  if (actor === null) return ' If you already bought it, log in with `agentgym login`.'
  if (!actor.scopes.has('packages:read')) return ' If you already bought it, use a token with the scope packages:read.'
  return ''
}

function hostedOnly({ name, version, publicUrl }: Wanted): AgentGymError {
  return new AgentGymError({
    code: 'hosted_only',
    message: `${name}@${version} is hosted-only: it is paid per run, trained on this server, and cannot be downloaded.`,
    hint: `Run \`agentgym train ${name} --remote\`. Its page is ${publicUrl}${packagePagePath(name)}.`,
    data: { name, version },
  })
}

export function packageTakenDown(name: string, { at, reason }: Pick<TakenDown, 'at' | 'reason'>): AgentGymError {
  return new AgentGymError({
    code: 'package_taken_down',
    message: `${name} was taken down on ${at.toISOString().slice(0, 10)}${reason === null ? '' : `: ${reason}`}`,
    hint: 'It can no longer be installed, bought or trained on. See its page for the current status.',
    data: { name, taken_down_at: at.toISOString(), reason },
  })
}
