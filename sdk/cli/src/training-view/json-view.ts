import type { Run } from '@agentgym/contract'
import type { TrainingView } from './training-view.ts'

/**
 * One JSON value a line, as the contract's `trainingEventSchema` has them; a run on shared machines adds lines of its own
 * (`run`). The result is written by `finish` alone and
 * an error by whoever reports the failure, so that each is the last line and comes once.
 */
export function jsonView(write: (line: string) => void): TrainingView {
  let last: Run | undefined
  return {
    start() {},
    remote({ run, event, silent }) {
      if (silent) return
      if (event === null && last !== undefined && sameToAReader(last, run)) return
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

/** A line about a run on shared machines: the run as it is, and the type of the event that the line is due to. */
export function runLine(run: Run, change: string | null): Record<string, unknown> {
  return { event: 'run', change, ...run }
}

// What the run's own events do not tell. Cost alone moves all the time and is on every line.
function sameToAReader(a: Run, b: Run): boolean {
  return a.state === b.state && a.ahead === b.ahead && a.cancel_requested === b.cancel_requested
}
