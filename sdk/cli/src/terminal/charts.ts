import { share, valueRange } from '@agentgym/contract/charts'
import { formatCount, formatValue } from './format-values.ts'
import type { Symbols } from './terminal.ts'
import { padText } from './text.ts'

type CurvePoint = { x: number; y: number }

type CurveChartOptions = {
  /** Columns and rows of the whole chart, axis labels included. */
  width: number
  height: number
  /** The x axis runs from 0 to this. */
  xEnd: number
  /** A horizontal line, such as the success criterion. */
  target?: number
  unicode: boolean
}

/** One row of the chart in parts, so that the caller can color the plot and dim the axis. */
export type ChartRow = { axis: string; plot: string; target: boolean }

// Bit of each dot in a braille cell (Unicode block U+2800), by row then column.
const brailleBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
]

/**
 * Draws a curve in braille dots (2 × 4 a character), or in asterisks where the terminal is not UTF-8. The y axis
 * covers the values and the target; the last row is the x axis. Returns `height` rows of `width` columns.
 */
export function curveChart(points: readonly CurvePoint[], options: CurveChartOptions): ChartRow[] {
  const [low, high] = rangeOf(points, options.target)
  const lines = Math.max(2, options.height - 1)
  const labels = axisLabels(low, high, lines)
  const axisWidth = Math.max(...[...labels.values()].map((label) => label.length), 4) + 2
  const columns = Math.max(4, options.width - axisWidth)
  const dotsWide = options.unicode ? columns * 2 : columns
  const dotsHigh = options.unicode ? lines * 4 : lines

  const toRow = (y: number) => Math.round((1 - share(y, low, high)) * (dotsHigh - 1))
  const dots = drawCurve(points, options.xEnd, dotsWide, dotsHigh, toRow)
  const perCell = dotsHigh / lines
  const targetLine = options.target === undefined ? -1 : Math.floor(toRow(options.target) / perCell)

  const rows: ChartRow[] = []
  for (let line = 0; line < lines; line++) {
    const edge = options.unicode ? '│' : '|'
    const axis = `${padText(labels.get(line) ?? '', axisWidth - 2, 'right')} ${edge}`
    rows.push({
      axis,
      plot: plotLine(dots, line, columns, line === targetLine, options.unicode),
      target: line === targetLine,
    })
  }
  rows.push({ axis: xAxis(axisWidth, columns, options), plot: '', target: false })
  return rows
}

/**
 * The values at the first and last line, and at one between if there is room. Round numbers would fall between the lines
 * of a terminal.
 */
function axisLabels(low: number, high: number, lines: number): Map<number, string> {
  const middle = Math.floor((lines - 1) / 2)
  const labelled = lines > 4 ? [0, middle, lines - 1] : [0, lines - 1]
  return new Map(labelled.map((line) => [line, formatValue(high - (line / (lines - 1)) * (high - low))]))
}

/** Without a margin: the chart has few lines. */
function rangeOf(points: readonly CurvePoint[], target: number | undefined): [low: number, high: number] {
  const values = points.map(({ y }) => y)
  if (target === undefined) return valueRange(values, 0)
  // Before the first point a target alone would give a range around itself.
  return valueRange([...(points.length === 0 ? [0] : values), target], 0)
}

/** Sets the dots of a polyline: every column between two points is filled, so that steep rises stay connected. */
function drawCurve(
  points: readonly CurvePoint[],
  xEnd: number,
  dotsWide: number,
  dotsHigh: number,
  toRow: (y: number) => number,
): Uint8Array[] {
  const dots = Array.from({ length: dotsHigh }, () => new Uint8Array(dotsWide))
  let last: { column: number; row: number } | undefined
  for (const { x, y } of points) {
    const column = Math.round(share(x, 0, Math.max(xEnd, 1)) * (dotsWide - 1))
    const row = toRow(y)
    const from = last ?? { column, row }
    const moves = Math.max(Math.abs(column - from.column), Math.abs(row - from.row), 1)
    for (let move = 0; move <= moves; move++) {
      const atRow = Math.round(from.row + ((row - from.row) * move) / moves)
      const atColumn = Math.round(from.column + ((column - from.column) * move) / moves)
      dots[atRow][atColumn] = 1
    }
    last = { column, row }
  }
  return dots
}

function plotLine(dots: Uint8Array[], line: number, columns: number, isTarget: boolean, unicode: boolean): string {
  let text = ''
  for (let column = 0; column < columns; column++) {
    if (!unicode) {
      text += dots[line][column] ? '*' : isTarget ? '-' : ' '
      continue
    }
    let bits = 0
    for (let row = 0; row < 4; row++) {
      for (let side = 0; side < 2; side++) {
        if (dots[line * 4 + row][column * 2 + side]) bits |= brailleBits[row][side]
      }
    }
    text += bits ? String.fromCodePoint(0x2800 + bits) : isTarget ? '╌' : ' '
  }
  return text
}

function xAxis(axisWidth: number, columns: number, options: CurveChartOptions): string {
  const end = `${formatCount(options.xEnd)} steps`
  const corner = padText(options.unicode ? '└' : '+', axisWidth, 'right')
  const line = options.unicode ? '─' : '-'
  if (columns < end.length + 4) return corner + line.repeat(columns)
  return `${corner}${line.repeat(columns - end.length - 1)} ${end}`
}

/**
 * The values as a row of `width` block characters, scaled between the least and the greatest. More values than
 * columns: each column shows the mean of its share. Nulls are left out.
 */
export function sparkline(values: readonly (number | null)[], width: number, symbols: Symbols): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value))
  if (known.length === 0 || width <= 0) return ''
  const columns = resample(known, Math.min(width, known.length))
  const low = Math.min(...columns)
  const high = Math.max(...columns)
  const top = symbols.spark.length - 1
  return columns
    .map(
      (value) => symbols.spark[high === low ? Math.floor(top / 2) : Math.round(((value - low) / (high - low)) * top)],
    )
    .join('')
}

/** Means over `count` equal shares of the values; `count` is at most the number of values. */
function resample(values: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * values.length) / count)
    const to = Math.max(from + 1, Math.floor(((index + 1) * values.length) / count))
    let sum = 0
    for (let at = from; at < to; at++) sum += values[at]
    return sum / (to - from)
  })
}
