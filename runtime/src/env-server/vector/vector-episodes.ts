import { AgentGymError } from '@agentgym/contract'
import type { FieldValues, ResetRequest, StepRequest, VectorLayout, VectorReply } from '@agentgym/contract/protocols'
import type { WatchedTexts } from '@agentgym/playing'
import {
  HOLD,
  MAX_METRICS,
  type ObservationLeaf,
  observationLeaves,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'
import type { SandboxedEnvironment } from '../../sandbox/sandboxed-environment.ts'
import { ActionRows, columnsOf } from './action-rows.ts'

const NO_ACTIONS = new Float32Array(0)

export type VectorEpisodesOptions = { split: 'train' | 'eval'; firstEnvironment: number }

/**
 * The vector protocol's episodes over a sandboxed environment, made with `watchTexts: 'all'` where it observes texts. The engine begins
 * an episode in the step that ends the one before; where the protocol shows it later, the environment is held until then.
 */
export class VectorEpisodes {
  readonly #environment: SandboxedEnvironment
  readonly #layout: VectorLayout
  readonly #options: VectorEpisodesOptions
  readonly #leaves: ObservationLeaf[]
  readonly #textual: boolean
  readonly #actions: ActionRows
  /** Per environment: whether it has had a reset; whether its next episode has begun in the engine and was not shown yet. */
  readonly #begun: Uint8Array
  readonly #waiting: Uint8Array
  /** Number of the engine's current episode, and from there to the next. */
  readonly #episodes: number[]
  readonly #strides: number[]
  #texts: WatchedTexts[] = []
  /** Of the last observation of each environment's latest episode. */
  readonly #lastTexts: string[][]

  constructor(environment: SandboxedEnvironment, layout: VectorLayout, options: VectorEpisodesOptions) {
    const { description, environments } = environment
    this.#environment = environment
    this.#layout = layout
    this.#options = options
    this.#leaves = observationLeaves(description.observation)
    this.#textual = layout.fields.observation.some(({ dtype }) => dtype === 'text')
    this.#actions = new ActionRows(description, options.firstEnvironment)
    this.#begun = new Uint8Array(environments)
    this.#waiting = new Uint8Array(environments)
    this.#episodes = Array.from({ length: environments }, (_, row) => (options.split === 'eval' ? row : 0))
    this.#strides = Array(environments).fill(options.split === 'eval' ? environments : 1)
    this.#lastTexts = Array(environments).fill([])
  }

  /** Throws `request_invalid` for a seed that is none, before anything has changed; or a fault of the scenario. */
  reset({ request, mask, seeds }: ResetRequest): VectorReply {
    seeds.forEach((seed, row) => {
      if (mask[row] === 1 && (seed < -1n || seed > BigInt(Number.MAX_SAFE_INTEGER))) {
        throw this.#refuse(row, `was given the seed ${seed}`)
      }
    })
    // Every row must hold an episode before one of them is restored. This is the first of each.
    if (!this.#begun.includes(1)) this.#environment.reset()
    mask.forEach((each, row) => {
      if (each === 1) this.#begin(row, Number(seeds[row]))
    })
    this.#readTexts()
    const { environments } = this.#layout
    return this.#reply(request, new Float64Array(environments), new Uint8Array(environments), [])
  }

  /** Throws `request_invalid` for a request that has changed nothing; or a fault of the scenario. */
  step({ request, actions }: StepRequest): VectorReply {
    const { autoreset } = this.#layout
    const { buffers } = this.#environment
    const { flags, masks } = buffers
    const idle = this.#begun.findIndex(
      (begun, row) => begun === 0 || (autoreset === 'disabled' && this.#waiting[row] === 1),
    )
    if (idle >= 0) throw this.#refuse(idle, 'has no episode: reset it first')
    this.#actions.write(actions, buffers.actions, masks, this.#waiting)
    for (let row = 0; row < flags.length; row += 1) flags[row] = this.#waiting[row] === 1 ? HOLD : 0
    this.#environment.step()
    const ended: number[] = []
    for (let row = 0; row < flags.length; row += 1) {
      const end = (flags[row] & (TERMINATED | TRUNCATED)) !== 0
      if (end) {
        ended.push(row)
        this.#episodes[row] += this.#strides[row]
      }
      this.#waiting[row] = end && autoreset !== 'same_step' ? 1 : 0
    }
    this.#readTexts()
    return this.#reply(request, Float64Array.from(buffers.rewards), flags, ended)
  }

  /** What the first environment shows: the texts that it observes, and whether its episode has ended. Throws `request_invalid`. */
  shown(): { ended: boolean; texts: string[] } {
    if (this.#begun[0] === 0) throw this.#refuse(0, 'has no episode: reset it first')
    const ended = this.#waiting[0] === 1
    return { ended, texts: this.#textual ? (ended ? this.#lastTexts[0] : this.#texts[0].now) : [] }
  }

  #begin(row: number, seed: number): void {
    // Then the engine's episode is the next one: it has begun and was not shown.
    const ready = this.#begun[row] === 0 || this.#waiting[row] === 1
    this.#waiting[row] = 0
    this.#begun[row] = 1
    if (seed >= 0) {
      this.#episodes[row] = 0
      this.#strides[row] = 1
      this.#environment.restore(row, 0, NO_ACTIONS, seed)
    } else if (!ready) {
      this.#episodes[row] += this.#strides[row]
      this.#environment.restore(row, this.#episodes[row], NO_ACTIONS)
    }
  }

  #readTexts(): void {
    if (!this.#textual) return
    this.#texts = this.#environment.allTexts()
    for (const [row, { final }] of this.#texts.entries()) if (final.length > 0) this.#lastTexts[row] = final
  }

  #reply(request: number, rewards: Float64Array, flags: Uint8Array, ended: number[]): VectorReply {
    const { autoreset, mask } = this.#layout
    const { buffers } = this.#environment
    const sameStep = autoreset === 'same_step'
    return {
      request,
      observations: this.#observations(),
      rewards,
      terminated: flags.map((flag) => (flag & TERMINATED) / TERMINATED),
      truncated: flags.map((flag) => (flag & TRUNCATED) / TRUNCATED),
      masks: mask === 0 ? null : this.#masks(buffers.masks),
      final: sameStep ? this.#final(ended) : [],
      metrics: this.#metrics(ended),
    }
  }

  /** The engine's rows, and the last observations of environments whose next episode is not shown yet. */
  #observations(): FieldValues[] {
    const { observations, finalObservations } = this.#environment.buffers
    const width = this.#environment.description.sizes.observation
    let rows = observations
    if (this.#waiting.includes(1)) {
      rows = Float32Array.from(observations)
      this.#waiting.forEach((waiting, row) => {
        if (waiting === 1) rows.set(finalObservations.subarray(row * width, (row + 1) * width), row * width)
      })
    }
    return this.#fields(rows, null, (row) => (this.#waiting[row] === 1 ? this.#lastTexts[row] : this.#texts[row].now))
  }

  #final(ended: readonly number[]): FieldValues[] {
    return this.#fields(this.#environment.buffers.finalObservations, ended, (row) => this.#lastTexts[row])
  }

  #fields(rows: Float32Array, picked: readonly number[] | null, textsOf: (row: number) => string[]): FieldValues[] {
    const width = this.#environment.description.sizes.observation
    let text = 0
    return this.#layout.fields.observation.map((field, index) => {
      if (field.dtype !== 'text') return columnsOf(field, { rows, width, ...this.#leaves[index] }, picked)
      const place = text++
      const all = picked ?? this.#texts.keys()
      return Array.from(all, (row) => textsOf(row)[place] ?? '')
    })
  }

  /** Where no action is taken next, everything is legal. */
  #masks(masks: Uint8Array): Uint8Array {
    if (!this.#waiting.includes(1)) return masks
    const shown = Uint8Array.from(masks)
    const { mask } = this.#layout
    this.#waiting.forEach((waiting, row) => {
      if (waiting === 1) shown.fill(1, row * mask, (row + 1) * mask)
    })
    return shown
  }

  #metrics(ended: readonly number[]): VectorReply['metrics'] {
    if (ended.length === 0) return { names: [], values: new Float64Array(0) }
    const names = this.#environment.metricNames()
    const { metrics } = this.#environment.buffers
    const rows = ended.flatMap((row) =>
      Array.from(metrics.subarray(row * MAX_METRICS, row * MAX_METRICS + names.length)),
    )
    return { names, values: Float64Array.from(rows) }
  }

  #refuse(row: number, what: string): AgentGymError {
    const environment = this.#options.firstEnvironment + row
    return new AgentGymError({
      code: 'request_invalid',
      message: `Environment ${environment} ${what}.`,
      data: { environment },
    })
  }
}
