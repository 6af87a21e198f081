import { invalid } from './read-action.ts'
import type { JsonSchema } from './space-schema.ts'

/** What a model's text says it does. */
export type Reply = { kind: 'call'; name: string; given: Record<string, unknown> } | { kind: 'action'; action: unknown }

type KnownTool = { name: string; inputSchema: JsonSchema }

/**
 * Reads the text of a language model: what follows its last `Action:`, or all of it, without fences. JSON is an action, or a call
 * `{"tool": …, "arguments": {…}}`; other text is a call such as `read iron ingot` or `refund(order=A-1, percent=50)`, or the word for
 * the action. Throws `action_invalid` for an empty text.
 */
export function readReply(text: string, tools: readonly KnownTool[] | null, legal: readonly string[] | null): Reply {
  const said = plain(text)
  if (said === '') throw invalid('action', 'is empty', legal ?? undefined)
  const json = parse(said)
  if (tools === null) {
    // A word may look like JSON: the label `8` is not the choice of that number.
    const isWord = legal?.some((word) => word.toLowerCase() === said.toLowerCase())
    return { kind: 'action', action: actionIn(isWord ? undefined : json, said) }
  }
  const call = json === undefined ? callIn(said, tools) : callOfJson(json.value)
  if (call !== undefined) return call
  throw invalid('action', `is ${JSON.stringify(said.slice(0, 80))}, which calls no tool.`, legal ?? undefined)
}

function plain(text: string): string {
  const after = /[\s\S]*\bAction:([\s\S]*)$/i.exec(text)?.[1] ?? text
  const trimmed = after.trim()
  const fenced = /^```[a-z]*\n?([\s\S]*?)\n?```$/i.exec(trimmed)?.[1] ?? trimmed
  return fenced.trim()
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** `{"action": …}` or the action itself; what is no JSON is a word. */
function actionIn(json: { value: unknown } | undefined, said: string): unknown {
  if (json === undefined) return said.replace(/[.!]$/, '')
  const { value } = json
  return isRecord(value) && Object.keys(value).length === 1 && 'action' in value ? value.action : value
}

function callOfJson(value: unknown): Reply | undefined {
  if (typeof value === 'string') return { kind: 'call', name: value, given: {} }
  if (!isRecord(value)) return undefined
  const name = value.tool ?? value.tool_name ?? value.name
  if (typeof name !== 'string') return undefined
  const given = typeof value.arguments === 'string' ? parse(value.arguments)?.value : value.arguments
  return { kind: 'call', name, given: isRecord(given) ? given : {} }
}

function callIn(said: string, tools: readonly KnownTool[]): Reply | undefined {
  // The longest name first: one may be the beginning of another.
  const byLength = tools.toSorted((a, b) => b.name.length - a.name.length)
  const tool = byLength.find(({ name }) => new RegExp(`^${escaped(name)}(?![A-Za-z0-9_-])`, 'i').test(said))
  if (tool === undefined) return undefined
  const rest = said.slice(tool.name.length).trim()
  const inside = /^\(([\s\S]*)\)$/.exec(rest)?.[1] ?? rest
  return { kind: 'call', name: tool.name, given: argumentsIn(inside.trim(), tool.inputSchema) }
}

function escaped(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '\\$&')
}

/** `a=1, b=two`, or the values alone in the order of the parameters. */
function argumentsIn(text: string, schema: JsonSchema): Record<string, unknown> {
  if (text === '') return {}
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  const names = Object.keys(properties)
  const parts = names.length === 1 ? [text] : text.split(',')
  const given: Record<string, unknown> = {}
  for (const [i, part] of parts.entries()) {
    const named = /^\s*([A-Za-z][A-Za-z0-9_-]*)\s*[=:]\s*([\s\S]*)$/.exec(part)
    const name = named !== null && names.includes(named[1]) ? named[1] : (names[i] ?? `argument ${i + 1}`)
    const value = (named !== null && names.includes(named[1]) ? named[2] : part).trim().replace(/^(["'])(.*)\1$/, '$2')
    const isNumber = ['number', 'integer'].includes(String(properties[name]?.type))
    given[name] = isNumber && value !== '' ? Number(value) : value
  }
  return given
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
