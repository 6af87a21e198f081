import { formatAmount, type Order } from '@agentgym/contract'
import { shortId } from '../registry/find-by-id.ts'
import { fieldLines } from '../terminal/field-lines.ts'
import { formatAge } from '../terminal/format-age.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { titleLine } from '../terminal/title-line.ts'

/** An order's state in a word, with the sign of what it means. */
function orderStateText({ state, refunded_minor }: Order, { symbols }: Terminal): string {
  switch (state) {
    case 'paid':
      return `${symbols.ok} ${refunded_minor > 0 ? 'paid, part refunded' : 'paid'}`
    case 'awaiting_payment':
      return 'awaits payment'
    case 'charged_back':
      return `${symbols.failed} charged back`
    case 'cancelled':
    case 'expired':
    case 'refunded':
      return `${symbols.warning} ${state}`
  }
}

/** The table of orders; `nowMs` is what their age is told from. */
export function orderLines(
  orders: readonly Order[],
  { sales }: { sales: boolean },
  terminal: Terminal,
  nowMs: number,
): string[] {
  const columns = [
    { title: 'Order' },
    { title: 'State' },
    { title: 'Package', shrink: true },
    { title: 'Total', align: 'right' as const },
    { title: 'Age', align: 'right' as const },
    { title: sales ? 'Buyer' : 'Seller', shrink: true },
  ]
  const rows = orders.map((order) => [
    shortId(order.id),
    orderStateText(order, terminal),
    safeText(`${order.package} ${order.covers}`, 240),
    formatAmount(order.total_minor, order.currency),
    formatAge(order.created_at, nowMs),
    safeText(sales ? order.buyer : order.seller, 60),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

/** Everything about an order. */
export function orderReport(order: Order, terminal: Terminal): string[] {
  const { symbols } = terminal
  const { currency } = order
  const pairs: [string, string][] = [
    ['package', `${order.package}@${order.version}`],
    ['covers', order.price_kind === 'per_run' ? 'one training run' : `every version ${order.covers}`],
    ['total', formatAmount(order.total_minor, currency)],
    ['seller', order.seller],
    ['buyer', order.placed_by === order.buyer ? order.buyer : `${order.buyer}, by ${order.placed_by}`],
    ['paid', paidText(order)],
    ['ordered', whenText(order.created_at)],
  ]
  if (order.run !== null) pairs.push(['run', order.run])
  if (order.ended_at !== null) pairs.push(['ended', whenText(order.ended_at)])
  for (const { amount_minor, reason, by, created_at } of order.refunds) {
    const amount = formatAmount(amount_minor, currency)
    pairs.push(['refund', `${amount} by ${by} on ${created_at.slice(0, 10)}: ${reason}`])
  }
  if (order.state === 'paid') {
    const { by_buyer: can, why } = order.refundable
    pairs.push(['refundable', `${can ? 'yes' : 'not by the buyer'}${why === '' ? '' : `: ${timesForPeople(why)}`}`])
  }
  pairs.push(['id', order.id])
  const title = `Order ${shortId(order.id)}`
  const state = ` ${symbols.dot} ${orderStateText(order, terminal)}`
  return [titleLine('', title, terminal, state), ...fieldLines(pairs, terminal)]
}

function paidText({ paid_at, pay_with, checkout_url }: Order): string {
  if (paid_at === null) return checkout_url === null ? 'not paid' : `not yet: ${checkout_url}`
  return `${whenText(paid_at)}, ${pay_with === 'balance' ? 'from the balance' : 'through the payment provider'}`
}

/** Moments in what the server says, as everywhere else here. */
function timesForPeople(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, whenText)
}

/** `2026-11-28 06:33 UTC`. */
function whenText(moment: string): string {
  return `${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`
}
