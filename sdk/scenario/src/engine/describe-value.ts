import { charCodeAt, isArray, stringFromCharCode, stringSlice, typedArrayName, wellFormed } from './primordials.ts'

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
