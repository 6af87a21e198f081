import type { ErrorReport } from '@agentgym/contract'

/** Services that the server depends on: PostgreSQL or PGlite, and the bucket or folder of packages. */
export const dependencyNames = ['database', 'storage'] as const
export type DependencyName = (typeof dependencyNames)[number]

/** How long clients wait before they retry: about as long as a restart or a failover. */
export const RETRY_AFTER_SECONDS = 5

const codes = { database: 'database_unavailable', storage: 'storage_unavailable' } as const
const subjects = { database: 'The database', storage: 'The package storage' }

/**
 * A dependency could not be used. Neither a bug nor a result of the request, so it is not an AgentGymError: code that
 * turns those into a result (a failed run, a refused payout) must rethrow it. It becomes a response only at the HTTP
 * boundary: 503 with `database_unavailable` or `storage_unavailable`.
 */
export class Outage extends Error {
  readonly dependency: DependencyName

  constructor(dependency: DependencyName, cause: unknown) {
    super(`${subjects[dependency]} is unavailable: ${reasonOf(cause)}`, { cause })
    this.name = 'Outage'
    this.dependency = dependency
  }

  toReport(): ErrorReport {
    return outageReport(this.dependency)
  }
}

/** The error for clients. The cause is only logged, because it may contain addresses. */
export function outageReport(dependency: DependencyName): ErrorReport {
  return {
    code: codes[dependency],
    message: `${subjects[dependency]} of this server is unavailable.`,
    hint: 'Try again in a few seconds. If the problem persists, contact the operator of the server.',
    data: { dependency, retry_after_seconds: RETRY_AFTER_SECONDS },
  }
}

/** The outage in an error's chain of causes. */
export function outageIn(error: unknown): Outage | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Outage) return at
  return undefined
}

const networkCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'ENOTCONN', 'ESOCKETTIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'EADDRNOTAVAIL'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_SSL_WRONG_VERSION_NUMBER'],
])

/** Whether a socket error of Node means that the other side is unreachable or gone. */
export function isNetworkFault(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.some(isNetworkFault)) return true
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  // A Unix socket exists only while its server runs.
  return networkCodes.has(String(code)) || (code === 'ENOENT' && syscall === 'connect')
}

/** The first useful line: an AggregateError of several addresses has no message. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join(', ')
  if (!(error instanceof Error)) return String(error)
  return error.message || error.name
}
