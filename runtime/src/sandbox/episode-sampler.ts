import { type SampleEpisode, type ScenarioView, sampleEpisodeLimits, type ViewedSpaces } from '@agentgym/contract'
import { EpisodeReader, numberColumns, roundNumber } from '@agentgym/playing'
import { observationLeaves, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { SandboxedEnvironment } from './sandboxed-environment.ts'
import type { ScenarioDescription } from './vector-environment.ts'

type Step = SampleEpisode['steps'][number]
type Seen = SampleEpisode['last']
type Choice = NonNullable<Step['likely']>[number]

const limits = sampleEpisodeLimits

type SamplerOptions = {
  policy: SampleEpisode['policy']
  view: ScenarioView | null
  /** The likeliest choices for the action that is about to be played, of a policy that has probabilities. */
  likely?: () => Step['likely']
}

/**
 * Writes down the first episode that the first row plays after a reset, within `sampleEpisodeLimits`: `before` each step,
 * with the actions chosen, and `after` it.
 */
export class EpisodeSampler {
  readonly #environment: SandboxedEnvironment
  readonly #policy: SampleEpisode['policy']
  readonly #likely: (() => Step['likely']) | undefined
  readonly #reader: EpisodeReader
  readonly #steps: Step[] = []
  /** How many shapes the scenes up to a step need. */
  readonly #shapesBefore: number[] = []
  #end: SampleEpisode['end'] | null = null
  #last: Seen | null = null

  constructor(environment: SandboxedEnvironment, { policy, view, likely }: SamplerOptions) {
    this.#environment = environment
    this.#policy = policy
    this.#likely = likely
    this.#reader = new EpisodeReader(environment, { view, shapes: limits.shapes })
  }

  /** Whether there is nothing more to write down. */
  get done(): boolean {
    return this.#end !== null
  }

  before(): void {
    if (this.done) return
    const likely = this.#likely?.()
    this.#steps.push({
      ...this.#reader.see('now'),
      action: this.#reader.action(),
      reward: 0,
      ...(likely === undefined ? {} : { likely: likely.slice(0, limits.likely).map(roundChoice) }),
    })
    this.#shapesBefore.push(this.#reader.scenes.length)
  }

  after(): void {
    const step = this.#steps.at(-1)
    if (this.done || step === undefined) return
    const { rewards, flags } = this.#environment.buffers
    step.reward = roundNumber(rewards[0])
    if ((flags[0] & (TERMINATED | TRUNCATED)) !== 0) {
      this.#end = (flags[0] & TERMINATED) !== 0 ? 'terminated' : 'truncated'
      this.#last = this.#reader.see('final')
    } else if (this.#steps.length === limits.steps) this.cut()
  }

  /** Ends the episode where it is. */
  cut(): void {
    if (this.done) return
    this.#end = 'cut'
    this.#last = this.#reader.see('now')
  }

  /** What was written down, as far as it fits; null where not even one step does, or the spaces are too many to list. */
  episode(): SampleEpisode | null {
    const [end, last] = [this.#end, this.#last]
    const { head, scenes } = this.#reader
    if (end === null || last === null || !isListable(head)) return null
    const whole: SampleEpisode = {
      format: 1,
      policy: this.#policy,
      ...head,
      ...scenes.field(),
      steps: this.#steps,
      last,
      end,
    }
    if (size(whole) <= limits.bytes) return whole
    // A comma between each two steps, and room for a last step that differs from the one that was cut off.
    const bare = size({ ...whole, ...scenes.field(0), steps: [] })
    const shapes = whole.scene?.shapes.map((shape) => size(shape) + 1) ?? []
    let [bytes, counted] = [bare, 0]
    const fitting = this.#steps.findIndex((step, index) => {
      for (; counted < this.#shapesBefore[index]; counted++) bytes += shapes[counted]
      bytes += size(step) + 1
      return bytes > limits.bytes
    })
    return this.#cutAt(whole, fitting < 0 ? this.#steps.length - 1 : fitting)
  }

  /** The first `steps` steps, or as many fewer as it takes; null if not even one fits. */
  #cutAt(whole: SampleEpisode, steps: number): SampleEpisode | null {
    if (steps < 1) return null
    const { action: _action, reward: _reward, likely: _likely, ...last } = whole.steps[steps]
    const scene = this.#reader.scenes.field(this.#shapesBefore[steps])
    const episode: SampleEpisode = { ...whole, ...scene, steps: whole.steps.slice(0, steps), last, end: 'cut' }
    return size(episode) <= limits.bytes ? episode : this.#cutAt(whole, steps - 1)
  }
}

/** What a manifest's view is held to. */
export function viewedSpaces({
  observation,
  action,
}: Pick<ScenarioDescription, 'observation' | 'action'>): ViewedSpaces {
  const leaves = observationLeaves(observation)
  return {
    columns: numberColumns(leaves).length,
    texts: leaves.filter(({ kind }) => kind === 'text').length,
    choices: action.type === 'discrete' ? action.n : null,
  }
}

export function isListable({ observation, action }: Pick<SampleEpisode, 'observation' | 'action'>): boolean {
  return observation.length <= limits.leaves && action.length <= limits.leaves
}

/** Thousandths of a probability are finer than any bar shows. */
function roundChoice({ choice, probability }: Choice): Choice {
  return { choice, probability: Math.round(probability * 1_000) / 1_000 }
}

function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
