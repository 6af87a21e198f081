import { setTimeout as sleep } from 'node:timers/promises'
import { type ComputeProvider, endWorkerOf, findWorkerOf, type GpuOffer, rentWorker } from '@agentgym/compute'
import { AgentGymError, formatAmount, type Run } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { shortId } from '../registry/find-by-id.ts'
import { hasEnded, pauseRun, readRun } from '../runs/run-api.ts'
import { type WatchOptions, watchRunHere } from '../runs/watch-run-here.ts'
import { rentCurrency } from './gather-offers.ts'
import type { WorkerSource } from './rent-options.ts'
import type { RentalTerms } from './rental-terms.ts'

export type Rental = {
  provider: ComputeProvider
  /** Tried in this order. */
  offers: readonly GpuOffer[]
  source: WorkerSource
  terms: RentalTerms
}

/** Starts the run's worker, or finds it. */
export async function rentFor(
  connection: Connection,
  run: Run,
  rental: Rental,
  context: CommandContext,
): Promise<void> {
  const { provider, offers, source, terms } = rental
  const order = { ...source, run: run.id, owner: connection.server, maxSeconds: terms.maxSeconds }
  try {
    const { id } = await rentWorker(provider, order, offers)
    context.printJson({ event: 'rented', run: run.id, provider: provider.name, worker: id })
    context.print(`${context.terminal.symbols.next} Started a worker at ${provider.name} (${id})`)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    const { code, message, data } = error
    const again = `The run ${shortId(run.id)} is queued. Rent a GPU for it again: agentgym gpus rent ${shortId(run.id)}`
    const hint = error.hint === undefined ? again : `${error.hint}\n${again}`
    throw new AgentGymError({ code, message, hint, data: { ...data, run: run.id } }, { cause: error })
  }
}

type GuardTimes = {
  /** Between two questions to the provider. */
  lookMs: number
  /** Before the time is up, the run is paused: it saves a checkpoint. */
  pauseBeforeMs: number
}

const usualTimes: GuardTimes = { lookMs: 20_000, pauseBeforeMs: 120_000 }

/**
 * Watches a run on its rented worker, and ends the worker with the run. A worker that is gone ends the watching, and the end
 * of its time pauses the run. When the user detaches, the worker goes on: it ends with the run, or at its time.
 */
export async function watchRented(
  connection: Connection,
  run: Run,
  rental: Pick<Rental, 'provider' | 'terms'>,
  options: WatchOptions,
  context: CommandContext,
  times: GuardTimes = usualTimes,
): Promise<void> {
  const { provider, terms } = rental
  const guard = new WorkerGuard(connection, run, rental, times)
  try {
    await watchRunHere(connection, run, { ...options, hasWorker: true, signal: guard.gone }, context)
  } catch (error) {
    throw guard.timeIsUp && error instanceof AgentGymError ? timeUsedUp(run, terms) : error
  } finally {
    await guard.stop()
    await endIfOver(connection, run, provider, context)
  }
}

/** Looks after the worker of a run that is being watched. */
class WorkerGuard {
  readonly #gone = new AbortController()
  readonly #stopped = new AbortController()
  readonly #ended: Promise<void>
  /** Whether the run was paused because the rental's time is up. */
  timeIsUp = false

  constructor(
    connection: Connection,
    run: Run,
    { provider, terms }: Pick<Rental, 'provider' | 'terms'>,
    times: GuardTimes,
  ) {
    this.#ended = this.#keepLooking(connection, run, provider, {
      ...times,
      pauseAt: performance.now() + terms.maxSeconds * 1_000 - times.pauseBeforeMs,
    })
    // Thrown by `stop`.
    this.#ended.catch(() => {})
  }

  /** Aborts with an error when the worker is gone before its run. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#ended
  }

  async #keepLooking(
    connection: Connection,
    run: Run,
    provider: ComputeProvider,
    { lookMs, pauseAt }: GuardTimes & { pauseAt: number },
  ): Promise<void> {
    const { signal } = this.#stopped
    let missing = 0
    while (!signal.aborted) {
      const waitMs = this.timeIsUp ? lookMs : Math.max(0, Math.min(lookMs, pauseAt - performance.now()))
      await sleep(waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      if (!this.timeIsUp && performance.now() >= pauseAt) {
        this.timeIsUp = true
        await pauseRun(connection, run.id).catch(ignoreExpected)
      }
      // Once may be a list that lags behind.
      missing = (await worksFor(provider, run)) === false ? missing + 1 : 0
      if (missing >= 2) return this.#gone.abort(workerGone(provider, run))
    }
  }
}

/** Null if the provider does not answer. */
async function worksFor(provider: ComputeProvider, { id }: Run): Promise<boolean | null> {
  try {
    return (await findWorkerOf(provider, id)) !== undefined
  } catch (error) {
    ignoreExpected(error)
    return null
  }
}

function ignoreExpected(error: unknown): void {
  if (!(error instanceof AgentGymError)) throw error
}

async function endIfOver(connection: Connection, run: Run, provider: ComputeProvider, context: CommandContext) {
  const { print, terminal } = context
  try {
    if (!hasEnded(await readRun(connection, run.id))) {
      return print(
        `${terminal.symbols.next} Its worker at ${provider.name} ends with the run. End it now: agentgym runs cancel ${shortId(run.id)}, then agentgym gpus sweep`,
      )
    }
    await endWorkerOf(provider, run.id)
    print(`${terminal.symbols.next} Ended the worker at ${provider.name}`)
    context.printJson({ event: 'rental_ended', run: run.id, provider: provider.name })
  } catch (error) {
    ignoreExpected(error)
    context.exitCode = 1
    context.io.stderr.write(
      `${terminal.symbols.warning} The worker at ${provider.name} may still run. End it: agentgym gpus sweep\n`,
    )
  }
}

function workerGone(provider: ComputeProvider, run: Run): AgentGymError {
  return new AgentGymError({
    code: 'gpu_unavailable',
    message: `${provider.name} has ended the worker before the run`,
    hint: `The run continues from its last checkpoint with another worker: agentgym gpus rent ${shortId(run.id)}`,
    data: { provider: provider.name, run: run.id },
  })
}

function timeUsedUp(run: Run, { mostCents, maxSeconds }: RentalTerms): AgentGymError {
  const id = shortId(run.id)
  const amount = mostCents === null ? `${maxSeconds} s` : formatAmount(mostCents, rentCurrency)
  return new AgentGymError({
    code: 'budget_exceeded',
    message: `The rented GPU of run ${id} has used up its limit of ${amount}; the run is paused`,
    hint: `Resume it: agentgym runs resume ${id}, then agentgym gpus rent ${id} --gpu-budget USD`,
    data: { run: run.id, most_minor: mostCents, currency: rentCurrency },
  })
}
