import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { availableMinor, lockAccounts, openAccounts, readOwnersAccounts, transferId } from '../ledger/index.ts'
import type { OrderRow } from './order-state.ts'
import { mustTransfer } from './sale.ts'

type Owing = { accountId: string; currency: string; reference: string }

/**
 * Repays an account's debt after a chargeback, as far as its earnings and then its balance allow. Call it after money
 * has come in and before any is paid out. Does nothing without a debt. `reference`: the order or payment.
 */
export async function repayDebt(query: Transaction<Schema>, { accountId, currency, reference }: Owing): Promise<void> {
  const known = (await readOwnersAccounts(query, accountId)).filter((account) => account.currency === currency)
  if (!known.some(({ code }) => code === 'debt')) return
  const held = [
    ...(
      await lockAccounts(
        query,
        known.map(({ id }) => id),
      )
    ).values(),
  ]
  const debt = held.find(({ code }) => code === 'debt')
  if (debt === undefined) return
  let owed = debt.debitsPosted - debt.creditsPosted - debt.creditsPending
  for (const code of ['earnings', 'balance'] as const) {
    const source = held.find((account) => account.code === code)
    const amountMinor = source === undefined ? 0n : smaller(owed, availableMinor(source))
    if (source === undefined || amountMinor <= 0n) continue
    owed -= amountMinor
    // A random ID: the amount is decided under the lock, so a repeated call finds nothing to move.
    const movement = {
      id: randomUUID(),
      kind: 'posted',
      code: 'debt_repaid',
      amountMinor,
      currency,
      reference,
    } as const
    await mustTransfer(query, [{ ...movement, debitAccountId: source.id, creditAccountId: debt.id }])
  }
}

/** Runs `repayDebt` for every recipient of a part of an order's price. */
export async function repayDebtsOfSale(
  query: Transaction<Schema>,
  { id, seller_id, royalty_to, currency }: Pick<OrderRow, 'id' | 'seller_id' | 'royalty_to' | 'currency'>,
): Promise<void> {
  for (const accountId of [seller_id, royalty_to])
    if (accountId !== null) await repayDebt(query, { accountId, currency, reference: id })
}

/**
 * Recovers money that the provider has reversed: from the account's balance, then from its earnings. The account owes
 * the rest. Once per `reference`, which is the payment.
 */
export async function takeBack(
  query: Transaction<Schema>,
  { accountId, amountMinor, currency, reference }: Owing & { amountMinor: bigint },
): Promise<void> {
  const codes = ['balance', 'earnings', 'debt'] as const
  const accounts = await openAccounts(query, [
    ...codes.map((code) => ({ owner: accountId, code, currency })),
    { owner: null, code: 'provider', currency },
  ])
  const provider = accounts[3]
  const held = await lockAccounts(query, accounts.slice(0, 3))
  const ids = codes.map((code) => transferId(`take_back_${code}`, reference))
  const { rows } =
    await sql`select from ledger_transfers where id = any(${`{${ids.join(',')}}`}::text::uuid[])`.execute(query)
  if (rows.length > 0) return
  let left = amountMinor
  const transfers = codes.map((code, index) => {
    const source = held.get(accounts[index])
    const taken = code === 'debt' ? left : smaller(left, source === undefined ? 0n : availableMinor(source))
    left -= taken
    return {
      ...{ id: ids[index], kind: 'posted' as const, code: 'take_back', amountMinor: taken, currency, reference },
      ...{ debitAccountId: accounts[index], creditAccountId: provider },
    }
  })
  await mustTransfer(
    query,
    transfers.filter((transfer) => transfer.amountMinor > 0n),
  )
}

export const smaller = (first: bigint, second: bigint): bigint => (first < second ? first : second)
