import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'

/** An account that has timed out gets half the time at each further text, but no less than this. */
const shortestLimitMs = 125
const slowTextsCountMs = 10 * 60_000
/** An account's waiting texts; further ones are not worked on. */
const longestQueue = 1_000

/**
 * A worker thread for texts of others, one at a time and with a time limit, so that a malicious text does not block the
 * server. Accounts take turns, and accounts with slow texts get less time, so that a text waits for at most one text of
 * each other account. The thread's module posts a message once it is ready, and then an answer to each message.
 */
export class FairWorker<Input, Output> {
  readonly #entry: URL
  readonly #limitMs: number
  /** Recent timeouts per account. */
  readonly #slow = new LRUCache<string, number>({ max: 10_000, ttl: slowTextsCountMs })
  /** Waiting texts by account, in the order of turns. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()
  #worker: Promise<Worker> | undefined
  #busy = false

  /** `limitMs`: for one text. */
  constructor(entry: URL, { limitMs }: { limitMs: number }) {
    this.#entry = entry
    this.#limitMs = limitMs
  }

  /** The thread's answer; undefined if it took too long, needed too much memory, or the thread did not start. Never throws. */
  async ask(input: Input, account: string): Promise<Output | undefined> {
    const own = this.#waiting.get(account) ?? []
    if (own.length >= longestQueue) return undefined
    const { promise, resolve } = Promise.withResolvers<Output | undefined>()
    own.push(async () => resolve(await this.#askNow(input, account)))
    this.#waiting.set(account, own)
    void this.#work()
    return promise
  }

  async close(): Promise<void> {
    const worker = await this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  /** Works on the waiting texts, one of each account in turn. */
  async #work(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) await turn()
    this.#busy = false
  }

  #next(): (() => Promise<void>) | undefined {
    const [first] = this.#waiting
    if (first === undefined) return undefined
    const [account, texts] = first
    const text = texts.shift()
    this.#waiting.delete(account)
    if (texts.length > 0) this.#waiting.set(account, texts)
    return text
  }

  async #askNow(input: Input, account: string): Promise<Output | undefined> {
    this.#worker ??= startWorker(this.#entry)
    const slow = this.#slow.get(account) ?? 0
    try {
      const worker = await this.#worker
      const limitMs = Math.max(shortestLimitMs, this.#limitMs / 2 ** slow)
      const answer = await answerOf<Output>(worker, input, limitMs)
      if (answer !== undefined) return answer
      this.#slow.set(account, slow + 1)
      this.#worker = undefined
      await worker.terminate()
    } catch {
      // The thread did not start. The next text retries.
      this.#worker = undefined
    }
    return undefined
  }
}

/** Resolves once its imports are loaded, so that they do not count against a text's time limit. */
async function startWorker(entry: URL): Promise<Worker> {
  const worker = new Worker(entry, {
    // A text needs a few megabytes. If one needs hundreds, the thread ends instead of the server.
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  })
  await once(worker, 'message')
  worker.unref()
  return worker
}

/** Undefined if the worker must be replaced. */
function answerOf<Output>(worker: Worker, input: unknown, limitMs: number): Promise<Output | undefined> {
  const { promise, resolve } = Promise.withResolvers<Output | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, limitMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  worker.postMessage(input)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  })
}
