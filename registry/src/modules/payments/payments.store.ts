import type { Payment } from '@agentgym/contract'
import type { Selectable, Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { PaymentTable } from '../../core/database/market-schema.ts'
import { afterPageEnd as beforePageEnd, type PageEnd } from '../../core/database/page-cursor.ts'
import type { Schema } from '../../core/database/schema.ts'

export type PaymentRow = Selectable<PaymentTable>
/** A payment with the name of its account. */
export type PaymentView = PaymentRow & { account: string }

/** The payment's row, locked until the transaction ends. Lock it before changing the payment. */
export async function lockPayment(query: Transaction<Schema>, id: string): Promise<PaymentRow | undefined> {
  return query.selectFrom('payments').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function findPayment(query: Queries, id: string): Promise<PaymentView | undefined> {
  return views(query).where('payments.id', '=', id).executeTakeFirst()
}

/** Newest first. */
export async function listPayments(
  query: Queries,
  { owners, after, limit }: { owners: string[]; after: PageEnd | null; limit: number },
): Promise<PaymentView[]> {
  return views(query)
    .where('payments.account_id', 'in', owners)
    .where(beforePageEnd('payments', after))
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .limit(limit)
    .execute()
}

function views(query: Queries) {
  return query
    .selectFrom('payments')
    .innerJoin('accounts', 'accounts.id', 'payments.account_id')
    .selectAll('payments')
    .select('accounts.username as account')
}

/** A payment as the API returns it. */
export function paymentOf(row: PaymentView): Payment {
  return {
    id: row.id,
    purpose: row.purpose,
    state: row.state,
    provider: row.provider,
    account: row.account,
    order: row.order_id,
    amount_minor: row.amount_minor,
    currency: row.currency,
    checkout_url: row.state === 'pending' ? row.checkout_url : null,
    message: row.message,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}
