import type { Log } from './services.ts'

export type LogLevel = 'info' | 'warn' | 'error'

const order: LogLevel[] = ['info', 'warn', 'error']

/** One JSON object a line. What is given as data must hold no secret: nothing is taken out here. */
export function jsonLog(write: (line: string) => void, lowest: LogLevel = 'info'): Log {
  const at = (level: LogLevel) => {
    if (order.indexOf(level) < order.indexOf(lowest)) return () => {}
    return (message: string, data: Record<string, unknown> = {}) =>
      write(`${JSON.stringify({ at: new Date().toISOString(), level, message, ...data })}\n`)
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}
