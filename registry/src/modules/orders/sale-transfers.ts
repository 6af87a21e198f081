import assert from 'node:assert'
import { AgentGymError, formatAmount } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { availableMinor } from '../ledger/account.ts'
import { lockAccounts, openAccounts, readAccounts } from '../ledger/accounts.store.ts'
import { applyTransfers } from '../ledger/apply-transfers.ts'
import { postAhead } from '../ledger/post-ahead.ts'
import type { SaleParts } from '../ledger/rules/split-sale.ts'
import type { Movement, Transfer, TransferResult } from '../ledger/rules/transfer.ts'
import { transferId } from './transfer-id.ts'

/** Who pays whom how much for one order. */
export type Sale = {
  orderId: string
  buyerId: string
  sellerId: string
  royaltyTo: string | null
  parts: SaleParts
  currency: string
}

export type SaleAccounts = { balance: string; earnings: string; fees: string; royalty: string | null }

async function openSaleAccounts(
  query: Transaction<Schema>,
  { buyerId, sellerId, royaltyTo, currency }: Pick<Sale, 'buyerId' | 'sellerId' | 'royaltyTo' | 'currency'>,
): Promise<SaleAccounts> {
  const [balance, earnings, fees, royalty = null] = await openAccounts(query, [
    { owner: buyerId, code: 'balance', currency },
    { owner: sellerId, code: 'earnings', currency },
    { owner: null, code: 'fees', currency },
    ...(royaltyTo === null ? [] : [{ owner: royaltyTo, code: 'earnings' as const, currency }]),
  ])
  return { balance, earnings, fees, royalty }
}

/** The parts of a price that are more than nothing, one transfer each, all or none. */
function saleTransfers(sale: Sale, accounts: SaleAccounts, kind: 'posted' | 'pending'): Movement[] {
  const parts = [
    { code: 'sale', to: accounts.earnings, amountMinor: sale.parts.sellerMinor },
    { code: 'fee', to: accounts.fees, amountMinor: sale.parts.feeMinor },
    { code: 'royalty', to: accounts.royalty, amountMinor: sale.parts.royaltyMinor },
  ].filter(({ amountMinor }) => amountMinor > 0n)
  return parts.map(({ code, to, amountMinor }, index) => {
    assert(to !== null)
    return {
      ...{ id: transferId(code, sale.orderId), kind, code, amountMinor, currency: sale.currency },
      ...{ debitAccountId: accounts.balance, creditAccountId: to, reference: sale.orderId },
      linked: index < parts.length - 1,
    }
  })
}

/** Holds the accounts of a sale until the transaction ends. */
export async function holdSale(query: Transaction<Schema>, sale: Sale): Promise<void> {
  const { balance, earnings, royalty } = await openSaleAccounts(query, sale)
  await lockAccounts(query, new Set([balance, earnings, ...(royalty === null ? [] : [royalty])]))
}

/** Makes or holds the transfers of a sale. Throws `insufficient_funds`. */
export async function makeSale(query: Transaction<Schema>, sale: Sale, kind: 'posted' | 'pending'): Promise<void> {
  const accounts = await openSaleAccounts(query, sale)
  const results = await applyTransfers(query, saleTransfers(sale, accounts, kind))
  const refused = refusalOf(results)
  if (refused?.reason === 'insufficient_funds') throw await insufficientFunds(query, sale, accounts.balance)
  assert(refused === undefined, `a transfer of order ${sale.orderId} was refused: ${refused?.reason}`)
}

/**
 * Makes the transfers of a sale between accounts that are known, without looking first: what must not be the database refuses,
 * with the next statement of the transaction or with its commit.
 */
export async function makeSaleAhead(query: Transaction<Schema>, sale: Sale, accounts: SaleAccounts): Promise<void> {
  await postAhead(query, saleTransfers(sale, accounts, 'posted'))
}

/** Makes transfers of which a refusal is a bug. */
export async function mustTransfer(query: Transaction<Schema>, transfers: Transfer[]): Promise<void> {
  if (transfers.length === 0) return
  const refused = refusalOf(await applyTransfers(query, transfers))
  assert(refused === undefined, `a transfer was refused: ${refused?.id} ${refused?.reason}`)
}

type Refusal = Extract<TransferResult, { outcome: 'refused' }>

/** The one that began it: those linked to it say nothing. */
function refusalOf(results: TransferResult[]): Refusal | undefined {
  return results.find((result): result is Refusal => result.outcome === 'refused' && result.reason !== 'linked_failed')
}

async function insufficientFunds(
  query: Transaction<Schema>,
  { parts, currency }: Sale,
  balanceId: string,
): Promise<AgentGymError> {
  const account = (await readAccounts(query, [balanceId])).get(balanceId)
  const available = account === undefined ? 0n : availableMinor(account)
  const needed = parts.sellerMinor + parts.feeMinor + parts.royaltyMinor
  return new AgentGymError({
    code: 'insufficient_funds',
    message: `It costs ${formatAmount(needed, currency)}, and the balance is ${formatAmount(available, currency)}.`,
    hint: `Top up at least ${formatAmount(needed - available, currency)}: \`agentgym balance top-up AMOUNT\`.`,
    data: { needed_minor: Number(needed), available_minor: Number(available), currency },
  })
}
