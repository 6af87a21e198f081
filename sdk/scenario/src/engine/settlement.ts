import { whenSettled } from './primordials.ts'

/** Whether an author's callback returned a promise or another thenable. Reads `then` once. */
export function isThenable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

const UNSETTLED = 0
const FULFILLED = 1
const REJECTED = 2

/** Outcome of the promise that the engine is waiting for; there is at most one. */
export class Settlement {
  readonly promise: object
  #status = UNSETTLED
  #value: unknown = undefined

  constructor(promise: object) {
    this.promise = promise
    whenSettled(
      promise,
      (value) => this.#settle(FULFILLED, value),
      (reason) => this.#settle(REJECTED, reason),
    )
  }

  #settle(status: number, value: unknown): void {
    // An author's thenable may call both, or one of them twice.
    if (this.#status !== UNSETTLED) return
    this.#status = status
    this.#value = value
  }

  get pending(): boolean {
    return this.#status === UNSETTLED
  }

  /** Returns the value, or throws the rejection's reason. */
  take(): unknown {
    if (this.#status === REJECTED) throw this.#value
    return this.#value
  }
}
