import { timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import { Registry } from 'prom-client'
import { hashSecret } from '../core/access/secret.ts'
import { describe } from '../core/http/answer-error.ts'
import { isLocalRequest } from '../core/http/client-address.ts'
import type { Env } from '../core/http/env.ts'
import { declare } from '../core/http/route.ts'
import { exposition, groupRegistries, processRegistries } from '../core/observability/process-figures.ts'
import { scrapedFigures } from '../core/observability/scraped-figures.ts'
import type { Services } from '../core/services.ts'
import { databaseMetrics } from './database-metrics.ts'

/** Prometheus itself gives up after 10 s unless told otherwise. */
const SCRAPE_MS = 8_000

/**
 * `GET /metrics` in Prometheus's text format: of this process (requests, iterations, connections, Node), and what the
 * database knows of runs, queue and workers. Where that does not answer in time, the process's own part still comes.
 * Of a group whichever process is asked answers for all: which one that is changes from scrape to scrape.
 */
export function metricsRoutes(services: Services): Hono<Env> {
  const { log, group } = services
  const figures = scrapedFigures(services)
  const own = processRegistries(services)
  return new Hono<Env>().get('/metrics', declare({ access: 'anyone', unlogged: 'on_success' }), async (c) => {
    requireReader(c, services.config.metricsToken)
    const [read, counted] = await Promise.all([
      withinTime(figures()).catch((error) => {
        log.warn('the database gave no figures for /metrics', { error: describe(error) })
        return undefined
      }),
      group === undefined ? own : group.figures().then(groupRegistries),
    ])
    const text = await exposition([...counted, databaseMetrics(read)])
    return c.body(text, 200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE })
  })
}

/** Figures tell how much is done here and by whom: a reader shows the token of the settings, or is on this machine. */
function requireReader(c: Context<Env>, token: string | undefined): void {
  const given = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  if (given !== undefined && token !== undefined && same(given, token)) return
  if (given === undefined && isLocalRequest(c)) return
  throw new AgentGymError({
    code: 'unauthenticated',
    message: 'Metrics are read from this machine, or with a token.',
    hint: 'Set AGENTGYM_METRICS_TOKEN on the server, and send it as a bearer token.',
  })
}

function same(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(given)), Buffer.from(hashSecret(expected)))
}

async function withinTime<Result>(reading: Promise<Result>): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${SCRAPE_MS} ms`)), SCRAPE_MS)
  try {
    return await Promise.race([reading, expired])
  } finally {
    clearTimeout(timer)
  }
}
