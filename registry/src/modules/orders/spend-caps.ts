import { AgentGymError, formatAmount, type putSpendCapRequestSchema, type SpendCap } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { roleIn } from '../../core/access/memberships.store.ts'
import type { Queries } from '../../core/database/database.ts'
import type { SpendCapTable } from '../../core/database/market-schema.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { findParty, requireUncapped } from '../accounts/index.ts'

type Base = Pick<Services, 'database' | 'config'>
type Asking = { actor: Actor | null; ip: string | null }

/**
 * Sets a spend cap for an account or one of the user's tokens. Replaces an existing cap for the same period. Throws
 * `account_not_found`, `forbidden`, `token_not_found`.
 */
export async function setSpendCap(
  { database, config }: Base,
  { actor, ip, request }: Asking & { request: z.output<typeof putSpendCapRequestSchema> },
): Promise<SpendCap> {
  const { token_id: tokenId = null, period, amount_minor: amountMinor, account } = request
  return database.transaction(async (query) => {
    const known = requireActor(actor, 'account:manage')
    await requireUncapped(query, known)
    const party = await findParty(query, known, account, { permission: 'manage', scope: 'account:manage' })
    if (tokenId !== null) await requireOwnToken(query, party.id, tokenId)
    const set = { amount_minor: amountMinor, currency: config.training.currency, set_by: known.accountId }
    const { id } = await query
      .insertInto('spend_caps')
      .values({ account_id: party.id, token_id: tokenId, period, ...set })
      .onConflict((conflict) => conflict.constraint('spend_caps_key').doUpdateSet(set))
      .returning('id')
      .executeTakeFirstOrThrow()
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'spend-cap.set', subject: `account:${party.username}` },
      data: { token: tokenId, period, amount_minor: amountMinor },
    })
    const [cap] = await listCaps(query, { accountId: party.id, id })
    return describe(query, cap, config.training.currency)
  })
}

/** Spend caps of an account and its tokens, with the amounts spent. Throws `account_not_found`, `forbidden`. */
export async function spendCapsOf(
  { database: { query }, config }: Base,
  { actor, account }: { actor: Actor | null; account: string | undefined },
): Promise<{ caps: SpendCap[] }> {
  const party = await findParty(query, actor, account, { permission: 'publish', scope: 'market:buy' })
  const caps = await listCaps(query, { accountId: party.id })
  return { caps: await Promise.all(caps.map((cap) => describe(query, cap, config.training.currency))) }
}

/** Throws `spend_cap_not_found`, also for others' caps; `forbidden`. */
export async function removeSpendCap(
  { database }: Pick<Services, 'database'>,
  { actor, ip, id }: Asking & { id: string },
): Promise<void> {
  await database.transaction(async (query) => {
    const known = requireActor(actor, 'account:manage')
    await requireUncapped(query, known)
    const cap = await query.selectFrom('spend_caps').selectAll().where('id', '=', id).executeTakeFirst()
    if (cap === undefined || !(await manages(query, known, cap.account_id))) throw notFound(id)
    await query.deleteFrom('spend_caps').where('id', '=', id).execute()
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'spend-cap.remove', subject: `account:${cap.account_id}` },
      data: { token: cap.token_id, period: cap.period, amount_minor: cap.amount_minor },
    })
  })
}

async function describe(query: Queries, cap: CapView, currency: string): Promise<SpendCap> {
  return {
    id: cap.id,
    account: cap.account,
    token: cap.token_id === null ? null : { id: cap.token_id, name: cap.token_name ?? '' },
    period: cap.period,
    amount_minor: cap.amount_minor,
    currency: cap.currency ?? currency,
    spent_minor: cap.period === 'calls' ? 0 : await spentMinor(query, cap, cap.currency ?? currency),
  }
}

async function manages(query: Transaction<Schema>, { accountId }: Actor, account: string): Promise<boolean> {
  if (account === accountId) return true
  const role = await roleIn(query, account, accountId, { hold: true })
  return role === 'owner' || role === 'admin'
}

async function requireOwnToken(query: Queries, accountId: string, id: string): Promise<void> {
  const token = await query
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (token === undefined)
    throw new AgentGymError({
      code: 'token_not_found',
      message: `The account has no token ${id}.`,
      hint: 'Your tokens are listed on the site, under Settings. Organizations have no tokens.',
      data: { id },
    })
}

function notFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'spend_cap_not_found',
    message: `Spend cap ${id} does not exist, or you cannot change it.`,
    data: { id },
  })
}

type CallSpending = Omit<Spending, 'amountMinor'> & { versionId: string; priceMinor: number }
type Spending = { accountId: string; tokenId: string | null; amountMinor: number; currency: string }

/**
 * Checks that the account and the requesting token may spend this much more. Lock the account's balance first and keep
 * it locked until the spending is recorded. The caps are locked too, so that two concurrent orders cannot both use the
 * rest of one. Throws `spend_cap_exceeded`.
 */
export async function requireWithinCaps(
  query: Transaction<Schema>,
  { accountId, tokenId, amountMinor, currency }: Spending,
): Promise<void> {
  for (const cap of await lockCaps(query, { accountId, tokenId })) {
    if (cap.period === 'calls') continue
    if (!isIn(cap, currency)) throw otherCurrency(cap, currency)
    const spent = await spentMinor(query, cap, currency)
    if (spent + amountMinor > cap.amount_minor) throw exceeded(cap, { spent, amountMinor, currency })
  }
}

/**
 * Checks one more hosted call against the caps of the account and the calling token: whether it exceeds one, and
 * otherwise whether a cap for calls confirms its price. `priceMinor`: the price of 1,000 calls. The caps stay locked
 * until the call is recorded.
 */
export async function checkCallCaps(
  query: Transaction<Schema>,
  { accountId, tokenId, versionId, priceMinor, currency }: CallSpending,
): Promise<{ exceeded: boolean; confirmed: boolean }> {
  const caps = await lockCaps(query, { accountId, tokenId })
  for (const cap of caps) {
    const spent = cap.period === 'calls' ? 0n : await spentThousandths(query, cap, currency, versionId)
    // The cost of one call in thousandths of a minor unit equals the price of 1,000 calls in minor units.
    const limit = BigInt(cap.amount_minor) * (cap.period === 'calls' ? 1n : 1_000n)
    if (!isIn(cap, currency) || spent + BigInt(priceMinor) > limit) return { exceeded: true, confirmed: false }
  }
  return { exceeded: false, confirmed: caps.some(({ period }) => period === 'calls') }
}

async function lockCaps(
  query: Transaction<Schema>,
  { accountId, tokenId }: Pick<Spending, 'accountId' | 'tokenId'>,
): Promise<Cap[]> {
  return query
    .selectFrom('spend_caps')
    .selectAll()
    .where((where) =>
      where.or([
        where.and([where('account_id', '=', accountId), where('token_id', 'is', null)]),
        ...(tokenId === null ? [] : [where('token_id', '=', tokenId)]),
      ]),
    )
    .orderBy('id')
    .forUpdate()
    .execute()
}

/**
 * A cap applies to spending in its own currency. Spending in another currency is refused, because the two cannot be
 * compared.
 */
function isIn(cap: Cap, currency: string): boolean {
  return cap.currency === null || cap.currency === currency
}

function otherCurrency({ id, currency: cap, period }: Cap, currency: string): AgentGymError {
  return new AgentGymError({
    code: 'spend_cap_exceeded',
    message: `A spend cap is set in ${cap}, and this costs ${currency}: the two cannot be compared.`,
    hint: 'Set the cap again to have it in the currency of this server: `agentgym spend-cap`.',
    data: { cap: id, period, cap_currency: cap, currency },
  })
}

const periods = { day: 'per day', month: 'per month', total: 'in total', calls: 'for 1,000 calls' }

function exceeded(
  { id, token_id: tokenId, period, amount_minor: cap }: Cap,
  { spent, amountMinor, currency }: { spent: number; amountMinor: number; currency: string },
): AgentGymError {
  const left = Math.max(0, cap - spent)
  const whose = tokenId === null ? 'account' : 'token'
  return new AgentGymError({
    code: 'spend_cap_exceeded',
    message: `The ${whose} can spend ${formatAmount(cap, currency)} ${periods[period]}. ${formatAmount(left, currency)} is left, and this costs ${formatAmount(amountMinor, currency)}.`,
    hint:
      period === 'total'
        ? 'To raise the cap, run `agentgym spend-cap`. In organizations, this requires an admin.'
        : `The cap resets at midnight UTC${period === 'month' ? ' on the first of the month' : ''}. To raise it, run \`agentgym spend-cap\`. In organizations, this requires an admin.`,
    data: { cap: id, of: whose, period, cap_minor: cap, left_minor: left, needed_minor: amountMinor, currency },
  })
}

type Cap = Selectable<SpendCapTable>

/**
 * Spending that counts toward a cap in its period and currency, by its account or token: orders that were not canceled
 * and have not expired, regardless of refunds, and admitted hosted calls. An account's calls count at the time of
 * posting, and until then at the current time. Days and months are in UTC. Rounded up to minor units.
 */
async function spentMinor(
  query: Queries,
  cap: Pick<Cap, 'account_id' | 'token_id' | 'period'>,
  currency: string,
): Promise<number> {
  return Number(((await spentThousandths(query, cap, currency)) + 999n) / 1_000n)
}

/**
 * The same in thousandths of a minor unit. Remainders of batches count for `versionId` and for versions with calls that
 * are not posted yet, so that remainders never exceed the cap.
 */
async function spentThousandths(
  query: Queries,
  { account_id: accountId, token_id: tokenId, period }: Pick<Cap, 'account_id' | 'token_id' | 'period'>,
  currency: string,
  versionId: string | null = null,
): Promise<bigint> {
  const since =
    period === 'total' || period === 'calls'
      ? sql`'-infinity'::timestamptz`
      : sql`date_trunc(${period}, now() at time zone 'UTC') at time zone 'UTC'`
  const isOf = sql`coalesce(currency, ${currency}) = ${currency}`
  const whose = tokenId === null ? sql`account_id = ${accountId}` : sql`token_id = ${tokenId}`
  const placed = tokenId === null ? sql`buyer_id = ${accountId}` : sql`token_id = ${tokenId}`
  const training = tokenId === null ? sql`owner_id = ${accountId}` : sql`token_id = ${tokenId}`
  const trained = tokenId === null ? sql`owner_id = ${accountId}` : sql`training_charges.token_id = ${tokenId}`
  const cost = sql`(calls - trial_calls)::numeric * price_minor`
  const counted =
    tokenId === null
      ? sql`(select coalesce(sum(amount_minor), 0) * 1000 from usage_batches
            where account_id = ${accountId} and currency = ${currency} and created_at >= ${since})
          + (select coalesce(sum(${cost}), 0) from usage_events
            where account_id = ${accountId} and batch_id is null and ${isOf})
          + (select coalesce(sum(remainder), 0) from (
              select distinct on (version_id) version_id, remainder from usage_batches
              where account_id = ${accountId} and currency = ${currency} order by version_id, seq desc) last
            where remainder > 0 and (version_id = ${versionId}::uuid
              or exists (select from usage_events events where events.account_id = ${accountId}
                and events.version_id = last.version_id and batch_id is null and ${isOf})
              or exists (select from hosted_calls calls where calls.account_id = ${accountId}
                and calls.version_id = last.version_id and state in ('waiting', 'leased') and ${isOf})))`
      : sql`(select coalesce(sum(${cost}), 0) from usage_events
          where token_id = ${tokenId} and created_at >= ${since} and ${isOf})`
  const { rows } = await sql<{ spent: string }>`
    select (${counted}
      + (select coalesce(sum(price_minor), 0) from hosted_calls
        where ${whose} and state in ('waiting', 'leased') and ${isOf})
      + (select coalesce(sum(paid_minor), 0) * 1000 from training_charges
        join training_runs on training_runs.id = training_charges.run_id
        where ${trained} and currency = ${currency} and training_charges.created_at >= ${since})
      + (select coalesce(sum(held_minor), 0) * 1000 from training_runs
        where ${training} and cover_currency = ${currency} and held_minor > 0)
      + (select coalesce(sum(total_minor), 0) * 1000 from orders
        where ${placed} and currency = ${currency} and created_at >= ${since} and state not in ('cancelled', 'expired')
          and (state <> 'awaiting_payment' or expires_at is null or expires_at > now())))::numeric(40)::text as spent
  `.execute(query)
  return BigInt(rows[0].spent)
}

type CapView = Cap & { account: string; token_name: string | null }

/** Caps of an account and its tokens, or a single one by ID. */
async function listCaps(query: Queries, { accountId, id }: { accountId: string; id?: string }): Promise<CapView[]> {
  return query
    .selectFrom('spend_caps')
    .innerJoin('accounts', 'accounts.id', 'spend_caps.account_id')
    .leftJoin('tokens', 'tokens.id', 'spend_caps.token_id')
    .selectAll('spend_caps')
    .select(['accounts.username as account', 'tokens.name as token_name'])
    .where('spend_caps.account_id', '=', accountId)
    .$if(id !== undefined, (select) => select.where('spend_caps.id', '=', id ?? ''))
    .orderBy('spend_caps.created_at')
    .orderBy('spend_caps.id')
    .execute()
}
