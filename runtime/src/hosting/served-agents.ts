import type { CallAnswer } from '@agentgym/contract'
import type { ServedCall } from './call-codec.ts'
import { type AgentWithModel, ServedAgent, type ServedAgentEvents, type ServedAgentLimits } from './served-agent.ts'

export type ServedAgentsOptions = {
  /** Agents that are held at once, each with a process. Not more batches may be under way. */
  held: number
  /** An agent that nobody has called for so long is let go. */
  idleMs: number
  limits: ServedAgentLimits
}

export type Call = {
  /** Of the version: the same content for ever. */
  id: string
  calls: ServedCall[]
  /** Asked for where the agent is not held. */
  obtain(): Promise<AgentWithModel>
  events?: ServedAgentEvents
}

type Held = { agent: Promise<ServedAgent>; batches: number; idle?: NodeJS.Timeout }

/** The agents that a worker holds: those called last, each in memory and in a process, nothing on disk. */
export class ServedAgents {
  readonly #options: ServedAgentsOptions
  /** By version, the one called last at the end. */
  readonly #held = new Map<string, Held>()
  readonly #ending = new Set<Promise<void>>()
  #closed = false

  constructor(options: ServedAgentsOptions) {
    this.#options = options
  }

  /** Ids of the versions that are held. */
  get ids(): string[] {
    return [...this.#held.keys()]
  }

  /** Rejects as `obtain` and `ServedAgent.answer` do. */
  async answer({ id, calls, obtain, events }: Call): Promise<CallAnswer[]> {
    const held = this.#held.get(id) ?? this.#hold(obtain, events)
    this.#held.delete(id)
    this.#held.set(id, held)
    held.batches += 1
    clearTimeout(held.idle)
    try {
      const agent = await held.agent.catch((error: unknown) => {
        if (this.#held.get(id) === held) this.#held.delete(id)
        throw error
      })
      return await agent.answer(calls)
    } finally {
      held.batches -= 1
      const letGo = () => this.#letGo(id, held)
      if (held.batches === 0 && this.#held.get(id) === held) held.idle = setTimeout(letGo, this.#options.idleMs).unref()
    }
  }

  /** Ends every process; batches under way reject, and so do those that come after. */
  async close(): Promise<void> {
    this.#closed = true
    for (const [id, held] of this.#held) this.#letGo(id, held)
    await Promise.all(this.#ending)
  }

  #hold(obtain: Call['obtain'], events: Call['events']): Held {
    for (const [id, held] of this.#held) {
      if (this.#held.size < this.#options.held) break
      if (held.batches === 0) this.#letGo(id, held)
    }
    // Memory and cores of those let go are free before another process starts.
    const agent = Promise.all([obtain(), ...this.#ending]).then(async ([obtained]) => {
      const served = new ServedAgent(obtained, this.#options.limits, events)
      if (this.#closed) await served.end()
      return served
    })
    return { agent, batches: 0 }
  }

  #letGo(id: string, held: Held): void {
    clearTimeout(held.idle)
    this.#held.delete(id)
    const ending = held.agent
      .then(
        (agent) => agent.end(),
        () => {},
      )
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}
