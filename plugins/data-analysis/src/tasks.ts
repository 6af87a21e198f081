/** A task: a table with faults, the question about it, and the true answer, computed before the faults were made. */
import type { Rng } from '@agentgym/scenario'
import { type Domain, domains } from './domains.ts'
import {
  aggregate,
  aggregations,
  CATEGORIES,
  type Cell,
  filter,
  type Group,
  JOINED,
  join,
  KEY,
  MEASURES,
  OWN_LABELS,
  type Row,
} from './table.ts'
import { type Question, writeQuestion } from './wordings.ts'

export const LABELS = 3
const LEAST_ROWS = 18
const MOST_ROWS = 28
const PARTNERS = 12

export type BlankMeaning = 'not recorded' | 'zero'

export type Task = {
  domain: Domain
  /** Headings of the columns. */
  headings: readonly string[]
  /** The labels of each category column, in alphabetic order. */
  labels: { [column: number]: readonly string[] }
  rows: readonly Row[]
  /** The other table, by partner. Some partners are not in it. */
  lookup: ReadonlyMap<number, string>
  /** What a blank means in each column of numbers, by the data dictionary. */
  blanks: { [column: number]: BlankMeaning }
  /** By how much some numbers of a column are too large; 1 for none. */
  factors: { [column: number]: number }
  question: Question
  text: string
  /** The words of the text, in lower case. */
  words: ReadonlySet<string>
  answer: Group
}

export function generateTask(rng: Rng, split: 'train' | 'eval'): Task {
  for (let attempt = 0; ; attempt += 1) {
    const task = drawTask(rng, split)
    if (task !== null) return task
    if (attempt === 100) throw new Error('no question with one answer in 100 tables')
  }
}

/** Null if the question has no answer, or two. */
function drawTask(rng: Rng, split: 'train' | 'eval'): Task | null {
  const domain = rng.pick(domains)
  const categories = [...domain.categories, domain.lookup.column]
  const labels: { [column: number]: readonly string[] } = {}
  for (const [i, column] of CATEGORIES.entries()) {
    labels[column] = rng.shuffle(categories[i].labels).slice(0, LABELS).sort()
  }
  const lookup = new Map<number, string>()
  for (let partner = 0; partner < PARTNERS; partner += 1) {
    if (partner % 4 > 0) lookup.set(partner, rng.pick(labels[JOINED]))
  }
  const truth = drawRows(domain, labels, rng)
  const question = drawQuestion(labels, rng)
  const answer = answerOf(truth, lookup, question)
  if (answer === null) return null
  const { rows, blanks, factors, reference } = addFaults(truth, question, rng)
  // Numbers that were never recorded are no part of the truth.
  const recorded = answerOf(reference, lookup, question)
  if (recorded === null) return null
  const text = writeQuestion(question, domain, split, rng)
  const measures = domain.measures.map(({ names }) => names[0])
  const headings = [domain.key, ...categories.map(({ names }) => names[0]), ...measures]
  return {
    domain,
    headings,
    labels,
    rows,
    lookup,
    blanks,
    factors,
    question,
    text,
    words: new Set(text.toLowerCase().split(/[^a-z]+/)),
    answer: recorded,
  }
}

function drawRows(domain: Domain, labels: Task['labels'], rng: Rng): Row[] {
  const count = LEAST_ROWS + rng.int(MOST_ROWS - LEAST_ROWS + 1)
  const first = 100 + rng.int(800)
  return Array.from({ length: count }, (_, i) => ({
    partner: rng.int(PARTNERS),
    cells: [
      `${first + i}`,
      ...OWN_LABELS.map((column) => rng.pick(labels[column])),
      null,
      ...domain.measures.map(({ least }) => least + rng.int(2 * least + 1)),
    ],
  }))
}

function drawQuestion(labels: Task['labels'], rng: Rng): Question {
  const grouped = rng.int(2) === 0
  const filtered = rng.int(3) > 0
  const [groupColumn, filterColumn] = rng.shuffle(CATEGORIES)
  return {
    aggregation: rng.pick(aggregations),
    measure: rng.pick(MEASURES),
    group: grouped ? { column: groupColumn, pick: rng.pick(['highest', 'lowest']) } : null,
    filter: filtered ? { column: filterColumn, label: rng.pick(labels[filterColumn]), keep: rng.int(3) > 0 } : null,
  }
}

export function needsJoin({ group, filter: kept }: Question): boolean {
  return group?.column === JOINED || kept?.column === JOINED
}

/** What a table without faults answers; null if it is nothing, or two groups are equal. */
function answerOf(rows: readonly Row[], lookup: Task['lookup'], question: Question): Group | null {
  const { group, filter: kept, measure, aggregation } = question
  const joined = needsJoin(question) ? join(rows, lookup) : rows
  const left = kept === null ? joined : filter(joined, kept.column, kept.label, kept.keep)
  return pickGroup(aggregate(left, group?.column ?? null, measure, aggregation), group?.pick ?? null)
}

export function pickGroup(groups: readonly Group[], pick: 'highest' | 'lowest' | null): Group | null {
  if (pick === null) return groups.length === 1 ? groups[0] : null
  const sorted = [...groups].sort((a, b) => (pick === 'highest' ? b.value - a.value : a.value - b.value))
  if (sorted.length < 2 || Math.abs(sorted[0].value - sorted[1].value) < 1e-9) return null
  return sorted[0]
}

/** The table as it arrives, and as it would be without faults; blanks that mean "not recorded" are in both. */
function addFaults(truth: readonly Row[], { measure }: Question, rng: Rng) {
  const blanks: { [column: number]: BlankMeaning } = {}
  const factors: { [column: number]: number } = {}
  const edits = truth.map(() => new Map<number, Cell>())
  const reference = truth.map(({ partner, cells }) => ({ partner, cells: [...cells] }))
  for (const column of MEASURES) {
    blanks[column] = rng.pick(['not recorded', 'zero'])
    // What the question is about is more often at fault than the rest.
    const often = column === measure ? 0.5 : 0.3
    const blank = rng() < often
    const factor = rng() < often ? rng.pick([100, 1000]) : 1
    factors[column] = factor
    for (const [i, row] of truth.entries()) {
      const chance = rng()
      if (blank && chance < 0.15) {
        edits[i].set(column, null)
        reference[i].cells[column] = blanks[column] === 'zero' ? 0 : null
      } else if (factor > 1 && chance > 0.85) {
        edits[i].set(column, Number(row.cells[column]) * factor)
      }
    }
  }
  for (const column of OWN_LABELS) {
    if (rng() < 0.5) continue
    for (const [i, row] of truth.entries()) {
      if (rng() < 0.2) edits[i].set(column, misspell(String(row.cells[column]), rng))
    }
  }
  let rows: Row[] = truth.map(({ partner, cells }, i) => ({
    partner,
    cells: cells.map((cell, column) => (edits[i].has(column) ? (edits[i].get(column) ?? null) : cell)),
  }))
  const keys = rng.pick(['distinct', 'copies', 'lines'])
  if (keys === 'copies') rows = rows.flatMap((row) => (rng() < 0.2 ? [row, row] : [row]))
  if (keys === 'lines') {
    // Several rows of one order, each with its own content: they stay.
    for (let i = 1; i < rows.length; i += 1) {
      if (rng() >= 0.2) continue
      rows[i] = {
        ...rows[i],
        cells: rows[i].cells.map((cell, column) => (column === KEY ? rows[i - 1].cells[KEY] : cell)),
      }
    }
  }
  return { rows, blanks, factors, reference }
}

function misspell(label: string, rng: Rng): string {
  return rng.pick([label.toLowerCase(), label.toUpperCase(), `${label} `, ` ${label.toLowerCase()}`])
}
