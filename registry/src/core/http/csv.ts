import assert from 'node:assert'

/** Null is an empty cell. `{ decimal }` is an exact number, such as an amount of money. */
export type CsvCell = string | number | null | undefined | { decimal: string }

/** Content type of `csvLine` output with a header line. */
export const csvType = 'text/csv; charset=utf-8; header=present'

/**
 * A line of a CSV file (RFC 4180: commas, CRLF, quotes doubled). All CSV of the server is written here, because
 * spreadsheets run cells as formulas: text that could be one is prefixed with an apostrophe. Numbers stay numbers,
 * negative ones too.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(written).join(',')}\r\n`
}

function written(cell: CsvCell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number') return String(cell)
  if (typeof cell === 'string') return quoted(withoutFormulas(cell))
  assert(/^-?\d+(\.\d+)?$/.test(cell.decimal), `not a decimal: ${cell.decimal}`)
  return cell.decimal
}

/**
 * The characters that begin a formula, or that spreadsheets skip before one (OWASP: CSV Injection); the second row has
 * their full-width forms, which Asian versions treat the same.
 */
const formulaStart = String.raw`[=+\-@|%\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]`
/** Some spreadsheets also split at these, even within quotes: at semicolons where the decimal separator is a comma. */
const split = String.raw`[,;\t\r\n]`
const formulas = new RegExp(`^ *(?=${formulaStart})|(?<=${split}) *(?=[=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20])`, 'g')

function withoutFormulas(text: string): string {
  return text.replace(formulas, (spaces) => `'${spaces}`)
}

/** Unquoted only if it is a plain word, for the same reason. */
function quoted(text: string): string {
  return /^[\w.]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`
}
