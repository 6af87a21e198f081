/** About how long an episode plays at speed 1, and the limits of a step that viewers can follow; milliseconds. */
const wholeMs = 10_000
const stepMs = { least: 40, most: 600 }

/** Milliseconds of a step at speed 1, for episodes of at most `steps` steps that play side by side or in turn. */
export function paceMs(steps: number): number {
  return Math.min(stepMs.most, Math.max(stepMs.least, wholeMs / Math.max(1, steps)))
}

/**
 * The current step of an episode that plays, by the caller's clock (any origin, milliseconds): a slow machine skips
 * frames and keeps the tempo.
 */
export class Playback {
  #last: number
  #paceMs: number
  #speed = 1
  /** The step at `#sinceMs`. */
  #step = 0
  /** Null while paused. */
  #sinceMs: number | null = null

  /** `last`: number of steps. `pace`: milliseconds of a step. */
  constructor(last: number, pace: number = paceMs(last)) {
    this.#last = last
    this.#paceMs = pace
  }

  get last(): number {
    return this.#last
  }

  get playing(): boolean {
    return this.#sinceMs !== null
  }

  /** The step to show, from 0 to `last`. */
  stepAt(nowMs: number): number {
    if (this.#sinceMs === null) return this.#step
    const passed = Math.floor(((nowMs - this.#sinceMs) * this.#speed) / this.#paceMs)
    return Math.min(this.#last, this.#step + Math.max(0, passed))
  }

  /** Starts, at step 0 if it is at the end. */
  play(nowMs: number): void {
    this.#step = this.stepAt(nowMs)
    if (this.#step >= this.#last) this.#step = 0
    this.#sinceMs = nowMs
  }

  pause(nowMs: number): void {
    this.#step = this.stepAt(nowMs)
    this.#sinceMs = null
  }

  /** Goes to a step and pauses there. */
  seek(step: number): void {
    this.#step = Math.min(this.#last, Math.max(0, Math.trunc(step)))
    this.#sinceMs = null
  }

  /** 1 is the usual tempo. */
  setSpeed(speed: number, nowMs: number): void {
    this.#step = this.stepAt(nowMs)
    if (this.playing) this.#sinceMs = nowMs
    this.#speed = speed
  }
}
