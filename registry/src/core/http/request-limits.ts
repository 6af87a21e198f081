import { AgentGymError } from '@agentgym/contract'
import type { MiddlewareHandler } from 'hono'
import type { ServerConfig } from '../services.ts'
import type { Env } from './env.ts'

const MEBIBYTE = 2 ** 20
/** Bodies of everything but packages. */
const USUAL_BYTES = MEBIBYTE
/** An observation, and its mask. */
const CALL_BYTES = 256 * 1024

type Limits = Pick<ServerConfig, 'limits' | 'training'>

/** How large a body may be at this path. npm's clients send tarballs as base64 within JSON: a third more, and a manifest. */
function bodyLimitOf(path: string, { limits: { tarballBytes }, training }: Limits): number {
  if (path.startsWith('/npm/')) return Math.ceil((tarballBytes * 4) / 3) + 4 * MEBIBYTE
  if (/^\/v1\/packages\/.+\/versions\/[^/]+$/.test(path)) return tarballBytes
  if (/^\/v1\/packages\/[^/]+\/[^/]+\/calls$/.test(path)) return CALL_BYTES
  const [, written] = /^\/v1\/jobs\/[^/]+\/([a-z]+)$/.exec(path) ?? []
  if (written === 'checkpoint') return training.checkpointBytes
  if (written === 'agent') return tarballBytes
  // JSON of a worker: a hundred trajectories, a second's iterations, answers with many probabilities.
  if (written === 'trajectories' || written === 'progress' || path === '/v1/hosted-calls/answers') return 16 * MEBIBYTE
  return USUAL_BYTES
}

/** Refuses a body that is too large before it is read; one that does not tell its length is counted as it comes. */
export function limitBodies(limits: Limits): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    const limit = bodyLimitOf(c.req.path, limits)
    const chunked = c.req.header('transfer-encoding') !== undefined
    const length = Number(c.req.header('content-length') ?? 0)
    if (!chunked) {
      if (length > limit) throw tooLarge(limit)
      return next()
    }
    const { body } = c.req.raw
    if (body === null) return next()
    let bytes = 0
    const counted = body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          bytes += chunk.byteLength
          if (bytes > limit) controller.error(tooLarge(limit))
          else controller.enqueue(chunk)
        },
      }),
    )
    // Made of its parts: the adaptor's Request is none that the platform's would take.
    const { url, method, headers, signal } = c.req.raw
    c.req.raw = new Request(url, { method, headers, signal, body: counted, duplex: 'half' } as RequestInit)
    await next()
    // Whatever the handler made of a body that broke off: this is what was wrong with it.
    if (bytes > limit) throw tooLarge(limit)
  }
}

function tooLarge(limit: number): AgentGymError {
  return new AgentGymError({
    code: 'request_too_large',
    message: `The body of the request is larger than ${limit} bytes.`,
    data: { limit_bytes: limit },
  })
}

/** Answers after `timeoutMs` whatever a handler waits for; what it began is not undone. */
export function limitTime(timeoutMsOf: (path: string) => number): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { promise: expired, reject } = Promise.withResolvers<never>()
    const timeoutMs = timeoutMsOf(c.req.path)
    const timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs)
    try {
      await Promise.race([next(), expired])
    } finally {
      clearTimeout(timer)
    }
  }
}

function timedOut(timeoutMs: number): AgentGymError {
  return new AgentGymError({
    code: 'request_timeout',
    message: `The server did not finish this request within ${timeoutMs / 1000} s.`,
    hint: 'Try again after a while.',
  })
}
