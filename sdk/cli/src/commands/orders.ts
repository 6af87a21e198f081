import { formatAmount, type Order, orderStateSchema } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { readAmount } from '../command-line-amounts.ts'
import { oneOf } from '../command-line-choices.ts'
import { findOrder } from '../market/find-order.ts'
import { cancelOrder, listOrders, refundOrder } from '../market/market-api.ts'
import { orderLines, orderReport } from '../market/order-lines.ts'
import { shortId } from '../registry/find-by-id.ts'
import { moreCommand } from '../terminal/more-command.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type OrdersFlags = {
  sales?: boolean
  state?: string
  package?: string
  org?: string
  limit?: number
  cursor?: string
}

/** `agentgym orders`: what was bought, or with `--sales` sold, newest first. */
export async function orders(flags: OrdersFlags, context: CommandContext): Promise<void> {
  if (flags.state !== undefined) oneOf('state', flags.state, orderStateSchema.options)
  const { sales = false, org, ...filter } = flags
  const role = sales ? 'sales' : 'purchases'
  const found = await listOrders(await findConnection(context), { ...filter, role, account: org })
  context.sayJson(found)
  if (context.json) return
  const { terminal, say } = context
  const { paint, symbols } = terminal
  if (found.orders.length === 0) {
    say(sales ? 'What others buy from you will be here.' : 'What you buy will be here.')
    const next = sales ? 'Price a package: agentgym price NAME AMOUNT' : 'Find something: agentgym search --price paid'
    const [what, command] = next.split(': ')
    say(`${symbols.next} ${what}: ${paint.accent(command)}`)
    return
  }
  for (const line of orderLines(found.orders, { sales }, terminal, Date.now())) say(line)
  if (found.next_cursor === null) {
    say(`${symbols.next} Look closer: ${paint.accent(`agentgym orders show ${shortId(found.orders[0].id)}`)}`)
    return
  }
  const more = moreCommand('agentgym orders', flags, found.next_cursor)
  say(`${symbols.next} More: ${paint.accent(more)}`)
}

/** `agentgym orders show`: all of an order: what it gives, what was paid and given back. */
export async function ordersShow(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const order = await findOrder(connection, text)
  context.sayJson(order)
  if (context.json) return
  for (const line of orderReport(order, context.terminal)) context.say(line)
  const { username, organisations } = await account(connection)
  const sold = [username, ...organisations.map((one) => one.username)].includes(order.seller)
  const next = nextLine(order, sold, context.terminal)
  if (next !== undefined) context.say(next)
}

function nextLine(
  { id, state, package: name, version, run }: Order,
  sold: boolean,
  { paint, symbols }: Terminal,
): string | undefined {
  if (run !== null) return `${symbols.next} The run: ${paint.accent(`agentgym runs show ${shortId(run)}`)}`
  if (state === 'awaiting_payment') {
    return `${symbols.next} Give it up: ${paint.accent(`agentgym orders cancel ${shortId(id)}`)}`
  }
  if (state !== 'paid') return undefined
  if (sold) {
    const command = `agentgym orders refund ${shortId(id)} --reason TEXT`
    return `${symbols.next} Give it back: ${paint.accent(command)}`
  }
  return `${symbols.next} Install it: ${paint.accent(`agentgym install ${shellQuote(`${name}@${version}`)}`)}`
}

export type RefundFlags = { reason: string; amount?: string }

/** `agentgym orders refund`: all that is left of an order, or a part of it; fee and royalty go back with it. */
export async function ordersRefund(text: string, flags: RefundFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found = await findOrder(connection, text)
  const { currency } = found
  const word = { name: '--amount', meaning: 'the part that is given back' }
  const amount = flags.amount === undefined ? undefined : readAmount(flags.amount, currency, word)
  const order = await refundOrder(connection, found.id, { amount_minor: amount, reason: flags.reason })
  context.sayJson(order)
  const { paint, symbols } = context.terminal
  const given = order.refunded_minor - found.refunded_minor
  const name = paint.bold(shortId(order.id))
  if (given <= 0) {
    context.say(`${paint.accent(symbols.ok)} The order ${name} has that refund already; nothing more was given back`)
    if (order.state !== 'refunded') context.say(`${symbols.next} Another part of the same size needs another --reason.`)
    return
  }
  const to = safeText(order.buyer, 60)
  context.say(
    `${paint.accent(symbols.ok)} Gave ${formatAmount(given, currency)} of ${name} back to the balance of ${to}`,
  )
  const left = formatAmount(order.total_minor - order.refunded_minor, currency)
  const rest = order.state === 'refunded' ? 'Nothing of it is left, and so is no licence' : `${left} of it are left`
  context.say(`${symbols.next} ${rest}: ${paint.accent(`agentgym orders show ${shortId(order.id)}`)}`)
}

/** `agentgym orders cancel`: an order that awaits its payment is given up. */
export async function ordersCancel(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const order = await cancelOrder(connection, (await findOrder(connection, text)).id)
  context.sayJson(order)
  const { paint, symbols } = context.terminal
  context.say(`${paint.accent(symbols.ok)} The order ${paint.bold(shortId(order.id))} is cancelled`)
}
