import { AgentGymError, type ErrorReport, errorCatalog } from '@agentgym/contract'
import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { sqlState } from '../database/violated-constraint.ts'
import { outageIn, reasonOf } from '../dependencies/outage.ts'
import type { Log } from '../services.ts'
import type { Env, FailureFormat } from './env.ts'
import { currentTraceId } from './request-context.ts'

/**
 * Turns every failure into a response: `{ error: { code, message, hint?, data? } }` with the status of the catalog, or
 * in the format of the path's clients (`failureFormat`). An outage is 503. Any other error that is not an AgentGymError
 * is a bug: it is logged in full, and the client gets `internal_error` with the request ID.
 */
export function answerError(log: Log): ErrorHandler<Env> {
  return (thrown, c) => {
    // Hono's own middleware throws only this class; the original error is its cause.
    const error = thrown instanceof HTTPException && thrown.cause instanceof Error ? thrown.cause : thrown
    if (error instanceof AgentGymError) return answer(c, error.toReport())
    if (error instanceof HTTPException && error.status < 500) return answerException(c, error)
    return answer(c, faultReport(log, c, error))
  }
}

/**
 * The client's view of an error that is not an AgentGymError, after logging it: an outage or a bug. The exception is
 * text with U+0000 in a request: PostgreSQL rejects it, as text (22021) or in JSON (22P05), so the database checks it
 * for all routes.
 */
export function faultReport(log: Log, c: Context<Env>, error: unknown): ErrorReport {
  const outage = outageIn(error)
  if (outage !== undefined) {
    const { dependency, cause } = outage
    log.warn('a dependency failed', { request_id: c.get('requestId'), dependency, error: reasonOf(cause) })
    return outage.toReport()
  }
  if (['22021', '22P05'].includes(sqlState(error) ?? ''))
    return { code: 'request_invalid', message: 'The request contains the character U+0000, which is not allowed.' }
  const requestId = c.get('requestId')
  log.error('a request failed', { request_id: requestId, trace_id: currentTraceId(c), error: describe(error) })
  return {
    code: 'internal_error',
    message: 'Internal server error.',
    hint: 'Try again. If the error persists, send the request id to the operator of the server.',
    data: { request_id: requestId },
  }
}

export function answer(c: Context<Env>, report: ErrorReport, status?: ContentfulStatusCode): Response {
  sayWhenToRetry(c, report)
  const { body, challenge } = c.get('rules')?.failureFormat ?? ownFormat
  if (report.code === 'unauthenticated' && challenge) c.header('www-authenticate', 'Bearer')
  return c.json(body(report), status ?? (errorCatalog[report.code].status as ContentfulStatusCode))
}

/** Sets `retry-after` if the failure has a time to retry. */
export function sayWhenToRetry(c: Context<Env>, { data }: ErrorReport): void {
  const seconds = data?.retry_after_seconds
  if (typeof seconds === 'number') c.header('retry-after', String(Math.max(1, Math.ceil(seconds))))
}

const ownFormat: FailureFormat = { body: (report) => ({ error: report }), challenge: true }

/** Hono's own errors: mostly a body that is not JSON. Its status is more precise than ours. */
function answerException(c: Context<Env>, { status, message }: HTTPException): Response {
  const code = status === 404 ? 'endpoint_not_found' : status === 413 ? 'request_too_large' : 'request_invalid'
  const sentence = message === '' ? errorCatalog[code].summary : message.replace(/\.?$/, '.')
  return answer(c, { code, message: sentence }, status)
}

/** A bug for the log, with its stack and causes. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? text : `${text}\ncaused by ${describe(error.cause)}`
}
