import type { Scene } from '@agentgym/contract'
import { type ReadEnvironment, readScene, readWatchedTexts, scenarioDescriptionSchema } from '@agentgym/playing'
import { allocateBuffers, type ScenarioDescription, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { z } from 'zod'
import type { GuestRequest } from '../frame/guest-messages.ts'
import { readReply } from './read-reply.ts'
import type { SandboxedWorker } from './sandboxed-worker.ts'

/** The scenario itself failed, or said what no scenario says. */
export class ScenarioFault extends Error {}

const real = z.number().gte(-3.5e38).lte(3.5e38)
const seenSchema = z.strictObject({
  observation: z.array(real),
  reward: real,
  flags: z.int().min(0).max(15),
  mask: z.array(z.literal([0, 1])),
  metricNames: z.array(z.string().max(200)).max(32),
  metrics: z.array(z.number().nullable()).max(32),
  texts: z.string().max(1_000_000),
  scene: z.string().max(1_000_000),
})

export type Outcome = {
  reward: number
  end: 'terminated' | 'truncated' | null
  metrics: Record<string, number>
}

/**
 * One environment whose guest runs in a sandboxed worker, at the seed and episode that are named: as `agentgym play` plays it.
 * What the worker sends is a stranger's, and is validated here.
 */
export class GuestEnvironment implements ReadEnvironment {
  readonly description: ScenarioDescription
  readonly buffers: ReturnType<typeof allocateBuffers>
  readonly #worker: SandboxedWorker
  #texts = ''
  #scene = ''

  private constructor(worker: SandboxedWorker, description: ScenarioDescription) {
    this.description = description
    this.buffers = allocateBuffers(1, description.sizes, ArrayBuffer)
    this.#worker = worker
  }

  static async load(worker: SandboxedWorker, source: string, seed: number): Promise<GuestEnvironment> {
    const request: GuestRequest = { do: 'load', source, seed }
    const reply = replyOf(await worker.ask(request))
    const described = z.object({ description: scenarioDescriptionSchema }).safeParse(reply)
    if (!described.success) throw new ScenarioFault('its description cannot be read')
    return new GuestEnvironment(worker, described.data.description)
  }

  async begin(episode: number): Promise<void> {
    const request: GuestRequest = { do: 'begin', episode }
    this.#take(await this.#worker.ask(request))
  }

  async step(action: readonly number[]): Promise<Outcome> {
    this.buffers.actions.set(action)
    const request: GuestRequest = { do: 'step', action: Array.from(this.buffers.actions) }
    const { reward, flags, metricNames, metrics } = this.#take(await this.#worker.ask(request))
    const named = metricNames.flatMap((name, i): [string, number][] => {
      const value = metrics[i] ?? null
      return value === null ? [] : [[name, value]]
    })
    const end = (flags & TERMINATED) !== 0 ? 'terminated' : (flags & TRUNCATED) !== 0 ? 'truncated' : null
    return { reward, end, metrics: Object.fromEntries(named) }
  }

  watchedTexts() {
    return readWatchedTexts(this.#texts)
  }

  scene(): Scene | null {
    return readScene(this.#scene)
  }

  /** The choices that are legal next, one list a categorical component; null where all are. */
  legal(counts: readonly number[]): boolean[][] | null {
    if (!this.description.masked) return null
    let column = 0
    return counts.map((count) => {
      const from = column
      column += count
      return Array.from(this.buffers.masks.subarray(from, column), (mark) => mark === 1)
    })
  }

  #take(text: string): z.infer<typeof seenSchema> {
    const read = seenSchema.safeParse(replyOf(text))
    const { sizes } = this.description
    if (!read.success || read.data.observation.length !== sizes.observation || read.data.mask.length !== sizes.mask)
      throw new ScenarioFault('its observation does not fit its spaces')
    const seen = read.data
    this.buffers.observations.set(seen.observation)
    this.buffers.finalObservations.set(seen.observation)
    this.buffers.masks.set(seen.mask)
    this.#texts = seen.texts
    this.#scene = seen.scene
    return seen
  }
}

/** The guest's reply; what is wrong with it is the scenario's. */
function replyOf(text: string): unknown {
  try {
    return readReply(text)
  } catch (error) {
    throw new ScenarioFault(error instanceof Error ? error.message : 'no reason given')
  }
}
