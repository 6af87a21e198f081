import { type Earnings, type EarningsEntry, formatAmount } from '@agentgym/contract'
import { fieldLines } from '../terminal/field-lines.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { titleLine } from '../terminal/title-line.ts'

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

/** Without the currency, which stands beside the net amount. */
function amountOrDash(minor: number, currency: string): string {
  return minor === 0 ? '-' : formatAmount(minor, currency).split(' ')[0]
}
