import type { Phase } from './environment-buffers.ts'

/** Codes of faults that the engine finds; all are in the catalogue of @agentgym/contract. */
export type FaultCode =
  | 'scenario_invalid'
  | 'scenario_threw'
  | 'scenario_timeout'
  | 'scenario_nondeterministic'
  | 'reward_not_finite'
  | 'observation_invalid'
  | 'metrics_invalid'
  | 'mask_invalid'
  | 'no_legal_action'

/** Where in the run a fault happened. */
export type FaultPlace = {
  phase: Phase
  /** Number of the environment in the whole run. */
  environment: number
  /** Step within the episode, counted from 1; 0 in reset and while the definition is read. */
  step: number
  episode: number
}

/**
 * What is wrong, before it is known where. Not an Error: making one runs `Error.prepareStackTrace`, which belongs to
 * the author. The private field is the brand: testing it runs no code of a proxy, as `instanceof` would.
 */
export class Problem {
  readonly #brand = true
  readonly code: FaultCode
  readonly message: string
  readonly hint: string

  constructor(code: FaultCode, message: string, hint = '') {
    this.code = code
    this.message = message
    this.hint = hint
  }

  static is(value: unknown): value is Problem {
    return typeof value === 'object' && value !== null && #brand in value && value.#brand
  }
}

/** A fault of the scenario: what, where, and how to mend it. Only capped strings and numbers, so it may cross to the host. */
export class EngineFault {
  readonly #brand = true
  readonly code: FaultCode
  /** What went wrong, one sentence; does not repeat the place. */
  readonly message: string
  /** How to mend it; may be empty. */
  readonly hint: string
  readonly phase: Phase
  readonly environment: number
  readonly step: number
  readonly episode: number
  /** The author's stack trace, capped; empty where there is none. */
  readonly detail: string

  constructor(code: FaultCode, message: string, hint: string, place: FaultPlace, detail = '') {
    this.code = code
    this.message = message
    this.hint = hint
    this.phase = place.phase
    this.environment = place.environment
    this.step = place.step
    this.episode = place.episode
    this.detail = detail
  }

  static is(value: unknown): value is EngineFault {
    return typeof value === 'object' && value !== null && #brand in value && value.#brand
  }
}

/** A mistake of the host, not of the scenario. */
export class HostMistake extends Error {
  readonly #brand = true

  static is(value: unknown): value is HostMistake {
    return typeof value === 'object' && value !== null && #brand in value && value.#brand
  }
}

export function assertHost(condition: boolean, message: string): asserts condition {
  if (!condition) throw new HostMistake(`engine: ${message}`)
}
