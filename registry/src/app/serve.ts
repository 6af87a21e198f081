import { AgentGymError } from '@agentgym/contract'
import { makeSecret } from '../core/access/secret.ts'
import { outageIn } from '../core/dependencies/outage.ts'
import { type OpenSite, siteHost } from '../core/http/site.ts'
import { jsonLog } from '../core/observability/json-log.ts'
import { type MetricsSnapshot, processRegistries, readMetrics } from '../core/observability/process-metrics.ts'
import type { RequestTracer } from '../core/observability/tracing.ts'
import { startScheduledTasks } from '../core/scheduled-tasks/scheduled-tasks.ts'
import { isClaimed, setupSecret } from '../modules/accounts/index.ts'
import { answerWaiting } from './answer-waiting.ts'
import { createApp } from './app.ts'
import type { AppServices } from './app-services.ts'
import { commandPath } from './command-package.routes.ts'
import { createHttpListener, type HttpListener } from './http-listener.ts'
import { openModules } from './modules.ts'
import { openServices } from './open-services.ts'
import { auditTask } from './operating/audit-task.ts'
import { ownAddress } from './own-address.ts'
import { readPolicies } from './policies.ts'
import { isLoopback, readSettings, type ServeOptions, type Settings } from './settings/read-settings.ts'

export type RunningServer = {
  /** Its URL: `http://localhost:4477`. */
  url: string
  /** For the worker next to this process. Valid only for the lifetime of the process. */
  workerToken: string
  /** How to claim the server; null once it has had an operator. */
  unclaimed: Unclaimed | null
  /** The metrics of this process, as in `/metrics`. */
  figures(): Promise<MetricsSnapshot>
  /** Stops accepting requests, finishes active ones, and closes everything. Idempotent. */
  close(): Promise<void>
}

/**
 * `first_account`: the first account created from this machine becomes the operator. Otherwise the set-up secret is
 * required.
 */
export type Unclaimed = { by: 'first_account' } | { by: 'secret'; secret: string; page: string }

/** How long active requests may continue after the server starts to shut down. */
const GRACE_MS = 20_000

/**
 * Starts the service in this process: API, npm registry and catalog, configured by options and environment. Several
 * processes can share one PostgreSQL and one bucket.
 *
 * Throws `config_invalid`, naming the setting; `database_in_use`; `database_unavailable`, if PostgreSQL did not become
 * available in time; `storage_unavailable`, if the bucket denies access.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  const startedMs = performance.now()
  const settings = readSettings(options)
  const { group, environment = process.env } = options
  const log = jsonLog((line) => process.stderr.write(line), settings.logLevel, group && { process: group.process })
  if (environment.AGENTGYM_OPERATOR)
    log.warn('AGENTGYM_OPERATOR no longer makes a user an operator: unset it and run `agentgym operator add NAME`')
  const listener = createHttpListener(settings.host, settings.port)
  const servedPort = group?.servedPort ?? null
  if (servedPort === null) await listener.listen()
  const url = `http://${await ownAddress(settings.host)}:${servedPort ?? listener.port}`
  try {
    const opening = { publicUrl: settings.publicUrl ?? url, log, onWaiting: () => listener.answerWith(answerWaiting) }
    const services = { ...(await openServices(settings, opening)), group }
    const unclaimed = await requireClaim(services, settings.host)
    const workerToken = makeSecret('agt_')
    services.config.embeddedWorkerToken = workerToken
    // Loaded on demand: it adds 0.1 s to the start.
    const tracer =
      settings.tracing && (await import('../core/observability/open-tracing.ts')).openTracing(settings.tracing, log)
    const close = await start(services, listener, {
      database: settings.database,
      tracer: tracer ?? undefined,
      openSite: options.site,
      library: options.library,
      command: options.command,
      policies: settings.policies,
    }).catch(async (error) => {
      await services.database.close()
      throw error
    })
    if (servedPort !== null)
      await joinPort(listener, servedPort).catch(async (error) => {
        await close()
        throw error
      })
    log.info('serving', { url, database: services.database.kind, start_ms: Math.round(performance.now() - startedMs) })
    const counted = processRegistries(services)
    let closing: Promise<void> | undefined
    return {
      url,
      workerToken,
      unclaimed,
      figures: () => readMetrics(counted),
      close: () => {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await listener.drain(0)
    const outage = outageIn(error)
    throw outage === undefined ? error : new AgentGymError(outage.toReport(), { cause: error })
  }
}

/**
 * A server that others can reach listens only once it has an operator or a configured set-up secret, so that no one
 * else can claim it. Throws `config_invalid`.
 */
async function requireClaim({ database, config, log }: AppServices, host: string): Promise<Unclaimed | null> {
  if (await isClaimed(database.query)) return null
  if (config.local) return { by: 'first_account' }
  if (!isLoopback(host) && config.setupSecret === undefined) {
    await database.close()
    throw new AgentGymError({
      code: 'config_invalid',
      message: `This server has no operator yet, so it does not listen on ${host}.`,
      hint: 'Run `agentgym operator add NAME --email ADDRESS` with the same settings first, or set AGENTGYM_SETUP_SECRET and enter it at /setup.',
      data: { field: 'AGENTGYM_HOST', host },
    })
  }
  log.warn('no operator yet: run `agentgym operator add NAME`, or enter the set-up secret at /setup')
  return { by: 'secret', secret: setupSecret(config), page: `${config.publicUrl}/setup` }
}

/** Mounts the modules behind the listener. Resolves to a function that shuts all of it down gracefully. */
async function start(
  services: AppServices,
  listener: HttpListener,
  {
    database,
    tracer,
    openSite,
    library,
    command,
    policies,
  }: {
    database: Settings['database']
    tracer: RequestTracer | undefined
    openSite: OpenSite | undefined
    library: ServeOptions['library']
    command: ServeOptions['command']
    policies: Settings['policies']
  },
): Promise<() => Promise<void>> {
  const modules = await openModules(services, library)
  const stopping = new AbortController()
  const site = await openSite?.(siteHost(services, await readPolicies(policies), command && commandPath))
  const app = createApp(services, {
    routes: modules.routes,
    draining: () => stopping.signal.aborted,
    tracer,
    site,
    command,
    onPageView: ({ ip, userAgent, ...view }) =>
      services.usage.record({ kind: 'view', ...view, client: { ip, userAgent } }),
  })
  listener.answerWith(app.fetch)
  const tasks = startScheduledTasks(services, [...modules.tasks, auditTask(services, database)], stopping.signal)
  const watches = [services.dependencies.watch(stopping.signal), services.replica?.watch(stopping.signal)]
  return async () => {
    stopping.abort()
    modules.drain()
    await listener.drain(GRACE_MS)
    await Promise.all([tasks, ...watches])
    await modules.close()
    await tracer?.close()
    await services.database.close()
    services.log.info('stopped')
  }
}

/** Listens on the port of the group. On another port no client would connect, and URLs in responses would be wrong. */
async function joinPort(listener: HttpListener, servedPort: number): Promise<void> {
  await listener.listen()
  if (listener.port !== servedPort)
    throw new Error(`listening on port ${listener.port} instead of ${servedPort}, the port of the group`)
}
