import type { Log } from '../services.ts'

export type LogLevel = 'info' | 'warn' | 'error'

const order: LogLevel[] = ['info', 'warn', 'error']

/** Longer than any stack trace of ours. */
const MAX_TEXT = 8_000
const MAX_LINE = 32_000

/**
 * One JSON object per line. Untrusted texts are truncated, and characters that could move a terminal's cursor or
 * reverse the text direction are escaped. Data must not contain secrets: nothing is redacted. `inEvery` is added to
 * every line.
 */
export function jsonLog(
  write: (line: string) => void,
  lowest: LogLevel = 'info',
  inEvery: Record<string, unknown> = {},
): Log {
  const at = (level: LogLevel) => {
    if (order.indexOf(level) < order.indexOf(lowest)) return () => {}
    return (message: string, data: Record<string, unknown> = {}) => {
      const own = { at: new Date().toISOString(), level, message, ...inEvery }
      // First in the line, so that data with the same keys cannot replace them.
      const line = serialised(Object.assign({ ...own }, data, own))
      if (line === undefined) return write(`${serialised({ ...own, data: 'cannot be shown' })}\n`)
      write(`${line.length > MAX_LINE ? serialised({ ...own, data: line }) : line}\n`)
    }
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

/** Undefined for values without JSON, such as circular ones. Logging never throws. */
function serialised(entry: Record<string, unknown>): string | undefined {
  try {
    return escaped(JSON.stringify(entry, (_, value: unknown) => shown(value)))
  } catch {
    return undefined
  }
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'bigint') return String(value)
  return value
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length - MAX_TEXT} more)`
}

/** JSON escapes the controls below U+0020 itself. */
const unseen = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

function escaped(json: string): string {
  return json.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
