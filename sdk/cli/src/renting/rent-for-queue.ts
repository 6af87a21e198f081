import {
  type ComputeProvider,
  cheapestFirst,
  type GpuNeed,
  type GpuOffer,
  type RunFate,
  rentWorker,
  type SweptWorker,
  sweepWorkers,
  type WorkerOrder,
  workerNameOf,
} from '@agentgym/compute'
import {
  AgentGymError,
  type ErrorReport,
  type Rental,
  type RentalList,
  type ReserveRentalRequest,
} from '@agentgym/contract'
import type { RentalRecords } from './rental-api.ts'

export type QueueRenting = {
  records: RentalRecords
  providers: readonly ComputeProvider[]
  /** What every worker is started with. */
  order: Omit<WorkerOrder, 'run' | 'pool' | 'token' | 'maxSeconds'>
  /** Which GPUs may be rented; memory is what the runs need. */
  need: Pick<GpuNeed, 'gpu'>
  limits: ReserveRentalRequest['limits']
  /** Runs that a connected worker could train get a machine after they have waited for this long. */
  waitSeconds: number
  /** A machine without a run is ended after this long. */
  idleSeconds: number
  maxSeconds: number
  times?: RentingTimes
}

type RentingTimes = {
  /** A rental that its provider does not list is given up after this long: it was never asked for, or has ended by itself. */
  unlistedMs: number
  /** How long a machine may be idle whose worker has not connected yet: images are large. */
  startSeconds: number
  /** Between two questions to a provider. */
  againMs: number
}

const usualTimes: RentingTimes = { unlistedMs: 600_000, startSeconds: 900, againMs: 2_000 }

export type RentingEvent =
  | {
      event: 'rented'
      rental: string
      provider: string
      gpu: string
      price_minor_per_hour: number
      max_seconds: number
    }
  | { event: 'closed' | 'ended'; rental: string; provider: string; reason: string }
  | { event: 'swept'; worker: string; provider: string; reason: SweptWorker['reason'] }
  | { event: 'refused'; reason: string; waiting: number }
  | { event: 'problem'; provider: string; error: ErrorReport }

/** Offers to try in one round: each has been said to be there. */
const mostOffers = 8

/**
 * One round: ends what no open rental or run owns and what is idle, records what has ended, and rents what the queue needs and
 * the limits allow. May be killed at any moment, and may run in several processes: only the one that
 * reserved a rental asks for its machine.
 */
export async function rentForQueue(renting: QueueRenting): Promise<RentingEvent[]> {
  const events: RentingEvent[] = []
  const state = await renting.records.list(renting.waitSeconds)
  const reached: ComputeProvider[] = []
  for (const provider of renting.providers)
    try {
      await reconcile(provider, state, renting, events)
      reached.push(provider)
    } catch (error) {
      events.push({ event: 'problem', provider: provider.name, error: computeError(error) })
    }
  if (state.wanted.length > 0) await scaleUp(reached, renting, events)
  return events
}

/** Brings the rentals of one provider and its own list into line. */
async function reconcile(
  provider: ComputeProvider,
  { rentals }: RentalList,
  { records, order, idleSeconds, times = usualTimes }: QueueRenting,
  events: RentingEvent[],
): Promise<void> {
  const own = rentals.filter((rental) => rental.provider === provider.name)
  const fateOf = async (id: string): Promise<RunFate> => {
    const rental = own.find((one) => one.id === id) ?? (await records.find(id))
    // A user's, for a run of their own: `gpus sweep` of that user ends it with the run.
    if (rental === undefined) return 'unknown'
    return rental.closed_at === null ? 'open' : 'ended'
  }
  const swept = await sweepWorkers(provider, { owner: order.owner, fateOf })
  for (const { worker, outcome, reason } of swept)
    if (outcome === 'ended') events.push({ event: 'swept', worker: worker.name, provider: provider.name, reason })
  const end = async ({ id }: Rental, state: 'closed' | 'ended', reason: string) => {
    await records.end(id, state, reason)
    events.push({ event: state, rental: id, provider: provider.name, reason })
  }
  for (const rental of own) {
    const named = swept.filter(({ worker }) => worker.name === workerNameOf(rental.id))
    const machine = named.find(({ outcome }) => outcome === 'kept') ?? named[0]
    const age = Date.now() - Date.parse(rental.created_at)
    if (machine === undefined) {
      if (rental.closed_at !== null) await end(rental, 'ended', rental.reason ?? 'ended')
      else if (age >= times.unlistedMs) await end(rental, 'closed', 'the provider does not list it')
    } else if (machine.outcome === 'ended' && rental.closed_at === null) {
      await end(rental, 'closed', machine.reason)
    } else if (machine.outcome === 'kept' && rental.closed_at === null && !rental.busy) {
      const allowed = rental.connected ? idleSeconds : Math.max(idleSeconds, times.startSeconds)
      // Its worker ends by itself when it is idle; this is for one that does not. The next round ends the machine.
      if (rental.idle_seconds >= allowed) {
        await end(rental, 'closed', rental.connected ? 'idle' : 'its worker has not connected')
        await provider.end(machine.worker)
      }
    }
  }
}

async function scaleUp(
  providers: readonly ComputeProvider[],
  renting: QueueRenting,
  events: RentingEvent[],
): Promise<void> {
  const { records, need, limits, waitSeconds, maxSeconds, idleSeconds, times = usualTimes } = renting
  let offers = await offersOf(providers, need, events)
  for (let attempt = 0; attempt < mostOffers && offers.length > 0; ) {
    const { wanted } = await records.list(waitSeconds)
    const offer = cheapestFor(wanted, offers)
    if (offer === undefined) {
      if (wanted.length > 0) events.push({ event: 'refused', reason: 'no_offer', waiting: wanted.length })
      return
    }
    const price = offer.centsPerHour ?? 0
    const { rental, refused } = await records.reserve({
      ...{ provider: offer.provider, gpu: offer.gpu, memory_bytes: bytesOf(offer), cents_per_hour: price },
      ...{ max_seconds: maxSeconds, least_seconds: Math.min(600, maxSeconds), wait_seconds: waitSeconds, limits },
    })
    if (rental === null) {
      if (refused !== 'not_needed') events.push({ event: 'refused', reason: refused ?? '', waiting: wanted.length })
      return
    }
    const { id, worker, token, max_seconds } = rental
    const provider = providers.find(({ name }) => name === offer.provider)
    try {
      const order = { ...renting.order, run: id, pool: { worker, idleSeconds }, token, maxSeconds: max_seconds }
      if (provider !== undefined) await rentWorker(provider, order, [offer], { againMs: times.againMs })
      const { provider: at, gpu } = offer
      events.push({ event: 'rented', rental: id, provider: at, gpu, price_minor_per_hour: price, max_seconds })
    } catch (error) {
      const report = computeError(error)
      events.push({ event: 'problem', provider: offer.provider, error: report })
      // Where the answer was lost, a machine may exist: a later round finds it, or gives the rental up.
      if (report.code !== 'compute_unreachable') await records.end(id, 'closed', report.code)
      offers = report.code === 'gpu_unavailable' ? offers.filter((one) => one !== offer) : without(offer, offers)
      attempt++
    }
  }
}

/** Another offer of a provider that refuses or does not answer would fail alike. */
function without({ provider }: GpuOffer, offers: readonly GpuOffer[]): GpuOffer[] {
  return offers.filter((one) => one.provider !== provider)
}

async function offersOf(
  providers: readonly ComputeProvider[],
  need: GpuNeed,
  events: RentingEvent[],
): Promise<GpuOffer[]> {
  const found: GpuOffer[] = []
  for (const provider of providers)
    try {
      found.push(...(await provider.offers(need)))
    } catch (error) {
      events.push({ event: 'problem', provider: provider.name, error: computeError(error) })
    }
  return cheapestFirst(found)
}

/** The cheapest offer that the first run fits which any offer fits; those that need most come first. */
function cheapestFor(wanted: RentalList['wanted'], offers: readonly GpuOffer[]): GpuOffer | undefined {
  for (const { memory_bytes: needed } of wanted) {
    const offer = offers.find((one) => (bytesOf(one) ?? 0) >= needed)
    if (offer !== undefined) return offer
  }
  return undefined
}

function bytesOf({ memoryGb }: GpuOffer): number | null {
  return memoryGb === null ? null : memoryGb * 1e9
}

/** What a provider said. Everything else is thrown: the round ends, and the next one begins with what is recorded. */
function computeError(error: unknown): ErrorReport {
  if (error instanceof AgentGymError && /^(compute_|gpu_)/.test(error.code)) return error.toReport()
  throw error
}
