import type { ProgressEvent, Run } from '@agentgym/contract'
import { formatCount, formatDuration, formatValue } from '../terminal/format-values.ts'
import type { Terminal } from '../terminal/terminal.ts'
import {
  advanceRemote,
  advanceRunState,
  type RemoteState,
  type RemoteUpdate,
  type RunState,
  remoteStage,
  remoteText,
  secondsLeft,
  startRunState,
} from './run-state.ts'
import { planLines, preludeLines, resultLines } from './summary-lines.ts'
import type { TrainingView } from './training-view.ts'

const secondsBetweenLines = 3

type PlainViewOptions = {
  terminal: Terminal
  verbose: boolean
  write: (line: string) => void
  /** Milliseconds since any fixed point. */
  now: () => number
}

/** Lines for pipes, logs and CI: progress every few seconds, and every other event. */
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
      } else if (event.event === 'defaults' || event.event === 'notice' || event.event === 'logs') {
        for (const line of preludeLines(event, terminal)) write(line)
      } else if (event.event === 'evaluation' || (event.event === 'checkpoint' && verbose)) {
        write(`  ${formatCount(event.steps)} steps: ${state.log[state.log.length - 1].text}`)
      }
    },
    remote(update) {
      if (!state) return
      const before = state.remote
      state = advanceRemote(state, update)
      // The first line shows this, with the position in the queue.
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

/** Whether an update without an event is worth a line: a new position in the queue, or a silent server. */
function isNews(before: RemoteState | null, { run, silent = false }: RemoteUpdate): boolean {
  return (
    run.ahead !== (before?.run.ahead ?? null) ||
    (run.unserved ?? null) !== (before?.run.unserved ?? null) ||
    (silent && !before?.silent)
  )
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

/**
 * One JSON value per line, of the contract's `trainingEventSchema`; a remote run adds lines of the event `run`. Only
 * `finish` writes the result, and only `reportFailure` an error, so that each is the last line and appears once.
 */
export function jsonView(write: (line: string) => void): TrainingView {
  let last: Run | undefined
  return {
    start() {},
    remote({ run, event, silent }) {
      if (silent) return
      if (event === null && last !== undefined && sameStatus(last, run)) return
      last = run
      write(JSON.stringify(runLine(run, event?.type ?? null)))
    },
    event(event) {
      if (event.event !== 'result' && event.event !== 'error') write(JSON.stringify(event))
    },
    stopping() {},
    async close() {},
    finish(result) {
      write(JSON.stringify(result))
    },
  }
}

/** A line about a remote run: the run, and the type of the event that changed it. */
export function runLine(run: Run, change: string | null): Record<string, unknown> {
  return { event: 'run', change, ...run }
}

// Changes without an event. The cost changes all the time and is on every line.
function sameStatus(a: Run, b: Run): boolean {
  return (
    a.state === b.state && a.ahead === b.ahead && a.unserved === b.unserved && a.cancel_requested === b.cancel_requested
  )
}
