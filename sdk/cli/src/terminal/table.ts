import Table from 'cli-table3'
import { columnsOf } from './columns-of.ts'
import { fitText, padText } from './fit-text.ts'
import type { Terminal } from './terminal.ts'

export type Column = {
  title: string
  align?: 'left' | 'right' /** Gives way first when the terminal is narrow. */
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
 * are left out. Cells are plain text; `paintCell` styles them after they were measured.
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
  const cell = (text: string, index: number) =>
    padText(fitText(text, widths[index], terminal.symbols.ellipsis), widths[index], columns[index].align)
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
