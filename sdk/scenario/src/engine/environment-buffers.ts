/** Bits of `flags`. An environment may have both of the first two set; terminated then wins for bootstrapping. */
export const TERMINATED = 1
export const TRUNCATED = 2
/** In evaluation and in groups: this environment has played all episodes assigned to it; its rows mean nothing. */
export const IDLE = 4
/** Written by the host before a step: this environment is not stepped, and its rows stay, with reward 0 and no flag. */
export const HOLD = 8

export const MAX_METRICS = 32

/** Indices into `board`, where the engine notes what it is about to run, so that a hang can be named from outside. */
export const BOARD_PHASE = 0
export const BOARD_ENVIRONMENT = 1
/** Step within the episode, counted from 1; 0 in reset. */
export const BOARD_STEP = 2
export const BOARD_EPISODE = 3
/** Counts vector steps; a watcher sees progress in it. */
export const BOARD_CLOCK = 4
export const BOARD_LENGTH = 8

/** Values of `board[BOARD_PHASE]`. */
export const phases = [
  'idle',
  'load',
  'define',
  'reset',
  'step',
  'observe',
  'actionMask',
  'metrics',
  'harness',
  'oracle',
  'render',
  'rules',
] as const
export type Phase = (typeof phases)[number]

/** Indices into `phases`. */
export const PHASE_IDLE = 0
export const PHASE_RESET = 3
export const PHASE_STEP = 4
export const PHASE_OBSERVE = 5
export const PHASE_ACTION_MASK = 6
export const PHASE_METRICS = 7
export const PHASE_ORACLE = 9
export const PHASE_RENDER = 10
export const PHASE_RULES = 11

/** Sizes of the rows, fixed by the spaces. */
export type RowSizes = {
  /** Columns of an observation row: the sum over the space's leaves. */
  observation: number
  /** Columns of an action row. */
  action: number
  /** Columns of a mask row: one a logit; 0 where no leaf is categorical or the scenario has no `actionMask`. */
  mask: number
  /** Columns of a text row: of each text that a sentence encoder reads its length and its UTF-16 units; 0 without one. */
  text: number
}

/**
 * Memory that the engine and its host share: structure of arrays, N environments each. Made once, by the host; the
 * author's code never sees it. Categorical actions are indices from 0 (the engine adds `start`).
 */
export type EnvironmentBuffers = {
  /** [N, action]; the host writes it before each step. */
  actions: Float32Array
  /** [N, observation]; after an episode's end already the next episode's first observation. */
  observations: Float32Array
  /** [N, observation]; the true last observation, in rows whose `flags` say that an episode ended. */
  finalObservations: Float32Array
  /**
   * [N, text]: what the texts in `observations` and `finalObservations` say that a sentence encoder reads, as far as it
   * reads them. The engine writes zeros where the vectors belong; the host writes the vectors.
   */
  texts: Uint16Array
  finalTexts: Uint16Array
  /** [N] */
  rewards: Float32Array
  /** [N]; TERMINATED, TRUNCATED, IDLE; before a step, HOLD. */
  flags: Uint8Array
  /** [N, mask]; 1 legal, 0 not, for the next action. */
  masks: Uint8Array
  /** [N]; return, length and number of the episode that just ended, where `flags` say so. */
  episodeReturns: Float64Array
  episodeLengths: Int32Array
  episodeNumbers: Int32Array
  /** [N, MAX_METRICS]; of the episode that just ended, in the order of the engine's `metricNames()`; NaN: absent. */
  metrics: Float64Array
  /** [BOARD_LENGTH] */
  board: Int32Array
}

/**
 * Which episodes are played. In training, one after another for ever. With `groupSize` K, environments 0 to K - 1, K to
 * 2K - 1, … (by their numbers in the whole run) are groups: the environments of a group play the same episode, task and
 * randomness alike, and each plays one a reset. In evaluation, environment i plays episodes i, i + N, i + 2N, … Tasks are
 * drawn from the seed; `numbered`: episode e plays task e modulo the number of tasks, as callers that choose a task need it and
 * the evaluations of older agents.
 * Levels, where the scenario has them, are drawn in training; evaluation takes them in turns, episode e level e modulo
 * their number.
 */
export type EpisodePlan =
  | { split: 'train'; groupSize?: number; taskOrder?: 'numbered' | 'drawn' }
  | {
      split: 'eval'
      episodes: number
      taskOrder?: 'numbered' | 'drawn'
      /**
       * Held-out episodes that none of these evaluations plays: other random numbers whatever the seed, and tasks that none of
       * them draws. Tasks are drawn, whatever `taskOrder` says.
       */
      apartFrom?: readonly PlayedEpisodes[]
    }

/** The first `episodes` held-out episodes of a seed, their tasks drawn. */
export type PlayedEpisodes = { seed: number; episodes: number }

export type EngineOptions = {
  environments: number
  /** An integer from 0 to 2^53 - 1. */
  seed: number
  plan: EpisodePlan
  /** Number of this engine's first environment among all of the run: streams and groups depend on the global number. */
  firstEnvironment?: number
  /** Keeps what texts in observations say, for `watchedTexts`: the beginnings of the first row's, or all of every row. */
  watchTexts?: boolean | 'all'
  /** Keeps the last state of the first row's episode when it ends, for `scene`. */
  watchScenes?: boolean
  /** Keeps the first row's observations as JSON, for `observationJson`. */
  watchObservations?: boolean
}

type Memory = new (bytes: number) => ArrayBufferLike
type ArrayOverMemory = new (memory: ArrayBufferLike, offset: number, length: number) => ArrayBufferView

/**
 * Makes the memory of `environments` environments. Shared memory is for the host's side only: an isolate has none. Where host
 * and guest are one realm, as in a page's worker, it need not be shared.
 */
export function allocateBuffers(
  environments: number,
  sizes: RowSizes,
  MemoryOf: Memory = SharedArrayBuffer,
): EnvironmentBuffers {
  const shapes = [
    ['actions', Float32Array, environments * sizes.action],
    ['observations', Float32Array, environments * sizes.observation],
    ['finalObservations', Float32Array, environments * sizes.observation],
    ['texts', Uint16Array, environments * sizes.text],
    ['finalTexts', Uint16Array, environments * sizes.text],
    ['rewards', Float32Array, environments],
    ['flags', Uint8Array, environments],
    ['masks', Uint8Array, environments * sizes.mask],
    ['episodeReturns', Float64Array, environments],
    ['episodeLengths', Int32Array, environments],
    ['episodeNumbers', Int32Array, environments],
    ['metrics', Float64Array, environments * MAX_METRICS],
    ['board', Int32Array, BOARD_LENGTH],
  ] as const
  const buffers: Record<string, unknown> = {}
  for (const [name, Type, length] of shapes) {
    const memory = new MemoryOf(Math.max(8, length * Type.BYTES_PER_ELEMENT))
    buffers[name] = new (Type as ArrayOverMemory)(memory, 0, length)
  }
  return buffers as EnvironmentBuffers
}
