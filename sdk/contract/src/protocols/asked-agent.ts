import type { z } from 'zod'
import { AgentGymError } from '../agent-gym-error.ts'
import { jsonValue } from '../api/fields.ts'
import type { Content } from '../api/hosting.ts'
import type { SpaceDescription } from '../space-description.ts'

/** What a protocol needs to know of the agent that it asks. */
export type AskedAgent = { observation: SpaceDescription; action: SpaceDescription }

/** What the agent answered: its action, as the scenario takes it, the word for it, and the probabilities of all words. */
export type AgentAnswer = {
  action: z.infer<typeof jsonValue>
  label: string | null
  /** In order of the choices; null for an agent without probabilities. */
  probabilities: number[] | null
}

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

/**
 * Parses an observation: JSON or, if it is not JSON, the text itself. An agent that observes text gets the text
 * unchanged, including `42`, unless it is a JSON string. Throws `request_invalid` if it is nested too deep.
 */
export function observationOf(text: string, space: SpaceDescription | undefined, field: string): AgentAnswer['action'] {
  const parsed = parse(text)
  if (parsed === undefined || (space?.type === 'text' && typeof parsed.value !== 'string')) return text
  const checked = jsonValue.safeParse(parsed.value)
  if (checked.success) return checked.data
  throw requestInvalid(field, `the observation ${checked.error.issues[0].message}`)
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
    const mask = isTool ? maskOfWords(space, legal) : everything(space)
    if (mask !== undefined) masks[name] = mask
  }
  return masks
}

/** The mask of a space in which everything is legal; undefined for one without choices. */
function everything(space: SpaceDescription): Mask | undefined {
  if (space.type === 'discrete') return Array(space.n).fill(true)
  if (space.type === 'multiDiscrete') return space.nvec.map((count) => Array(count).fill(true))
  if (space.type !== 'dict') return undefined
  const masks: { [name: string]: Mask } = {}
  for (const { name, space: inner } of space.entries) {
    const mask = everything(inner)
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
