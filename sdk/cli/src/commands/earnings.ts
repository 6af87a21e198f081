import {
  type Earnings,
  type EarningsEntry,
  earningsEntriesSchema,
  earningsSchema,
  formatAmount,
  payoutDestinationSchema,
  payoutSchema,
} from '@agentgym/contract'
import type { Command } from 'commander'
import type { z } from 'zod'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { orgOption, readAmount } from '../option-values.ts'
import { callApi, clientOf, explained, sendOnce } from '../registry/call-api.ts'
import { exportTo } from '../registry/export-to.ts'
import { shortId } from '../registry/find-by-id.ts'
import { fieldLines, renderTable, titleLine } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addEarningsCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('earnings')
    .usage('[COMMAND] [options]')
    .description('show earnings and request payouts')
  group
    .command('show', { isDefault: true })
    .description('show sales, fees, royalties and available payouts (the default)')
    .option(...orgOption)
    .option('--csv <FILE>', 'export all entries to a file; - for stdout')
    .action(action(earnings))
  group
    .command('payout')
    .argument('[AMOUNT]', 'amount (default: everything available)')
    .description('request a payout')
    .option(...orgOption)
    .action(action(earningsPayout))
  group
    .command('set-up')
    .description('set up payouts with the payment provider')
    .option(...orgOption)
    .action(action(earningsSetUp))
}

/** Of the newest; all of them are in the CSV. */
const entriesShown = 10

type EarningsFlags = { org?: string; csv?: string }

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

/** What an account has earned, and what became of it. Parts that are nothing are left out. */
export function earningsLines(earnings: Earnings, terminal: Terminal): string[] {
  const { currency } = earnings
  const part = (name: string, minor: number): [string, string][] =>
    minor === 0 ? [] : [[name, formatAmount(minor, currency)]]
  const held = earnings.held_minor
  const pairs: [string, string][] = [
    ['sales', formatAmount(earnings.sales_minor, currency)],
    ...part('fees', -earnings.fees_minor),
    ...part('royalties to authors', -earnings.royalties_paid_minor),
    ...part('royalties earned', earnings.royalties_earned_minor),
    ...part('refunds', -earnings.refunds_minor),
    ...part('paid out', -earnings.paid_out_minor),
    ['balance', formatAmount(earnings.balance_minor, currency)],
    [
      'may be paid out',
      `${formatAmount(earnings.cleared_minor, currency)}${held > 0 ? `; ${formatAmount(held, currency)} is younger than the hold` : ''}`,
    ],
    ...part('owed after chargebacks', earnings.debt_minor),
  ]
  return [titleLine('Earnings of', earnings.account, terminal), ...fieldLines(pairs, terminal)]
}

/** The newest entries as a table; nothing where there are none. */
export function entryLines(entries: readonly EarningsEntry[], terminal: Terminal): string[] {
  if (entries.length === 0) return []
  const columns = [
    { title: 'Date' },
    { title: 'Entry' },
    { title: 'Net', align: 'right' as const },
    { title: 'Package', shrink: true },
    { title: 'Gross', align: 'right' as const },
    { title: 'Fee', align: 'right' as const },
    { title: 'Royalty', align: 'right' as const },
  ]
  const rows = entries.map((entry) => [
    entry.at.slice(0, 10),
    entry.kind.replaceAll('_', ' '),
    formatAmount(entry.net_minor, entry.currency),
    safeText(entry.package ?? '-', 214),
    amountOrDash(entry.gross_minor, entry.currency),
    amountOrDash(entry.fee_minor, entry.currency),
    amountOrDash(entry.royalty_minor, entry.currency),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 2 ? terminal.paint.bold(text) : text))
}

function amountOrDash(minor: number, currency: string): string {
  return minor === 0 ? '-' : formatAmount(minor, currency)
}

export type Payout = z.infer<typeof payoutSchema>
type PayoutDestination = z.infer<typeof payoutDestinationSchema>

function readEarnings(connection: Connection, account?: string): Promise<Earnings> {
  return callApi(connection, { path: '/v1/earnings', query: { account }, answer: earningsSchema })
}

/** Newest first. */
function readEntries(
  connection: Connection,
  query: { account?: string; limit?: number },
): Promise<z.infer<typeof earningsEntriesSchema>> {
  return callApi(connection, { path: '/v1/earnings/entries', query, answer: earningsEntriesSchema })
}

/** All that has cleared unless an amount is given. */
function payOut(connection: Connection, json: { amount_minor?: number; account?: string }): Promise<Payout> {
  return sendOnce(connection, { method: 'POST', path: '/v1/payouts', json, answer: payoutSchema })
}

/** Begins what the provider asks for before it pays anybody out; the same again goes on where it was. */
function putDestination(connection: Connection, account?: string): Promise<PayoutDestination> {
  const request = { method: 'PUT' as const, path: '/v1/payout-destination', json: { account } }
  return callApi(connection, { ...request, answer: payoutDestinationSchema })
}
