import type { EngineOptions } from './environment-buffers.ts'
import { floor, objectFreeze } from './primordials.ts'
import {
  PURPOSE_MATH_RANDOM,
  PURPOSE_RNG,
  PURPOSE_TASK,
  RandomStream,
  type Rng,
  rngOf,
  SPLIT_EVAL,
  SPLIT_TRAIN,
} from './random-stream.ts'

/** One environment of the vector: the author's state and the accounting of the episode it plays. */
export class EpisodeSlot {
  /** Row in the buffers. */
  readonly row: number
  /** Number in the whole run; streams and messages go by it. */
  readonly number: number
  readonly mathRandom = new RandomStream()
  readonly #stream = new RandomStream()
  readonly #rng: Rng
  state: unknown = undefined
  context: unknown = undefined
  episode = 0
  /** Steps taken in this episode. */
  step = 0
  episodeReturn = 0
  /** Whether every episode of the plan has been played. */
  idle = false

  constructor(row: number, number: number) {
    this.row = row
    this.number = number
    this.#rng = rngOf(this.#stream)
  }

  /**
   * Sets the streams and the task of an episode. They depend on nothing but (seed, split, environment, episode) in
   * training and (seed, split, episode) in evaluation, so that neither depends on the number of environments.
   */
  begin(episode: number, options: EngineOptions, tasks: { train: number; eval: number }): void {
    const evaluating = options.plan.split === 'eval'
    const split = evaluating ? SPLIT_EVAL : SPLIT_TRAIN
    const environment = evaluating ? 0 : this.number
    this.#stream.seed(options.seed, split, environment, episode, PURPOSE_RNG)
    this.mathRandom.seed(options.seed, split, environment, episode, PURPOSE_MATH_RANDOM)
    let index = 0
    if (evaluating) {
      const count = tasks.eval > 0 ? tasks.eval : tasks.train
      if (count > 0) index = episode % count
    } else if (tasks.train > 0) {
      const stream = new RandomStream()
      stream.seed(options.seed, split, environment, episode, PURPOSE_TASK)
      index = floor(stream.uniform() * tasks.train)
    }
    const heldOut = evaluating && (tasks.eval > 0 || tasks.train === 0)
    const task = objectFreeze({ split: heldOut ? 'eval' : 'train', index } as const)
    this.context = objectFreeze({ rng: this.#rng, task })
    this.state = undefined
    this.episode = episode
    this.step = 0
    this.episodeReturn = 0
  }
}
