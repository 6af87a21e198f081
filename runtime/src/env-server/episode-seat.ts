import { actionLeaves, MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { z } from 'zod'
import type { SandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import type { Seat } from './host-messages.ts'

/** What decides an episode, apart from its actions. */
export type EpisodeStart = {
  /** An integer from 0 to 2^53 - 1. */
  seed: number
  split: 'train' | 'eval'
  /** Number of the episode, whose streams depend on it and on the seed. */
  episode: number
  /** The task is the episode's number modulo that of tasks; else it is drawn. */
  numbered: boolean
}

export type EpisodeAsk =
  | { do: 'begin'; start: EpisodeStart }
  /** A row of the action, which the caller has checked. */
  | { do: 'step'; action: number[] }
  /** What the scenario's own player would do now; of a scenario that has one. */
  | { do: 'oracle' }
  | { do: 'rules' }

const finite = z.number()

/** What comes out of the process, which may have been taken over. */
export const episodeAnswerSchema = z.strictObject({
  /** As JSON, in the form that `observe` returned it. */
  observation: z.string(),
  /** Legal choices of the next action, one list a categorical component; null where every action is legal. */
  legal: z.array(z.array(z.boolean())).nullable(),
  /** In float32; 0 at the beginning. */
  reward: finite,
  end: z.enum(['terminated', 'truncated']).nullable(),
  /** At the end. */
  metrics: z.record(z.string(), finite),
})
export type EpisodeAnswer = z.infer<typeof episodeAnswerSchema>

/** A row of the action, and how long its choice took in milliseconds. */
export const scriptedAnswerSchema = z.strictObject({ action: z.array(finite), ms: finite.nonnegative() })
export type ScriptedAnswer = z.infer<typeof scriptedAnswerSchema>

const NO_ACTIONS = new Float32Array(0)

/** Plays one episode after another, a step at a time, with no episode after the end of one until it is asked for. */
export class EpisodeSeat implements Seat {
  readonly #environment: SandboxedEnvironment

  /** Of one environment, made with `watchObservations`. */
  constructor(environment: SandboxedEnvironment) {
    this.#environment = environment
  }

  ask(request: unknown): EpisodeAnswer | ScriptedAnswer {
    const ask = request as EpisodeAsk
    if (ask.do === 'oracle' || ask.do === 'rules') {
      const before = performance.now()
      this.#environment[ask.do]()
      return { ms: performance.now() - before, action: Array.from(this.#environment.buffers.actions) }
    }
    return ask.do === 'begin' ? this.#begin(ask.start) : this.#step(ask.action)
  }

  dispose(): void {
    this.#environment.dispose()
  }

  #begin({ seed, split, episode, numbered }: EpisodeStart): EpisodeAnswer {
    const taskOrder = numbered ? 'numbered' : 'drawn'
    // Both plans end with this episode: a group of one plays an episode a reset, with the streams of an environment alone.
    const plan =
      split === 'eval'
        ? { split, episodes: episode + 1, taskOrder: taskOrder as 'numbered' | 'drawn' }
        : { split, groupSize: 1, taskOrder: taskOrder as 'numbered' | 'drawn' }
    this.#environment.restart({ seed, plan })
    this.#environment.restore(0, episode, NO_ACTIONS)
    return this.#answer(0, null)
  }

  #step(action: number[]): EpisodeAnswer {
    const { buffers } = this.#environment
    buffers.actions.set(action)
    this.#environment.step()
    const flags = buffers.flags[0]
    const end = (flags & TERMINATED) !== 0 ? 'terminated' : (flags & TRUNCATED) !== 0 ? 'truncated' : null
    return this.#answer(buffers.rewards[0], end)
  }

  #answer(reward: number, end: EpisodeAnswer['end']): EpisodeAnswer {
    return {
      observation: this.#environment.observationJson(),
      legal: end === null ? this.#legal() : null,
      reward,
      end,
      metrics: end === null ? {} : this.#metrics(),
    }
  }

  #metrics(): Record<string, number> {
    const metrics: Record<string, number> = {}
    const values = this.#environment.buffers.metrics.subarray(0, MAX_METRICS)
    for (const [column, name] of this.#environment.metricNames().entries())
      if (!Number.isNaN(values[column])) metrics[name] = values[column]
    return metrics
  }

  #legal(): boolean[][] | null {
    const { description, buffers } = this.#environment
    if (!description.masked) return null
    const legal: boolean[][] = []
    let column = 0
    for (const count of actionLeaves(description.action).flatMap(({ counts }) => counts)) {
      legal.push(Array.from(buffers.masks.subarray(column, column + count), (mark) => mark === 1))
      column += count
    }
    return legal
  }
}
