import { formatAmount, type Order, orderStateSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOrder, listOrders, readOrder, refundOrder } from '../market/market-api.ts'
import { cursorText, oneOf, orgOption, pageRange, readAmount, wholeNumber } from '../option-values.ts'
import { findById, shortId } from '../registry/find-by-id.ts'
import { formatAge } from '../terminal/format-values.ts'
import { fieldLines, renderTable, titleLine } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { moreCommand, safeText, shellQuote } from '../terminal/text.ts'

export function addOrderCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('orders')
    .usage('[COMMAND] [options]')
    .description('show purchases and sales, and refund them')
  group
    .command('list', { isDefault: true })
    .description('list your purchases, newest first (the default)')
    .option('--sales', 'list your sales instead')
    .option('--state <STATE>', 'awaiting_payment, paid, cancelled, expired, refunded or charged_back')
    .option('--package <NAME>', 'orders of this package: @scope/name')
    .option(...orgOption)
    .option('--limit <N>', 'orders per page (default: 20)', wholeNumber('limit', pageRange))
    .option('--cursor <CURSOR>', cursorText)
    .action(action(orders))
  group
    .command('show')
    .argument('<ORDER>', orderArgument)
    .description('show an order: what it covers, payment and refunds')
    .action(action(ordersShow))
  group
    .command('refund')
    .argument('<ORDER>', orderArgument)
    .description('refund an order: sellers at any time, buyers within 14 days if unused')
    .requiredOption('--reason <TEXT>', 'reason, visible to buyer and seller')
    .option('--amount <AMOUNT>', 'partial refund, sellers only (default: all that is left)')
    .action(action(ordersRefund))
  group
    .command('cancel')
    .argument('<ORDER>', orderArgument)
    .description('cancel an order that awaits payment')
    .action(action(ordersCancel))
}

const orderArgument = 'order ID, or its first 4 or more characters'

type OrdersFlags = {
  sales?: boolean
  state?: string
  package?: string
  org?: string
  limit?: number
  cursor?: string
}

/** `agentgym orders`: purchases, or with `--sales` sales, newest first. */
export async function orders(flags: OrdersFlags, context: CommandContext): Promise<void> {
  if (flags.state !== undefined) oneOf('state', flags.state, orderStateSchema.options)
  const { sales = false, org, ...filter } = flags
  const role = sales ? 'sales' : 'purchases'
  const found = await listOrders(await findConnection(context), { ...filter, role, account: org })
  context.printJson(found)
  if (context.json) return
  const { terminal, print } = context
  const { paint, symbols } = terminal
  if (found.orders.length === 0) {
    print(sales ? 'No sales yet.' : 'No purchases yet.')
    const next = sales
      ? 'Price a package: agentgym price NAME AMOUNT'
      : 'Browse paid packages: agentgym search --price paid'
    const [what, command] = next.split(': ')
    print(`${symbols.next} ${what}: ${paint.accent(command)}`)
    return
  }
  for (const line of orderLines(found.orders, { sales }, terminal, Date.now())) print(line)
  if (found.next_cursor === null) {
    print(`${symbols.next} Details: ${paint.accent(`agentgym orders show ${shortId(found.orders[0].id)}`)}`)
    return
  }
  const more = moreCommand('agentgym orders', flags, found.next_cursor)
  print(`${symbols.next} More: ${paint.accent(more)}`)
}

/** `agentgym orders show`: what an order covers, its payment and its refunds. */
export async function ordersShow(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const order = await findOrder(connection, text)
  context.printJson(order)
  if (context.json) return
  for (const line of orderReport(order, context.terminal)) context.print(line)
  const { username, organisations } = await account(connection)
  const sold = [username, ...organisations.map((one) => one.username)].includes(order.seller)
  const next = nextLine(order, sold, context.terminal)
  if (next !== undefined) context.print(next)
}

function nextLine(
  { id, state, package: name, version, run }: Order,
  sold: boolean,
  { paint, symbols }: Terminal,
): string | undefined {
  if (run !== null) return `${symbols.next} Training run: ${paint.accent(`agentgym runs show ${shortId(run)}`)}`
  if (state === 'awaiting_payment') {
    return `${symbols.next} Cancel: ${paint.accent(`agentgym orders cancel ${shortId(id)}`)}`
  }
  if (state !== 'paid') return undefined
  if (sold) {
    const command = `agentgym orders refund ${shortId(id)} --reason TEXT`
    return `${symbols.next} Refund: ${paint.accent(command)}`
  }
  return `${symbols.next} Install it: ${paint.accent(`agentgym install ${shellQuote(`${name}@${version}`)}`)}`
}

type RefundFlags = { reason: string; amount?: string }

/** `agentgym orders refund`: refunds an order in full or in part, including fee and royalty. */
export async function ordersRefund(text: string, flags: RefundFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found = await findOrder(connection, text)
  const { currency } = found
  const word = { name: '--amount', meaning: 'the amount to refund' }
  const amount = flags.amount === undefined ? undefined : readAmount(flags.amount, currency, word)
  const order = await refundOrder(connection, found.id, { amount_minor: amount, reason: flags.reason })
  context.printJson(order)
  const { paint, symbols } = context.terminal
  const given = order.refunded_minor - found.refunded_minor
  const name = paint.bold(shortId(order.id))
  if (given <= 0) {
    context.print(`${paint.accent(symbols.ok)} Order ${name} already has this refund; nothing was refunded again`)
    if (order.state !== 'refunded')
      context.print(`${symbols.next} To refund the same amount again, use a different --reason.`)
    return
  }
  const to = safeText(order.buyer, 60)
  context.print(
    `${paint.accent(symbols.ok)} Refunded ${formatAmount(given, currency)} of order ${name} to the balance of ${to}`,
  )
  const left = formatAmount(order.total_minor - order.refunded_minor, currency)
  const rest = order.state === 'refunded' ? 'Fully refunded; the license has ended' : `${left} left to refund`
  context.print(`${symbols.next} ${rest}: ${paint.accent(`agentgym orders show ${shortId(order.id)}`)}`)
}

/** `agentgym orders cancel`: cancels an order that awaits payment. */
export async function ordersCancel(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const order = await cancelOrder(connection, (await findOrder(connection, text)).id)
  context.printJson(order)
  const { paint, symbols } = context.terminal
  context.print(`${paint.accent(symbols.ok)} Canceled order ${paint.bold(shortId(order.id))}`)
}

/** An order's state, with its symbol. */
function orderStateText({ state, refunded_minor }: Order, { symbols }: Terminal): string {
  switch (state) {
    case 'paid':
      return `${symbols.ok} ${refunded_minor > 0 ? 'paid, partly refunded' : 'paid'}`
    case 'awaiting_payment':
      return 'awaiting payment'
    case 'charged_back':
      return `${symbols.failed} charged back`
    case 'cancelled':
    case 'expired':
    case 'refunded':
      return `${symbols.warning} ${state}`
  }
}

/** Orders as a table; ages are relative to `nowMs`. */
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
    ['covers', order.price_kind === 'per_run' ? 'one training run' : `all ${order.covers} versions`],
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

/** Times in a message of the server, formatted like all others. */
function timesForPeople(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, whenText)
}

/** `2026-11-28 06:33 UTC`. */
function whenText(moment: string): string {
  return `${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`
}

/** A purchase or sale by its ID or the beginning of it. Throws `order_not_found`. */
async function findOrder(connection: Connection, text: string): Promise<Order> {
  return findById(text, {
    noun: 'order',
    listCommand: 'agentgym orders',
    missing: 'order_not_found',
    read: (id) => readOrder(connection, id),
    // All pages of purchases come first, then those of sales.
    page: async (cursor) => {
      const [role, at] = cursor === undefined ? (['purchases', undefined] as const) : split(cursor)
      const { orders, next_cursor: next } = await listOrders(connection, { role, limit: 100, cursor: at })
      if (next !== null) return { found: orders, next: `${role} ${next}` }
      return { found: orders, next: role === 'purchases' ? 'sales ' : null }
    },
  })
}

function split(cursor: string): ['purchases' | 'sales', string | undefined] {
  const at = cursor.indexOf(' ')
  return [cursor.startsWith('sales') ? 'sales' : 'purchases', cursor.slice(at + 1) || undefined]
}
