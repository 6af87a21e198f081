import { AgentGymError } from '@agentgym/contract'
import { returnAt } from '@agentgym/pictures'
import { actionColumns, choiceKeys, choiceOfArrow, idleChoice, type Question, questionsOf } from '@agentgym/playing'
import type { PlayedStep, PlaySession } from '@agentgym/runtime'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { type Key, LiveScreen } from '../terminal/live-screen.ts'
import { fitText, safeText } from '../terminal/text.ts'
import { addDemonstration } from './demonstrations.ts'
import { episodeResult, metricsLine, pictureLines, stepLine } from './episode-lines.ts'
import { type EpisodeOrder, levelText } from './episode-order.ts'

type PlayLiveOptions = {
  title: string
  seed: number
  order: EpisodeOrder
  episodes?: number
  fps?: number
  default?: string
  /** File of demonstrations, already begun. */
  record: string | undefined
}

/** Plays on the whole terminal. Gives one line for each finished episode. */
export async function playLive(
  session: PlaySession,
  options: PlayLiveOptions,
  context: CommandContext,
): Promise<string[]> {
  const pace =
    options.fps === undefined ? null : { ms: 1000 / options.fps, action: defaultAction(session, options.default) }
  const table = new PlayTable(session, options, pace, context)
  try {
    await table.run()
  } finally {
    table.close()
  }
  return table.results
}

/** The row of the action that real time plays while no key is pressed. */
function defaultAction(session: PlaySession, name: string | undefined): number[] {
  const { opened } = session
  const [only, ...others] = questionsOf(opened, null, [])
  if (only === undefined || others.length > 0 || actionColumns(opened) !== 1)
    throw usage(
      '--fps needs an action that is one choice or one number',
      'Leave --fps out: steps then wait for your keys.',
    )
  if (only.kind === 'number') {
    const value = name === undefined ? Math.min(only.high ?? 0, Math.max(only.low ?? 0, 0)) : Number(name)
    if (Number.isFinite(value)) return [value]
    throw usage(`--default is ${JSON.stringify(name)}, which is not a number`, 'Give a number, such as --default 0.')
  }
  const labels = only.options.map(({ label }) => label)
  if (name === undefined) return [idleChoice(only.options) ?? 0]
  const choice = labels.indexOf(name)
  if (choice >= 0) return [choice]
  throw usage(
    `--default is ${JSON.stringify(name)}, which is no action of this scenario`,
    `Actions: ${labels.join(', ')}`,
  )
}

function usage(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'usage_invalid', message, hint })
}

/** Keys that may be typed ahead. */
const mostAhead = 64

class PlayTable {
  readonly results: string[] = []
  readonly #session: PlaySession
  readonly #options: PlayLiveOptions
  readonly #pace: { ms: number; action: number[] } | null
  readonly #context: CommandContext
  readonly #screen: LiveScreen
  readonly #interrupt: ReturnType<typeof cancelOnInterrupt>
  /** Answers so far, by column of the action row. */
  #row: (number | null)[] = []
  /** What is being typed for a number. */
  #typed = ''
  #quit = false
  #next = false
  #ended: PlayedStep | null = null
  /** A whole action, ready to be played. */
  #ready: number[] | null = null
  /** Keys that were typed while a step was being played. */
  readonly #ahead: Key[] = []
  #taken: { actions: number[][]; rewards: number[] } = { actions: [], rewards: [] }

  constructor(
    session: PlaySession,
    options: PlayLiveOptions,
    pace: { ms: number; action: number[] } | null,
    context: CommandContext,
  ) {
    this.#session = session
    this.#options = options
    this.#pace = pace
    this.#context = context
    this.#interrupt = cancelOnInterrupt(context, () => this.#end())
    this.#screen = new LiveScreen(context, (key) => this.#press(key))
  }

  async run(): Promise<void> {
    const { episodes = Number.POSITIVE_INFINITY } = this.#options
    const { order } = this.#options
    for (let i = 0; i < episodes && !this.#quit; i++) await this.#playEpisode(order.number(i))
  }

  close(): void {
    this.#screen.close()
    this.#interrupt.release()
  }

  async #playEpisode(number: number): Promise<void> {
    this.#next = false
    this.#ended = null
    this.#taken = { actions: [], rewards: [] }
    await this.#session.begin(number)
    this.#clear()
    this.#draw()
    this.#typeAhead()
    while (!this.#next && !this.#quit && this.#ended === null) {
      const action = await this.#awaitAction()
      if (action === null) return
      const step = await this.#session.step(action)
      this.#taken.actions.push(step.exact.action)
      this.#taken.rewards.push(step.exact.reward)
      this.#clear()
      if (step.end !== null) await this.#finish(number, step)
      this.#draw()
      this.#typeAhead()
    }
    // The end is shown until a key asks for more.
    while (this.#ended !== null && !this.#next && !this.#quit) await this.#screen.sleep(3_600_000)
  }

  async #finish(number: number, step: PlayedStep): Promise<void> {
    this.#ended = step
    const { terminal } = this.#context
    const { episode } = this.#session
    const steps = episode.steps.length
    const total = returnAt(episode, steps)
    const said = metricsLine(step.metrics, terminal)
    this.results.push(
      `${terminal.symbols.ok} ${episodeResult(number, steps, total)}${levelText(this.#options.order, number)}${said === '' ? '' : ` ${terminal.symbols.dot} ${said}`}`,
    )
    const { record } = this.#options
    if (record === undefined || step.end === null || step.digest === null) return
    await addDemonstration(record, {
      ...{ episode: number, ...this.#taken, return: this.#taken.rewards.reduce((sum, reward) => sum + reward, 0) },
      ...{ end: step.end, metrics: step.metrics, trajectory_hash: step.digest },
    })
  }

  /** The action of the next step: what the keys decide, or in real time what they decided when the time is up. */
  async #awaitAction(): Promise<number[] | null> {
    const until = this.#pace === null ? Number.POSITIVE_INFINITY : performance.now() + this.#pace.ms
    for (;;) {
      if (this.#next || this.#quit) return null
      if (this.#pace === null && this.#ready !== null) return this.#ready
      const left = Math.min(3_600_000, until - performance.now())
      if (left <= 0) return this.#ready ?? this.#legalDefault()
      await this.#screen.sleep(left)
    }
  }

  #legalDefault(): number[] | null {
    if (this.#pace === null) return null
    const legal = this.#session.legal?.[0]
    if (legal === undefined || legal[this.#pace.action[0]]) return this.#pace.action
    return [legal.indexOf(true)]
  }

  #clear(): void {
    this.#row = new Array<number | null>(actionColumns(this.#session.opened)).fill(null)
    this.#typed = ''
    this.#ready = null
  }

  #question(): Question | undefined {
    const questions = questionsOf(this.#session.opened, this.#session.legal, this.#row)
    return questions.find(({ column }) => this.#row[column] === null)
  }

  #press(key: Key): void {
    const busy = this.#ready !== null && this.#ended === null
    if (busy && this.#pace === null && key.name !== 'ctrl-c' && key.name !== 'escape') {
      if (this.#ahead.length < mostAhead) this.#ahead.push(key)
      return
    }
    // In real time the last key counts.
    if (busy) this.#clear()
    const question = this.#question()
    if (key.name === 'ctrl-c' || key.name === 'escape' || key.text === 'q') {
      this.#end()
      return
    }
    if (key.text === 'n' || (this.#ended !== null && key.name === 'return')) this.#next = true
    else if (this.#ended !== null) return
    else if (key.name === 'backspace') this.#back()
    else if (question?.kind === 'choice') this.#choose(question, key)
    else if (question?.kind === 'number') this.#type(question, key)
    this.#draw()
    this.#screen.wake()
  }

  /** Takes the keys that are waiting, up to the next whole action. */
  #typeAhead(): void {
    while (this.#ahead.length > 0 && !this.#quit && !this.#next && (this.#ready === null || this.#ended !== null)) {
      const key = this.#ahead.shift()
      if (key !== undefined) this.#press(key)
    }
  }

  #choose({ column, options }: Extract<Question, { kind: 'choice' }>, { name, text }: Key): void {
    const byArrow = choiceOfArrow(options, name)
    const byKey = choiceKeys.indexOf(text)
    const choice = byArrow ?? (name === 'space' ? idleChoice(options) : byKey < 0 ? undefined : byKey)
    if (choice === undefined || options[choice]?.legal !== true) return
    this.#answer(column, choice)
  }

  #type({ column, low, high }: Extract<Question, { kind: 'number' }>, { name, text }: Key): void {
    // Arrows are the bounds, so that steering needs no typing.
    if (name === 'left' && low !== null) {
      this.#answer(column, low)
      return
    }
    if (name === 'right' && high !== null) {
      this.#answer(column, high)
      return
    }
    if (name === 'space') {
      this.#answer(column, Math.min(high ?? 0, Math.max(low ?? 0, 0)))
      return
    }
    if (name === 'return') {
      const value = Number(this.#typed)
      if (this.#typed !== '' && value >= (low ?? -Infinity) && value <= (high ?? Infinity)) this.#answer(column, value)
      return
    }
    if (/^[\d.e+-]$/.test(text) && this.#typed.length < 20) this.#typed += text
  }

  #answer(column: number, value: number): void {
    this.#row[column] = value
    this.#typed = ''
    if (this.#question() === undefined) this.#ready = this.#row.map((answer) => answer ?? 0)
  }

  #back(): void {
    if (this.#typed !== '') this.#typed = this.#typed.slice(0, -1)
    else {
      const answered = questionsOf(this.#session.opened, null, this.#row).findLast(
        ({ column }) => this.#row[column] !== null,
      )
      if (answered !== undefined) this.#row[answered.column] = null
    }
    this.#ready = null
  }

  #end(): void {
    this.#quit = true
    this.#screen.wake()
  }

  #draw(): void {
    const { terminal } = this.#context
    const { paint, symbols } = terminal
    const { columns, rows } = this.#screen.size()
    const { title, seed, fps, order } = this.#options
    const { episode, number, logs } = this.#session
    const index = episode.steps.length
    const dot = ` ${symbols.dot} `
    const clip = (line: string) => fitText(line, columns, symbols.ellipsis)
    const parts = [
      title,
      `episode ${number + 1}${levelText(order, number)}`,
      `seed ${seed}`,
      ...(fps === undefined ? [] : [`${fps} steps/s`]),
    ]
    const asked = this.#ended === null ? this.#questionLines(columns) : [this.#endLine(this.#ended)]
    const keys = this.#ended === null ? `q quit${dot}n next episode` : `Enter or n next episode${dot}q quit`
    const below = [
      '',
      clip(stepLine(episode, index, { ...terminal, paint: { ...paint, bold: (text) => text } })),
      ...logs.slice(-3).map((log) => paint.dim(clip(`log: ${safeText(log)}`))),
      ...asked.map(clip),
      paint.dim(clip(keys)),
    ]
    const picture = pictureLines(episode, index, { columns, rows: Math.max(4, rows - below.length - 2) }, terminal)
    this.#screen.draw([paint.bold(clip(parts.join(dot))), '', ...picture, ...below])
  }

  #endLine({ end, metrics }: PlayedStep): string {
    const { terminal } = this.#context
    const said = metricsLine(metrics, terminal)
    return `${end === 'truncated' ? 'Time limit reached' : 'Ended'}${said === '' ? '' : ` ${terminal.symbols.dot} ${said}`}`
  }

  /** The open question with its keys, in as few lines as they need, at most six. */
  #questionLines(columns: number): string[] {
    const question = this.#question()
    if (question === undefined) return []
    const given = questionsOf(this.#session.opened, null, this.#row)
      .flatMap((each) => (this.#row[each.column] === null ? [] : [answerText(each, this.#row[each.column] ?? 0)]))
      .join(', ')
    const title = `${given === '' ? '' : `${given} `}${question.name}:`
    if (question.kind === 'number') {
      const range = `${question.low ?? 'any'} to ${question.high ?? 'any'}`
      return [`${title} ${this.#typed}_`, `type a number (${range}) and Enter; left and right: the bounds, space: 0`]
    }
    const lines = [title]
    question.options.forEach(({ label, legal }, choice) => {
      if (!legal || choice >= choiceKeys.length) return
      const entry = `${keysOf(question.options, choice)} ${safeText(label, 40)}`
      const longer = `${lines[lines.length - 1]}  ${entry}`
      if (longer.length <= columns) lines[lines.length - 1] = longer
      else lines.push(`  ${entry}`)
    })
    return lines.slice(0, 6)
  }
}

const arrows = { left: '←', right: '→', up: '↑', down: '↓' }

function keysOf(options: readonly { label: string }[], choice: number): string {
  const arrow = Object.entries(arrows).find(([name]) => choiceOfArrow(options, name) === choice)?.[1] ?? ''
  const space = idleChoice(options) === choice ? 'space/' : ''
  return `[${space}${arrow}${arrow === '' ? '' : '/'}${choiceKeys[choice]}]`
}

function answerText(question: Question, value: number): string {
  return question.kind === 'number' ? `${question.name} ${value}` : safeText(question.options[value]?.label ?? '', 40)
}
