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
import { callApi, clientOf, explained, sendIdempotent } from '../registry/call-api.ts'
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

/** The newest entries; the CSV has all of them. */
const entriesShown = 10

type EarningsFlags = { org?: string; csv?: string }

/** `agentgym earnings`: earnings of an account; `--csv` exports all entries. */
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
  context.printJson({ ...found, entries })
  if (context.json) return
  for (const line of earningsLines(found, context.terminal)) context.print(line)
  for (const line of entryLines(entries, context.terminal)) context.print(line)
  const { paint, symbols } = context.terminal
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  const [what, command] =
    found.cleared_minor > 0
      ? ['Request a payout', 'agentgym earnings payout']
      : found.sales_minor + found.royalties_earned_minor > 0
        ? ['All entries', 'agentgym earnings --csv earnings.csv']
        : ['Set a price', 'agentgym price NAME AMOUNT']
  context.print(`${symbols.next} ${what}: ${paint.accent(`${command}${command.includes('NAME') ? '' : whose}`)}`)
}

/** `agentgym earnings payout`: pays out available earnings, or a part of them. */
export async function earningsPayout(
  text: string | undefined,
  { org }: { org?: string },
  context: CommandContext,
): Promise<void> {
  const connection = await findConnection(context)
  const { currency } = await readEarnings(connection, org)
  const word = { name: 'AMOUNT', meaning: 'the amount to pay out' }
  const amount = text === undefined ? undefined : readAmount(text, currency, word)
  const payout = await payOut(connection, { amount_minor: amount, account: org })
  context.printJson(payout)
  const { paint, symbols } = context.terminal
  const shown = paint.bold(formatAmount(payout.amount_minor, payout.currency))
  const id = paint.dim(`(payout ${shortId(payout.id)})`)
  if (payout.state === 'paid') context.print(`${paint.accent(symbols.ok)} Paid out ${shown} ${id}`)
  else if (payout.state === 'pending') {
    context.print(`${paint.accent(symbols.ok)} Payout of ${shown} started ${id}`)
  } else {
    const why = payout.message === null ? '' : `: ${safeText(payout.message, 500)}`
    context.print(
      `${paint.fail(symbols.failed)} The payout of ${shown} failed${why}; the amount was returned to your earnings`,
    )
  }
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  context.print(`${symbols.next} Remaining earnings: ${paint.accent(`agentgym earnings${whose}`)}`)
  if (payout.state === 'failed') context.exitCode = 1
}

/** `agentgym earnings set-up`: sets up payouts with the payment provider. */
export async function earningsSetUp({ org }: { org?: string }, context: CommandContext): Promise<void> {
  const destination = await putDestination(await findConnection(context), org)
  context.printJson(destination)
  const { paint, symbols } = context.terminal
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  if (destination.ready) {
    context.print(`${paint.accent(symbols.ok)} Payouts are set up with ${safeText(destination.provider, 60)}`)
    context.print(`${symbols.next} Request a payout: ${paint.accent(`agentgym earnings payout${whose}`)}`)
    return
  }
  if (destination.onboarding_url === null) {
    context.print(`${symbols.warning} ${safeText(destination.provider, 60)} is still reviewing your details`)
  } else {
    const address = safeText(destination.onboarding_url, 2_000)
    context.print(`${symbols.next} Continue at the payment provider: ${paint.accent(address)}`)
  }
  context.print(`${symbols.next} Check the status: ${paint.accent(`agentgym earnings set-up${whose}`)}`)
}

/** Earnings by kind. Zero amounts are left out. */
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
      'available',
      `${formatAmount(earnings.cleared_minor, currency)}${held > 0 ? `; ${formatAmount(held, currency)} on hold` : ''}`,
    ],
    ...part('owed after chargebacks', earnings.debt_minor),
  ]
  return [titleLine('Earnings of', earnings.account, terminal), ...fieldLines(pairs, terminal)]
}

/** The newest entries as a table; nothing without entries. */
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

/** Pays out everything available, unless an amount is given. */
function payOut(connection: Connection, json: { amount_minor?: number; account?: string }): Promise<Payout> {
  return sendIdempotent(connection, { method: 'POST', path: '/v1/payouts', json, answer: payoutSchema })
}

/** Starts or continues the provider's onboarding for payouts. */
function putDestination(connection: Connection, account?: string): Promise<PayoutDestination> {
  const request = { method: 'PUT' as const, path: '/v1/payout-destination', json: { account } }
  return callApi(connection, { ...request, answer: payoutDestinationSchema })
}
