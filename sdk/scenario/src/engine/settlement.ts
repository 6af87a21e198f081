import { whenSettled } from './primordials.ts'

const PENDING = 0
const FULFILLED = 1
const REJECTED = 2

/** Whether an author's callback returned a promise or another thenable. Reads `then` once. */
export function isThenable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Outcome of the one promise that the engine may be waiting for. */
export class Settlement {
  readonly promise: object
  #status = PENDING
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
    // A thenable of the author's own may call both, or one twice.
    if (this.#status !== PENDING) return
    this.#status = status
    this.#value = value
  }

  get pending(): boolean {
    return this.#status === PENDING
  }

  /** The value; throws the reason of a rejection. */
  take(): unknown {
    if (this.#status === REJECTED) throw this.#value
    return this.#value
  }
}
