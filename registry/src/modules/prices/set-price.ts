import { isDeepStrictEqual } from 'node:util'
import type { PriceKind, PricePage, SetPriceRequest } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { authorize } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import {
  type PriceTerms,
  priceAt,
  priceEntries,
  priceTakesEffectAt,
  type StoredPrice,
  upcomingPrices,
} from '../entitlements/index.ts'
import { recordEvent } from '../events/index.ts'
import { type Change, findReadablePackage, lockPackage, type ReadablePackage } from '../packages/index.ts'
import { databaseTime, pricePage } from './price-page.ts'
import { showPrice } from './prices.tasks.ts'
import { changedTerms, requireTerms, type StoredTerms, saleTerms, vetSale, writeTerms } from './sale-terms.ts'

const dayMs = 86_400_000

/**
 * Sets a package's price and terms of sale, for managers of its account. Changes that cost no one more apply
 * immediately. Increases are announced and apply after the server's notice period, unless no one uses the package yet.
 * The last announcement counts. Existing orders do not change.
 *
 * Throws `package_not_found`, `unauthenticated`, `forbidden`, and `request_invalid` for values that do not apply to the
 * package.
 */
export async function setPrice(services: Services, change: Change, request: SetPriceRequest): Promise<PricePage> {
  const { database, config } = services
  const { actor, ip } = change
  const name = await database.transaction(async (query) => {
    const { name: full, owner_id, visibility } = await findReadablePackage(query, actor, change.name)
    // Checked before locking, so that unauthorized callers cannot block others.
    const hidden = visibility === 'private' ? full : undefined
    const seller = await authorize(query, actor, 'manage', owner_id, { scope: 'market:sell', hidden })
    await lockPackage(database, query, full)
    const found = await findReadablePackage(query, actor, full)
    vetSale(found.kind, request, config.market)
    const at = await databaseTime(query)
    const noticeMs = (await isReliedOn(query, found)) ? config.market.priceNoticeDays * dayMs : 0
    requireTerms(request, {
      name: full,
      license: await latestLicense(query, found.id),
      terms: request.terms ?? (await saleTerms(query, found.id, at)).terms,
    })
    const terms = await changeTerms(query, found.id, request, { at, noticeMs })
    const price = await changePrice(query, found.id, request, {
      at,
      noticeMs,
      setBy: seller.accountId,
      currency: config.training.currency,
    })
    if (price !== null || terms !== null)
      await recordAudit(query, { actor: seller, action: 'price.set', subject: full, ip, data: { price, terms } })
    await announce(query, found, { price, terms, at, currency: config.training.currency })
    return full
  })
  return pricePage(services, actor, name)
}

/** `license` of the latest version's package.json; null if there is no version yet. */
async function latestLicense(query: Queries, packageId: string): Promise<string | null> {
  const { rows } = await sql<{ license: string | null }>`
    select versions.manifest ->> 'license' as license
    from versions left join tags on tags.package_id = versions.package_id and tags.tag = 'latest'
      and tags.version = versions.version
    where versions.package_id = ${packageId} and versions.state in ('published', 'checking')
    order by tags.tag is null, versions.created_at desc limit 1`.execute(query)
  return rows.at(0)?.license ?? null
}

type SetAt = { at: Date; noticeMs: number }

/** Announcements of one package per day that users are notified of. */
const announcementsPerDay = 3

type Announced = { price: PriceChange | null; terms: StoredTerms | null; at: Date; currency: string }

/** Notifies the users of the package, unless the change applies at once. */
async function announce(
  query: Transaction<Schema>,
  { name, owner_id: accountId }: ReadablePackage,
  { price, terms, at, currency }: Announced,
): Promise<void> {
  const priceFrom = price?.effective_at === undefined ? at : new Date(price.effective_at)
  const raised = priceFrom > at ? price : null
  const next = terms?.next ?? null
  const calls = next !== null && next.calls_price_minor > (terms?.calls_price_minor ?? 0) ? next : null
  const effectiveAt = raised === null ? calls?.at : priceFrom
  if (effectiveAt === undefined) return
  const { rows } = await sql<{ announced: number }>`select count(*)::int as announced from events
    where type = 'price.announced' and account_id = ${accountId} and data ->> 'package' = ${name}
      and created_at > now() - interval '1 day'`.execute(query)
  if (rows[0].announced >= announcementsPerDay) return
  await recordEvent(query, {
    ...{ type: 'price.announced', accountId },
    data: {
      ...{ package: name, currency, effective_at: effectiveAt.toISOString() },
      price: raised === null ? null : { kind: raised.kind, amount_minor: raised.amount_minor, currency },
      calls_price_minor: calls?.calls_price_minor ?? null,
    },
  })
}

/** For the audit log. `effective_at`: of a price that differs from the current one. */
type PriceChange = {
  kind: PriceKind
  amount_minor: number
  currency?: string
  effective_at?: string
  withdrawn: string[]
}

/** Returns the change for the audit log; null if nothing changed. */
async function changePrice(
  query: Transaction<Schema>,
  packageId: string,
  { kind, amount_minor: amountMinor = 0 }: SetPriceRequest,
  { at: now, noticeMs, setBy, currency }: SetAt & { setBy: string; currency: string },
): Promise<PriceChange | null> {
  const entries = await priceEntries(query, packageId)
  const at = afterAll(entries, now)
  const current = priceAt(entries, at)
  const next = { kind, amountMinor: BigInt(amountMinor), currency }
  const announced = upcomingPrices(entries, at)
  // Repeating the same price does not delay it.
  if (announced.length === 1 && isSame(announced[0], next) && noticeMs > 0) return null
  const withdrawn = announced.map(({ id }) => id)
  if (withdrawn.length > 0)
    await query.updateTable('prices').set({ withdrawn_at: at }).where('id', 'in', withdrawn).execute()
  if (isSame(current, next)) return withdrawn.length === 0 ? null : { kind, amount_minor: amountMinor, withdrawn }
  const effectiveAt = isSameCurrency(current, next)
    ? priceTakesEffectAt({ current, next }, { at, noticeMs })
    : new Date(at.getTime() + noticeMs)
  const price = { kind, amount_minor: amountMinor, currency }
  await query
    .insertInto('prices')
    .values({ ...price, package_id: packageId, effective_at: effectiveAt, set_by: setBy, created_at: at })
    .execute()
  if (effectiveAt <= at) await showPrice(query, packageId, price)
  return { ...price, effective_at: effectiveAt.toISOString(), withdrawn }
}

type Priced = PriceTerms & { currency?: string }

const isSameCurrency = (one: Priced, other: Priced): boolean =>
  one.kind === 'free' || other.kind === 'free' || one.currency === other.currency

const isSame = (one: Priced, other: Priced): boolean =>
  one.kind === other.kind && one.amountMinor === other.amountMinor && isSameCurrency(one, other)

/** Of two prices set within a millisecond, the one set last applies. */
function afterAll(entries: readonly StoredPrice[], now: Date): Date {
  const taken = entries.filter(({ effectiveAt }) => effectiveAt <= now).map(({ effectiveAt }) => effectiveAt.getTime())
  return new Date(Math.max(now.getTime(), ...taken.map((ms) => ms + 1)))
}

/** The same for the terms. */
async function changeTerms(
  query: Transaction<Schema>,
  packageId: string,
  request: SetPriceRequest,
  { at, noticeMs }: SetAt,
): Promise<StoredTerms | null> {
  const held = await saleTerms(query, packageId, at)
  const { royalty_basis_points, trial_calls, calls_price_minor, terms } = request
  const requested = { royalty_basis_points, trial_calls, calls_price_minor, terms }
  const changed = changedTerms(held, requested, noticeMs === 0 ? null : new Date(at.getTime() + noticeMs))
  if (isDeepStrictEqual(changed, held)) return null
  await writeTerms(query, packageId, changed, at)
  return changed
}

/**
 * Whether others use the package at its current price: by orders, downloads, calls, training, or published agents
 * trained on it. Until then, the seller can change the price freely, for example right after the first upload.
 */
async function isReliedOn(query: Queries, { id, name, owner_id: ownerId }: ReadablePackage): Promise<boolean> {
  const { rows } = await sql<{ relied: boolean }>`
    select exists (select from orders where package_id = ${id})
      or exists (select from packages where id = ${id} and downloads > 0)
      or exists (
        select from training_runs join versions on versions.id = training_runs.scenario_version_id
        where versions.package_id = ${id} and training_runs.owner_id <> ${ownerId}
      ) or exists (select from trials where package_id = ${id} and account_id <> ${ownerId})
      or exists (select from usage_batches where package_id = ${id} and account_id <> ${ownerId})
      or exists (select from usage_events where package_id = ${id} and account_id <> ${ownerId} and batch_id is null)
      or exists (select from hosted_calls where package_id = ${id} and account_id <> ${ownerId})
      or exists (
        select from agent_versions join versions on versions.id = agent_versions.version_id
        join packages on packages.id = versions.package_id and packages.owner_id <> ${ownerId}
        where agent_versions.manifest -> 'scenario' ->> 'name' = ${name}
      ) as relied`.execute(query)
  return rows[0].relied
}
