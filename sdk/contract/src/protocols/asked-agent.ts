import type { z } from 'zod'
import { AgentGymError } from '../agent-gym-error.ts'
import { jsonValue } from '../api/fields.ts'
import { type Content, longestHistory } from '../api/hosting.ts'
import type { SpaceDescription } from '../space-description.ts'

/** What a protocol needs to know of the agent that it asks. */
export type AskedAgent = { observation: SpaceDescription; action: SpaceDescription }

/** What the agent answered: its action, as the scenario takes it, the word for it, and the probabilities of all words. */
export type AgentAnswer = {
  action: z.infer<typeof jsonValue>
  label: string | null
  /** In order of the choices; null for an agent without probabilities. */
  probabilities: number[] | null
  /** The calibrated chance that the choice succeeds; absent or null for an agent that is not calibrated. */
  confidence?: number | null
  /** Of the chosen tool, where a language model has written some of them; else they are those in the action. */
  arguments?: Record<string, unknown>
}

/** Tokens that a request used; a language model beside the agent counts its own. */
export type TokenUsage = { input: number; output: number }

/** Size limit of an observation. */
const observationBytes = 256 * 1024

/** The text of a message. Throws `request_invalid` for anything else, `request_too_large`. */
export function textOf(content: Content | undefined, field: string): string {
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: content ?? undefined }]
  const texts = parts.map((part) => (part.type.endsWith('json') ? JSON.stringify(part.json) : part.text))
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string')) {
    throw requestInvalid(field, 'the last user or tool message must contain the observation as text')
  }
  const text = texts.join('')
  if (new TextEncoder().encode(text).length <= observationBytes) return text
  throw new AgentGymError({
    code: 'request_too_large',
    message: `The observation is larger than ${observationBytes} bytes.`,
    data: { limit_bytes: observationBytes },
  })
}

/** A value of a request that is not text: JSON of an observation's size and depth. Throws `request_invalid`, `request_too_large`. */
export function jsonOf(value: unknown, field: string): AgentAnswer['action'] {
  const checked = jsonValue.safeParse(value)
  if (!checked.success) throw requestInvalid(field, `the value ${checked.error.issues[0].message}`)
  textOf(JSON.stringify(checked.data), field)
  return checked.data
}

/**
 * Parses an observation: JSON, alone or in a fenced block of a text, or, if there is none, the text itself. An agent that observes
 * text gets the text unchanged, including `42`, unless it is a JSON string. Throws `request_invalid` if it is nested too deep.
 */
export function observationOf(text: string, space: SpaceDescription | undefined, field: string): AgentAnswer['action'] {
  const parsed = parse(text) ?? (space?.type === 'text' ? undefined : parse(fenced(text)))
  if (parsed === undefined || (space?.type === 'text' && typeof parsed.value !== 'string')) return text
  const checked = jsonValue.safeParse(parsed.value)
  if (checked.success) return checked.data
  throw requestInvalid(field, `the observation ${checked.error.issues[0].message}`)
}

/** A message of a conversation, as far as an agent is concerned: one that it may observe, or an answer of its own. */
export type Moment = { observed: Content | undefined } | 'answered' | 'other'

/**
 * What the agent observed at its earlier turns, from the conversation that leads to this one: before each answer, the last message of
 * the user or a tool. Where a conversation is an episode, this is what an agent with memory remembers. Throws `request_invalid`,
 * also for more turns than a call carries.
 */
export function earlierObservations(
  moments: readonly Moment[],
  space: SpaceDescription | undefined,
  field: string,
): AgentAnswer['action'][] {
  const seen: AgentAnswer['action'][] = []
  let latest: Content | undefined | null = null
  for (const moment of moments) {
    if (typeof moment === 'object') latest = moment.observed
    else if (moment === 'answered' && latest !== null) {
      seen.push(observationOf(textOf(latest, field), space, field))
      latest = null
    }
  }
  if (seen.length <= longestHistory) return seen
  throw requestInvalid(
    field,
    `the agent has answered ${seen.length} times; of an agent with memory, at most ${longestHistory}`,
  )
}

/** The last block of JSON: frameworks put words of their own around what a user writes. */
function fenced(text: string): string {
  const start = text.indexOf('\n', text.lastIndexOf('```json'))
  const end = text.indexOf('\n```', start)
  return text.includes('```json') && end > start ? text.slice(start, end) : ''
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** The words that an agent chooses from: those of its discrete action, or its tools. Null for an agent without any. */
export function wordsOf(action: SpaceDescription): string[] | null {
  if (action.type === 'discrete') return action.labels ?? null
  if (action.type !== 'dict' || action.choice === undefined) return null
  const chooser = action.entries.find(({ name }) => name === action.choice)?.space
  return chooser?.type === 'discrete' ? (chooser.labels ?? null) : null
}

/** What is legal, in the form of an action: booleans, one for each choice. */
type Mask = boolean[] | boolean[][] | { [name: string]: Mask }

/** A mask that leaves some of these words legal, and every argument of theirs. */
export function maskOfWords(action: SpaceDescription, legal: ReadonlySet<string>): Mask {
  if (action.type === 'discrete') return (action.labels ?? []).map((word) => legal.has(word))
  const masks: { [name: string]: Mask } = {}
  for (const { name, space } of action.type === 'dict' ? action.entries : []) {
    const isTool = action.type === 'dict' && name === action.choice
    const mask = isTool ? maskOfWords(space, legal) : wholeMask(space)
    if (mask !== undefined) masks[name] = mask
  }
  return masks
}

/** The mask of a space in which everything is legal; undefined for one without choices. */
export function wholeMask(space: SpaceDescription): Mask | undefined {
  if (space.type === 'discrete') return Array(space.n).fill(true)
  if (space.type === 'multiDiscrete') return space.nvec.map((count) => Array(count).fill(true))
  if (space.type !== 'dict') return undefined
  const masks: { [name: string]: Mask } = {}
  for (const { name, space: inner } of space.entries) {
    const mask = wholeMask(inner)
    if (mask !== undefined) masks[name] = mask
  }
  return Object.keys(masks).length === 0 ? undefined : masks
}

/** Policies have no tokens: four characters count as one, a common average. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4)
}

export function requestInvalid(field: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "${field}" of the body is invalid: ${why}.`,
    data: { field, in: 'json' },
  })
}
