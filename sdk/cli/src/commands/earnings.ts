import { formatAmount } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { readAmount } from '../command-line-amounts.ts'
import { payOut, putDestination, readEarnings, readEntries } from '../market/earnings-api.ts'
import { earningsLines, entryLines } from '../market/earnings-lines.ts'
import { exportTo } from '../registry/export-to.ts'
import { shortId } from '../registry/find-by-id.ts'
import { clientOf, explained } from '../registry/registry-api.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'

/** Of the newest; all of them are in the CSV. */
const entriesShown = 10

export type EarningsFlags = { org?: string; csv?: string }

/** `agentgym earnings`: what sales and royalties came to, and what became of it; `--csv` writes every entry to a file. */
export async function earnings({ org, csv }: EarningsFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  if (csv !== undefined) {
    const query = org === undefined ? '' : `?account=${encodeURIComponent(org)}`
    const fetchCsv = () => explained(connection, () => clientOf(connection).send(`/v1/earnings.csv${query}`))
    await exportTo(csv, { option: '--csv', fetch: fetchCsv, about: { format: 'csv' } }, context)
    return
  }
  const found = await readEarnings(connection, org)
  const { entries } = await readEntries(connection, { account: org, limit: entriesShown })
  context.sayJson({ ...found, entries })
  if (context.json) return
  for (const line of earningsLines(found, context.terminal)) context.say(line)
  for (const line of entryLines(entries, context.terminal)) context.say(line)
  const { paint, symbols } = context.terminal
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  const [what, command] =
    found.cleared_minor > 0
      ? ['Have it paid out', 'agentgym earnings payout']
      : found.sales_minor + found.royalties_earned_minor > 0
        ? ['All entries', 'agentgym earnings --csv earnings.csv']
        : ['Price a package', 'agentgym price NAME AMOUNT']
  context.say(`${symbols.next} ${what}: ${paint.accent(`${command}${command.includes('NAME') ? '' : whose}`)}`)
}

/** `agentgym earnings payout`: what has cleared, or a part of it, to where the account has its payouts sent. */
export async function earningsPayout(
  text: string | undefined,
  { org }: { org?: string },
  context: CommandContext,
): Promise<void> {
  const connection = await findConnection(context)
  const { currency } = await readEarnings(connection, org)
  const word = { name: 'AMOUNT', meaning: 'what is to be paid out' }
  const amount = text === undefined ? undefined : readAmount(text, currency, word)
  const payout = await payOut(connection, { amount_minor: amount, account: org })
  context.sayJson(payout)
  const { paint, symbols } = context.terminal
  const shown = paint.bold(formatAmount(payout.amount_minor, payout.currency))
  const id = paint.dim(`(payout ${shortId(payout.id)})`)
  if (payout.state === 'paid') context.say(`${paint.accent(symbols.ok)} Paid out ${shown} ${id}`)
  else if (payout.state === 'pending') {
    context.say(`${paint.accent(symbols.ok)} ${shown} is on its way ${id}`)
  } else {
    const why = payout.message === null ? '' : `: ${safeText(payout.message, 500)}`
    context.say(
      `${paint.fail(symbols.failed)} The payout of ${shown} failed${why}; the money is back among the earnings`,
    )
  }
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  context.say(`${symbols.next} What is left: ${paint.accent(`agentgym earnings${whose}`)}`)
  if (payout.state === 'failed') context.exitCode = 1
}

/** `agentgym earnings set-up`: where payouts go to, which the payment provider asks the seller for. */
export async function earningsSetUp({ org }: { org?: string }, context: CommandContext): Promise<void> {
  const destination = await putDestination(await findConnection(context), org)
  context.sayJson(destination)
  const { paint, symbols } = context.terminal
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  if (destination.ready) {
    context.say(`${paint.accent(symbols.ok)} Payouts go out by ${safeText(destination.provider, 60)}`)
    context.say(`${symbols.next} Have it paid out: ${paint.accent(`agentgym earnings payout${whose}`)}`)
    return
  }
  if (destination.onboarding_url === null) {
    context.say(`${symbols.warning} ${safeText(destination.provider, 60)} has not looked at it yet`)
  } else {
    const address = safeText(destination.onboarding_url, 2_000)
    context.say(`${symbols.next} Tell the payment provider where to: ${paint.accent(address)}`)
  }
  context.say(`${symbols.next} Whether it is ready: ${paint.accent(`agentgym earnings set-up${whose}`)}`)
}
