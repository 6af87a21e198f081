/** An analysis under way, and the procedure for it: which calls are due next. */
import {
  type aggregations,
  type Group,
  JOINED,
  KEY,
  type missingRepairs,
  OUTLYING,
  type Profile,
  profile,
  type Row,
} from './table.ts'
import { needsJoin, type Task } from './tasks.ts'

export type Analysis = {
  task: Task
  /** What is left of the table, with all repairs. */
  rows: readonly Row[]
  profiled: Set<number>
  /** Profiles of the rows that are left, as far as they have been computed. */
  profiles: { rows: readonly Row[]; byColumn: Map<number, Profile> }
  joined: boolean
  filtered: { column: number; label: string; keep: boolean } | null
  grouped: number | null
  /** What the aggregation has brought: one group, or one for each label. */
  result: { column: number; how: (typeof aggregations)[number]; groups: readonly Group[] } | null
  failed: boolean
  /** Repairs that were needed, and all that were made. */
  repairs: { needed: number; made: number }
  answer: Group | null
  callsLeft: number
  log: string[]
}

export type Call =
  | { tool: 'profile'; arguments: { column: string } }
  | { tool: 'drop_duplicates' }
  | { tool: 'repair_blanks'; arguments: { column: string; how: (typeof missingRepairs)[number] } }
  | { tool: 'convert_unit'; arguments: { column: string; divide_by: '100' | '1000' } }
  | { tool: 'merge_labels'; arguments: { column: string } }
  | { tool: 'join' }
  | { tool: 'filter'; arguments: { value: string; rows: 'keep' | 'drop' } }
  | { tool: 'group_by'; arguments: { column: string } }
  | { tool: 'aggregate'; arguments: { column: string; how: (typeof aggregations)[number] } }
  | { tool: 'answer'; arguments: { pick: 'value' | 'highest' | 'lowest' } }

/** The columns that the question needs; those of a join only after it. */
function relevantColumns({ task: { question }, joined }: Analysis): number[] {
  const { aggregation, measure, group, filter } = question
  const columns = [KEY, filter?.column, group?.column, aggregation === 'count' ? undefined : measure]
  return columns.flatMap((column) => (column === undefined || (column === JOINED && !joined) ? [] : [column]))
}

/** What is wrong with a column, as the repair of it. */
function repairsOf(task: Task, column: number, found: Profile): Call[] {
  const heading = task.headings[column]
  const how = task.blanks[column] === 'zero' ? 'fill with 0' : 'drop rows'
  const calls: Call[] = []
  if (found.copied > 0) calls.push({ tool: 'drop_duplicates' })
  if (found.missing > 0 && column > JOINED) calls.push({ tool: 'repair_blanks', arguments: { column: heading, how } })
  if (isMixed(found)) {
    const factor = task.factors[column] === 100 ? '100' : '1000'
    calls.push({ tool: 'convert_unit', arguments: { column: heading, divide_by: factor } })
  }
  if (found.misspelt > 0) calls.push({ tool: 'merge_labels', arguments: { column: heading } })
  return calls
}

/** What a profile of the rows that are left shows. */
export function profileOf(analysis: Analysis, column: number): Profile {
  if (analysis.profiles.rows !== analysis.rows) analysis.profiles = { rows: analysis.rows, byColumn: new Map() }
  const { byColumn } = analysis.profiles
  const known = byColumn.get(column) ?? profile(analysis.rows, column)
  byColumn.set(column, known)
  return known
}

/** Whether some numbers are in another unit. */
export function isMixed({ largestOverMedian }: Profile): boolean {
  return largestOverMedian > OUTLYING
}

/**
 * The calls that bring the analysis forward, whatever has been done before: first a look at each column that the question
 * needs, the repair of what is wrong with it, and the join; then the filter and the groups, the aggregation, the answer.
 */
export function dueCalls(analysis: Analysis): Call[] {
  const { task, profiled, joined, filtered, grouped, result } = analysis
  const { question, headings } = task
  if (result !== null) return [{ tool: 'answer', arguments: { pick: question.group?.pick ?? 'value' } }]
  const calls: Call[] = []
  for (const column of relevantColumns(analysis)) {
    if (profiled.has(column)) calls.push(...repairsOf(task, column, profileOf(analysis, column)))
    else calls.push({ tool: 'profile', arguments: { column: headings[column] } })
  }
  if (needsJoin(question) && !joined) calls.push({ tool: 'join' })
  if (calls.length > 0) return calls
  const { filter, group } = question
  if (filter !== null && filtered === null) {
    const value = valueId(task, filter.column, filter.label)
    calls.push({ tool: 'filter', arguments: { value, rows: filter.keep ? 'keep' : 'drop' } })
  }
  if (group !== null && grouped === null)
    calls.push({ tool: 'group_by', arguments: { column: headings[group.column] } })
  if (calls.length > 0) return calls
  // Rows are counted by their key.
  const column = question.aggregation === 'count' ? KEY : question.measure
  return [{ tool: 'aggregate', arguments: { column: headings[column], how: question.aggregation } }]
}

export function valueId({ headings }: Task, column: number, label: string): string {
  return `${headings[column]} = ${label}`
}

export function isSolved({ task, answer }: Analysis): boolean {
  if (answer === null || answer.label !== task.answer.label) return false
  return Math.abs(answer.value - task.answer.value) <= 1e-6 * Math.max(1, Math.abs(task.answer.value))
}
