import type { Task } from '../define-scenario.ts'
import type { EngineOptions, EpisodePlan } from './environment-buffers.ts'
import { floor } from './primordials.ts'
import {
  PURPOSE_MATH_RANDOM,
  PURPOSE_RNG,
  PURPOSE_TASK,
  RandomStream,
  type Rng,
  rngOf,
  SPLIT_EVAL,
  SPLIT_TRAIN,
  StreamKey,
} from './random-stream.ts'

/** One environment of the vector: the author's state and the accounting of the episode it plays. */
export class EpisodeSlot {
  /** Row in the buffers. */
  readonly row: number
  /** Number in the whole run; streams and messages go by it. */
  readonly number: number
  readonly mathRandom: RandomStream
  readonly #key: StreamKey
  readonly #stream: RandomStream
  readonly #taskStream: RandomStream
  readonly #rng: Rng
  state: unknown = undefined
  context: unknown = undefined
  episode = 0
  /** Steps taken in this episode. */
  step = 0
  episodeReturn = 0
  /** Whether every episode that the plan has for it has been played. */
  idle = false

  /** `plan` decides what the streams depend on: in groups on the group, in evaluation on nothing but the episode. */
  constructor(row: number, number: number, { seed, plan }: EngineOptions) {
    this.row = row
    this.number = number
    this.#key =
      plan.split === 'eval'
        ? new StreamKey(seed, SPLIT_EVAL, 0)
        : new StreamKey(seed, SPLIT_TRAIN, floor(number / (plan.groupSize ?? 1)))
    this.mathRandom = new RandomStream(this.#key, PURPOSE_MATH_RANDOM)
    this.#stream = new RandomStream(this.#key, PURPOSE_RNG)
    this.#taskStream = new RandomStream(this.#key, PURPOSE_TASK)
    this.#rng = rngOf(this.#stream)
  }

  /** Sets the streams and the task of an episode. */
  begin(episode: number, plan: EpisodePlan, tasks: { train: number; eval: number }): void {
    this.mathRandom.begin(episode)
    this.#stream.begin(episode)
    // A new object an episode: an author who changes it changes no other episode.
    this.context = { rng: this.#rng, task: this.#taskOf(episode, plan, tasks) }
    this.state = undefined
    this.episode = episode
    this.step = 0
    this.episodeReturn = 0
  }

  #taskOf(episode: number, plan: EpisodePlan, tasks: { train: number; eval: number }): Task {
    if (plan.split === 'train') {
      if (tasks.train === 0) return { split: 'train', index: 0 }
      this.#taskStream.begin(episode)
      return { split: 'train', index: floor(this.#taskStream.uniform() * tasks.train) }
    }
    if (tasks.eval > 0) return { split: 'eval', index: episode % tasks.eval }
    // Without held-out tasks, evaluation plays those of training, and says so.
    if (tasks.train > 0) return { split: 'train', index: episode % tasks.train }
    return { split: 'eval', index: 0 }
  }
}
