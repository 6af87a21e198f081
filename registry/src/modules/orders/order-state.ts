import assert from 'node:assert'
import { AgentGymError, type OrderState } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { OrderTable } from '../../core/database/market-schema.ts'
import type { Schema } from '../../core/database/schema.ts'

export type OrderRow = Selectable<OrderTable>

/** The states an order can change to. End states are final. */
const successors: Record<OrderState, readonly OrderState[]> = {
  awaiting_payment: ['paid', 'cancelled', 'expired'],
  paid: ['refunded', 'charged_back'],
  cancelled: [],
  expired: [],
  refunded: [],
  charged_back: [],
}

function mayBecome(from: OrderState, to: OrderState): boolean {
  return successors[from].includes(to)
}

/**
 * The order's row, locked until the transaction ends. Lock it before changing the order and before its ledger accounts.
 */
export async function lockOrder(query: Transaction<Schema>, id: string): Promise<OrderRow | undefined> {
  return query.selectFrom('orders').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Changes a locked order. Nothing else changes its state after the initial one. */
export async function changeOrder(
  query: Transaction<Schema>,
  order: OrderRow,
  { state = order.state, refundedMinor = order.refunded_minor }: { state?: OrderState; refundedMinor?: number },
): Promise<OrderRow> {
  const moved = state !== order.state
  assert(!moved || mayBecome(order.state, state), `order ${order.id} is ${order.state} and cannot be ${state}`)
  return query
    .updateTable('orders')
    .set({
      state,
      refunded_minor: refundedMinor,
      ...(moved && state === 'paid' ? { paid_at: sql<Date>`now()` } : {}),
      ...(moved && state !== 'paid' ? { ended_at: sql<Date>`now()` } : {}),
    })
    .where('id', '=', order.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The same error for a missing order and for another account's order. */
export function orderNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'order_not_found',
    message: `Order ${id} does not exist, or you have no access to it.`,
    hint: '`agentgym orders` lists your orders.',
    data: { id },
  })
}

export function orderStateConflict({ id, state }: Pick<OrderRow, 'id' | 'state'>, what: string): AgentGymError {
  return new AgentGymError({
    code: 'order_state_conflict',
    message: `The order is ${state.replace('_', ' ')} and cannot be ${what}.`,
    hint: 'A finished order cannot be changed. Place a new one.',
    data: { id, state },
  })
}
