import type { Payment, paymentListRequestSchema, paymentListSchema, payoutListSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor } from '../../auth/actor.ts'
import { requireActor } from '../../auth/authorise.ts'
import { decodeCursor, encodeCursor, type PageEnd } from '../../catalog/page-cursor.ts'
import type { Services } from '../../server/services.ts'
import { accountsWithRole, findParty, readingScope } from '../orders/order-parties.ts'
import { paymentNotFound } from './begin-payment.ts'
import { findPayment, listPayments, paymentOf } from './payments.store.ts'
import { listPayouts, payoutOf } from './payouts.store.ts'

type Reading = Pick<Services, 'database' | 'config'>
type Asked = z.output<typeof paymentListRequestSchema>

/** A payment, for members of the account that it is for. Throws `payment_not_found`, the same whatever the reason. */
export async function showPayment({ database }: Reading, actor: Actor | null, id: string): Promise<Payment> {
  const known = requireActor(actor, readingScope(actor))
  const payment = await findPayment(database.query, id)
  if (payment === undefined) throw paymentNotFound(id)
  const accounts = await accountsWithRole(database.query, known, 'viewer')
  if (!accounts.includes(payment.account_id)) throw paymentNotFound(id)
  return paymentOf(payment)
}

/** One page of the payments for an account, newest first. Throws `unauthenticated`, `forbidden`, `account_not_found`. */
export async function listPaymentsOf(
  services: Reading,
  actor: Actor | null,
  { account, cursor, limit }: Asked,
): Promise<z.infer<typeof paymentListSchema>> {
  const { query } = services.database
  const { id } = await findParty(query, actor, account, { permission: 'read', scope: readingScope(actor) })
  const page = await paged(services, { name: 'payments', owner: id, cursor, limit }, (range) =>
    listPayments(query, { owners: [id], ...range }),
  )
  return { payments: page.rows.map(paymentOf), next_cursor: page.next_cursor }
}

/** One page of an account's payouts, newest first, for those who may ask for one. Throws likewise. */
export async function listPayoutsOf(
  services: Reading,
  actor: Actor | null,
  { account, cursor, limit }: Asked,
): Promise<z.infer<typeof payoutListSchema>> {
  const { query } = services.database
  const { id } = await findParty(query, actor, account, { permission: 'manage', scope: 'market:sell' })
  const page = await paged(services, { name: 'payouts', owner: id, cursor, limit }, (range) =>
    listPayouts(query, { owners: [id], ...range }),
  )
  return { payouts: page.rows.map(payoutOf), next_cursor: page.next_cursor }
}

type Paging = { name: string; owner: string; cursor: string | undefined; limit: number }

async function paged<Row extends { created_at: Date; id: string }>(
  { config }: Reading,
  { name, owner, cursor, limit }: Paging,
  read: (range: { after: PageEnd | null; limit: number }) => Promise<Row[]>,
): Promise<{ rows: Row[]; next_cursor: string | null }> {
  const asked = JSON.stringify([name, owner])
  const after = cursor === undefined ? null : decodeCursor(config.secret, asked, cursor)
  // One more than asked for tells whether there are more.
  const rows = await read({ after, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const more = rows.length > limit && last !== undefined
  const end = more ? encodeCursor(config.secret, asked, { key: last.created_at.getTime(), id: last.id }) : null
  return { rows: page, next_cursor: end }
}
