import type {
  Balance,
  Payment,
  paymentListRequestSchema,
  paymentListSchema,
  payoutListSchema,
} from '@agentgym/contract'
import type { z } from 'zod'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Services } from '../../core/services.ts'
import { accountsWithRole, findParty, type Party, readingScope } from '../accounts/index.ts'
import { availableMinor, readOwnersAccounts } from '../ledger/index.ts'
import { trainingQuota } from '../orders/index.ts'
import { findPayment, listPayments, paymentOf } from './payments.store.ts'
import { listPayouts, payoutOf } from './payouts.ts'
import { paymentNotFound } from './start-payment.ts'

type Reading = Pick<Services, 'database' | 'config'>
type ListRequest = z.output<typeof paymentListRequestSchema>

/** A payment, for members of its account. Throws the same `payment_not_found` for every reason. */
export async function showPayment({ database }: Reading, actor: Actor | null, id: string): Promise<Payment> {
  const known = requireActor(actor, readingScope(actor))
  const payment = await findPayment(database.query, id)
  if (payment === undefined) throw paymentNotFound(id)
  const accounts = await accountsWithRole(database.query, known, 'viewer')
  if (!accounts.includes(payment.account_id)) throw paymentNotFound(id)
  return paymentOf(payment)
}

/** One page of an account's payments, newest first. Throws `unauthenticated`, `forbidden`, `account_not_found`. */
export async function listPaymentsOf(
  { database: { query }, config }: Reading,
  actor: Actor | null,
  { account, cursor, limit }: ListRequest,
): Promise<z.infer<typeof paymentListSchema>> {
  const { id } = await findParty(query, actor, account, { permission: 'read', scope: readingScope(actor) })
  const listKey = JSON.stringify(['payments', id])
  const page = await readPage({ secret: config.secret, listKey, cursor, limit, endOf: endByCreation }, (range) =>
    listPayments(query, { owners: [id], ...range }),
  )
  return { payments: page.rows.map(paymentOf), next_cursor: page.next_cursor }
}

/** One page of an account's payouts, newest first, for users who may request one. Throws the same errors. */
export async function listPayoutsOf(
  { database: { query }, config }: Reading,
  actor: Actor | null,
  { account, cursor, limit }: ListRequest,
): Promise<z.infer<typeof payoutListSchema>> {
  const { id } = await findParty(query, actor, account, { permission: 'manage', scope: 'market:sell' })
  const listKey = JSON.stringify(['payouts', id])
  const page = await readPage({ secret: config.secret, listKey, cursor, limit, endOf: endByCreation }, (range) =>
    listPayouts(query, { owners: [id], ...range }),
  )
  return { payouts: page.rows.map(payoutOf), next_cursor: page.next_cursor }
}

/** Balance of an account. Throws `unauthenticated`, `forbidden`, `account_not_found`. */
export async function showBalance(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  account: string | undefined,
): Promise<Balance> {
  const scope = readingScope(actor)
  const party = await findParty(database.query, actor, account, { permission: 'read', scope })
  const balance = await readBalance(database.query, party, config.training.currency)
  const quota = await trainingQuota(database.query, config, party.id)
  return {
    ...balance,
    training_quota: quota && {
      ...{ limit_minor: quota.limitMinor, used_minor: quota.usedMinor, resets_at: quota.resetsAt.toISOString() },
    },
    test_money: config.market.stripe === null,
  }
}

export async function readBalance(
  query: Queries,
  { id, username }: Party,
  currency: string,
): Promise<Omit<Balance, 'test_money' | 'training_quota'>> {
  const accounts = await readOwnersAccounts(query, id)
  const balance = accounts.find((account) => account.code === 'balance' && account.currency === currency)
  const { awaited } = await query
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<string | null>('amount_minor').as('awaited'))
    .where('account_id', '=', id)
    .where('currency', '=', currency)
    .where('purpose', '=', 'top_up')
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return {
    account: username,
    currency,
    available_minor: balance === undefined ? 0 : Number(availableMinor(balance)),
    held_minor: balance === undefined ? 0 : Number(balance.debitsPending),
    awaited_minor: Number(awaited ?? 0),
  }
}
