import type { Context } from 'hono'
import type { Env } from './env.ts'

/**
 * W3C `traceparent` of the request under way, to be stored with what it asks for, so that whoever does that work goes on
 * with the same trace. Null where nothing is traced.
 */
export function currentTraceparent(c: Context<Env>): string | null {
  return c.get('traceparent') ?? null
}

/** The trace's id, as a log names it; undefined where nothing is traced. */
export function currentTraceId(c: Context<Env>): string | undefined {
  return c.get('traceparent')?.split('-')[1]
}
