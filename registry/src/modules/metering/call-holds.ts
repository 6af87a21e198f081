import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import { availableMinor, lockAccounts, openAccounts, type Transfer } from '../ledger/index.ts'
import { mustTransfer } from '../orders/index.ts'

/** Code of the ledger transfers that hold and release money for calls. */
const code = 'calls_hold'
/** Costs of calls are in thousandths of a minor unit, because prices are per 1,000 calls. */
const thousandths = 1_000n
/** A hold covers up to this many future calls, so that most calls need no transfer. */
const callsAhead = 100n

/** A locked row of `call_holds`. */
export type CallHold = {
  accountId: string
  currency: string
  heldMinor: bigint
  transferId: string | null
  freeThousandths: bigint
}

/**
 * Locks the call holds of accounts, in the order of the accounts. Lock them before any ledger account, because changes
 * of a hold lock both in this order.
 */
export async function lockCallHolds(
  query: Transaction<Schema>,
  accountIds: Iterable<string>,
  currency: string,
): Promise<CallHold[]> {
  const ids = uuidArray(new Set(accountIds))
  await sql`
    insert into call_holds (account_id, currency) select id, ${currency} from unnest(${ids}) as asked (id) order by id
    on conflict do nothing`.execute(query)
  const { rows } = await sql<{ account_id: string; held: string; transfer_id: string | null; free: string }>`
    select account_id, held_minor::text as held, transfer_id, free_thousandths::text as free from call_holds
    where account_id = any(${ids}) and currency = ${currency} order by account_id for update`.execute(query)
  return rows.map(({ account_id: accountId, held, transfer_id: transferId, free }) => ({
    ...{ accountId, currency, heldMinor: BigInt(held), transferId, freeThousandths: BigInt(free) },
  }))
}

/** What an account owes for calls, in thousandths of a minor unit. */
type CallCosts = {
  /** Calls in progress. */
  open: bigint
  /** Answered calls that are not posted, plus the remainders of earlier batches of the same versions. */
  unposted: bigint
  /** Remainders of versions without such calls, to be added to their next call. */
  idle: bigint
  /** The part of `idle` for the given version. */
  idleOfVersion: bigint
}

/** The costs of each of these accounts. Lock their holds first. */
export async function callCosts(
  query: Queries,
  accountIds: Iterable<string>,
  { currency, versionId = null }: { currency: string; versionId?: string | null },
): Promise<Map<string, CallCosts>> {
  const isOf = sql`coalesce(currency, ${currency}) = ${currency}`
  const isOpen = sql`state in ('waiting', 'leased') and ${isOf}`
  const isUnposted = sql`batch_id is null and ${isOf}`
  const { rows } = await sql<{
    id: string
    open: string
    unposted: string
    carried: string
    idle: string
    own: string
  }>`
    select asked.id,
      (select coalesce(sum(price_minor), 0)::text from hosted_calls where account_id = asked.id and ${isOpen}) as open,
      (select coalesce(sum((calls - trial_calls)::numeric * price_minor), 0)::text from usage_events
        where account_id = asked.id and ${isUnposted}) as unposted,
      coalesce(sum(remainder) filter (where active), 0)::text as carried,
      coalesce(sum(remainder) filter (where not active), 0)::text as idle,
      coalesce(sum(remainder) filter (where not active and version_id = ${versionId}::uuid), 0)::text as own
    from unnest(${uuidArray(accountIds)}) as asked (id) left join lateral (
      select version_id, remainder, exists (select from usage_events events where events.account_id = asked.id
          and events.version_id = last.version_id and ${isUnposted})
        or exists (select from hosted_calls calls where calls.account_id = asked.id
          and calls.version_id = last.version_id and ${isOpen}) as active
      from (select distinct on (version_id) version_id, remainder from usage_batches
        where account_id = asked.id and currency = ${currency} order by version_id, seq desc) last
      where remainder > 0
    ) carried on true
    group by asked.id`.execute(query)
  return new Map(
    rows.map(({ id, open, unposted, carried, idle, own }) => [
      id,
      {
        ...{ open: BigInt(open), unposted: BigInt(unposted) + BigInt(carried) },
        ...{ idle: BigInt(idle), idleOfVersion: BigInt(own) },
      },
    ]),
  )
}

/** A call to admit. */
export type PaidCall = {
  accountId: string
  versionId: string
  currency: string
  /** Price of 1,000 calls. */
  priceMinor: number
}

/**
 * Holds the price of one more call on the account's balance, in the transaction that admits it. False if the balance
 * does not cover it in addition to what is held and owed for calls. The hold grows in steps, so most calls need no
 * transfer.
 */
export async function holdForCall(
  query: Transaction<Schema>,
  { accountId, versionId, currency, priceMinor }: PaidCall,
): Promise<boolean> {
  const price = BigInt(priceMinor)
  const [hold] = await lockCallHolds(query, [accountId], currency)
  if (hold.freeThousandths >= price) {
    await writeHold(query, { ...hold, freeThousandths: hold.freeThousandths - price })
    return true
  }
  const costs = await costsOf(query, { accountId, versionId, currency })
  const needed = roundUp(dueOf(costs) + costs.idleOfVersion + price)
  const owed = dueOf(costs) + costs.idle + price
  if (needed <= hold.heldMinor) {
    await writeHold(query, { ...hold, freeThousandths: freeOf(hold.heldMinor, owed) })
    return true
  }
  const { available, change } = await prepareChange(query, hold)
  const possible = available + hold.heldMinor
  if (needed > possible) return false
  const ahead = smaller(needed, roundUp(price * callsAhead))
  const changed = change(smaller(possible, needed + ahead), owed)
  await mustTransfer(query, changed.transfers)
  await writeHold(query, changed.hold)
  return true
}

/**
 * Whether the balance currently covers one more call. Holds nothing and guarantees nothing: two callers may see the
 * same available money.
 */
export async function couldPayForCall(
  query: Transaction<Schema>,
  { accountId, versionId, currency, priceMinor }: PaidCall,
): Promise<boolean> {
  const [hold] = await lockCallHolds(query, [accountId], currency)
  const costs = await costsOf(query, { accountId, versionId, currency })
  const { available } = await prepareChange(query, hold)
  return roundUp(dueOf(costs) + costs.idleOfVersion + BigInt(priceMinor)) <= available + hold.heldMinor
}

/**
 * Sets each account's hold to the amount it owes for calls, as far as its balance allows. For usage that was reported
 * rather than admitted here, and to release money held in advance.
 */
export async function fitCallHolds(
  query: Transaction<Schema>,
  accountIds: Iterable<string>,
  currency: string,
): Promise<void> {
  const ids = [...new Set(accountIds)]
  const holds = await lockCallHolds(query, ids, currency)
  const costs = await callCosts(query, ids, { currency })
  const accounts = await openAccounts(query, [
    { owner: null, code: 'holds', currency },
    ...holds.map(({ accountId: owner }) => ({ owner, code: 'balance' as const, currency })),
  ])
  const [counterpart, ...balances] = accounts
  // Locks all balances at once, in the order of their IDs.
  const locked = await lockAccounts(query, balances)
  const transfers: Transfer[] = []
  const changed: CallHold[] = []
  for (const [index, hold] of holds.entries()) {
    const balance = locked.get(balances[index])
    const available = balance === undefined ? 0n : availableMinor(balance)
    const owed = costs.get(hold.accountId) ?? nothing
    const toMinor = smaller(roundUp(dueOf(owed)), available + hold.heldMinor)
    const change = { balance: balances[index], counterpart, toMinor, owed: dueOf(owed) + owed.idle }
    const fitted = changedHold(hold, change)
    transfers.push(...fitted.transfers)
    changed.push(fitted.hold)
  }
  await mustTransfer(query, transfers)
  for (const hold of changed) await writeHold(query, hold)
}

type ChangedHold = { transfers: Transfer[]; hold: CallHold }

/**
 * Locks the account's balance and returns the amount available besides the hold, and a function to change the hold:
 * `change(toMinor, owed)` returns the transfers that replace it, and its row for `writeHold`.
 */
export async function prepareChange(
  query: Transaction<Schema>,
  hold: CallHold,
): Promise<{ available: bigint; change(toMinor: bigint, owed: bigint): ChangedHold }> {
  const { accountId: owner, currency } = hold
  const [balance, counterpart] = await openAccounts(query, [
    { owner, code: 'balance', currency },
    { owner: null, code: 'holds', currency },
  ])
  const account = (await lockAccounts(query, [balance])).get(balance)
  return {
    available: account === undefined ? 0n : availableMinor(account),
    change: (toMinor, owed) => changedHold(hold, { balance, counterpart, toMinor, owed }),
  }
}

type Change = { balance: string; counterpart: string; toMinor: bigint; owed: bigint }

/** Replaces the hold by one of `toMinor`, in one chain, so that the money is never free in between. */
function changedHold(hold: CallHold, { balance, counterpart, toMinor, owed }: Change): ChangedHold {
  const { accountId: reference, currency } = hold
  const freeThousandths = freeOf(toMinor, owed)
  if (toMinor === hold.heldMinor) return { transfers: [], hold: { ...hold, freeThousandths } }
  const transferId = toMinor === 0n ? null : randomUUID()
  const transfers: Transfer[] = []
  if (hold.transferId !== null)
    transfers.push({
      ...{ id: randomUUID(), kind: 'void', pendingId: hold.transferId, code, reference, linked: transferId !== null },
    })
  if (transferId !== null)
    transfers.push({
      ...{ id: transferId, kind: 'pending', code, reference, amountMinor: toMinor, currency },
      ...{ debitAccountId: balance, creditAccountId: counterpart },
    })
  return { transfers, hold: { ...hold, heldMinor: toMinor, transferId, freeThousandths } }
}

export async function writeHold(query: Transaction<Schema>, hold: CallHold): Promise<void> {
  await query
    .updateTable('call_holds')
    .set({
      held_minor: Number(hold.heldMinor),
      transfer_id: hold.transferId,
      free_thousandths: Number(hold.freeThousandths),
      changed_at: sql<Date>`now()`,
    })
    .where('account_id', '=', hold.accountId)
    .where('currency', '=', hold.currency)
    .execute()
}

const nothing: CallCosts = { open: 0n, unposted: 0n, idle: 0n, idleOfVersion: 0n }

async function costsOf(
  query: Queries,
  { accountId, ...asked }: { accountId: string; versionId: string; currency: string },
): Promise<CallCosts> {
  return (await callCosts(query, [accountId], asked)).get(accountId) ?? nothing
}

/** The amount that a hold must cover. */
export const dueOf = ({ open, unposted }: CallCosts): bigint => open + unposted

/**
 * The part of a hold available for further calls. The remainders of idle versions are deducted, so their calls need not
 * check them.
 */
function freeOf(heldMinor: bigint, owed: bigint): bigint {
  return larger(0n, heldMinor * thousandths - owed)
}

export const roundUp = (cost: bigint): bigint => (cost + thousandths - 1n) / thousandths
export const smaller = (first: bigint, second: bigint): bigint => (first < second ? first : second)
const larger = (first: bigint, second: bigint): bigint => (first > second ? first : second)
