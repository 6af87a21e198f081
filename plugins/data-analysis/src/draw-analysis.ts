/** The table as a spreadsheet: what a profile has found is colored, what was filtered out is gone, what was computed is below. */
import type { Scene, SceneColor, SceneShape } from '@agentgym/scenario'
import { type Analysis, isSolved } from './analysis.ts'
import { type Cell, isMisspelt, JOINED, KEY, type Row, unitLimit } from './table.ts'

const WIDTH = 304
const HEIGHT = 224
const COLUMN = WIDTH / 6
const ROW = 11
const FIRST_ROW = 46
const MOST_ROWS = 11
/** Characters that fit beside each other. */
const LINE = 50
const CELL = 8

export function drawAnalysis(analysis: Analysis): Scene {
  const { task, rows, joined, profiled } = analysis
  const middle = task.text.lastIndexOf(' ', LINE)
  const lines = task.text.length <= LINE ? [task.text] : [task.text.slice(0, middle), task.text.slice(middle + 1)]
  const shapes: SceneShape[] = lines.map((text, i) => ({ kind: 'text', x: 0, y: 9 + ROW * i, text: text.slice(0, 80) }))
  for (const [column, heading] of task.headings.entries()) {
    if (column === JOINED && !joined) continue
    const x = column * COLUMN
    const color = profiled.has(column) ? 'accent' : 'dim'
    shapes.push({ kind: 'text', x, y: FIRST_ROW - 13, text: heading.slice(0, CELL), color })
    for (const [i, row] of rows.slice(0, MOST_ROWS).entries()) {
      const y = FIRST_ROW + ROW * i
      const fault = profiled.has(column) ? faultOf(rows, i, column) : null
      if (fault !== null) shapes.push({ kind: 'rect', x, y: y - 9, width: COLUMN - 4, height: ROW - 1, color: fault })
      shapes.push({ kind: 'text', x, y, text: textOf(row.cells[column]).slice(0, CELL) })
    }
  }
  shapes.push({
    kind: 'line',
    points: [
      [0, FIRST_ROW - 10],
      [WIDTH, FIRST_ROW - 10],
    ],
    color: 'line',
  })
  const more = Math.max(0, rows.length - MOST_ROWS)
  if (more > 0) {
    shapes.push({ kind: 'text', x: 0, y: FIRST_ROW + ROW * MOST_ROWS, text: `and ${more} more rows`, color: 'dim' })
  }
  return { width: WIDTH, height: HEIGHT, shapes: [...shapes, ...drawResult(analysis)] }
}

/** The color of a fault of a cell: copies, other rows of a key, blanks, another unit, a spelling. */
function faultOf(rows: readonly Row[], i: number, column: number): SceneColor | null {
  const cell = rows[i].cells[column]
  if (column === KEY) {
    const earlier = rows.slice(0, i).filter((row) => row.cells[KEY] === cell)
    if (earlier.length === 0) return null
    const copied = earlier.some(({ cells }) => JSON.stringify(cells) === JSON.stringify(rows[i].cells))
    return copied ? 'failure' : 'floor'
  }
  if (cell === null) return 'warning'
  if (typeof cell === 'number') return cell > unitLimit(rows, column) ? 'orange' : null
  return isMisspelt(cell) ? 'yellow' : null
}

/** What was filtered, grouped and computed: a bar for each group, the answer in the color of its verdict. */
function drawResult(analysis: Analysis): SceneShape[] {
  const { task, result, grouped, filtered, answer } = analysis
  const parts = [
    filtered === null ? [] : [`${filtered.keep ? 'only' : 'without'} ${filtered.label}`],
    grouped === null ? [] : [`by ${task.headings[grouped]}`],
    result === null
      ? []
      : [result.how === 'count' ? 'count of rows' : `${result.how} of ${task.headings[result.column]}`],
  ].flat()
  const shapes: SceneShape[] = [{ kind: 'text', x: 0, y: 186, text: parts.join(', ').slice(0, LINE), color: 'dim' }]
  const groups = result?.groups.slice(0, 3) ?? []
  const most = Math.max(1e-9, ...groups.map(({ value }) => value))
  for (const [i, { label, value }] of groups.entries()) {
    const y = 198 + 12 * i
    const color = answer?.label !== label ? 'ink' : isSolved(analysis) ? 'green' : 'failure'
    shapes.push({ kind: 'text', x: 0, y, text: `${label.slice(0, 12)} ${textOf(value)}`, color })
    shapes.push({ kind: 'rect', x: 140, y: y - 8, width: 1 + (160 * Math.max(0, value)) / most, height: 8, color })
  }
  return shapes
}

function textOf(cell: Cell): string {
  if (cell === null) return '–'
  return typeof cell === 'number' ? String(Math.round(cell * 100) / 100) : cell
}
