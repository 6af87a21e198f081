import type { PackageTarget } from '@agentgym/agent/packages'
import { AgentGymError, decimalAmount, formatAmount, type Offer, type Order } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { awaitPayment } from '../market/await-payment.ts'
import { placeOrder, readOffer, readOrder } from '../market/market-api.ts'
import { priceText } from '../market/price-text.ts'
import { readAmount } from '../option-values.ts'
import { shortId } from '../registry/find-by-id.ts'
import { requirePackageTarget } from '../registry/package-target.ts'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { confirm } from '../terminal/prompts.ts'
import { fieldLines, titleLine } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addBuyCommand(program: Command, action: MakeAction): void {
  program
    .command('buy')
    .argument('<NAME>', '@scope/name[@range, tag or version]')
    .description('buy a scenario or an agent; shows the price and asks for confirmation')
    .option('--org <NAME>', 'buy for an organization, from its balance')
    .option('--max <AMOUNT>', "don't buy if it costs more")
    .option('-y, --yes', "don't ask for confirmation")
    .option('--checkout', 'pay through the payment provider instead of from the balance')
    .action(action(buy))
}

type BuyFlags = { org?: string; max?: string; yes?: boolean; checkout?: boolean }

/** `agentgym buy`: shows the offer, asks for confirmation, and buys at that price or not at all. */
export async function buy(name: string, flags: BuyFlags, context: CommandContext): Promise<void> {
  const target = requirePackageTarget(name)
  const connection = await findConnection(context)
  if (connection.token === null) throw notLoggedIn(connection, target)
  const offer = await readOffer(connection, target, flags.org)
  if (offer.entitled) return printHeld(offer, context)
  if (offer.price.kind === 'per_run') throw paidByRun(offer)
  for (const line of offerLines(offer, context.terminal)) context.print(line)
  refuseUnlessAffordable(offer, flags)
  const amount = formatAmount(offer.total_minor, offer.price.currency)
  const consent = {
    given: flags.yes === true || (context.json && flags.max !== undefined),
    question: `Buy ${offer.package}@${offer.version} for ${amount}?`,
    otherwise:
      'Use --yes to skip the confirmation; it buys at the price shown or not at all. --max AMOUNT sets a limit',
  }
  if (!(await confirm(consent, context))) return context.print('Nothing was bought.')
  const order = await payFor(connection, { target, offer, flags }, context)
  if (order !== undefined) printBought(order, offer, context)
}

function notLoggedIn({ server }: Connection, { name }: PackageTarget): AgentGymError {
  return new AgentGymError({
    code: 'unauthenticated',
    message: `log in to ${server} to buy ${name}`,
    hint: 'Log in with agentgym login, or create an account with agentgym signup.',
    data: { server },
  })
}

function paidByRun({ package: name, price }: Offer): AgentGymError {
  return new AgentGymError({
    code: 'not_for_sale',
    message: `${name} is paid per training run (${priceText(price)}) and cannot be bought`,
    hint: `Train on it on the server: agentgym train ${shellQuote(name)} --remote`,
    data: { package: name, price },
  })
}

/** Refuses what exceeds the balance or `--max`. */
function refuseUnlessAffordable(offer: Offer, { max, org, checkout }: BuyFlags): void {
  const { total_minor: total, balance_minor: balance, price } = offer
  const { currency } = price
  const costs = `${offer.package} costs ${formatAmount(total, currency)}`
  if (max !== undefined) {
    const most = readAmount(max, currency, { name: '--max', meaning: 'the maximum price' })
    if (total > most) {
      throw new AgentGymError({
        code: 'spend_cap_exceeded',
        message: `${costs}, more than --max ${formatAmount(most, currency)}; nothing was bought`,
        hint: 'Raise --max to buy it at this price.',
        data: { package: offer.package, total_minor: total, max_minor: most, currency },
      })
    }
  }
  if (checkout || balance === null || balance >= total) return
  const missing = decimalAmount(total - balance, currency)
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  throw new AgentGymError({
    code: 'insufficient_funds',
    message: `${costs}, and the balance is ${formatAmount(balance, currency)}; nothing was bought`,
    hint: `Top up: agentgym balance top-up ${missing}${whose}. Or pay for this order directly: agentgym buy ${shellQuote(offer.package)}${whose} --checkout.`,
    data: { package: offer.package, total_minor: total, balance_minor: balance, currency },
  })
}

type Purchase = { target: PackageTarget; offer: Offer; flags: BuyFlags }

/** The paid order; undefined while its payment is pending. */
async function payFor(
  connection: Connection,
  { target, offer, flags }: Purchase,
  context: CommandContext,
): Promise<Order | undefined> {
  const { org: account, checkout } = flags
  const payWith = checkout ? 'provider' : 'balance'
  const order = await placeOrder(connection, { target, offer, account, payWith }).catch((error) => {
    throw priceChanged(error, target)
  })
  if (order.state !== 'awaiting_payment') return order
  context.printJson({ event: 'awaiting_payment', order })
  const ended = await awaitPayment(
    {
      checkoutUrl: order.checkout_url,
      read: (signal) => readOrder(connection, order.id, signal),
      hasEnded: ({ state }) => state !== 'awaiting_payment',
    },
    context,
  )
  if (ended === undefined) {
    const { paint, symbols } = context.terminal
    context.print(`${symbols.next} Payment pending: ${paint.accent(`agentgym orders show ${shortId(order.id)}`)}`)
  } else if (ended.state !== 'paid') {
    throw new AgentGymError({
      code: 'payment_declined',
      message: `order ${shortId(order.id)} is ${ended.state}: it was not paid, and nothing was bought`,
      hint: `Try again: agentgym buy ${shellQuote(target.name)}`,
      data: { order: order.id, state: ended.state },
    })
  }
  return ended
}

/** The server's error for a changed price, with the command that shows the new one. */
function priceChanged(error: unknown, { name }: PackageTarget): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'price_changed') return error
  const { code, message, data } = error
  const hint = `Review the new price: agentgym buy ${shellQuote(name)}`
  return new AgentGymError({ code, message, hint, data }, { cause: error })
}

function printHeld(offer: Offer, context: CommandContext): void {
  context.printJson({ ok: true, already: true, offer, order: null })
  const { paint, symbols } = context.terminal
  const label = paint.bold(safeText(`${offer.package} ${offer.covers}`, 240))
  const free = offer.price.kind === 'free'
  context.print(
    `${paint.accent(symbols.ok)} ${free ? `${label} is free` : `You already own ${label}; nothing was bought`}`,
  )
  printNext(offer, context)
}

function printBought(order: Order, offer: Offer, context: CommandContext): void {
  context.printJson({ ok: true, already: false, offer, order })
  const { paint, symbols } = context.terminal
  const label = paint.bold(safeText(`${order.package} ${order.covers}`, 240))
  const paid = formatAmount(order.total_minor, order.currency)
  context.print(`${paint.accent(symbols.ok)} Bought ${label} for ${paid} ${paint.dim(`(order ${shortId(order.id)})`)}`)
  printNext(offer, context)
}

function printNext({ package: name, version, price }: Offer, { print, terminal }: CommandContext): void {
  const { paint, symbols } = terminal
  const shown = shellQuote(`${name}@${version}`)
  const [what, command] =
    price.kind === 'per_run'
      ? ['Train on it', `agentgym train ${shown} --remote`]
      : ['Install it', `agentgym install ${shown}`]
  print(`${symbols.next} ${what}: ${paint.accent(command)}`)
}

/** Longer terms are cut; the page of the package has them in full. */
const termsShown = 600

/** An offer: package, price, terms, verification and balance. */
export function offerLines(offer: Offer, terminal: Terminal): string[] {
  const title = offer.title === null ? '' : `: ${offer.title}`
  return [
    titleLine('', `${offer.package}@${offer.version}`, terminal, title),
    ...fieldLines(
      [...pricePairs(offer), ...termPairs(offer), ...proofPairs(offer, terminal), ...balancePairs(offer, terminal)],
      terminal,
    ),
  ]
}

function pricePairs({ price, total_minor, covers, kind, upcoming }: Offer): [string, string][] {
  const { currency } = price
  const what = price.kind === 'per_run' ? 'one training run' : `all ${covers} versions of this ${kind}`
  const pairs: [string, string][] = [['total', `${formatAmount(total_minor, currency)} for ${what}`]]
  if (upcoming !== null) pairs.push(['later', `${priceText(upcoming)} from ${upcoming.effective_at.slice(0, 10)}`])
  return pairs
}

function termPairs(offer: Offer): [string, string][] {
  const { seller, license, terms, trial_calls, calls_price_minor, price } = offer
  const pairs: [string, string][] = [
    ['seller', seller],
    ['license', license ?? 'not specified'],
  ]
  if (terms !== '') pairs.push(['terms', terms.length > termsShown ? `${terms.slice(0, termsShown)}…` : terms])
  if (calls_price_minor > 0) {
    const trial = trial_calls > 0 ? `; ${formatCount(trial_calls)} free before buying` : ''
    pairs.push(['calls', `${formatAmount(calls_price_minor, price.currency)} for 1,000 hosted calls${trial}`])
  } else if (trial_calls > 0) pairs.push(['calls', `${formatCount(trial_calls)} free hosted calls before buying`])
  return pairs
}

function proofPairs({ verification, page }: Offer, { symbols }: Terminal): [string, string][] {
  const pairs: [string, string][] = []
  if (verification !== null) {
    const { state, return_mean, command } = verification
    const verified = state === 'verified'
    const mark = verified ? symbols.ok : symbols.warning
    const result = return_mean === null ? '' : `, return ${formatValue(return_mean)}`
    pairs.push(['evaluation', `${mark} ${verified ? 'verified' : `not verified (${state})`}${result}`])
    pairs.push(['verify it', command])
  }
  pairs.push(['page', page])
  return pairs
}

function balancePairs(
  { balance_minor: balance, total_minor: total, price, test_money: isTest }: Offer,
  { symbols }: Terminal,
): [string, string][] {
  const note: [string, string][] = isTest ? [['note', 'test money: this server takes no real payments']] : []
  if (balance === null) return note
  const { currency } = price
  const now = formatAmount(balance, currency)
  const after = balance < total ? 'insufficient' : `${formatAmount(balance - total, currency)} after purchase`
  return [['balance', `${now} ${symbols.next} ${after}`], ...note]
}
