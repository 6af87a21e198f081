import { parentPort } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import { createSandboxedEnvironment, type SandboxedEnvironmentOptions } from '../sandbox/sandboxed-environment.ts'
import type { ThreadJob } from '../sandbox/serve-in-worker.ts'
import { EpisodeSeat } from './episode-seat.ts'
import type { HostJob, HostReply, HostRequest, Seat, SeatKind } from './host-messages.ts'
import { VectorSeat, type VectorSeatOptions } from './vector/vector-seat.ts'

type Job = ThreadJob<HostJob>

/** Held-out episodes of a vector: it plays as long as its client wants. */
const MOST_EPISODES = 1_000_000_000

/** Options of an isolate that every kind of seat shares: one environment, which `restart` puts on its way. */
function isolateOptions({ scenario, limits, board }: Job): SandboxedEnvironmentOptions {
  return { ...scenario, environments: 1, seed: 0, plan: { split: 'train' }, limits, board }
}

/** How a seat of each kind is made; `options` come from `ScenarioHost.open`. */
const kinds: Record<SeatKind, (job: Job, options: unknown) => Seat> = {
  episode: (job) => new EpisodeSeat(createSandboxedEnvironment({ ...isolateOptions(job), watchObservations: true })),
  vector: (job, options) => {
    const { seed, split, firstEnvironment, layout } = options as VectorSeatOptions
    const plan = split === 'eval' ? { split, episodes: MOST_EPISODES } : { split }
    const { environments } = layout
    const watched = { watchTexts: 'all' as const, watchScenes: environments === 1 }
    const environment = { ...isolateOptions(job), environments, seed, plan, firstEnvironment, ...watched }
    return new VectorSeat(createSandboxedEnvironment(environment), options as VectorSeatOptions)
  },
}

/** The seats of one thread. Requests are served one after another: only one guest runs at a time, so they share a board. */
class Host {
  readonly #job: Job
  readonly #seats = new Map<number, Seat>()

  constructor(job: Job) {
    this.#job = job
  }

  answer(request: HostRequest): unknown {
    const { seat: number } = request
    if (request.do === 'open') {
      this.#seats.set(number, kinds[request.kind](this.#job, request.options))
      return null
    }
    const seat = this.#seats.get(number)
    if (request.do === 'ask') return seat?.ask(request.ask)
    this.#seats.delete(number)
    seat?.dispose()
    return null
  }

  lose(number: number): void {
    this.#seats.get(number)?.dispose()
    this.#seats.delete(number)
  }
}

if (parentPort !== null) {
  const port = parentPort
  const send = (reply: HostReply) => port.postMessage(reply)
  let host: Host | undefined
  port.on('message', (message: Job | HostRequest) => {
    if (host === undefined) {
      const job = message as Job
      const first = createSandboxedEnvironment(isolateOptions(job))
      const { description } = first
      first.dispose()
      host = new Host(job)
      return send({ kind: 'opened', description })
    }
    const request = message as HostRequest
    try {
      send({ kind: 'answer', id: request.id, answer: host.answer(request) })
    } catch (error) {
      // A fault of ours ends the process, which says so.
      if (!(error instanceof AgentGymError)) throw error
      host.lose(request.seat)
      send({ kind: 'fault', id: request.id, error: error.toReport() })
    }
  })
  port.postMessage({ kind: 'ready' })
}
