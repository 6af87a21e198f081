/**
 * What simulated office work has in common: tasks generated from their number, texts written from templates, records that
 * others change, tools that fail, and the encoding of what is known. Plain functions for authors; nothing depends on them.
 */
import type { Task } from './define-scenario.ts'
import { createRng, type Rng } from './engine/random-stream.ts'

/** Random numbers of a numbered task. Evaluation continues after the training tasks, so the splits share no seed. */
export function taskRng({ split, index }: Task, trainTasks: number): Rng {
  return createRng(split === 'train' ? index : trainTasks + index)
}

/** What stands for the slots of a template: one text, or some to pick from. Texts may have slots themselves. */
export type Wordings = { readonly [slot: string]: string | readonly string[] }

/** Fills `{slot}` from the wordings, from left to right. Throws a RangeError for a slot without any. */
export function fillIn(template: string, wordings: Wordings, rng: Rng): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    const wording = wordings[slot]
    if (wording === undefined) throw new RangeError(`fillIn: no wording for {${slot}} in "${template}"`)
    return typeof wording === 'string' ? wording : fillIn(rng.pick(wording), wordings, rng)
  })
}

/** A text as people type in haste: some in lower case, some without punctuation, some with two letters swapped. */
export function typeInHaste(text: string, rng: Rng): string {
  let typed = text
  if (rng() < 0.2) typed = typed.toLowerCase()
  if (rng() < 0.2) typed = typed.replace(/[.,!?;:]/g, '')
  if (rng() >= 0.3) return typed
  const words = typed.split(' ')
  const long = words.flatMap((word, position) => (/^[a-z]{5,}$/i.test(word) ? [position] : []))
  if (long.length > 0) {
    const position = rng.pick(long)
    const word = words[position]
    const at = 1 + rng.int(word.length - 2)
    words[position] = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2)
  }
  return words.join(' ')
}

/** Copies of records whose ids differ: an id that was drawn twice gets a number behind it. */
export function withDistinctIds<Row extends { readonly id: string }>(rows: readonly Row[]): Row[] {
  const seen = new Set<string>()
  return rows.map((row) => {
    const id = seen.has(row.id) ? `${row.id}-${seen.size}` : row.id
    seen.add(id)
    return { ...row, id }
  })
}

/** A yes-or-no answer as a number: 1 yes, -1 no, 0 not known yet. */
export function answer(value: boolean | undefined): number {
  return value === undefined ? 0 : value ? 1 : -1
}

/** A word as one number for each that it could be: 1 for itself, 0 for the others; all 0 for a word that is none of them. */
export function oneHot<Value>(values: readonly Value[], value: NoInfer<Value> | null | undefined): number[] {
  return values.map((each) => (each === value ? 1 : 0))
}

/** Which tools fail before they work, and how often: counts by name. */
export type Failures<Name extends string = string> = { [Each in Name]?: number }

/** Draws which tools fail once, each with its probability. Drawn at the start, so that the order of calls changes nothing. */
export function drawFailures<Name extends string>(
  chances: { readonly [Each in Name]: number },
  rng: Rng,
): Failures<Name> {
  const failures: Failures<Name> = {}
  for (const name of Object.keys(chances) as Name[]) if (rng() < chances[name]) failures[name] = 1
  return failures
}

/** Whether this call of the tool fails; each failure happens once. */
export function fails<Name extends string>(failures: Failures<Name>, name: Name): boolean {
  const left = failures[name] ?? 0
  if (left > 0) failures[name] = left - 1
  return left > 0
}

/** A record with the number of its changes. */
export type Stored<Row> = Row & { readonly version: number }

/**
 * Records by id, as a back end keeps them. A change names the version that it was made for, and is refused if the record has
 * changed since: someone else was faster.
 */
export class RecordStore<Row extends { readonly id: string }> {
  readonly #rows = new Map<string, Stored<Row>>()

  /** Throws a RangeError if two records have the same id. */
  constructor(rows: readonly Row[]) {
    for (const row of rows) {
      if (this.#rows.has(row.id)) throw new RangeError(`RecordStore: the id "${row.id}" occurs twice`)
      this.#rows.set(row.id, { ...row, version: 0 })
    }
  }

  /** All records, in the order of their creation. Later changes do not reach what was returned. */
  all(): Stored<Row>[] {
    return [...this.#rows.values()]
  }

  get(id: string): Stored<Row> | undefined {
    return this.#rows.get(id)
  }

  /** Changes a record as it was seen; `'conflict'` or `'unknown_id'` where it has changed or gone, and then nothing is done. */
  update(id: string, seenVersion: number, changes: Partial<Omit<Row, 'id'>>): 'done' | 'conflict' | 'unknown_id' {
    const row = this.#rows.get(id)
    if (row === undefined) return 'unknown_id'
    if (row.version !== seenVersion) return 'conflict'
    this.#rows.set(id, { ...row, ...changes, version: row.version + 1 })
    return 'done'
  }

  remove(id: string): 'done' | 'unknown_id' {
    return this.#rows.delete(id) ? 'done' : 'unknown_id'
  }
}
