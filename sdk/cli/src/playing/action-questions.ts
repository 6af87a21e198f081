import type { PlaySession } from '@agentgym/runtime'

type Opened = PlaySession['opened']

/** One thing that a person decides of an action: a choice among words, or a number. */
export type Question =
  | { kind: 'choice'; column: number; name: string; options: { label: string; legal: boolean }[] }
  | { kind: 'number'; column: number; name: string; low: number | null; high: number | null }

/**
 * The questions of an action, in order, as far as the answers so far decide them: arguments are asked for only of the chosen
 * tool. `row` holds the answers by column, null where there is none yet.
 */
export function questionsOf(
  { action, controls }: Opened,
  legal: boolean[][] | null,
  row: readonly (number | null)[],
): Question[] {
  const questions: Question[] = []
  let column = 0
  let component = 0
  controls.forEach((control, index) => {
    const { name, labels, list, size } = action[index]
    const asked = control.when === undefined || row[control.when.column] === control.when.choice
    const title = name === '' ? 'action' : name
    for (let i = 0; i < size; i++) {
      const called = size > 1 ? `${title}[${i}]` : title
      if (control.kind === 'box') {
        const bounds = { low: control.low[i] ?? null, high: control.high[i] ?? null }
        if (asked) questions.push({ kind: 'number', column, name: called, ...bounds })
      } else {
        const mask = legal?.[component]
        const options = Array.from({ length: control.counts[i] ?? 0 }, (_, choice) => ({
          label: labels[choice] ?? (list === undefined ? String(choice) : `${list}[${choice}]`),
          legal: mask?.[choice] ?? true,
        }))
        if (asked) questions.push({ kind: 'choice', column, name: called, options })
        component += 1
      }
      column += 1
    }
  })
  return questions
}

/** Columns of a whole action. */
export function actionColumns({ action }: Opened): number {
  return action.reduce((sum, { size }) => sum + size, 0)
}

const directions = ['left', 'right', 'up', 'down']
const idle = ['stay', 'coast', 'wait', 'noop', 'none', 'nothing', 'do nothing', 'idle', 'no-op']

/** The choice that an arrow key means: by a word of its label. Undefined where none, or several, have it. */
export function choiceOfArrow(options: readonly { label: string }[], arrow: string): number | undefined {
  if (!directions.includes(arrow)) return undefined
  const meant = options.flatMap(({ label }, choice) =>
    label
      .toLowerCase()
      .split(/[^a-z]+/)
      .includes(arrow)
      ? [choice]
      : [],
  )
  return meant.length === 1 ? meant[0] : undefined
}

/** The choice that does nothing, by its label; undefined where no label says so. */
export function idleChoice(options: readonly { label: string }[]): number | undefined {
  const found = options.findIndex(({ label }) => idle.includes(label.toLowerCase()))
  return found < 0 ? undefined : found
}

/** Keys of the first choices, in order: digits, then letters that mean nothing else. */
export const choiceKeys = Array.from('1234567890abcdefghijklmoprstuvwxyz')
