import assert from 'node:assert'
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { describe } from '../../core/http/answer-error.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { meteredAmount, splitSale } from '../ledger/index.ts'
import { lockSaleAccounts, makeSale, repayDebt, royaltyOf, type Sale } from '../orders/index.ts'
import {
  type CallHold,
  callCosts,
  dueOf,
  fitCallHolds,
  lockCallHolds,
  prepareChange,
  roundUp,
  smaller,
  writeHold,
} from './call-holds.ts'

type Posting = Pick<Services, 'database' | 'config' | 'log'>
type Due = { account_id: string; version_id: string; currency: string }
type Limits = {
  /** A batch is posted once it reaches this amount in minor units, because the fee is rounded down per batch. */
  fromMinor: number
  /** Or once the oldest event is this old. */
  afterSeconds: number
  /** Maximum events per batch. */
  events: number
}

const limits: Limits = { fromMinor: 1_000, afterSeconds: 86_400, events: 5_000 }
/** Maximum amount of one transfer. */
const largestMinor = 10n ** 15n

/**
 * Posts metered calls to the ledger: one batch per account and version, with its events marked in the same transaction,
 * so that a crash loses none and counts none twice. Usage that the balance does not cover waits. Resolves to the number
 * of batches posted.
 */
export async function postUsage(services: Posting, given: Partial<Limits> = {}): Promise<number> {
  const request = { ...limits, ...given }
  let posted = 0
  for (const due of await findDue(services, request)) {
    try {
      while (await postBatch(services, due, request)) posted++
    } catch (error) {
      // A failure for one account must not block the others.
      services.log.error('posting usage failed', { ...due, error: describe(error) })
    }
  }
  return posted
}

async function findDue({ database, config }: Posting, { fromMinor, afterSeconds }: Limits): Promise<Due[]> {
  const currency = sql`coalesce(currency, ${sql.lit(config.training.currency)})`
  const { rows } = await sql<Due>`
    select account_id, version_id, ${currency} as currency from usage_events where batch_id is null
    group by account_id, version_id, ${currency}
    having sum((calls - trial_calls)::numeric * price_minor) >= ${fromMinor}::numeric * 1000
      or min(created_at) <= now() - ${afterSeconds} * interval '1 second'
    order by min(created_at), account_id, version_id`.execute(database.query)
  return rows
}

/** Posts the next events of an account and a version. False if there are none, or the balance covers none. */
async function postBatch({ database, config }: Posting, due: Due, { events: most }: Limits): Promise<boolean> {
  const { account_id: accountId, currency } = due
  const { feeBasisPoints, royaltyCapBasisPoints } = config.market
  return database.transaction(async (query) => {
    // One at a time, because each batch carries over the remainder of the previous one.
    await database.lock(query, `usage:${accountId}:${due.version_id}`)
    const { packageId, sellerId } = await partiesOf(query, due.version_id)
    const royalty = await royaltyOf(query, {
      ...{ versionId: due.version_id, sellerId, capBasisPoints: royaltyCapBasisPoints },
    })
    const batchId = randomUUID()
    const sale = {
      ...{ orderId: batchId, buyerId: accountId, sellerId, royaltyTo: royalty?.to ?? null, currency },
      parts: { sellerMinor: 0n, feeMinor: 0n, royaltyMinor: 0n },
    } satisfies Sale
    const [hold] = await lockCallHolds(query, [accountId], currency)
    await lockSaleAccounts(query, sale)
    const { available, change } = await prepareChange(query, hold)
    const payable = await payableOf(query, hold, available)
    const batch = await nextEvents(query, due, { most, payable })
    if (batch === undefined) return false
    const { amountMinor } = batch
    const parts =
      amountMinor === 0n
        ? sale.parts
        : splitSale({ priceMinor: amountMinor, feeBasisPoints, royalty: royalty ?? undefined })
    await insertBatch(query, { ...sale, parts }, { ...due, packageId, batch })
    if (amountMinor === 0n) return true
    const costs = (await callCosts(query, [accountId], { currency })).get(accountId)
    assert(costs !== undefined)
    // One chain pays the batch from the hold and holds the rest again, so that nothing else can spend it in between.
    const rest = smaller(roundUp(dueOf(costs)), available + hold.heldMinor - amountMinor)
    const changed = change(rest, dueOf(costs) + costs.idle)
    await makeSale(query, { ...sale, parts }, 'posted', {
      before: changed.transfers.filter(({ kind }) => kind === 'void'),
      after: changed.transfers.filter(({ kind }) => kind === 'pending'),
    })
    await writeHold(query, changed.hold)
    for (const accountId of new Set([sellerId, ...(royalty === null ? [] : [royalty.to])]))
      await repayDebt(query, { accountId, currency, reference: batchId })
    return true
  })
}

async function partiesOf(
  query: Transaction<Schema>,
  versionId: string,
): Promise<{ packageId: string; sellerId: string }> {
  const row = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.id', 'packages.owner_id'])
    .where('versions.id', '=', versionId)
    .executeTakeFirstOrThrow()
  return { packageId: row.id, sellerId: row.owner_id }
}

/**
 * The amount that a batch may use: available and held money, except what is reserved for calls in progress. Money held
 * for answered calls of other versions is kept for them if the hold covers all calls, which it does unless reported
 * usage exceeded the balance.
 */
async function payableOf(query: Transaction<Schema>, hold: CallHold, available: bigint): Promise<bigint> {
  const { accountId, currency, heldMinor } = hold
  const costs = (await callCosts(query, [accountId], { currency })).get(accountId)
  return available + heldMinor - smaller(heldMinor, roundUp(costs?.open ?? 0n))
}

type Batch = { ids: string[]; calls: number; amountMinor: bigint; remainder: bigint }

/** The oldest events that the balance covers. Undefined if there are none. */
async function nextEvents(
  query: Transaction<Schema>,
  { account_id, version_id, currency }: Due,
  { most, payable }: { most: number; payable: bigint },
): Promise<Batch | undefined> {
  const open = await query
    .selectFrom('usage_events')
    .select(['id', 'calls', 'trial_calls', 'price_minor'])
    .where('account_id', '=', account_id)
    .where('version_id', '=', version_id)
    .where('batch_id', 'is', null)
    .where((where) => where.or([where('currency', '=', currency), where('currency', 'is', null)]))
    .orderBy('created_at')
    .orderBy('id')
    .limit(most)
    .execute()
  const last = await query
    .selectFrom('usage_batches')
    .select('remainder')
    .where('account_id', '=', account_id)
    .where('version_id', '=', version_id)
    .where('currency', '=', currency)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const batch: Batch = { ids: [], calls: 0, amountMinor: 0n, remainder: BigInt(last?.remainder ?? 0) }
  for (const { id, calls, trial_calls, price_minor } of open) {
    const { remainder } = batch
    const cost = meteredAmount({ calls: BigInt(calls - trial_calls), priceMinor: BigInt(price_minor), remainder })
    const sum = batch.amountMinor + cost.amountMinor
    if (sum > payable || sum > largestMinor) break
    batch.ids.push(id)
    batch.calls += calls
    batch.amountMinor = sum
    batch.remainder = cost.remainder
  }
  return batch.ids.length === 0 ? undefined : batch
}

async function insertBatch(
  query: Transaction<Schema>,
  { orderId: id, sellerId, royaltyTo, parts, currency }: Sale,
  { account_id, version_id, packageId, batch }: Due & { packageId: string; batch: Batch },
): Promise<void> {
  await query
    .insertInto('usage_batches')
    .values({
      ...{ id, account_id, version_id, package_id: packageId, seller_id: sellerId, calls: batch.calls },
      ...{ amount_minor: Number(batch.amountMinor), fee_minor: Number(parts.feeMinor) },
      ...{ royalty_minor: Number(parts.royaltyMinor), royalty_to: parts.royaltyMinor > 0n ? royaltyTo : null },
      ...{ remainder: Number(batch.remainder), currency },
    })
    .execute()
  await sql`update usage_events set batch_id = ${id}, currency = ${currency}
    where id = any(${`{${batch.ids.join(',')}}`}::text::uuid[]) and batch_id is null`.execute(query)
}

/** How long money stays held for future calls after the last one, in minutes. */
const idleMinutes = 10

/**
 * Adjusts holds to the amounts owed: of accounts without recent calls, and of those whose usage was counted without a
 * sufficient hold.
 */
export async function fitHolds({ database, config, log }: Posting, minutes = idleMinutes): Promise<void> {
  const { currency } = config.training
  const { rows } = await sql<{ account_id: string; currency: string }>`
    select account_id, currency from call_holds
    where held_minor > 0 and changed_at < now() - ${minutes} * interval '1 minute'
    union
    select usage.account_id, usage.currency from (
      select account_id, coalesce(currency, ${sql.lit(currency)}) as currency,
        sum((calls - trial_calls)::numeric * price_minor) as thousandths
      from usage_events where batch_id is null group by 1, 2) usage
    left join call_holds holds on holds.account_id = usage.account_id and holds.currency = usage.currency
    where usage.thousandths > coalesce(holds.held_minor, 0)::numeric * 1000`.execute(database.query)
  for (const { account_id: accountId, currency } of rows)
    try {
      await database.transaction((query) => fitCallHolds(query, [accountId], currency))
    } catch (error) {
      log.error('fitting the hold of an account failed', { account_id: accountId, error: describe(error) })
    }
}

/** Posts metered calls to the ledger, and releases holds for future calls that were not made. */
export function meteringTasks(services: Services): ScheduledTask[] {
  const run = async () => {
    await postUsage(services)
    await fitHolds(services)
  }
  return [{ name: 'market.post-usage', everyMs: 10 * 60_000, run }]
}
