import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { AgentGymError, type ErrorReport, type PolicySpec } from '@agentgym/contract'

export type ModelToCheck = { bytes: Uint8Array; policy: PolicySpec }
/** The model's error or null, or a bug in the check itself. */
export type ModelChecked = { fault: ErrorReport | null } | { bug: string }

/** The check's time is bounded by the file size. This timeout is for a thread that hangs. */
const timeLimitMs = 60_000

/**
 * Checks the structure of published models in a worker thread, one at a time, because the largest files take about a
 * second, which would block the server.
 */
export class ModelChecker {
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** Throws the codes `model_…` of `checkPublishedModel`. */
  async check(model: ModelToCheck): Promise<void> {
    const checking = this.#last.then(() => this.#checkNow(model))
    this.#last = checking.catch(() => {})
    const checked = await checking
    if ('bug' in checked) throw new Error(checked.bug)
    if (checked.fault !== null) throw new AgentGymError(checked.fault)
  }

  async close(): Promise<void> {
    const worker = await this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  async #checkNow(model: ModelToCheck): Promise<ModelChecked> {
    this.#worker ??= startWorker()
    try {
      const checked = await ask(await this.#worker, model)
      if (checked !== undefined) return checked
    } catch (error) {
      // The thread did not start. The next model retries.
      this.#worker = undefined
      throw error
    }
    const worker = await this.#worker
    this.#worker = undefined
    await worker.terminate()
    return { bug: 'the thread that checks models ended or did not answer' }
  }
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./model-checker.worker.ts', import.meta.url), {
    // The largest files need about 100 MB besides their bytes. If one needs more, the thread ends instead of the
    // server.
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  await once(worker, 'message')
  worker.unref()
  return worker
}

/** Undefined if the worker must be replaced. */
function ask(worker: Worker, model: ModelToCheck): Promise<ModelChecked | undefined> {
  const { promise, resolve } = Promise.withResolvers<ModelChecked | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, timeLimitMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  worker.postMessage(model)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  })
}
