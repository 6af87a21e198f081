import { fitText } from '../terminal/fit-text.ts'
import { formatCount, formatDuration, formatTarget, formatValue } from '../terminal/format-figures.ts'
import { progressBar } from '../terminal/progress-bar.ts'
import { sparkline } from '../terminal/sparkline.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { costText, remoteStage } from './remote-run.ts'
import { type CriterionState, type RunState, secondsLeft } from './run-state.ts'

/** The lines that are drawn over while a run goes on; none is wider than `width` columns. */
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
  const foot = stageText(state, stopping) ?? (state.plan.remote ? detachText : 'Ctrl-C stops and keeps a checkpoint')
  lines.push(paint.dim(fitText(foot, width, symbols.ellipsis)))
  return lines
}

const detachText = 'Ctrl-C leaves; the run goes on'

/** What there is to say before the first iteration. */
export function startText({ remote, plan }: RunState): string {
  if (remote !== null) return remoteStage(remote, false) ?? 'Waiting for its first iteration'
  return plan.remote ? 'Looking at the queue' : 'Starting the sandbox and the first rollout'
}

/** What is going on where the figures stand still. */
export function stageText({ progress, remote }: RunState, stopping: boolean): string | undefined {
  const stage = remote === null ? undefined : remoteStage(remote, true)
  if (stage !== undefined) return stage
  if (stopping) return 'Stopping; writing the checkpoint (Ctrl-C again ends at once)'
  if (progress && progress.steps >= progress.steps_total) return 'Playing held-out episodes'
  return undefined
}

function barLine(state: RunState, terminal: Terminal, width: number): string {
  const { steps = 0, steps_total: total = 1 } = state.progress ?? {}
  const fraction = steps / total
  const figures = `${Math.floor(fraction * 100)}%`.padStart(4)
  const counts = `  ${formatCount(steps)} / ${formatCount(total)} steps`
  const room = width - figures.length - counts.length - 1
  if (room < 8) return fitText(`${figures}${counts}`, width, terminal.symbols.ellipsis)
  return `${progressBar(fraction, Math.min(room, 40), terminal)}${figures}${counts}`
}

function rateLine(state: RunState, terminal: Terminal, width: number): string {
  const { progress } = state
  if (!progress) return ''
  const left = secondsLeft(progress)
  const parts = [`${formatCount(progress.steps_per_second)} steps/s`, `${formatDuration(progress.seconds)} gone`]
  if (left) parts.push(`${formatDuration(left)} left`)
  const cost = state.remote === null ? undefined : costText(state.remote.run)
  if (cost !== undefined) parts.push(cost)
  parts.push(`${formatCount(progress.episodes_total)} episodes`)
  return fitText(parts.join(` ${terminal.symbols.dot} `), width, terminal.symbols.ellipsis)
}

function returnLine(state: RunState, terminal: Terminal, width: number): string {
  const { paint, symbols } = terminal
  const value = state.progress?.return_mean ?? null
  if (value === null) return paint.dim(fitText('return - (no episode has ended yet)', width, symbols.ellipsis))
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
