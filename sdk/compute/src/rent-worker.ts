import { setTimeout as sleep } from 'node:timers/promises'
import { AgentGymError } from '@agentgym/contract'
import {
  type ComputeProvider,
  firstMade,
  type GpuOffer,
  type RentedWorker,
  type WorkerOrder,
  workerNameOf,
} from './compute-provider.ts'

export type Pauses = {
  /** Between two questions about a worker, and before a request is repeated. */
  againMs: number
}

const usualPauses: Pauses = { againMs: 2_000 }
const mostAttempts = 5
/** Offers to try before giving up: each has been said to be there. */
const mostOffers = 8

/**
 * Starts the worker of a run, once: if it exists, it is the one, whoever started it. A request whose answer was lost is
 * repeated only when no worker of this name is there. Tries the offers in their order. Throws `gpu_unavailable` if none can
 * be had, `compute_unreachable` if the provider does not answer: a worker that may then exist is found by its name, by the
 * next attempt or by `sweepWorkers`.
 */
export async function rentWorker(
  provider: ComputeProvider,
  order: WorkerOrder,
  offers: readonly GpuOffer[],
  { againMs }: Pauses = usualPauses,
): Promise<RentedWorker> {
  const name = workerNameOf(order.run)
  const candidates = offers.slice(0, mostOffers)
  let failure: unknown
  for (let attempt = 0; attempt < mostAttempts && candidates.length > 0; attempt++) {
    if (attempt > 0) await sleep(againMs)
    try {
      const there = await keepOne(provider, name)
      if (there !== undefined) return there
      await provider.create(name, order, candidates[0])
    } catch (error) {
      failure = error
      if (codeOf(error) === 'gpu_unavailable') {
        candidates.shift()
        attempt = -1
        continue
      }
      if (codeOf(error) !== 'compute_unreachable') throw error
    }
    const made = await lookFor(provider, name, againMs)
    if (made !== undefined) return made
    // Accepted: asking again could start a second one.
    if (failure === undefined) throw notListed(provider, name)
  }
  throw failure
}

/** A provider may list a worker some time after it has accepted it. */
async function lookFor(provider: ComputeProvider, name: string, againMs: number): Promise<RentedWorker | undefined> {
  for (let look = 0; look < mostAttempts; look++) {
    if (look > 0) await sleep(againMs)
    try {
      const made = await keepOne(provider, name)
      if (made !== undefined) return made
    } catch (error) {
      if (codeOf(error) !== 'compute_unreachable') throw error
    }
  }
  return undefined
}

function codeOf(error: unknown): string | undefined {
  return error instanceof AgentGymError ? error.code : undefined
}

/**
 * The one worker of that name that works, after all others of the name have been ended: providers without unique names may
 * have two, when two requests were under way at once. Everyone keeps the same one.
 */
async function keepOne(provider: ComputeProvider, name: string): Promise<RentedWorker | undefined> {
  const named = (await provider.list()).filter((worker) => worker.name === name)
  const [kept, ...others] = named.filter(works).toSorted(firstMade)
  // Ended ones hold the name where names are unique.
  for (const other of [...others, ...named.filter((worker) => !works(worker))]) await provider.end(other)
  return kept
}

/** The worker of a run that works, or starts to. */
export async function findWorkerOf(provider: ComputeProvider, run: string): Promise<RentedWorker | undefined> {
  const name = workerNameOf(run)
  return (await provider.list()).find((worker) => worker.name === name && works(worker))
}

function works({ state }: RentedWorker): boolean {
  return state === 'starting' || state === 'running'
}

/** Ends all workers of a run and waits until the provider lists none that costs. Throws `compute_unreachable` otherwise. */
export async function endWorkerOf(
  provider: ComputeProvider,
  run: string,
  { againMs }: Pauses = usualPauses,
): Promise<void> {
  const name = workerNameOf(run)
  let failure: unknown
  for (let attempt = 0; attempt < 4 * mostAttempts; attempt++) {
    // Most are gone at the second look.
    if (attempt > 1) await sleep(againMs)
    try {
      const named = (await provider.list()).filter((worker) => worker.name === name && worker.state !== 'ended')
      if (named.length === 0) return
      for (const worker of named) await provider.end(worker)
    } catch (error) {
      if (codeOf(error) !== 'compute_unreachable') throw error
      failure = error
    }
  }
  throw new AgentGymError(
    {
      code: 'compute_unreachable',
      message: `${provider.name} has not ended the worker ${name}, which may still cost money`,
      hint: `End it with agentgym gpus sweep, or in the console of ${provider.name}.`,
      data: { provider: provider.name, worker: name },
    },
    { cause: failure },
  )
}

function notListed(provider: ComputeProvider, name: string): AgentGymError {
  return new AgentGymError({
    code: 'compute_unreachable',
    message: `${provider.name} accepted the worker ${name} but does not list it`,
    hint: 'It may still start. agentgym gpus sweep ends it when its run has ended.',
    data: { provider: provider.name, worker: name },
  })
}
