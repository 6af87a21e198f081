/**
 * The back end: a table in memory, and the operations on it. Columns are 0 the key, 1 and 2 labels, 3 the label that a join brings,
 * 4 and 5 numbers.
 */

export type Cell = string | number | null
export type Row = {
  /** What the other table is joined by. */
  partner: number
  cells: readonly Cell[]
}

export const KEY = 0
export const OWN_LABELS = [1, 2] as const
export const JOINED = 3
export const CATEGORIES = [...OWN_LABELS, JOINED] as const
export const MEASURES = [4, 5] as const
export const COLUMNS = 6

export const aggregations = ['sum', 'mean', 'maximum', 'count'] as const
export type Aggregation = (typeof aggregations)[number]
export const missingRepairs = ['drop rows', 'fill with 0'] as const
export const factors = ['100', '1000'] as const

/** Numbers this many times the median are taken for another unit. */
export const OUTLYING = 20

/** What a look at one column shows. Shares are of the rows that are left. */
export type Profile = {
  missing: number
  /** Rows whose key an earlier row has, and those of them that are equal to it in every column. */
  repeated: number
  copied: number
  /** The largest number over the median of those above 0; 1 for labels. */
  largestOverMedian: number
  /** Labels that differ from others in case or spaces only. */
  misspelt: number
}

export function profile(rows: readonly Row[], column: number): Profile {
  const cells = rows.map((row) => row.cells[column])
  const share = (count: number) => (rows.length === 0 ? 0 : count / rows.length)
  const found = { missing: share(cells.filter((cell) => cell === null).length), repeated: 0, copied: 0, misspelt: 0 }
  if (column === KEY) {
    const copies = rows.length - new Set(rows.map(({ cells }) => JSON.stringify(cells))).size
    return { ...found, repeated: share(rows.length - new Set(cells).size), copied: share(copies), largestOverMedian: 1 }
  }
  const misspelt = cells.filter((cell) => typeof cell === 'string' && isMisspelt(cell)).length
  const typical = typicalOf(rows, column)
  const largestOverMedian = typical === 0 ? 1 : Math.max(...numbersOf(rows, column)) / typical
  return { ...found, misspelt: share(misspelt), largestOverMedian }
}

/** Keeps the first row of each key. */
export function dropDuplicates(rows: readonly Row[]): Row[] {
  const seen = new Set<Cell>()
  return rows.filter(({ cells: [key] }) => !seen.has(key) && seen.add(key))
}

export function repairMissing(rows: readonly Row[], column: number, how: (typeof missingRepairs)[number]): Row[] {
  if (how === 'drop rows') return rows.filter(({ cells }) => cells[column] !== null)
  return rows.map((row) => (row.cells[column] === null ? withCell(row, column, 0) : row))
}

/** Divides the numbers that are far above the median. */
export function convertUnit(rows: readonly Row[], column: number, factor: number): Row[] {
  const limit = unitLimit(rows, column)
  return rows.map((row) => {
    const cell = row.cells[column]
    return typeof cell === 'number' && cell > limit ? withCell(row, column, cell / factor) : row
  })
}

/** Gives labels that differ in case or spaces only one spelling. */
export function mergeLabels(rows: readonly Row[], column: number): Row[] {
  return rows.map((row) => {
    const cell = row.cells[column]
    return typeof cell === 'string' ? withCell(row, column, spelled(cell)) : row
  })
}

/** Brings the label of the other table; rows without a partner in it are lost. */
export function join(rows: readonly Row[], lookup: ReadonlyMap<number, string>): Row[] {
  return rows.flatMap((row) => {
    const label = lookup.get(row.partner)
    return label === undefined ? [] : [withCell(row, JOINED, label)]
  })
}

export function filter(rows: readonly Row[], column: number, label: string, keep: boolean): Row[] {
  return rows.filter(({ cells }) => (cells[column] === label) === keep)
}

export type Group = { label: string; value: number }

/** A value for each label of a column, or one for all rows. A group without numbers has none. */
export function aggregate(rows: readonly Row[], groupColumn: number | null, column: number, how: Aggregation): Group[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const label = groupColumn === null ? 'all' : String(row.cells[groupColumn])
    groups.set(label, [...(groups.get(label) ?? []), row])
  }
  return [...groups].flatMap(([label, members]) => {
    if (how === 'count') return [{ label, value: members.length }]
    const numbers = numbersOf(members, column)
    if (numbers.length === 0) return []
    const sum = numbers.reduce((total, each) => total + each, 0)
    const value = how === 'sum' ? sum : how === 'mean' ? sum / numbers.length : Math.max(...numbers)
    return [{ label, value }]
  })
}

function numbersOf(rows: readonly Row[], column: number): number[] {
  return rows.flatMap(({ cells }) => {
    const cell = cells[column]
    return typeof cell === 'number' ? [cell] : []
  })
}

/** The median of the numbers above 0: zeros that were filled in say nothing about a unit. 0 if there are none. */
function typicalOf(rows: readonly Row[], column: number): number {
  const sorted = numbersOf(rows, column)
    .filter((each) => each > 0)
    .sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** Numbers above it are in another unit. */
export function unitLimit(rows: readonly Row[], column: number): number {
  return OUTLYING * typicalOf(rows, column)
}

export function isMisspelt(label: string): boolean {
  return label !== spelled(label)
}

/** As labels are written: without spaces around them, one capital. */
function spelled(label: string): string {
  const trimmed = label.trim()
  return trimmed.slice(0, 1).toUpperCase() + trimmed.slice(1).toLowerCase()
}

function withCell(row: Row, column: number, cell: Cell): Row {
  return { ...row, cells: row.cells.map((each, i) => (i === column ? cell : each)) }
}
