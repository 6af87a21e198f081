import type { ProgressEvent } from '@agentgym/contract'
import { formatCount, formatDuration, formatValue } from '../terminal/format-figures.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { planLines } from './plan-lines.ts'
import { type RemoteState, type RemoteUpdate, remoteStage, remoteText } from './remote-run.ts'
import { resultLines } from './result-lines.ts'
import { advanceRemote, advanceRunState, type RunState, secondsLeft, startRunState } from './run-state.ts'
import type { TrainingView } from './training-view.ts'

const secondsBetweenLines = 3

export type PlainViewOptions = {
  terminal: Terminal
  verbose: boolean
  write: (line: string) => void
  /** Milliseconds from any fixed point. */
  now: () => number
}

/** Lines for pipes, logs and CI: one every few seconds, and one for everything rare. */
export function plainView({ terminal, verbose, write, now }: PlainViewOptions): TrainingView {
  let state: RunState | undefined
  let lastLine = Number.NEGATIVE_INFINITY
  return {
    start(plan) {
      state = startRunState(plan)
      for (const line of planLines(plan, terminal, verbose)) write(line)
    },
    event(event) {
      if (!state) return
      state = advanceRunState(state, event)
      if (event.event === 'progress') {
        const due = now() - lastLine >= secondsBetweenLines * 1000
        const last = event.steps >= event.steps_total
        if (!due && !last) return
        lastLine = now()
        write(progressLine(event))
      } else if (event.event === 'evaluation' || (event.event === 'checkpoint' && verbose)) {
        write(`  ${formatCount(event.steps)} steps: ${state.log[state.log.length - 1].text}`)
      }
    },
    remote(update) {
      if (!state) return
      const before = state.remote
      state = advanceRemote(state, update)
      // The first line said so, with the place in the queue.
      if (before && update.event?.type === 'queued' && update.event.data.reason === 'submitted') return
      const text = remoteText(update) ?? (isNews(before, update) ? remoteStage(update, true) : undefined)
      if (text !== undefined) write(`  ${text}`)
    },
    stopping() {
      write(`${terminal.symbols.warning} Stopping; writing the checkpoint`)
    },
    async close() {},
    finish(result, end) {
      for (const line of resultLines(result, terminal, end)) write(line)
    },
  }
}

/** Of what comes without an event: another place in the queue, or a server that has gone silent. */
function isNews(before: RemoteState | null, { run, silent = false }: RemoteUpdate): boolean {
  return run.ahead !== (before?.run.ahead ?? null) || (silent && !before?.silent)
}

function progressLine(event: ProgressEvent): string {
  const percent = `${Math.floor((event.steps / event.steps_total) * 100)}%`.padStart(4)
  const left = secondsLeft(event)
  const parts = [
    `${percent}  ${formatCount(event.steps)} of ${formatCount(event.steps_total)} steps`,
    `${formatCount(event.steps_per_second)} steps/s`,
    `return ${formatValue(event.return_mean)}`,
  ]
  if (left !== null && event.steps < event.steps_total) parts.push(`${formatDuration(left)} left`)
  return parts.join('  ')
}
