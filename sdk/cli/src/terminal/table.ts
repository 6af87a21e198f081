import type { CheckReport } from '@agentgym/contract'
import Table from 'cli-table3'
import type { Terminal } from './terminal.ts'
import { columnsOf, fitText, padText, safeText, wrapText } from './text.ts'

export type Column = {
  title: string
  align?: 'left' | 'right'
  /** Cut first when the terminal is narrow. */
  shrink?: boolean
}

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/**
 * A table without lines that is never wider than the terminal: columns marked `shrink` are cut first, then the last ones
 * are left out. Cells are plain text; `paintCell` styles them after they were cut.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly string[][],
  terminal: Terminal,
  paintCell: (text: string, row: number, column: number) => string = (text) => text,
): string[] {
  const widths = fitWidths(columns, rows, terminal.columns() - 1)
  const table = new Table({
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colAligns: widths.map((_, index) => columns[index].align ?? 'left'),
  })
  const cell = (text: string, index: number) => fitText(text, widths[index], terminal.symbols.ellipsis)
  table.push(widths.map((_, index) => terminal.paint.dim(cell(columns[index].title, index))))
  rows.forEach((row, at) => {
    table.push(widths.map((_, index) => paintCell(cell(row[index], index), at, index)))
  })
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
}

function fitWidths(columns: readonly Column[], rows: readonly string[][], room: number): number[] {
  const gap = 2
  const widths = columns.map((column, index) =>
    Math.max(columnsOf(column.title), ...rows.map((row) => columnsOf(row[index])), 1),
  )
  const total = () => widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1)
  for (let index = columns.length - 1; index >= 0 && total() > room; index--) {
    if (columns[index].shrink) widths[index] = Math.max(12, widths[index] - (total() - room))
  }
  while (widths.length > 1 && total() > room) widths.pop()
  widths[0] = Math.min(widths[0], room)
  return widths
}

/** A terminal as wide as what is left beside an indent of two columns. */
export function indented(terminal: Terminal): Terminal {
  return { ...terminal, columns: () => terminal.columns() - 2 }
}

const leastRoom = 10

/** Names and values in two columns; long values wrap within theirs. */
export function fieldLines(pairs: [string, string][], terminal: Terminal): string[] {
  // On the narrowest terminals the names are cut, not the values.
  const longest = Math.min(32, Math.max(4, terminal.columns() - leastRoom - 5))
  const nameWidth = Math.min(longest, Math.max(...pairs.map(([name]) => name.length)))
  const room = Math.max(leastRoom, terminal.columns() - nameWidth - 5)
  return pairs.flatMap(([name, value]) => {
    const [first, ...rest] = wrapText(safeText(value, 1000), room)
    const label = terminal.paint.dim(
      padText(fitText(safeText(name, 60), nameWidth, terminal.symbols.ellipsis), nameWidth),
    )
    return [`  ${label}  ${first}`, ...rest.map((line) => `${' '.repeat(nameWidth + 4)}${line}`)]
  })
}

/** A line such as `Price of NAME` with the name in bold; cut to the width of the terminal. */
export function titleLine(before: string, name: string, terminal: Terminal, after = ''): string {
  const { paint, symbols } = terminal
  const start = before === '' ? '' : `${before} `
  const label = safeText(name, 240)
  const cut = fitText(`${start}${label}${safeText(after, 240)}`, terminal.columns() - 1, symbols.ellipsis)
  const end = start.length + label.length
  return cut.slice(0, start.length) + paint.bold(cut.slice(start.length, end)) + cut.slice(end)
}

// Fits the usual names; a longer one moves its message to the right.
const nameWidth = 14

/** A check's lines: mark, name and message side by side; the message of a failure or warning says how to fix it. */
export function checkLines(check: CheckReport['checks'][number], terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const passed = check.warning ? paint.warn(symbols.warning) : paint.accent(symbols.ok)
  const mark = check.ok ? passed : paint.fail(symbols.failed)
  const name = safeText(check.id, 40)
  const indent = 6 + Math.max(nameWidth, name.length)
  const width = Math.max(20, Math.min(terminal.columns(), 110) - indent)
  const [first, ...rest] = check.message
    .split(/\r?\n/)
    .slice(0, 20)
    .flatMap((line) => wrapText(safeText(line, 2000), width))
  const style = check.ok && !check.warning ? paint.dim : (text: string) => text
  return [
    `  ${mark} ${paint.bold(name.padEnd(nameWidth))}  ${style(first)}`,
    ...rest.map((line) => ' '.repeat(indent) + style(line)),
    ...frameLines(check.frame, ' '.repeat(6), terminal),
  ]
}

/** A frame of code, never wrapped; the line that it is about stands out. */
export function frameLines(frame: unknown, indent: string, { paint, columns }: Terminal): string[] {
  if (typeof frame !== 'string') return []
  return frame
    .split('\n')
    .slice(0, 20)
    .map((line) => {
      const shown = fitText(safeText(line, 400), Math.max(20, columns() - indent.length))
      return indent + (line.startsWith(' ') ? paint.dim(shown) : shown)
    })
}
