import assert from 'node:assert'
import { AgentGymError, formatAmount } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { recordEvent } from '../events/index.ts'
import {
  applyTransfers,
  availableMinor,
  lockAccounts,
  type Movement,
  openAccounts,
  readAccounts,
  type SaleParts,
  type Transfer,
  type TransferResult,
  transferId,
} from '../ledger/index.ts'
import type { OrderRow } from './order-state.ts'
import { findOrderView } from './orders.store.ts'

/** Payer, recipients and amounts of one order. */
export type Sale = {
  orderId: string
  buyerId: string
  sellerId: string
  royaltyTo: string | null
  parts: SaleParts
  currency: string
}

type Parties = Pick<OrderRow, 'id' | 'buyer_id' | 'seller_id' | 'royalty_to' | 'currency'>
type Amounts = Pick<OrderRow, 'total_minor' | 'fee_minor' | 'royalty_minor'>

/** The sale of an order, with the parts fixed at placement. */
export function saleOf(order: Parties & Amounts): Sale {
  return {
    ...{ orderId: order.id, buyerId: order.buyer_id, sellerId: order.seller_id, royaltyTo: order.royalty_to },
    ...{ parts: partsOf(order), currency: order.currency },
  }
}

/** Records the sale for the seller, once the order is paid. */
export async function recordSale(query: Transaction<Schema>, order: Pick<OrderRow, 'id' | 'seller_id'> & Amounts) {
  const view = await findOrderView(query, order.id)
  assert(view !== undefined)
  const { package: name, version, buyer, total_minor, currency } = view
  await recordEvent(query, {
    ...{ type: 'order.paid', accountId: order.seller_id },
    data: {
      ...{ order: order.id, package: name, version, buyer, total_minor, currency },
      earned_minor: Number(partsOf(order).sellerMinor),
    },
  })
}

export function partsOf(order: Amounts): SaleParts {
  const [feeMinor, royaltyMinor] = [BigInt(order.fee_minor), BigInt(order.royalty_minor)]
  return { feeMinor, royaltyMinor, sellerMinor: BigInt(order.total_minor) - feeMinor - royaltyMinor }
}

/** Transfers in the same chain as those of a sale. */
type Around = { before: Transfer[]; after: Transfer[] }

/**
 * Makes the transfers of a sale (`posted`), or holds its price (`pending`), with the transfers `around` it in the same
 * chain. Throws `insufficient_funds`.
 */
export async function makeSale(
  query: Transaction<Schema>,
  sale: Sale,
  kind: 'posted' | 'pending',
  { before, after }: Around = { before: [], after: [] },
): Promise<void> {
  const accounts = await openSaleAccounts(query, sale)
  const chain = [...before, ...saleTransfers(sale, accounts, kind), ...after]
  const linked = chain.map((transfer, index) => ({ ...transfer, linked: index < chain.length - 1 }))
  const refusal = refusalOf(await applyTransfers(query, linked))
  if (refusal?.reason === 'insufficient_funds') throw await insufficientFunds(query, sale, accounts.balance)
  assert(refusal === undefined, `a transfer of order ${sale.orderId} was refused: ${refusal?.reason}`)
}

/** Posts or voids the hold of `makeSale`. */
export async function resolveSale(query: Transaction<Schema>, sale: Sale, kind: 'post' | 'void'): Promise<void> {
  const held = saleParts(sale)
  await mustTransfer(
    query,
    held.map(({ code }, index) => ({
      ...{ id: transferId(`${kind}_${code}`, sale.orderId), kind, pendingId: transferId(code, sale.orderId), code },
      ...{ reference: sale.orderId, linked: index < held.length - 1 },
    })),
  )
}

/** Locks the accounts of a sale until the transaction ends. */
export async function lockSaleAccounts(query: Transaction<Schema>, sale: Omit<Sale, 'parts'>): Promise<void> {
  const { balance, earnings, royalty } = await openSaleAccounts(query, sale)
  await lockAccounts(query, new Set([balance, earnings, ...(royalty === null ? [] : [royalty])]))
}

type SaleAccounts = { balance: string; earnings: string; fees: string; royalty: string | null }

async function openSaleAccounts(
  query: Transaction<Schema>,
  { buyerId, sellerId, royaltyTo, currency }: Omit<Sale, 'parts'>,
): Promise<SaleAccounts> {
  const [balance, earnings, fees, royalty = null] = await openAccounts(query, [
    { owner: buyerId, code: 'balance', currency },
    { owner: sellerId, code: 'earnings', currency },
    { owner: null, code: 'fees', currency },
    ...(royaltyTo === null ? [] : [{ owner: royaltyTo, code: 'earnings' as const, currency }]),
  ])
  return { balance, earnings, fees, royalty }
}

type SalePart = { code: string; to: Exclude<keyof SaleAccounts, 'balance'>; amountMinor: bigint }

/** The nonzero parts of a price, by transfer code. */
function saleParts({ parts }: Sale): SalePart[] {
  const all: SalePart[] = [
    { code: 'sale', to: 'earnings', amountMinor: parts.sellerMinor },
    { code: 'fee', to: 'fees', amountMinor: parts.feeMinor },
    { code: 'royalty', to: 'royalty', amountMinor: parts.royaltyMinor },
  ]
  return all.filter(({ amountMinor }) => amountMinor > 0n)
}

/** One transfer per part. */
function saleTransfers(sale: Sale, accounts: SaleAccounts, kind: 'posted' | 'pending'): Movement[] {
  return saleParts(sale).map(({ code, to, amountMinor }) => {
    const creditAccountId = accounts[to]
    assert(creditAccountId !== null)
    return {
      ...{ id: transferId(code, sale.orderId), kind, code, amountMinor, currency: sale.currency },
      ...{ debitAccountId: accounts.balance, creditAccountId, reference: sale.orderId },
    }
  })
}

/** Makes transfers that must succeed: a refusal is a bug. */
export async function mustTransfer(query: Transaction<Schema>, transfers: Transfer[]): Promise<void> {
  if (transfers.length === 0) return
  const refusal = refusalOf(await applyTransfers(query, transfers))
  assert(refusal === undefined, `a transfer was refused: ${refusal?.id} ${refusal?.reason}`)
}

type Refusal = Extract<TransferResult, { outcome: 'refused' }>

/** The refusal that broke the chain, rather than the linked transfers that followed. */
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
    message: `This costs ${formatAmount(needed, currency)}, and the balance is ${formatAmount(available, currency)}.`,
    hint: `Top up at least ${formatAmount(needed - available, currency)}: \`agentgym balance top-up AMOUNT\`.`,
    data: { needed_minor: Number(needed), available_minor: Number(available), currency },
  })
}

/** The scenario author's share of a sale. */
export type Royalty = { to: string; basisPoints: number }

/**
 * The royalty of an agent's version: its scenario's current royalty, up to the installation's cap. Null if the scenario
 * is not in this registry, belongs to the seller, or has no royalty. Scenarios are identified by the hash of their
 * bundle rather than by name.
 */
export async function royaltyOf(
  query: Queries,
  { versionId, sellerId, capBasisPoints }: { versionId: string; sellerId: string; capBasisPoints: number },
): Promise<Royalty | null> {
  const { rows } = await sql<{ owner_id: string; royalty_basis_points: number }>`
    select scenario.owner_id,
      case when terms.next_at <= now() then terms.next_royalty_basis_points else terms.royalty_basis_points end
        as royalty_basis_points
    from agent_versions agent
    join packages scenario on scenario.name = agent.manifest -> 'scenario' ->> 'name' and scenario.kind = 'scenario'
    join versions version on version.package_id = scenario.id and version.state = 'published'
      and version.version = agent.manifest -> 'scenario' ->> 'version'
      and version.bundle_hash = agent.manifest -> 'scenario' ->> 'hash'
    join sale_terms terms on terms.package_id = scenario.id
    where agent.version_id = ${versionId} and scenario.owner_id <> ${sellerId}`.execute(query)
  const [row] = rows
  const basisPoints = Math.min(row?.royalty_basis_points ?? 0, capBasisPoints)
  return basisPoints === 0 ? null : { to: row.owner_id, basisPoints }
}
