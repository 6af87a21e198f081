import type { Message } from './logged-episode.ts'

type Fields = { readonly [key: string]: unknown }

const roles: Readonly<Record<string, Message['role']>> = {
  ...{ system: 'system', developer: 'system', user: 'user', human: 'user', assistant: 'assistant', ai: 'assistant' },
  ...{ model: 'assistant', tool: 'tool', function: 'tool' },
}

export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/** A number, also one that is written as text; null for anything else. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

export function firstNumber(...values: unknown[]): number | null {
  for (const value of values) {
    const number = numberOf(value)
    if (number !== null) return number
  }
  return null
}

/** Plain text of a value: texts as they are, JSON of anything else. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** JSON in a text, as logs keep it; other values as they are. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/**
 * Messages in the input or output of a model: a list, a list of one list, `{messages}`, `{input}`, `{choices}`, `{generations}`, one
 * message, or the text of a user (`as` names another role). Empty where there are none.
 */
export function messagesIn(given: unknown, as: Message['role'] = 'user'): Message[] {
  const value = unpacked(given)
  if (typeof value === 'string') return value === '' ? [] : [{ role: as, text: value, calls: [], results: [] }]
  if (Array.isArray(value)) return value.flatMap((item) => messagesIn(item, as))
  const fields = fieldsOf(value)
  if (fields === null) return []
  const message = readMessage(fields)
  if (message !== null) return [message]
  for (const name of [
    'messages',
    'choices',
    'generations',
    'message',
    'input',
    'output',
    'text',
    'content',
    'question',
    'query',
  ]) {
    if (fields[name] !== undefined && fields[name] !== null) return messagesIn(fields[name], as)
  }
  return []
}

/** One message as OpenAI, LangChain, the AI SDK, Anthropic or OpenTelemetry write it; null where it is none. */
export function readMessage(given: Fields): Message | null {
  const constructed = given.lc === 1 && Array.isArray(given.id) ? fieldsOf(given.kwargs) : null
  const fields = constructed ?? given
  const role = roles[roleName(given, fields)]
  if (role === undefined) return null
  const parts = Array.isArray(fields.parts) ? fields.parts : Array.isArray(fields.content) ? fields.content : null
  const message: Message = { role, text: parts === null ? textOf(fields.content) : '', calls: [], results: [] }
  for (const part of parts ?? []) readPart(part, message)
  for (const call of listOf(fields.tool_calls)) readCall(call, message)
  const legacy = fieldsOf(fields.function_call)
  if (legacy !== null) message.calls.push(callOf(null, legacy.name, legacy.arguments, legacy.probability))
  if (role === 'tool' && message.results.length === 0) {
    const id = fields.tool_call_id ?? fields.toolCallId ?? fields.name
    const failed = fields.status === 'error' || fields.is_error === true
    message.results.push({ id: typeof id === 'string' ? id : null, text: message.text, failed })
  }
  return message
}

function roleName(given: Fields, fields: Fields): string {
  if (typeof fields.role === 'string') return fields.role
  const type = given.lc === 1 && Array.isArray(given.id) ? given.id.at(-1) : fields.type
  return typeof type === 'string' ? type.replace(/Message(Chunk)?$/, '').toLowerCase() : ''
}

function readCall(given: unknown, { calls }: Message): void {
  const call = fieldsOf(given)
  if (call === null) return
  const named = fieldsOf(call.function) ?? call
  calls.push(callOf(call.id, named.name, named.arguments ?? named.args, call.probability ?? named.probability))
}

function callOf(id: unknown, name: unknown, args: unknown, probability: unknown): Message['calls'][number] {
  return {
    id: typeof id === 'string' ? id : null,
    name: typeof name === 'string' ? name : '',
    arguments: args,
    probability: numberOf(probability),
  }
}

/** A part of a message: text, a call, or the result of one. */
function readPart(given: unknown, message: Message): void {
  if (typeof given === 'string') message.text += given
  const part = fieldsOf(given)
  if (part === null) return
  const id = part.id ?? part.toolCallId ?? part.tool_use_id ?? part.call_id
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      message.text += textOf(part.text ?? part.content)
      return
    case 'tool_call':
    case 'tool-call':
    case 'tool_use':
    case 'function_call': {
      const args = part.arguments ?? part.input ?? part.args
      message.calls.push(callOf(id, part.name ?? part.toolName, args, part.probability))
      return
    }
    case 'tool_call_response':
    case 'tool-result':
    case 'tool_result': {
      const result = part.response ?? part.result ?? part.output ?? part.content
      message.results.push({
        id: typeof id === 'string' ? id : null,
        text: textOf(result),
        failed: part.is_error === true,
      })
    }
  }
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
