import type { Turn } from '../episode-session.ts'
import type { LanguageForm } from '../language/language-form.ts'

/**
 * The words of an action whose client deletes every character but letters, digits, commas and spaces (AgentGym's TextCraft
 * client), or wraps it (`click[…]`, its WebShop client): as the environment writes them. What fits nothing is returned as it
 * came, for the environment to refuse.
 */
export function restoreWords(said: string, form: LanguageForm, turn: Turn): string {
  const text = unwrapped(said)
  if (form.form !== 'tools') return turn.legalActions?.find((word) => isSame(word, text)) ?? text
  // The longest name first: one may be the beginning of another.
  const tools = form.tools.toSorted((a, b) => b.name.length - a.name.length)
  for (const { name, inputSchema } of tools) {
    const rest = afterName(text, name)
    if (rest === undefined) continue
    const names = Object.keys((inputSchema.properties ?? {}) as object)
    if (names.length === 0 || rest === '') return name
    const parts = names.length === 1 ? [rest] : rest.split(',').map((part) => part.trim())
    const known = knownWords(inputSchema, turn)
    const given = parts.map((part, i) => [
      names[i] ?? `argument ${i + 1}`,
      known.find((word) => isSame(word, part)) ?? part,
    ])
    return JSON.stringify({
      tool: name,
      arguments: Object.fromEntries(given.map(([key, value]) => [key, asNumber(value)])),
    })
  }
  return text
}

function unwrapped(said: string): string {
  const text = said.replace(/<\/s>$/, '').trim()
  const inside = /^(?:click|search)\[([\s\S]*)\]$/i.exec(text)?.[1]
  return (inside ?? text).trim()
}

const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, '')
const isSame = (word: string, text: string) => plain(word) !== '' && plain(word) === plain(text)

/** What follows a tool's name, which may be written with spaces or without its underscores; undefined for another tool. */
function afterName(text: string, name: string): string | undefined {
  const letters = [...plain(name)].map((letter) => letter).join('[^a-z0-9]*')
  const found = new RegExp(`^${letters}(?![a-z0-9])[\\s:,(]*([\\s\\S]*?)[\\s)]*$`, 'i').exec(text)
  return found?.[1]
}

/** Words that an argument may be: choices of its schema, and ids that the observation shows. */
function knownWords(schema: object, { observation }: Turn): string[] {
  const words: string[] = []
  collect(schema, 'enum', words)
  collect(observation, 'id', words)
  return words
}

function collect(value: unknown, key: 'enum' | 'id', words: string[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === key) words.push(...[inner].flat().filter((word) => typeof word === 'string'))
    collect(inner, key, words)
  }
}

function asNumber(value: string): string | number {
  return /^\d+$/.test(value) ? Number(value) : value
}
