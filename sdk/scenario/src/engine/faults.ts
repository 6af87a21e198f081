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

/** Codes of the faults that the engine detects; all are in the catalog of @agentgym/contract. */
export type FaultCode =
  | 'scenario_invalid'
  | 'scenario_threw'
  | 'scenario_timeout'
  | 'scenario_nondeterministic'
  | 'reward_not_finite'
  | 'observation_invalid'
  | 'metrics_invalid'
  | 'scene_invalid'
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
 * A fault whose place is not known yet. Not an Error: creating one runs `Error.prepareStackTrace`, which the author can
 * replace. The private field is a brand: unlike `instanceof`, testing it runs no proxy code.
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

/** A fault of the scenario: what, where, and how to fix it. Only capped strings and numbers, so it can cross to the host. */
export class EngineFault {
  readonly #brand = true
  readonly code: FaultCode
  /** What went wrong, in one sentence without the place. */
  readonly message: string
  /** How to fix it; may be empty. */
  readonly hint: string
  readonly phase: Phase
  readonly environment: number
  readonly step: number
  readonly episode: number
  /** The author's stack trace, capped; empty if there is none. */
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

/** A mistake in a definition or a space: a TypeError, distinguished by its name from what an author's code throws. */
export function definitionError(message: string): TypeError {
  const error = new PlainTypeError(message)
  defineConstant(error, 'name', NAME)
  return error
}

/**
 * Whether something thrown is such a mistake. By name, not by class, because a bundle has its own copy of this code. Reading
 * the name may run an author's getter; if that throws, the answer is no.
 */
export function isDefinitionError(thrown: unknown): boolean {
  try {
    return typeof thrown === 'object' && thrown !== null && (thrown as { name?: unknown }).name === NAME
  } catch {
    return false
  }
}

/** What `step` returned, unchecked. */
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
    'A reward must be a finite number. If it cannot be computed, throw an error.',
  )
}

export function refuseTerminated(terminated: unknown): never {
  throw new Problem(
    'scenario_invalid',
    `step returned terminated: ${describeValue(terminated)}, not a boolean`,
    RESULT_HINT,
  )
}

/** Gymnasium environments return `truncated`; here it would be silently ignored. */
export function refuseTruncated(result: object): void {
  if (!objectHasOwn(result, 'truncated')) return
  throw new Problem(
    'scenario_invalid',
    'step returned truncated',
    'The engine enforces the time limit: set maxSteps and do not return truncated.',
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
    `a replayed episode ended early: at step ${step} of ${recorded} recorded steps`,
    'Keep everything that changes in the state that reset returns, and draw randomness from rng.',
  )
}

const MESSAGE_LIMIT = 500
const STACK_LIMIT = 2000

/** Control and bidirectional characters could corrupt the terminal or log that shows an author's text. */
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

/** Truncates an author's string and replaces control characters; keeps line breaks if `keepLines`. */
export function printable(text: string, limit: number, keepLines = false): string {
  const cut = text.length > limit
  const source = wellFormed(cut ? stringSlice(text, 0, limit) : text)
  let out = ''
  for (let i = 0; i < source.length; i += 1) {
    const code = charCodeAt(source, i)
    out += isUnprintable(code) && !(keepLines && code === 10) ? ' ' : stringFromCharCode(code)
  }
  return cut ? `${out}…` : out
}

/** Describes a value for a message without running any of the author's code. */
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
 * Describes what an author's code threw. Reads only `message` and `stack`, each guarded, and calls no method of the value,
 * so null, symbols, proxies and objects with a throwing toString are all handled.
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
