import type { CallAnswer } from '@agentgym/contract'
import type { ServedCall } from './call-answerer.ts'
import { type AgentWithModel, ServedAgent, type ServedAgentEvents, type ServedAgentLimits } from './served-agent.ts'

export type ServedAgentsOptions = {
  /** Agents loaded at once, each with a process; also the most batches in progress. */
  held: number
  /** Time without a call after which an agent is unloaded. */
  idleMs: number
  limits: ServedAgentLimits
}

export type Call = {
  /** Of the version: the same content for ever. */
  id: string
  calls: ServedCall[]
  /** Called if the agent is not loaded. */
  obtain(): Promise<AgentWithModel>
  events?: ServedAgentEvents
}

type Held = { agent: Promise<ServedAgent>; batches: number; idle?: NodeJS.Timeout }

/** A worker's loaded agents: a least-recently-used cache, in memory and in processes, nothing on disk. */
export class ServedAgents {
  readonly #options: ServedAgentsOptions
  /** By version, least recently called first. */
  readonly #held = new Map<string, Held>()
  readonly #ending = new Set<Promise<void>>()
  #closed = false

  constructor(options: ServedAgentsOptions) {
    this.#options = options
  }

  /** Ids of the loaded versions. */
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
      const unload = () => this.#unload(id, held)
      if (held.batches === 0 && this.#held.get(id) === held)
        held.idle = setTimeout(unload, this.#options.idleMs).unref()
    }
  }

  /** Ends every process; current and later batches reject. */
  async close(): Promise<void> {
    this.#closed = true
    for (const [id, held] of this.#held) this.#unload(id, held)
    await Promise.all(this.#ending)
  }

  #hold(obtain: Call['obtain'], events: Call['events']): Held {
    for (const [id, held] of this.#held) {
      if (this.#held.size < this.#options.held) break
      if (held.batches === 0) this.#unload(id, held)
    }
    // Wait until memory and cores of unloaded agents are free.
    const agent = Promise.all([obtain(), ...this.#ending]).then(async ([obtained]) => {
      const served = new ServedAgent(obtained, this.#options.limits, events)
      if (this.#closed) await served.end()
      return served
    })
    return { agent, batches: 0 }
  }

  #unload(id: string, held: Held): void {
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
