import { currencyDigits, type EarningsEntry } from '@agentgym/contract'

const columns = ['at', 'kind', 'package', 'order', 'gross', 'fee', 'royalty', 'net', 'currency'] as const

/**
 * Earnings as CSV (RFC 4180: commas, CRLF, a header), one line an entry, amounts in the currency's units. No cell begins
 * with what a spreadsheet takes for a formula: a package's name, which begins with @, has an apostrophe before it.
 */
export async function* earningsCsv(entries: AsyncIterable<EarningsEntry>): AsyncGenerator<string> {
  yield line([...columns])
  for await (const entry of entries) {
    const amount = (minor: number) => decimal(minor, currencyDigits(entry.currency))
    yield line([
      entry.at,
      entry.kind,
      text(entry.package ?? ''),
      entry.order ?? '',
      amount(entry.gross_minor),
      amount(entry.fee_minor),
      amount(entry.royalty_minor),
      amount(entry.net_minor),
      text(entry.currency),
    ])
  }
}

function line(cells: string[]): string {
  return `${cells.join(',')}\r\n`
}

/** Digit by digit: `-0.05`. */
function decimal(minor: number, digits: number): string {
  const units = String(Math.abs(minor)).padStart(digits + 1, '0')
  const cut = units.length - digits
  return `${minor < 0 ? '-' : ''}${units.slice(0, cut)}${digits === 0 ? '' : `.${units.slice(cut)}`}`
}

/** Quoted unless it is a plain word; what looks like a formula is made text. */
function text(value: string): string {
  const safe = /^[=+\-@\t\r\n|%]/.test(value) ? `'${value}` : value
  return /^[\w.]*$/.test(safe) ? safe : `"${safe.replaceAll('"', '""')}"`
}
