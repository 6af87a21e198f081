import type { Phase } from './environment-buffers.ts'
import {
  charCodeAt,
  defineConstant,
  isArray,
  objectHasOwn,
  PlainTypeError,
  stringFromCharCode,
  stringSlice,
  typedArrayName,
  wellFormed,
} from './primordials.ts'

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
type FaultPlace = {
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

const NAME = 'ScenarioDefinitionError'

/** A mistake in a definition or a space: a TypeError to the author, told apart by its name from what an author throws. */
export function definitionError(message: string): TypeError {
  const error = new PlainTypeError(message)
  defineConstant(error, 'name', NAME)
  return error
}

/**
 * Whether something thrown is such a mistake. By name, not by class: a bundle carries a copy of this code of its own.
 * Reading the name may run an author's getter, whose failure means no.
 */
export function isDefinitionError(thrown: unknown): boolean {
  try {
    return typeof thrown === 'object' && thrown !== null && (thrown as { name?: unknown }).name === NAME
  } catch {
    return false
  }
}

/** What `step` returns, before anything about it is known. */
export type UnknownStepResult = { reward?: unknown; terminated?: unknown; truncated?: unknown }

const RESULT_HINT = 'Return { reward: number, terminated: boolean }.'

export function refuseStepResult(result: unknown): never {
  throw new Problem('scenario_invalid', `step returned ${describeValue(result)}`, RESULT_HINT)
}

export function refuseReward(reward: unknown): never {
  const tooLarge = typeof reward === 'number' && reward - reward === 0
  throw new Problem(
    'reward_not_finite',
    `step returned the reward ${describeValue(reward)}${tooLarge ? ', which is infinite in float32' : ''}`,
    'A reward must be a finite number; a scorer that fails must throw, not invent one.',
  )
}

export function refuseTerminated(terminated: unknown): never {
  throw new Problem(
    'scenario_invalid',
    `step returned terminated: ${describeValue(terminated)}, not a boolean`,
    RESULT_HINT,
  )
}

/** Gymnasium's environments say themselves when they are truncated; here that would be lost without a word. */
export function refuseTruncated(result: object): void {
  if (!objectHasOwn(result, 'truncated')) return
  throw new Problem(
    'scenario_invalid',
    'step returned truncated',
    'The engine owns the time limit: set maxSteps instead, and leave truncated out.',
  )
}

export function refuseState(): never {
  throw new Problem('scenario_invalid', 'reset returned undefined', 'Return the initial state of the episode.')
}

export function refusePending(callback: 'reset' | 'step'): never {
  throw new Problem(
    'scenario_timeout',
    `${callback} returned a promise that never settles`,
    'A scenario has no timers and no I/O, so there is nothing to wait for: return the result itself.',
  )
}

export function refuseEarlyEnd(step: number, recorded: number): never {
  throw new Problem(
    'scenario_nondeterministic',
    `a recorded episode ended early: at step ${step} of ${recorded} that were played before`,
    'Keep everything that changes in the state that reset returns, and draw randomness from rng.',
  )
}

const MESSAGE_LIMIT = 500
const STACK_LIMIT = 2000

/** Control and bidirectional characters could repaint the terminal or the log line that shows an author's words. */
function isUnprintable(code: number): boolean {
  return (
    code < 0x20 ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0x2028 ||
    code === 0x2029
  )
}

/** Caps a string of the author's and replaces what a terminal would obey; line ends are kept on request. */
function printable(text: string, limit: number, keepLines = false): string {
  const cut = text.length > limit
  const source = wellFormed(cut ? stringSlice(text, 0, limit) : text)
  let out = ''
  for (let i = 0; i < source.length; i += 1) {
    const code = charCodeAt(source, i)
    out += isUnprintable(code) && !(keepLines && code === 10) ? ' ' : stringFromCharCode(code)
  }
  return cut ? `${out}…` : out
}

/** Names a value in a message without running any code of its owner. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined'
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      return `${value}`
    case 'bigint':
      return 'a BigInt'
    case 'string':
      return `the string "${printable(value, 40)}"`
    case 'symbol':
      return 'a symbol'
    case 'function':
      return 'a function'
    default: {
      if (value === null) return 'null'
      const kind = typedArrayName(value)
      if (kind !== undefined) return `a ${kind}`
      return safeIsArray(value) ? 'an array' : 'an object'
    }
  }
}

/** `Array.isArray` throws on a revoked proxy. */
function safeIsArray(value: unknown): boolean {
  try {
    return isArray(value)
  } catch {
    return false
  }
}

function readString(value: object, key: 'message' | 'stack'): string | null {
  try {
    const text = (value as Record<string, unknown>)[key]
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

/**
 * Describes what an author's code threw. Reads at most `message` and `stack`, each guarded, and calls no method of the
 * value: throwing null, a symbol, a proxy or an object whose toString throws is all the same.
 */
export function describeThrown(value: unknown): { message: string; stack: string } {
  if (typeof value === 'string') return { message: printable(value, MESSAGE_LIMIT), stack: '' }
  if (typeof value !== 'object' || value === null) return { message: describeValue(value), stack: '' }
  const message = readString(value, 'message')
  const stack = readString(value, 'stack')
  return {
    message: message === null ? describeValue(value) : printable(message, MESSAGE_LIMIT),
    stack: stack === null ? '' : printable(stack, STACK_LIMIT, true),
  }
}
