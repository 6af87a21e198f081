import { errorCatalog } from '@agentgym/contract'
import { outageReport, RETRY_AFTER_SECONDS } from '../core/dependencies/outage.ts'
import { readinessOf } from './health.routes.ts'

/** The answers of a server that is still waiting for its database: alive, not ready, nothing else. */
export function answerWaiting({ url }: Request): Response {
  const { pathname } = new URL(url)
  if (pathname === '/healthz') return Response.json({ ok: true })
  if (pathname === '/readyz') return unavailable(readinessOf(['database'], false))
  return unavailable({ error: outageReport('database') })
}

function unavailable(body: object): Response {
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS), 'cache-control': 'no-store' }
  return Response.json(body, { status: errorCatalog.database_unavailable.status, headers })
}
