import type { RecordedEpisode } from '@agentgym/contract'
import {
  type ActionControl,
  actionColumns,
  choiceKeys,
  choiceOfArrow,
  idleChoice,
  type Question,
  questionsOf,
} from '@agentgym/playing'
import { element } from './elements.ts'

/** Buttons for more choices would fill the screen: they become a list. */
const mostButtons = 12

type Choice = Extract<Question, { kind: 'choice' }>
type Spaces = { action: RecordedEpisode['action']; controls: ActionControl[] }

const arrows: Record<string, string> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }
const arrowSigns: Record<string, string> = { left: '←', right: '→', up: '↑', down: '↓' }

/**
 * What a person decides an action with: a button a choice, or a form where an action has several parts, such as a tool and its
 * arguments. Keys mean what they mean to `agentgym play`.
 */
export class ActionPanel {
  readonly #root: HTMLElement
  readonly #spaces: Spaces
  readonly #onAction: (action: number[]) => void
  /** Answers by column; kept from step to step. */
  readonly #row: (number | null)[]
  #legal: boolean[][] | null = null

  constructor(root: HTMLElement, spaces: Spaces, onAction: (action: number[]) => void) {
    this.#root = root
    this.#spaces = spaces
    this.#onAction = onAction
    this.#row = new Array<number | null>(actionColumns(spaces)).fill(null)
  }

  /** Whether an action is one choice or one number, which a key can decide in real time. */
  get single(): boolean {
    return this.#row.length === 1
  }

  /** What is played in real time while no key is held; null where an action is more than one decision. */
  idle(): number[] | null {
    const [only] = this.#questions()
    if (!this.single || only === undefined) return null
    if (only.kind === 'number') return [nearestToZero(only)]
    const idle = idleChoice(only.options)
    return [idle !== undefined && only.options[idle]?.legal === true ? idle : firstLegal(only)]
  }

  /** Shows what is legal now. */
  show(legal: boolean[][] | null): void {
    this.#legal = legal
    this.#draw()
  }

  hide(): void {
    this.#root.replaceChildren()
  }

  /** The action that a key means, where one key decides it all. */
  actionOf(key: string): number[] | null {
    const [only] = this.#questions()
    if (!this.single || only === undefined) return null
    if (only.kind === 'number') {
      const value = { ArrowLeft: only.low, ArrowRight: only.high, ' ': nearestToZero(only) }[key] ?? null
      return value === null ? null : [value]
    }
    const byKey = choiceKeys.indexOf(key)
    const choice =
      choiceOfArrow(only.options, arrows[key] ?? '') ??
      (key === ' ' ? idleChoice(only.options) : byKey < 0 ? undefined : byKey)
    return choice !== undefined && only.options[choice]?.legal === true ? [choice] : null
  }

  #questions(): Question[] {
    return questionsOf(this.#spaces, this.#legal, this.#row)
  }

  #draw(): void {
    const questions = this.#questions()
    const [only] = questions
    if (this.single && only?.kind === 'choice' && only.options.length <= mostButtons) this.#drawButtons(only)
    else this.#drawForm(this.#answered())
  }

  /** The questions, each with an answer: what was chosen before, else the first legal choice, or zero. */
  #answered(): Question[] {
    for (;;) {
      const questions = this.#questions()
      const open = questions.find((question) => !this.#isAnswered(question))
      if (open === undefined) return questions
      // An answer may bring further questions.
      this.#row[open.column] = open.kind === 'number' ? nearestToZero(open) : firstLegal(open)
    }
  }

  #isAnswered(question: Question): boolean {
    const answer = this.#row[question.column]
    if (answer === null || question.kind === 'number') return answer !== null
    return question.options[answer]?.legal === true || question.options.every(({ legal }) => !legal)
  }

  #drawButtons({ options }: Choice): void {
    const focused = this.#focused()
    const buttons = options.map(({ label, legal }, choice) =>
      element(
        'button',
        { type: 'button', className: 'button play-action', disabled: !legal, onclick: () => this.#onAction([choice]) },
        label,
        element('kbd', {}, keyOf(options, choice)),
      ),
    )
    buttons.forEach((button, choice) => {
      button.dataset.playField = String(choice)
    })
    this.#root.replaceChildren(...buttons)
    this.#focus(focused)
  }

  #drawForm(questions: Question[]): void {
    const focused = this.#focused()
    const fields = questions.map((question) => {
      const input = question.kind === 'choice' ? this.#list(question) : this.#number(question)
      input.dataset.playField = String(question.column)
      input.id = `play-field-${question.column}`
      const label = element('label', { htmlFor: input.id }, titleOf(question))
      return element('div', { className: 'field' }, label, input)
    })
    const form = element('form', { className: 'play-form' }, ...fields)
    const submit = element('button', { type: 'submit', className: 'button button-primary' }, 'Play step')
    submit.dataset.playField = 'submit'
    form.append(submit)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const answered = this.#questions()
      if (answered.every(({ column }) => this.#row[column] !== null))
        this.#onAction(
          this.#row.map((answer, column) => (answered.some((each) => each.column === column) ? answer : null) ?? 0),
        )
    })
    this.#root.replaceChildren(form)
    this.#focus(focused)
  }

  #list({ column, options }: Choice): HTMLSelectElement {
    const list = element('select', {})
    options.forEach(({ label, legal }, choice) => {
      const selected = choice === this.#row[column]
      list.append(element('option', { value: String(choice), disabled: !legal, selected }, label))
    })
    list.addEventListener('change', () => {
      this.#row[column] = Number(list.value)
      this.#draw()
    })
    return list
  }

  #number({ column, low, high }: Extract<Question, { kind: 'number' }>): HTMLInputElement {
    const input = element('input', { type: 'number', step: 'any', required: true, value: String(this.#row[column]) })
    if (low !== null) input.min = String(low)
    if (high !== null) input.max = String(high)
    input.addEventListener('input', () => {
      this.#row[column] = input.value === '' || !input.validity.valid ? null : input.valueAsNumber
    })
    return input
  }

  #focused(): string | undefined {
    const { activeElement } = document
    return activeElement instanceof HTMLElement && this.#root.contains(activeElement)
      ? activeElement.dataset.playField
      : undefined
  }

  #focus(field: string | undefined): void {
    if (field !== undefined) this.#root.querySelector<HTMLElement>(`[data-play-field="${field}"]`)?.focus()
  }
}

function nearestToZero({ low, high }: Extract<Question, { kind: 'number' }>): number {
  return Math.min(high ?? 0, Math.max(low ?? 0, 0))
}

/** The first choice, where none is legal. */
function firstLegal({ options }: Choice): number {
  const first = options.findIndex(({ legal }) => legal)
  return Math.max(0, first)
}

function keyOf(options: Choice['options'], choice: number): string {
  const arrow = Object.entries(arrowSigns).find(([name]) => choiceOfArrow(options, name) === choice)?.[1]
  if (arrow !== undefined) return arrow
  return idleChoice(options) === choice ? 'Space' : (choiceKeys[choice] ?? '')
}

function titleOf(question: Question): string {
  const name = question.name.replaceAll('_', ' ')
  if (question.kind === 'choice') return name
  return `${name} (${question.low ?? 'any'} to ${question.high ?? 'any'})`
}
