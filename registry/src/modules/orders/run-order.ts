import { AgentGymError, type createOrderRequestSchema, type ExpectedPrice, formatAmount } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { type Actor, authorize } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import type { ServerConfig } from '../../core/services.ts'
import type { Party } from '../accounts/index.ts'
import { type HeldPrice, majorOf, readLicenseState, refusal, tarballAccess, useLicense } from '../entitlements/index.ts'
import { repayDebtsOfSale } from './debts.ts'
import { insertOrder, newOrder } from './new-order.ts'
import { changeOrder, lockOrder } from './order-state.ts'
import { findOrderSubject, requireExpectedPrice, requireOthers, requireTerms } from './order-subject.ts'
import { lockSaleAccounts, makeSale, recordSale, resolveSale, saleOf } from './sale.ts'
import { requireWithinCaps } from './spend-caps.ts'

type RunPurchase = {
  actor: Actor
  /** The account the run is for. */
  buyer: Party
  runId: string
  /** The scenario's name, and the exact version. */
  name: string
  version: string
  expectedPrice?: z.output<typeof createOrderRequestSchema>['expected_price']
  ip: string | null
}

/**
 * Holds the price of one run on its account's balance, in the transaction that inserts the run: an order that is
 * settled when training starts. Null if nothing is due: not priced per run, or the account's own scenario.
 *
 * Throws `forbidden` if the token may not buy, `price_changed`, `insufficient_funds`, `spend_cap_exceeded`, and what
 * `findOrderSubject` throws.
 */
export async function holdForRun(
  query: Transaction<Schema>,
  config: Pick<ServerConfig, 'training' | 'market'>,
  { actor, buyer, runId, name, version, expectedPrice, ip }: RunPurchase,
): Promise<string | null> {
  const asked = { actor, buyerId: buyer.id, name, range: version, currency: config.training.currency }
  const subject = await findOrderSubject(query, asked)
  if (subject.price.kind !== 'per_run' || subject.member) return null
  requireOthers(subject)
  await authorize(query, actor, 'publish', buyer.id, { scope: 'market:buy' })
  requireExpectedPrice(subject, expectedPrice)
  requireTerms(subject)
  const order = await newOrder(query, config, { actor, buyer, subject, payWith: 'balance', runId })
  const sale = saleOf(order)
  await lockSaleAccounts(query, sale)
  const { amountMinor, currency } = subject.price
  await requireWithinCaps(query, { accountId: buyer.id, tokenId: actor.tokenId, amountMinor, currency })
  await makeSale(query, sale, 'pending')
  await insertOrder(query, order, { actor, buyer, subject, paid: false, minutes: null, ip })
  return order.id
}

/** For a resumed run: holds its price again if it was released because the run ended before training. */
export async function holdAgain(...given: Parameters<typeof holdForRun>): Promise<void> {
  const [query, , { runId }] = given
  const orders = await query.selectFrom('orders').select('state').where('run_id', '=', runId).execute()
  if (orders.length > 0 && orders.every(({ state }) => state === 'cancelled')) await holdForRun(...given)
}

/**
 * Settles the order of a run: `post` pays the held price once training has started; `void` releases it if the run ended
 * before. Does nothing if nothing is held for the run, so it may be called repeatedly.
 */
export async function settleRunOrder(
  query: Transaction<Schema>,
  runId: string,
  outcome: 'post' | 'void',
): Promise<void> {
  const found = await query
    .selectFrom('orders')
    .select('id')
    .where('run_id', '=', runId)
    .where('state', '=', 'awaiting_payment')
    .executeTakeFirst()
  const order = found && (await lockOrder(query, found.id))
  if (order?.state !== 'awaiting_payment') return
  await resolveSale(query, saleOf(order), outcome)
  await changeOrder(query, order, { state: outcome === 'post' ? 'paid' : 'cancelled' })
  if (outcome === 'void') return
  await recordSale(query, order)
  await repayDebtsOfSale(query, order)
}

type WantedRun = {
  actor: Actor
  /** Already inserted, because the order refers to it. */
  runId: string
  /** The account that owns the run. */
  owner: { id: string; username: string }
  /** `member`: the caller belongs to the account that owns it. */
  scenario: { packageId: string; name: string; version: string; member: boolean }
  /** The price that was shown to the user. */
  expectedPrice: ExpectedPrice | undefined
  /** Whether the price per run is already paid or held, because the run is resumed. */
  paid?: boolean
  ip: string | null
}

/**
 * The access check before a run: whether the user may train on the scenario. Access to its files is sufficient. If it
 * is priced per run, the price is held on the balance in the transaction; the user must have confirmed it.
 *
 * Throws `payment_required`, `package_taken_down`, and the errors of `holdForRun`.
 */
export async function requireRunnable(
  query: Transaction<Schema>,
  config: Pick<ServerConfig, 'training' | 'market' | 'publicUrl'>,
  { actor, runId, owner, scenario, expectedPrice, paid = false, ip }: WantedRun,
): Promise<void> {
  if (scenario.member) return
  const { packageId, name, version, member } = scenario
  const major = majorOf(version)
  const state = await readLicenseState(query, actor, { packageId, major })
  const { license, price } = state
  const access = tarballAccess(member, state)
  if (access === 'granted') {
    // Training counts as use, so that a buyer cannot both keep the agent and refund the order.
    if (license !== null && !license.used && !(await useLicense(query, license.orderId)))
      return requireRunnable(query, config, { actor, runId, owner, scenario, expectedPrice, paid, ip })
    return
  }
  if (access !== 'hosted_only')
    throw refusal(access, { name, version, major, publicUrl: config.publicUrl, actor }, state)
  if (paid) return
  if (expectedPrice === undefined) throw unconfirmed(scenario, price, config.publicUrl)
  await holdForRun(query, config, { actor, buyer: owner, runId, name, version, expectedPrice, ip })
}

function unconfirmed(
  { name, version }: WantedRun['scenario'],
  { id, kind, amountMinor, currency }: HeldPrice,
  publicUrl: string,
): AgentGymError {
  const amount = currency === null ? String(amountMinor) : formatAmount(amountMinor, currency)
  return new AgentGymError({
    code: 'payment_required',
    message: `Each run on ${name}@${version} costs ${amount}, and the request does not confirm this price.`,
    hint: `Send this price as \`expected_price\`. It is held on the balance, and charged when the run starts training.`,
    data: {
      name,
      version,
      price: { id, kind, amount_minor: amountMinor, currency },
      page: publicUrl + packagePagePath(name),
    },
  })
}
