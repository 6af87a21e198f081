import { setTimeout as delay } from 'node:timers/promises'
import { AgentGymError } from '@agentgym/contract'

const passing = ['server_unreachable', 'rate_limited', 'request_timeout', 'internal_error']

/** A temporary failure: no answer, a rate limit, an error of the server. */
export function isTransient(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError)) return false
  return passing.includes(error.code) || (typeof error.data.status === 'number' && error.data.status >= 500)
}

export function isLost(error: unknown): boolean {
  return error instanceof AgentGymError && error.code === 'lease_lost'
}

export function leaseLost(): AgentGymError {
  return new AgentGymError({
    code: 'lease_lost',
    message: 'The lease has expired: another worker may have the job.',
    hint: 'Nothing to do: this worker drops its results.',
  })
}

const refusals = ['unauthenticated', 'forbidden', 'worker_incompatible']

/** The token is not a worker's, or was revoked, or the server is of another release: no request will succeed. */
export function isRefused(error: unknown): boolean {
  return error instanceof AgentGymError && refusals.includes(error.code)
}

/** The server's Retry-After in milliseconds, or the caller's own delay. */
export function retryAfterMs(error: AgentGymError, usualMs: number): number {
  const seconds = error.data.retry_after_seconds
  return typeof seconds === 'number' ? Math.max(usualMs, Math.min(seconds, 60) * 1_000) : usualMs
}

/** Waits about that long, with jitter; ends when the signal aborts. */
export async function pause(aboutMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await delay(aboutMs * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => {})
}

/**
 * Gives `send` a signal that also aborts after a while; an answer that did not come by then is `server_unreachable`.
 */
export async function withinTime<Result>(
  limitMs: number,
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(Math.ceil(limitMs))
  try {
    return await send(AbortSignal.any([signal, timeout]))
  } catch (error) {
    if (error instanceof AgentGymError || signal.aborted || !timeout.aborted) throw error
    throw new AgentGymError(
      {
        code: 'server_unreachable',
        message: `The server did not answer within ${limitMs / 1_000} s.`,
        hint: 'Check whether the server or the network is overloaded.',
      },
      { cause: error },
    )
  }
}

/** A moment by both clocks of the machine, to measure from. */
export type Moment = { monotonic: number; wall: number }

export function now(): Moment {
  return { monotonic: performance.now(), wall: Date.now() }
}

/**
 * Milliseconds since then, by whichever clock says more: the monotonic one stands still while a machine is suspended, the
 * wall clock may be set back.
 */
export function elapsedMs(since: Moment): number {
  return Math.max(performance.now() - since.monotonic, Date.now() - since.wall)
}
