import type { Order } from '@agentgym/contract'
import type { OrderView } from './orders.store.ts'

/** For so many days a buyer may give back what they have not used. */
const refundDays = 14

export function orderOf(view: OrderView, at = new Date()): Order {
  const { buyer_id: _buyer, seller_id: _seller, used_at: _used, major, run_id: run, refunds, ...rest } = view
  return {
    ...rest,
    covers: covers(major),
    run,
    refunds: (refunds ?? []).map((refund) => ({ ...refund, created_at: new Date(refund.created_at).toISOString() })),
    refundable: refundableByBuyer(view, at),
    created_at: view.created_at.toISOString(),
    paid_at: view.paid_at?.toISOString() ?? null,
    ended_at: view.ended_at?.toISOString() ?? null,
  }
}

/** The versions that a licence gives the right to. */
export function covers(major: number): string {
  return `${major}.x`
}

type Refundable = Pick<OrderView, 'state' | 'total_minor' | 'run_id' | 'used_at' | 'paid_at'>

/** Whether the buyer may have all of it back without asking the seller, and why not. */
export function refundableByBuyer(
  { state, total_minor: total, run_id: run, used_at: usedAt, paid_at: paidAt }: Refundable,
  at = new Date(),
): Order['refundable'] {
  if (state !== 'paid' || paidAt === null) return no(`It is ${state.replace('_', ' ')}.`)
  if (total === 0) return no('It cost nothing.')
  if (run !== null) return no('The run that it paid for has trained.')
  if (usedAt !== null) return no(`It was first used at ${usedAt.toISOString()}; the seller can still refund it.`)
  const until = new Date(paidAt.getTime() + refundDays * 86_400_000)
  if (at >= until) return no(`${refundDays} days have passed; the seller can still refund it.`)
  return { by_buyer: true, why: `Until ${until.toISOString()}, as long as it is not used.` }
}

const no = (why: string) => ({ by_buyer: false, why })
