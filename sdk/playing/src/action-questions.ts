import type { SampleEpisode } from '@agentgym/contract'
import { actionLeaves, type SpaceDescription } from '@agentgym/scenario/engine'

/** A leaf of an action as a person decides it. */
export type ActionControl = {
  kind: 'discrete' | 'multiDiscrete' | 'box'
  /** Choices of each categorical column. */
  counts: number[]
  /** Of each column of a box; null: unbounded. */
  low: (number | null)[]
  high: (number | null)[]
  /** Counts only where the action row has `choice` in `column`: an argument of a tool. */
  when?: { column: number; choice: number }
}

/** The controls of an action space, a leaf each. */
export function actionControls(action: SpaceDescription): ActionControl[] {
  return actionLeaves(action).map(({ kind, counts, low, high, when }) => ({
    ...{ kind, counts, low, high },
    ...(when === undefined ? {} : { when }),
  }))
}

/** The leaves of an action, by name and as controls. */
type AskedAction = { action: SampleEpisode['action']; controls: ActionControl[] }

/** One thing that a person decides of an action: a choice among words, or a number. */
export type Question =
  | { kind: 'choice'; column: number; name: string; options: { label: string; legal: boolean }[] }
  | { kind: 'number'; column: number; name: string; low: number | null; high: number | null }

/**
 * The questions of an action, in order, as far as the answers so far decide them: arguments are asked for only of the chosen
 * tool. `row` holds the answers by column, null where there is none yet.
 */
export function questionsOf(
  { action, controls }: AskedAction,
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
export function actionColumns({ action }: Pick<AskedAction, 'action'>): number {
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
