import type { TrainingView } from './training-view.ts'

/**
 * One JSON value a line, as the contract's `trainingEventSchema` has them. The result is written by `finish` alone and
 * an error by whoever reports the failure, so that each is the last line and comes once.
 */
export function jsonView(write: (line: string) => void): TrainingView {
  return {
    start() {},
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
