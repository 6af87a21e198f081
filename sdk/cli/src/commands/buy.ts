import { AgentGymError, decimalAmount, formatAmount, type Offer, type Order } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { awaitPayment } from '../market/await-payment.ts'
import { placeOrder, readOffer, readOrder } from '../market/market-api.ts'
import { priceText } from '../market/price-text.ts'
import { readAmount } from '../option-values.ts'
import { shortId } from '../registry/find-by-id.ts'
import { type PackageTarget, requirePackageTarget } from '../registry/package-target.ts'
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

/** `agentgym buy`: shows what it costs and what it gives, asks, and buys at that price or not at all. */
export async function buy(name: string, flags: BuyFlags, context: CommandContext): Promise<void> {
  const target = requirePackageTarget(name)
  const connection = await findConnection(context)
  if (connection.token === null) throw nobody(connection, target)
  const offer = await readOffer(connection, target, flags.org)
  if (offer.entitled) return sayHeld(offer, context)
  if (offer.price.kind === 'per_run') throw paidByRun(offer)
  for (const line of offerLines(offer, context.terminal)) context.say(line)
  refuseUnlessAffordable(offer, flags)
  const amount = formatAmount(offer.total_minor, offer.price.currency)
  const consent = {
    given: flags.yes === true || (context.json && flags.max !== undefined),
    question: `Buy ${offer.package}@${offer.version} for ${amount}?`,
    otherwise:
      '--yes buys without asking, at the price that is shown and at no other; --max AMOUNT is the most it may be',
  }
  if (!(await confirm(consent, context))) return context.say('Nothing was bought.')
  const order = await payFor(connection, { target, offer, flags }, context)
  if (order !== undefined) sayBought(order, offer, context)
}

function nobody({ server }: Connection, { name }: PackageTarget): AgentGymError {
  return new AgentGymError({
    code: 'unauthenticated',
    message: `buying ${name} needs an account at ${server}`,
    hint: 'Log in first: agentgym login. Without an account: agentgym signup.',
    data: { server },
  })
}

function paidByRun({ package: name, price }: Offer): AgentGymError {
  return new AgentGymError({
    code: 'not_for_sale',
    message: `${name} is paid for run by run, ${priceText(price)}; there is nothing to buy beforehand`,
    hint: `Train on it on the server's machines: agentgym train ${shellQuote(name)} --remote.`,
    data: { package: name, price },
  })
}

/** What it costs may have nothing to do with what is there, or with what the user said it may cost at most. */
function refuseUnlessAffordable(offer: Offer, { max, org, checkout }: BuyFlags): void {
  const { total_minor: total, balance_minor: balance, price } = offer
  const { currency } = price
  const costs = `${offer.package} costs ${formatAmount(total, currency)}`
  if (max !== undefined) {
    const most = readAmount(max, currency, { name: '--max', meaning: 'the most that it may cost' })
    if (total > most) {
      throw new AgentGymError({
        code: 'spend_cap_exceeded',
        message: `${costs}, more than --max ${formatAmount(most, currency)}; nothing was bought`,
        hint: 'Raise --max if it is worth that to you.',
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
    hint: `Top it up: agentgym balance top-up ${missing}${whose}. Or pay for it alone: agentgym buy ${shellQuote(offer.package)}${whose} --checkout.`,
    data: { package: offer.package, total_minor: total, balance_minor: balance, currency },
  })
}

type Purchase = { target: PackageTarget; offer: Offer; flags: BuyFlags }

/** The order, paid; undefined where its payment is left to come. */
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
  context.sayJson({ event: 'awaiting_payment', order })
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
    context.say(`${symbols.next} The order waits: ${paint.accent(`agentgym orders show ${shortId(order.id)}`)}`)
  } else if (ended.state !== 'paid') {
    throw new AgentGymError({
      code: 'payment_declined',
      message: `the order ${shortId(order.id)} is ${ended.state}: it was not paid, and nothing was bought`,
      hint: `Buy it again: agentgym buy ${shellQuote(target.name)}.`,
      data: { order: order.id, state: ended.state },
    })
  }
  return ended
}

/** What the server says of a price that is not the one that was shown, with the command that shows the new one. */
function priceChanged(error: unknown, { name }: PackageTarget): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'price_changed') return error
  const { code, message, data } = error
  const hint = `Look at the new price, and buy at that one: agentgym buy ${shellQuote(name)}.`
  return new AgentGymError({ code, message, hint, data }, { cause: error })
}

function sayHeld(offer: Offer, context: CommandContext): void {
  context.sayJson({ ok: true, already: true, offer, order: null })
  const { paint, symbols } = context.terminal
  const label = paint.bold(safeText(`${offer.package} ${offer.covers}`, 240))
  const free = offer.price.kind === 'free'
  context.say(
    `${paint.accent(symbols.ok)} ${free ? `${label} is free: there is nothing to buy` : `You have ${label} already; nothing was bought`}`,
  )
  sayNext(offer, context)
}

function sayBought(order: Order, offer: Offer, context: CommandContext): void {
  context.sayJson({ ok: true, already: false, offer, order })
  const { paint, symbols } = context.terminal
  const label = paint.bold(safeText(`${order.package} ${order.covers}`, 240))
  const paid = formatAmount(order.total_minor, order.currency)
  context.say(`${paint.accent(symbols.ok)} Bought ${label} for ${paid} ${paint.dim(`(order ${shortId(order.id)})`)}`)
  sayNext(offer, context)
}

function sayNext({ package: name, version, price }: Offer, { say, terminal }: CommandContext): void {
  const { paint, symbols } = terminal
  const shown = shellQuote(`${name}@${version}`)
  const [what, command] =
    price.kind === 'per_run'
      ? ['Train on it', `agentgym train ${shown} --remote`]
      : ['Install it', `agentgym install ${shown}`]
  say(`${symbols.next} ${what}: ${paint.accent(command)}`)
}

/** Longer terms are on the package's page. */
const termsShown = 600

/** All that a buyer wants to know before they pay: what, how much, what for, under which terms, and who vouches for it. */
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
  const what = price.kind === 'per_run' ? 'one training run' : `every version ${covers} of this ${kind}`
  const pairs: [string, string][] = [['total', `${formatAmount(total_minor, currency)} for ${what}`]]
  if (upcoming !== null) pairs.push(['later', `${priceText(upcoming)} from ${upcoming.effective_at.slice(0, 10)} on`])
  return pairs
}

function termPairs(offer: Offer): [string, string][] {
  const { seller, license, terms, trial_calls, calls_price_minor, price } = offer
  const pairs: [string, string][] = [
    ['seller', seller],
    ['licence', license ?? 'none named'],
  ]
  if (terms !== '') pairs.push(['terms', terms.length > termsShown ? `${terms.slice(0, termsShown)}…` : terms])
  if (calls_price_minor > 0) {
    const trial = trial_calls > 0 ? `; ${formatCount(trial_calls)} to try before` : ''
    pairs.push(['calls', `${formatAmount(calls_price_minor, price.currency)} for 1,000 hosted calls${trial}`])
  } else if (trial_calls > 0) pairs.push(['calls', `${formatCount(trial_calls)} hosted calls to try before`])
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
    pairs.push(['run it again', command])
  }
  pairs.push(['page', page])
  return pairs
}

function balancePairs(
  { balance_minor: balance, total_minor: total, price }: Offer,
  { symbols }: Terminal,
): [string, string][] {
  if (balance === null) return []
  const { currency } = price
  const now = formatAmount(balance, currency)
  const after = balance < total ? 'too little' : `${formatAmount(balance - total, currency)} afterwards`
  return [['balance', `${now} ${symbols.next} ${after}`]]
}
