import type { CallAnswer } from '@agentgym/contract'
import type { CallEvent } from './call-event.ts'

const everyMs = 5_000

/** Counts answers, and tells of them every few seconds: calls may come by the thousand. */
export class CallTally {
  readonly #onEvent: (event: CallEvent) => void
  readonly #counts = new Map<string, { calls: number; failed: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(onEvent: (event: CallEvent) => void) {
    this.#onEvent = onEvent
  }

  count(subject: string, answers: CallAnswer[]): void {
    const { calls, failed } = this.#counts.get(subject) ?? { calls: 0, failed: 0 }
    const failures = answers.filter((answer) => 'error' in answer).length
    this.#counts.set(subject, { calls: calls + answers.length, failed: failed + failures })
    this.#timer ??= setTimeout(() => this.flush(), everyMs).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [subject, counts] of this.#counts) this.#onEvent({ event: 'calls_answered', subject, ...counts })
    this.#counts.clear()
  }
}
