/**
 * A question about a table whose data has faults: look at the columns that matter, repair what is wrong with them and nothing else,
 * join, filter, group and aggregate. The answer is what the operations compute; it is right if it equals the true one.
 */
import { answer, box, choice, defineToolScenario, dict, list, pointer, taskRng, text, tool } from '@agentgym/scenario'
import { type Analysis, type Call, dueCalls, isMixed, isSolved, profileOf, valueId } from './analysis.ts'
import { namesOf } from './domains.ts'
import { drawAnalysis } from './draw-analysis.ts'
import * as table from './table.ts'
import { CATEGORIES, COLUMNS, JOINED, KEY, MEASURES } from './table.ts'
import { generateTask, LABELS, pickGroup } from './tasks.ts'

const MAX_CALLS = 20
/** With so many tokens, no two words of the questions have the same one. */
export const VOCABULARY = 2864
const TRAIN_TASKS = 100_000
const HELD_OUT_TASKS = 1_000_000_000
const COLUMN_FEATURES = 6
const PROGRESS = 0.25
const MISTAKE = -0.05

export default defineToolScenario({
  observation: dict({
    question: text({ maxTokens: 28, vocabulary: VOCABULARY }),
    /**
     * Joined, filtered, grouped, aggregated; last call failed; rows left, calls left; what the question names: columns without a
     * profile, a label, a column of labels, the other table; what profiles show: repeats, copies, blanks and what they mean,
     * another unit and its size, spellings.
     */
    facts: box({ shape: [17], low: -1, high: 2 }),
    /** Named in the question, by any of its words; one of its labels named; profiled; blanks; another unit; misspelt. */
    columns: list({ slots: COLUMNS, features: COLUMN_FEATURES }),
    /** The labels of each column: named in the question, there. */
    values: list({ slots: CATEGORIES.length * LABELS, features: 1 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_TASKS, eval: HELD_OUT_TASKS },
  baselines: { tokens: 3_000, seconds: 900 },

  start({ task }): Analysis {
    const drawn = generateTask(taskRng(task, TRAIN_TASKS), task.split)
    return {
      ...{
        task: drawn,
        rows: drawn.rows,
        profiled: new Set<number>(),
        profiles: { rows: drawn.rows, byColumn: new Map() },
        joined: false,
        filtered: null,
        grouped: null,
      },
      ...{ result: null, failed: false, repairs: { needed: 0, made: 0 }, answer: null, callsLeft: MAX_CALLS, log: [] },
    }
  },

  tools: {
    profile: tool({
      description: 'Look at a column: repeats, blanks, sizes, spellings',
      parameters: { column: pointer('columns') },
      cost: { tokens: 90, seconds: 3 },
      allowed: (analysis: Analysis) => ({
        column: headingsOf(analysis, (column) => isThere(analysis, column) && !analysis.profiled.has(column)),
      }),
      run: (analysis: Analysis, { column }) =>
        act(analysis, { tool: 'profile', arguments: { column } }, () => {
          analysis.profiled.add(columnOf(analysis, column))
        }),
    }),
    drop_duplicates: tool({
      description: 'Keep the first row of each key only. Needs a profile of the key that shows repeats',
      cost: { tokens: 40, seconds: 2 },
      run: (analysis: Analysis) =>
        act(analysis, { tool: 'drop_duplicates' }, () => {
          analysis.rows = table.dropDuplicates(analysis.rows)
        }),
    }),
    repair_blanks: tool({
      description: 'Drop the rows in which a column is blank, or fill in 0. Needs a profile',
      parameters: { column: pointer('columns'), how: choice(table.missingRepairs) },
      cost: { tokens: 50, seconds: 2 },
      allowed: (analysis: Analysis) => ({ column: profiledOf(analysis, MEASURES, ({ missing }) => missing > 0) }),
      run: (analysis: Analysis, { column, how }) =>
        act(analysis, { tool: 'repair_blanks', arguments: { column, how } }, () => {
          analysis.rows = table.repairMissing(analysis.rows, columnOf(analysis, column), how)
        }),
    }),
    convert_unit: tool({
      description: 'Divide the numbers that are far above the median, which are in a smaller unit. Needs a profile',
      parameters: { column: pointer('columns'), divide_by: choice(table.factors) },
      cost: { tokens: 50, seconds: 2 },
      allowed: (analysis: Analysis) => ({ column: profiledOf(analysis, MEASURES, isMixed) }),
      run: (analysis: Analysis, { column, divide_by }) =>
        act(analysis, { tool: 'convert_unit', arguments: { column, divide_by } }, () => {
          analysis.rows = table.convertUnit(analysis.rows, columnOf(analysis, column), Number(divide_by))
        }),
    }),
    merge_labels: tool({
      description: 'Give labels that differ in case or spaces one spelling. Needs a profile',
      parameters: { column: pointer('columns') },
      cost: { tokens: 50, seconds: 2 },
      allowed: (analysis: Analysis) => ({ column: profiledOf(analysis, CATEGORIES, ({ misspelt }) => misspelt > 0) }),
      run: (analysis: Analysis, { column }) =>
        act(analysis, { tool: 'merge_labels', arguments: { column } }, () => {
          analysis.rows = table.mergeLabels(analysis.rows, columnOf(analysis, column))
        }),
    }),
    join: tool({
      description: 'Bring the column of the other table. Rows without a partner in it are lost',
      cost: { tokens: 60, seconds: 5 },
      run: (analysis: Analysis) =>
        act(analysis, { tool: 'join' }, () => {
          analysis.rows = table.join(analysis.rows, analysis.task.lookup)
          analysis.joined = true
        }),
    }),
    filter: tool({
      description: 'Keep or drop the rows with a label. Needs a profile',
      parameters: { value: pointer('values'), rows: choice(['keep', 'drop']) },
      cost: { tokens: 50, seconds: 2 },
      allowed: (analysis: Analysis) => ({
        value: valuesOf(analysis).flatMap(({ id, column }) => (analysis.profiled.has(column) ? [id] : [])),
      }),
      run: (analysis: Analysis, { value, rows }) =>
        act(analysis, { tool: 'filter', arguments: { value, rows } }, () => {
          const chosen = valuesOf(analysis).find(({ id }) => id === value)
          if (chosen === undefined) throw new Error(`no value ${value}`)
          analysis.filtered = { column: chosen.column, label: chosen.label, keep: rows === 'keep' }
          analysis.rows = table.filter(analysis.rows, chosen.column, chosen.label, rows === 'keep')
        }),
    }),
    group_by: tool({
      description: 'Group the rows by a column of labels. Needs a profile',
      parameters: { column: pointer('columns') },
      cost: { tokens: 40, seconds: 1 },
      allowed: (analysis: Analysis) => ({ column: profiledOf(analysis, CATEGORIES) }),
      run: (analysis: Analysis, { column }) =>
        act(analysis, { tool: 'group_by', arguments: { column } }, () => {
          analysis.grouped = columnOf(analysis, column)
        }),
    }),
    aggregate: tool({
      description:
        'Compute one number for each group, or for all rows. Needs a profile; refused for keys and while the column has blanks, except for a count',
      parameters: { column: pointer('columns'), how: choice(table.aggregations) },
      cost: { tokens: 60, seconds: 2 },
      allowed: (analysis: Analysis) => ({ column: profiledOf(analysis, [KEY, ...MEASURES]) }),
      run: aggregate,
    }),
    answer: tool({
      description: 'Answer with the number, or with the group that comes first or last',
      parameters: { pick: choice(['value', 'highest', 'lowest']) },
      cost: { tokens: 80, seconds: 2 },
      allowed: ({ grouped }: Analysis) => ({
        pick: grouped === null ? ['value' as const] : ['highest' as const, 'lowest' as const],
      }),
      run: (analysis: Analysis, { pick }) =>
        act(analysis, { tool: 'answer', arguments: { pick } }, () => {
          analysis.answer = pickGroup(analysis.result?.groups ?? [], pick === 'value' ? null : pick)
          analysis.callsLeft = 0
        }),
    }),
  },

  available(analysis) {
    const { result, joined, filtered, grouped, profiled } = analysis
    if (result !== null) return ['answer']
    const repeats = profiled.has(KEY) && profileOf(analysis, KEY).repeated > 0
    return [
      ...(['profile', 'repair_blanks', 'convert_unit', 'merge_labels', 'aggregate'] as const),
      ...(repeats ? (['drop_duplicates'] as const) : []),
      ...(joined ? [] : (['join'] as const)),
      ...(filtered === null ? (['filter'] as const) : []),
      ...(grouped === null ? (['group_by'] as const) : []),
    ]
  },

  observe(analysis) {
    const { task, rows, profiled, joined, filtered, grouped, result, failed, callsLeft } = analysis
    const named = (word: string) => task.words.has(word.toLowerCase())
    const columns = task.headings.map((heading, column) => ({
      heading,
      isNamed: namesOf(task.domain, column).some(named),
      isLabelNamed: (task.labels[column] ?? []).some(named),
      // Nothing is known of a column before its profile.
      seen: profiled.has(column) ? profileOf(analysis, column) : null,
      blanks: task.blanks[column],
    }))
    const seen = columns.flatMap((column) => (column.seen === null ? [] : [{ ...column, seen: column.seen }]))
    const blank = seen.find(({ seen: { missing } }) => missing > 0)
    const mixed = seen.find((column) => isMixed(column.seen))
    return {
      question: task.text,
      facts: [
        ...[joined, filtered !== null, grouped !== null, result !== null, failed].map(Number),
        rows.length / 30,
        callsLeft / MAX_CALLS,
        columns.filter((column) => (column.isNamed || column.isLabelNamed) && column.seen === null).length / 4,
        Number(columns.some(({ isLabelNamed }) => isLabelNamed)),
        Number(CATEGORIES.some((column) => columns[column].isNamed)),
        Number(columns[JOINED].isNamed || columns[JOINED].isLabelNamed),
        Number(seen.some((column) => column.seen.repeated > 0)),
        Number(seen.some((column) => column.seen.copied > 0)),
        Number(blank !== undefined),
        answer(blank === undefined ? undefined : blank.blanks === 'zero'),
        mixed === undefined ? 0 : Math.min(2, Math.log10(mixed.seen.largestOverMedian) - 1.5),
        Number(seen.some((column) => column.seen.misspelt > 0)),
      ],
      columns: columns.map((column) => ({
        id: column.heading,
        features: [
          column.isNamed,
          column.isLabelNamed,
          column.seen !== null,
          column.seen !== null && column.seen.missing > 0,
          column.seen !== null && isMixed(column.seen),
          column.seen !== null && column.seen.misspelt > 0,
        ].map(Number),
      })),
      values: valuesOf(analysis).map(({ id, label }) => ({ id, features: [Number(named(label))] })),
    }
  },

  oracle: (analysis) => dueCalls(analysis)[0],

  render: drawAnalysis,

  outcome: (analysis) => (isSolved(analysis) ? 2 : -0.5),

  metrics: ({ repairs }) => ({ unneeded_repairs: repairs.made - repairs.needed }),
})

const repairTools: readonly string[] = ['drop_duplicates', 'repair_blanks', 'convert_unit', 'merge_labels']

/** Judges a call by the procedure, then makes it. */
function act(analysis: Analysis, call: Call, run: () => void) {
  const right = dueCalls(analysis).some((due) => JSON.stringify(due) === JSON.stringify(call))
  if (repairTools.includes(call.tool)) {
    analysis.repairs.made += 1
    if (right) analysis.repairs.needed += 1
  }
  analysis.callsLeft -= 1
  analysis.failed = false
  run()
  return { right, reward: right ? PROGRESS : MISTAKE, done: analysis.callsLeft === 0 }
}

function aggregate(analysis: Analysis, { column, how }: { column: string; how: table.Aggregation }) {
  // A count is of rows, whatever the column.
  const counted = how === 'count' ? analysis.task.headings[KEY] : column
  return act(analysis, { tool: 'aggregate', arguments: { column: counted, how } }, () => {
    const index = columnOf(analysis, column)
    if (how !== 'count' && (index === KEY || profileOf(analysis, index).missing > 0)) {
      analysis.failed = true
      return
    }
    const groups = table.aggregate(analysis.rows, analysis.grouped, index, how)
    analysis.result = { column: index, how, groups }
  })
}

function columnOf({ task }: Analysis, heading: string): number {
  const column = task.headings.indexOf(heading)
  if (column < 0) throw new Error(`no column ${heading}`)
  return column
}

function headingsOf({ task }: Analysis, accepts: (column: number) => boolean): string[] {
  return task.headings.filter((_, column) => accepts(column))
}

/** Columns with a profile that shows what a tool is for. */
function profiledOf(
  analysis: Analysis,
  among: readonly number[],
  shows: (found: table.Profile) => boolean = () => true,
): string[] {
  const { profiled } = analysis
  return headingsOf(
    analysis,
    (column) => among.includes(column) && profiled.has(column) && shows(profileOf(analysis, column)),
  )
}

function isThere({ joined }: Analysis, column: number): boolean {
  return column !== JOINED || joined
}

function valuesOf({ task }: Analysis): { id: string; column: number; label: string }[] {
  return CATEGORIES.flatMap((column) =>
    task.labels[column].map((label) => ({ id: valueId(task, column, label), column, label })),
  )
}
