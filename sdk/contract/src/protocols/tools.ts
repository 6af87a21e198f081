import type { SpaceDescription } from '../space-description.ts'
import { type AgentAnswer, requestInvalid, wordsOf } from './asked-agent.ts'

/** What a request offers: names of tools, and what it says of their use. */
export type Offer = {
  tools: readonly string[]
  /** `none`: no tool may be called; `required`: one must be; a name: that one must be. */
  choice: 'auto' | 'none' | 'required' | { name: string }
}

/** `tool_choice` of a chat completion or of a response, which write a forced tool differently. */
export function readToolChoice(choice: unknown): Offer['choice'] {
  if (choice === 'none' || choice === 'required') return choice
  const { name, function: called } = Object(choice) as { name?: unknown; function?: { name?: unknown } }
  const forced = typeof name === 'string' ? name : called?.name
  return typeof forced === 'string' ? { name: forced } : 'auto'
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The name that model APIs take for an agent's word: letters, digits, `_` and `-`, at most 64. A word that is none gets
 * `_` for what is not allowed and, where two words would be the same, a number.
 */
export function toolNames(words: readonly string[]): Map<string, string> {
  const names = new Map<string, string>()
  const taken = new Set(words.filter((word) => NAME.test(word)))
  for (const word of words) {
    if (NAME.test(word)) {
      names.set(word, word)
      continue
    }
    const plain = word.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_'
    let name = plain
    for (let i = 2; taken.has(name); i++) name = `${plain.slice(0, 63 - String(i).length)}-${i}`
    taken.add(name)
    names.set(name, word)
  }
  return names
}

/**
 * The words of the agent that a request leaves legal: those of the tools that it offers. Null where it leaves everything
 * legal, because it offers no tool that the agent knows. Throws `request_invalid` where a tool must be called and none can be.
 */
export function legalWords(offer: Offer, action: SpaceDescription): Set<string> | null {
  const { choice } = offer
  if (choice === 'none') return null
  const words = toolNames(wordsOf(action) ?? [])
  const wanted = typeof choice === 'object' ? [choice.name] : offer.tools
  const legal = new Set(wanted.flatMap((name) => words.get(name) ?? []))
  if (legal.size > 0) return legal
  if (choice === 'auto') return null
  const known = words.size === 0 ? 'none' : [...words.keys()].join(', ')
  throw requestInvalid('tool_choice', `the agent calls none of the tools that it has to choose from; it knows ${known}`)
}

export type ToolCall = { name: string; arguments: string }

/** The call of an offered tool that an answer means; undefined where the answer is no tool, or none was offered. */
export function toolCallOf(
  offer: Offer,
  { action, label, arguments: written }: AgentAnswer,
  space: SpaceDescription,
): ToolCall | undefined {
  if (offer.choice === 'none' || label === null) return undefined
  const name = [...toolNames(wordsOf(space) ?? [label])].find(([, word]) => word === label)?.[0] ?? label
  if (!offer.tools.includes(name)) return undefined
  const isTool = space.type === 'dict' && space.choice !== undefined
  const parts = isTool && isRecord(action) && Object.hasOwn(action, label) ? action[label] : {}
  return { name, arguments: JSON.stringify(written ?? parts) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
