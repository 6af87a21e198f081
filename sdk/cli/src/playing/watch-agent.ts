import { stripVTControlCharacters } from 'node:util'
import { actionName, choiceName, returnAt } from '@agentgym/pictures'
import type { PlayedStep, PlaySession } from '@agentgym/runtime'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { formatValue } from '../terminal/format-values.ts'
import { type Key, LiveScreen } from '../terminal/live-screen.ts'
import { fitText, safeText } from '../terminal/text.ts'
import { episodeResult, likelyLine, metricsLine, pictureLines, stepLine, tidy } from './episode-lines.ts'
import { type EpisodeOrder, levelText } from './episode-order.ts'

type WatchOptions = { title: string; seed: number; episodes: number | undefined; speed: number; order: EpisodeOrder }

const slowest = 0.25
const fastest = 512
/** How long the end of an episode is shown, milliseconds. */
const endMs = 1_500

/** Draws the episodes on the whole terminal until they are over or the user quits. */
export async function watchLive(session: PlaySession, options: WatchOptions, context: CommandContext): Promise<void> {
  const watcher = new Watcher(session, options, context)
  try {
    await watcher.run()
  } finally {
    watcher.close()
  }
  for (const line of watcher.summary()) context.print(line)
}

class Watcher {
  readonly #session: PlaySession
  readonly #options: WatchOptions
  readonly #context: CommandContext
  readonly #screen: LiveScreen
  readonly #results: string[] = []
  #speed: number
  #paused = false
  #stepOnce = false
  #skip = false
  #quit = false
  #ended: PlayedStep | null = null
  readonly #signal: ReturnType<typeof cancelOnInterrupt>

  constructor(session: PlaySession, options: WatchOptions, context: CommandContext) {
    this.#session = session
    this.#options = options
    this.#context = context
    this.#speed = options.speed
    this.#signal = cancelOnInterrupt(context, () => this.#end())
    this.#screen = new LiveScreen(context, (key) => this.#press(key))
  }

  async run(): Promise<void> {
    const { episodes = Number.POSITIVE_INFINITY, order } = this.#options
    for (let i = 0; i < episodes && !this.#quit; i++) await this.#playEpisode(order.number(i))
  }

  close(): void {
    this.#screen.close()
    this.#signal.release()
  }

  summary(): string[] {
    const { symbols } = this.#context.terminal
    const { episode: open, number } = this.#session
    const stopped =
      this.#ended === null && open.steps.length > 0
        ? [
            `${symbols.dot} episode ${number + 1}: stopped after ${open.steps.length} steps, return ${formatValue(tidy(returnAt(open, open.steps.length)))}`,
          ]
        : []
    return [...this.#results, ...stopped]
  }

  async #playEpisode(number: number): Promise<void> {
    this.#skip = false
    this.#ended = null
    await this.#session.begin(number)
    this.#draw()
    while (!this.#skip && !this.#quit) {
      await this.#wait(1000 / this.#speed)
      if (this.#skip || this.#quit) return
      this.#stepOnce = false
      const step = await this.#session.step()
      if (step.end !== null) {
        this.#ended = step
        const { episode } = this.#session
        const steps = episode.steps.length
        const { ok } = this.#context.terminal.symbols
        this.#results.push(
          `${ok} ${episodeResult(number, steps, returnAt(episode, steps))}${levelText(this.#options.order, number)}`,
        )
      }
      this.#draw()
      if (step.end === null) continue
      await this.#wait(endMs)
      return
    }
  }

  /** Until the time is over, or, while paused, until a key asks for something. */
  async #wait(ms: number): Promise<void> {
    const from = performance.now()
    while (!this.#skip && !this.#quit && !this.#stepOnce) {
      const left = this.#paused ? 3_600_000 : ms - (performance.now() - from)
      if (left <= 0) return
      await this.#screen.sleep(left)
    }
  }

  #press({ name, text }: Key): void {
    if (name === 'space') this.#paused = !this.#paused
    else if (name === 'right') {
      this.#paused = true
      this.#stepOnce = true
    } else if (text === '+' || text === '=') this.#speed = Math.min(fastest, this.#speed * 2)
    else if (text === '-') this.#speed = Math.max(slowest, this.#speed / 2)
    else if (name === 'n') this.#skip = true
    else if (name === 'q' || name === 'ctrl-c' || name === 'escape') {
      this.#end()
      return
    } else return
    this.#draw()
    this.#screen.wake()
  }

  #end(): void {
    this.#quit = true
    this.#screen.wake()
  }

  #draw(): void {
    const { terminal } = this.#context
    const { paint, symbols } = terminal
    const { columns, rows } = this.#screen.size()
    const { title, seed, episodes, order } = this.#options
    const { episode, number, likely, logs } = this.#session
    const index = episode.steps.length
    const of = episodes === undefined || order.skips ? '' : ` of ${episodes}`
    const dot = ` ${symbols.dot} `
    const head = fitText(
      [title, `episode ${number + 1}${of}${levelText(order, number)}`, `seed ${seed}`].join(dot),
      columns,
      symbols.ellipsis,
    )
    const foot = this.#ended === null ? likelyLine(episode, likely, columns, terminal) : this.#endLine(this.#ended)
    const keys = `space ${this.#paused ? 'play' : 'pause'}${dot}right step${dot}+ - speed (${this.#speed} steps/s)${dot}n next episode${dot}q quit`
    const below = [
      '',
      fitPainted(stepLine(episode, index, terminal), columns),
      ...(foot === null ? [] : [fitPainted(foot, columns)]),
      ...logs.slice(-2).map((log) => paint.dim(fitText(`log: ${safeText(log)}`, columns, symbols.ellipsis))),
      paint.dim(fitText(keys, columns, symbols.ellipsis)),
    ]
    const picture = pictureLines(episode, index, { columns, rows: rows - below.length - 2 }, terminal)
    this.#screen.draw([paint.bold(head), '', ...picture, ...below])
  }

  #endLine({ end, metrics }: PlayedStep): string {
    const { terminal } = this.#context
    const said = metricsLine(metrics, terminal)
    return `${end === 'truncated' ? 'time limit reached' : 'ended'}${said === '' ? '' : ` ${terminal.symbols.dot} ${said}`}`
  }
}

/** A line with colors in it, cut only where it must be: then without them. */
function fitPainted(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length <= columns ? line : fitText(plain, columns)
}

/** Each step as a line, or as JSON, and the result of each episode. */
export async function watchPlain(
  session: PlaySession,
  { title, seed, episodes, order }: Omit<WatchOptions, 'speed'> & { episodes: number },
  context: CommandContext,
): Promise<void> {
  const { symbols } = context.terminal
  const { signal, release } = cancelOnInterrupt(context)
  context.print(`${symbols.next} Watching ${title}, seed ${seed}`)
  try {
    for (let i = 0; i < episodes; i++) {
      const number = order.number(i)
      await session.begin(number)
      for (let end: string | null = null; end === null; ) {
        signal.throwIfAborted()
        const step = await session.step()
        end = step.end
        report(session, order, step, context)
      }
    }
  } finally {
    release()
  }
}

function report(session: PlaySession, order: EpisodeOrder, step: PlayedStep, context: CommandContext): void {
  const { terminal } = context
  const { episode, number } = session
  const level = order.level(number)
  const index = episode.steps.length
  const total = tidy(returnAt(episode, index))
  const likely = step.likely?.map(({ choice, probability }) => ({
    action: choiceName(episode, choice),
    probability: Number(probability.toPrecision(4)),
  }))
  context.printJson({
    ...{
      episode: number,
      ...(level === null ? {} : { level }),
      step: index,
      action: step.action,
      action_name: actionName(episode, step.action),
    },
    ...{ reward: step.reward, return: total },
    ...(likely === undefined ? {} : { likely }),
    ...(session.logs.length === 0 ? {} : { logs: session.logs }),
    ...(step.end === null ? {} : { end: step.end, metrics: step.metrics, trajectory_hash: step.digest }),
  })
  const chances = likely
    ?.slice(0, 3)
    .map(({ action, probability }) => `${safeText(action, 24)} ${Math.round(probability * 100)}%`)
  context.print(`${stepLine(episode, index, terminal)}${chances === undefined ? '' : `  (${chances.join(', ')})`}`)
  for (const log of session.logs) context.print(`  | ${safeText(log)}`)
  if (step.end === null) return
  const said = metricsLine(step.metrics, terminal)
  const how = step.end === 'truncated' ? 'time limit reached' : 'ended'
  context.print(
    `${terminal.symbols.ok} episode ${number + 1}${levelText(order, number)} ${how} after ${index} steps, return ${formatValue(total)}${said === '' ? '' : ` ${terminal.symbols.dot} ${said}`}`,
  )
}
