import {
  AgentGymError,
  type ErrorReport,
  type RecordedEpisode,
  recordedEpisodeLimits,
  type ScenarioView,
} from '@agentgym/contract'
import { decodeRequest, encodeReply, type VectorLayout } from '@agentgym/contract/protocols'
import { EpisodeReader } from '@agentgym/playing'
import { isListable } from '../../sandbox/episode-sampler.ts'
import type { SandboxedEnvironment } from '../../sandbox/sandboxed-environment.ts'
import type { Seat } from '../host-messages.ts'
import { VectorEpisodes, type VectorEpisodesOptions } from './vector-episodes.ts'

/** Structured-clonable. */
export type VectorSeatOptions = VectorEpisodesOptions & {
  layout: VectorLayout
  seed: number
  /** Of the scenario's package. */
  view: ScenarioView | null
}

/** A binary frame of the client, as it came; or what the first environment looks like. */
export type VectorAsk = Uint8Array | 'picture'

export type VectorAnswer =
  | { kind: 'frame'; frame: Uint8Array }
  /** An episode of one moment, which is its last. */
  | { kind: 'picture'; episode: RecordedEpisode }
  /** The request was refused and changed nothing. */
  | { kind: 'refused'; error: ErrorReport }

/** Plays the vector protocol in the process of the scenario: frames in, frames out. The server only passes them on. */
export class VectorSeat implements Seat {
  readonly #environment: SandboxedEnvironment
  readonly #layout: VectorLayout
  readonly #episodes: VectorEpisodes
  readonly #view: ScenarioView | null

  constructor(environment: SandboxedEnvironment, { layout, view, ...options }: VectorSeatOptions) {
    this.#environment = environment
    this.#layout = layout
    this.#view = view
    this.#episodes = new VectorEpisodes(environment, layout, options)
  }

  ask(request: unknown): VectorAnswer {
    try {
      const ask = request as VectorAsk
      if (ask === 'picture') return { kind: 'picture', episode: this.#picture() }
      const asked = decodeRequest(this.#layout, ask)
      const reply = asked.operation === 'reset' ? this.#episodes.reset(asked) : this.#episodes.step(asked)
      return { kind: 'frame', frame: encodeReply(this.#layout, reply) }
    } catch (error) {
      // Faults of the scenario have codes of their own, and lose the seat.
      if (!(error instanceof AgentGymError) || error.code !== 'request_invalid') throw error
      return { kind: 'refused', error: error.toReport() }
    }
  }

  #picture(): RecordedEpisode {
    const { ended, texts } = this.#episodes.shown()
    const reader = new EpisodeReader(this.#environment, { view: this.#view, shapes: recordedEpisodeLimits.shapes })
    if (!isListable(reader.head))
      throw new AgentGymError({ code: 'request_invalid', message: 'The scenario has too many parts to be drawn.' })
    const last = reader.see(ended ? 'final' : 'now', texts)
    return { format: 1, policy: 'agent', ...reader.head, ...reader.scenes.field(), steps: [], last, end: 'cut' }
  }

  dispose(): void {
    this.#environment.dispose()
  }
}
