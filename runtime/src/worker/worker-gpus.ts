import assert from 'node:assert'

/** A GPU as the driver names it, and its memory in bytes. */
export type Gpu = { uuid: string; memory: number }

/**
 * Which run has which GPU of this worker. A run has its GPUs to itself, so requests for jobs are made one after another: two
 * at once would offer the same GPU twice.
 */
export class WorkerGpus {
  readonly #gpus: readonly Gpu[]
  readonly #taken = new Set<number>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(gpus: readonly Gpu[]) {
    this.#gpus = gpus
  }

  /** Numbers of those that no run has. */
  get free(): number[] {
    return [...this.#gpus.keys()].filter((number) => !this.#taken.has(number))
  }

  /** Runs `request` after all that came before it. Without GPUs, at once. */
  async inTurn<Result>(request: () => Promise<Result>): Promise<Result> {
    if (this.#gpus.length === 0) return request()
    const turn = this.#last.then(request)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Takes the smallest free ones that a run can use. `end` frees them. */
  take({ count, memory_bytes }: { count: number; memory_bytes: number }): { uuids: string[]; end(): void } {
    const fitting = this.free.filter((number) => this.#gpus[number].memory >= memory_bytes)
    const taken = fitting.sort((a, b) => this.#gpus[a].memory - this.#gpus[b].memory || a - b).slice(0, count)
    assert(taken.length === count, 'the server leased a run to a worker without its GPUs')
    for (const number of taken) this.#taken.add(number)
    return {
      uuids: taken.map((number) => this.#gpus[number].uuid),
      end: () => {
        for (const number of taken) this.#taken.delete(number)
      },
    }
  }
}
