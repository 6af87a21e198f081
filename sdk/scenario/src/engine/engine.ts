/** What the host does next: nothing, or let the microtasks drain and then call `settle`. */
export const DONE = 0
export const PENDING = 1
export type Progress = typeof DONE | typeof PENDING

/** Virtual time at an episode's reset: 2025-01-01T00:00:00Z. Each step adds a second. */
export const VIRTUAL_EPOCH_MS = 1_735_689_600_000
export const VIRTUAL_STEP_MS = 1000

/**
 * N environments stepped as one. Every operation returns DONE, or PENDING where an author's callback returned a
 * promise; the host then leaves the isolate, which drains the microtasks, and calls `settle` until that returns DONE.
 * Environments are played strictly one after the other, also where they are async, so that randomness, virtual time and
 * blame are those of one environment at a time. Throws an EngineFault for a fault of the scenario; afterwards the engine
 * is unusable.
 */
export type Engine = {
  /** Starts episode `episode` in every environment, by default 0; in evaluation the first that each was assigned. */
  reset(episode?: number): Progress
  /**
   * Applies `buffers.actions`, fills every other buffer, starts the next episode where one ended. Where an
   * environment's episodes are counted, in evaluation and in groups, the end of the last is shown like any other; IDLE
   * follows from the next step on.
   */
  step(): Progress
  /** Goes on after PENDING. A promise that is still open has nothing left to wait for: `scenario_timeout`. */
  settle(): Progress
  /**
   * Puts one environment (by its row) where a recorded run was: resets it to `episode` and replays `actions`
   * ([steps, action]). Fills its rows.
   */
  restore(environment: number, episode: number, actions: Float32Array): Progress
  /** Names of the columns of `buffers.metrics`; empty before the first episode ended. */
  metricNames(): string[]
  /** Texts of the first row's observations, as `TextWatch` encodes them; empty without `watchTexts`. */
  watchedTexts(): string
  /** What `Math.random` gives to the code that runs now. */
  currentRandom(): number
  /** What `Date.now` gives to the code that runs now, in milliseconds. */
  currentTime(): number
}
