import type { ErrorReport } from '@agentgym/contract'

/** What a server cannot work without: PostgreSQL or PGlite, and the bucket or folder of packages. */
export const dependencyNames = ['database', 'storage'] as const
export type DependencyName = (typeof dependencyNames)[number]

/** Clients wait this long before they ask again: about what a restart or a failover takes. */
export const RETRY_AFTER_SECONDS = 5

const codes = { database: 'database_unavailable', storage: 'storage_unavailable' } as const
const subjects = { database: 'The database', storage: 'The package storage' }

/**
 * A dependency could not be used. Neither a bug nor a verdict on the request, so it is no AgentGymError: code that turns
 * those into a result (a failed run, a refused payout) must pass this on. It becomes an answer only where a response is
 * written: 503 with `database_unavailable` or `storage_unavailable`.
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

/** What clients get. Why it failed is for the log: it may contain addresses. */
export function outageReport(dependency: DependencyName): ErrorReport {
  return {
    code: codes[dependency],
    message: `${subjects[dependency]} of this server is unavailable.`,
    hint: 'Try again in a few seconds. If the problem persists, contact the operator of the server.',
    data: { dependency, retry_after_seconds: RETRY_AFTER_SECONDS },
  }
}

/** The outage that an error is, or was caused by. */
export function outageIn(error: unknown): Outage | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Outage) return at
  return undefined
}

const networkCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'ENOTCONN', 'ESOCKETTIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'EADDRNOTAVAIL'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_SSL_WRONG_VERSION_NUMBER'],
])

/** Whether an error of Node's sockets says that the other side cannot be reached, or has gone. */
export function isNetworkFault(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.some(isNetworkFault)) return true
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  // A socket in the file system is there only while its server runs.
  return networkCodes.has(String(code)) || (code === 'ENOENT' && syscall === 'connect')
}

/** The first line that says something: an AggregateError of several addresses has no message of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join(', ')
  if (!(error instanceof Error)) return String(error)
  return error.message || error.name
}
