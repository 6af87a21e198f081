import { availableParallelism } from 'node:os'
import { AgentGymError, type ErrorReport, errorCatalog } from '@agentgym/contract'
import { type BuiltScenario, identityOf } from '../sandbox/build-scenario.ts'
import { readDescription } from '../sandbox/guest-output.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { HostJob, HostReply, HostRequest, SeatKind } from './host-messages.ts'

/** Isolates of one process: a fault that ends it ends the sessions of these alone. */
const MOST_SEATS = 32
/** Vectors keep a core busy: each gets a process of its own, as long as there are cores. */
const VECTOR_PROCESSES = availableParallelism()

/** A place in a process where one session plays. */
export type HostedSeat = {
  /** Asks the seat; rejects with an AgentGymError for a fault of the scenario, after which the seat is lost. */
  ask(request: unknown): Promise<unknown>
  /** Gives the isolate back. Never rejects. */
  close(): Promise<void>
}

export type HostOptions = { limits?: Partial<JobLimits> }

/**
 * Runs a scenario for sessions of clients: in supervised processes, with an isolate a session. A process that a guest has ended is
 * replaced when the next session opens.
 */
export class ScenarioHost {
  readonly scenario: BuiltScenario
  readonly description: ScenarioDescription
  readonly #options: HostOptions
  #processes: HostProcess[]
  #starting: Promise<void> | undefined

  private constructor(
    scenario: BuiltScenario,
    first: HostProcess,
    description: ScenarioDescription,
    options: HostOptions,
  ) {
    this.scenario = scenario
    this.description = description
    this.#options = options
    this.#processes = [first]
  }

  /** Starts the first process. Rejects with an AgentGymError where the scenario cannot be loaded. */
  static async start(scenario: BuiltScenario, options: HostOptions = {}): Promise<ScenarioHost> {
    const first = await HostProcess.start(scenario, options)
    return new ScenarioHost(scenario, first, await first.opened, options)
  }

  /** Opens a seat in the process that has the fewest. Rejects with an AgentGymError. */
  async open(kind: SeatKind, options: unknown = null): Promise<HostedSeat> {
    this.#processes = this.#processes.filter(({ failed }) => !failed)
    const [emptiest] = this.#processes.toSorted((a, b) => a.seats - b.seats)
    const enough = kind === 'vector' && this.#processes.length < VECTOR_PROCESSES ? 1 : MOST_SEATS
    if (emptiest !== undefined && emptiest.seats < enough) return emptiest.open(kind, options)
    // Those who come while a process starts wait for the same one.
    this.#starting ??= this.#startAnother()
    await this.#starting
    return this.open(kind, options)
  }

  async #startAnother(): Promise<void> {
    try {
      const another = await HostProcess.start(this.scenario, this.#options)
      // Not in one expression: `open` may have replaced the list meanwhile.
      this.#processes.push(another)
    } finally {
      this.#starting = undefined
    }
  }

  async close(): Promise<void> {
    await this.#starting?.catch(() => {})
    await Promise.all(this.#processes.map((process) => process.close()))
  }
}

/** One supervised process and the requests that it has not answered yet. */
class HostProcess {
  readonly opened: Promise<ScenarioDescription>
  seats = 0
  failed = false
  readonly #scenario: BuiltScenario
  readonly #abort = new AbortController()
  readonly #ended: Promise<unknown>
  readonly #opening = Promise.withResolvers<ScenarioDescription>()
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #send: (message: HostRequest) => void = () => {}
  #failure: unknown
  #nextId = 0
  #nextSeat = 0

  private constructor(scenario: BuiltScenario, job: HostJob, { limits }: HostOptions) {
    this.#scenario = scenario
    this.opened = this.#opening.promise
    this.opened.catch(() => {})
    this.#ended = superviseJob({
      entry: new URL('./scenario-host.process.ts', import.meta.url),
      job,
      identity: identityOf(scenario),
      limits,
      signal: this.#abort.signal,
      environment: threadEnvironment(),
      onStart: (send) => {
        this.#send = send
      },
      onMessage: (message) => this.#receive(message as HostReply),
    }).catch((error: unknown) => this.#fail(locateFault(error, scenario.sourceMap)))
  }

  static async start(scenario: BuiltScenario, options: HostOptions): Promise<HostProcess> {
    const started = new HostProcess(scenario, { scenario: await scenarioCode(scenario) }, options)
    await started.opened
    return started
  }

  async open(kind: SeatKind, options: unknown): Promise<HostedSeat> {
    const seat = this.#nextSeat++
    this.seats += 1
    let open = true
    const leave = () => {
      if (open) this.seats -= 1
      open = false
    }
    try {
      await this.#request({ seat, do: 'open', kind, options })
    } catch (error) {
      leave()
      throw error
    }
    return {
      ask: (ask) => this.#request({ seat, do: 'ask', ask }),
      close: async () => {
        if (!open) return
        leave()
        await this.#request({ seat, do: 'close' }).catch(() => {})
      },
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#ended
  }

  #request(request: DistributiveOmit<HostRequest, 'id'>): Promise<unknown> {
    if (this.failed) return Promise.reject(this.#failure)
    const id = this.#nextId++
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    this.#send({ ...request, id })
    return pending.promise
  }

  /** Data from a process that may have been taken over: what throws here ends it. */
  #receive(reply: HostReply): void {
    if (reply.kind === 'opened') {
      this.#opening.resolve(readDescription(identityOf(this.#scenario), JSON.stringify(reply.description)))
      return
    }
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if (reply.kind === 'answer') pending?.resolve(reply.answer)
    else pending?.reject(locateFault(reportedFault(reply.error), this.#scenario.sourceMap))
  }

  #fail(error: unknown): void {
    this.failed = true
    this.#failure = error
    this.#opening.reject(error)
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

/** Throws for what is no report of the catalog. */
function reportedFault(report: ErrorReport): AgentGymError {
  if (typeof report?.message !== 'string' || !Object.hasOwn(errorCatalog, report.code)) throw new Error('no report')
  return new AgentGymError(report)
}
