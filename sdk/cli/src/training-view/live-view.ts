import { createLogUpdate } from 'log-update'
import type { OutputStream } from '../command-io.ts'
import { sparkline } from '../terminal/charts.ts'
import { formatCount, formatDuration, formatTarget, formatValue } from '../terminal/format-values.ts'
import { progressBar } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText } from '../terminal/text.ts'
import {
  advanceRemote,
  advanceRunState,
  type CriterionState,
  costText,
  type RunState,
  remoteStage,
  secondsLeft,
  startRunState,
} from './run-state.ts'
import { planLines, preludeLines, resultLines } from './summary-lines.ts'
import type { TrainingView } from './training-view.ts'

const redrawEveryMs = 100

export type LiveViewOptions = { terminal: Terminal; verbose: boolean; stream: OutputStream; initial?: RunState }

/** A block of a few lines at the end of the screen, redrawn during the run. */
export function liveView({ terminal, verbose, stream, initial }: LiveViewOptions): TrainingView {
  const update = createLogUpdate(stream)
  let state = initial
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let drawn: RunState | undefined
  const draw = () => {
    if (!state) return
    drawn = state
    update(liveBlock(state, terminal, terminal.columns() - 1, stopping).join('\n'))
  }
  const begin = () => {
    draw()
    timer = setInterval(() => {
      if (state !== drawn) draw()
    }, redrawEveryMs)
    stream.on('resize', draw)
  }
  if (state) begin()
  return {
    start(plan) {
      state = startRunState(plan)
      stream.write(`${planLines(plan, terminal, verbose).join('\n')}\n`)
      begin()
    },
    event(event) {
      if (!state) return
      state = advanceRunState(state, event)
      if (event.event !== 'defaults' && event.event !== 'notice' && event.event !== 'logs') return
      update.clear()
      stream.write(`${preludeLines(event, terminal).join('\n')}\n`)
      draw()
    },
    remote(update) {
      if (state) state = advanceRemote(state, update)
    },
    stopping() {
      stopping = true
      draw()
    },
    async close() {
      clearInterval(timer)
      stream.off('resize', draw)
      update.clear()
      if (state?.progress)
        update(
          liveBlock(state, terminal, terminal.columns() - 1, stopping)
            .slice(0, -1)
            .join('\n'),
        )
      update.done()
    },
    finish(result, end) {
      stream.write(`${resultLines(result, terminal, end).join('\n')}\n`)
    },
  }
}

/** The lines of the live block; none is wider than `width` columns. */
export function liveBlock(state: RunState, terminal: Terminal, width: number, stopping: boolean): string[] {
  const { paint, symbols } = terminal
  const { progress } = state
  if (!progress) {
    const waits = [stopping ? 'Stopping' : startText(state), ...(state.plan.remote ? [detachText] : [])]
    return waits.map((line) => paint.dim(fitText(line, width, symbols.ellipsis)))
  }
  const lines = [barLine(state, terminal, width), rateLine(state, terminal, width), returnLine(state, terminal, width)]
  const nameWidth = Math.min(24, Math.max(...state.criteria.map(({ metric }) => metric.length), 0))
  for (const criterion of state.criteria) lines.push(criterionLine(criterion, nameWidth, terminal, width))
  const foot =
    stageText(state, stopping) ?? (state.plan.remote ? detachText : 'Press Ctrl-C to stop and keep a checkpoint')
  lines.push(paint.dim(fitText(foot, width, symbols.ellipsis)))
  return lines
}

const detachText = 'Press Ctrl-C to detach; the run continues'

/** The stage before the first iteration. */
export function startText({ remote, plan }: RunState): string {
  if (remote !== null) return remoteStage(remote, false) ?? 'Waiting for the first iteration'
  return plan.remote ? 'Checking the queue' : 'Starting the sandbox and the first rollout'
}

/** The stage while no values change; undefined during training. */
export function stageText({ progress, remote }: RunState, stopping: boolean): string | undefined {
  const stage = remote === null ? undefined : remoteStage(remote, true)
  if (stage !== undefined) return stage
  if (stopping) return 'Stopping; writing the checkpoint (press Ctrl-C again to exit now)'
  if (progress && progress.steps >= progress.steps_total) return 'Evaluating on held-out episodes'
  return undefined
}

function barLine(state: RunState, terminal: Terminal, width: number): string {
  const { steps = 0, steps_total: total = 1 } = state.progress ?? {}
  const fraction = steps / total
  const percent = `${Math.floor(fraction * 100)}%`.padStart(5)
  const counts = `  ${formatCount(steps)} / ${formatCount(total)} steps`
  const room = width - percent.length - counts.length - 1
  if (room < 8) return fitText(`${percent.trim()}${counts}`, width, terminal.symbols.ellipsis)
  return `${progressBar(fraction, Math.min(room, 40), terminal)}${percent}${counts}`
}

function rateLine(state: RunState, terminal: Terminal, width: number): string {
  const { progress } = state
  if (!progress) return ''
  const left = secondsLeft(progress)
  const parts = [`${formatCount(progress.steps_per_second)} steps/s`, `${formatDuration(progress.seconds)} elapsed`]
  if (left) parts.push(`${formatDuration(left)} left`)
  const cost = state.remote === null ? undefined : costText(state.remote.run)
  if (cost !== undefined) parts.push(cost)
  parts.push(`${formatCount(progress.episodes_total)} episodes`)
  return fitText(parts.join(` ${terminal.symbols.dot} `), width, terminal.symbols.ellipsis)
}

function returnLine(state: RunState, terminal: Terminal, width: number): string {
  const { paint, symbols } = terminal
  const value = state.progress?.return_mean ?? null
  if (value === null) return paint.dim(fitText('return - (no episode finished yet)', width, symbols.ellipsis))
  const label = `return ${formatValue(value)} (last 100 episodes)  `
  const room = Math.min(width - label.length, 40)
  const curve =
    room < 6
      ? ''
      : sparkline(
          state.returns.map((point) => point.value),
          room,
          symbols,
        )
  return curve
    ? `return ${paint.bold(formatValue(value))} (last 100 episodes)  ${paint.accent(curve)}`
    : fitText(label.trim(), width, symbols.ellipsis)
}

function criterionLine(criterion: CriterionState, nameWidth: number, terminal: Terminal, width: number): string {
  const { paint, symbols } = terminal
  const mark = criterion.reached ? symbols.ok : symbols.dot
  const name = fitText(criterion.metric, nameWidth, symbols.ellipsis)
  const text = `${mark} ${name.padEnd(nameWidth)}  ${formatValue(criterion.current)} of ${formatTarget(criterion.target)}`
  const line = fitText(text, width, symbols.ellipsis)
  return criterion.reached ? paint.accent(line) : line
}
