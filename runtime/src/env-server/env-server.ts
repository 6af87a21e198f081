import { checkKey } from '@agentgym/agent/own-server'
import { AgentGymError, errorCatalog } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { envMetrics } from './env-metrics.ts'
import { mountOpenEnv } from './openenv/openenv-routes.ts'
import { OutboundClient } from './outbound/outbound-client.ts'
import type { MountProtocol } from './protocol.ts'
import { mountRollouts } from './rollouts/rollout-routes.ts'
import type { ServedEnvironment } from './served-environment.ts'
import { type SessionLimits, Sessions } from './sessions.ts'
import { mountAgentGym } from './trainers/agentgym-routes.ts'
import { mountNemo } from './trainers/nemo-routes.ts'
import { mountVector } from './vector/vector-socket.ts'

export type EnvServerOptions = SessionLimits & {
  /** Clients must send it as a bearer token. Absent: everyone who reaches the server may use it. */
  key?: string
  /** Who reaches the server by any name may use it, without a key. Absent: without one, only this machine's own names are answered. */
  withoutKey?: boolean
  /** Origins of language models that `/rollouts` may call though they are not public, such as `http://127.0.0.1:8001`. */
  allowedModels?: readonly string[]
}

/** Protocols that every environment speaks. A further one is a function in a folder of its own, and a line here. */
const protocols: MountProtocol[] = [mountOpenEnv, mountAgentGym, mountNemo]

export type EnvServer = { app: Hono; sessions: Sessions }

/** Largest body of a request. */
const BODY_BYTES = 2 ** 20

/**
 * Environments behind the protocols of trainers: each below `/envs/NAME`, and the first one at `/` as well. The caller closes `sessions` and
 * the environments' hosts.
 */
export function envServer(environments: readonly ServedEnvironment[], options: EnvServerOptions): EnvServer {
  const { key, withoutKey = false, most, idleMs, allowedModels = [] } = options
  const app = new Hono()
  const sessions = new Sessions({ most, idleMs })
  const metrics = envMetrics(sessions)

  app.onError((error) => {
    const failure = error instanceof AgentGymError ? error : internal(error)
    metrics.failed('http', failure.code)
    return failureResponse(failure)
  })
  app.notFound((c) => {
    const failure = new AgentGymError({
      code: 'endpoint_not_found',
      message: `There is no ${c.req.method} ${c.req.path}.`,
      hint: `Environments: ${environments.map(({ name }) => `/envs/${name}`).join(', ')}; GET /openapi.json lists the routes of each.`,
    })
    return failureResponse(failure)
  })
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.use(async (c, next) => {
    if (key === undefined) checkOrigin(c, withoutKey)
    if (key !== undefined) checkKey(c.req.header('authorization'), key, 'Send it as Authorization: Bearer KEY.')
    await next()
  })
  app.use(bodyLimit({ maxSize: BODY_BYTES, onError: tooLarge }))
  app.get('/metrics', async (c) => c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }))
  app.get('/envs', (c) => c.json({ environments: environments.map(summaryOf) }))

  mountRollouts({ app, environments, sessions, client: new OutboundClient({ allowed: allowedModels }) })
  for (const [i, environment] of environments.entries()) {
    const routes = new Hono()
    for (const mount of protocols) mount({ app: routes, environment, sessions, metrics })
    // At `/`, the client says which scenario it wants.
    mountVector(routes, { environments: i === 0 ? environments : [environment], sessions, metrics })
    app.route(`/envs/${environment.name}`, routes)
    if (i === 0) app.route('/', routes)
  }
  return { app, sessions }
}

function summaryOf({ name, package: { name: scenario, version, agentgym } }: ServedEnvironment) {
  const { title, summary } = agentgym
  return { name, path: `/envs/${name}`, scenario, version, title, summary }
}

const failureHeaders: Record<number, Record<string, string>> = {
  401: { 'www-authenticate': 'Bearer' },
  // The rest of the body is not read, so nothing else can come on that connection.
  413: { connection: 'close' },
  503: { 'retry-after': '1' },
}

function failureResponse(failure: AgentGymError): Response {
  const { status } = errorCatalog[failure.code]
  const headers = failureHeaders[status] ?? {}
  const report = failure.toReport()
  // `detail` is where clients of OpenEnv look: a list for what does not fit a schema, as FastAPI has it.
  const { message, data } = report
  const detail = status === 422 ? [{ type: failure.code, loc: ['body', data?.field ?? 'body'], msg: message }] : message
  return Response.json({ detail, error: report }, { status, headers })
}

/**
 * Pages that a browser shows may reach this machine: without a key, only pages of the server itself may call it, by its own name, or by
 * `anyName` where the operator has opened it.
 */
function checkOrigin(c: Context, anyName: boolean): void {
  const host = c.req.header('host') ?? ''
  const origin = c.req.header('origin')
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const isOurs = anyName || name === 'localhost' || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name)
  if (isOurs && (origin === undefined || URL.parse(origin)?.host === host)) return
  throw new AgentGymError({
    code: 'forbidden',
    message: isOurs
      ? `Pages of ${origin?.slice(0, 200)} may not call this server.`
      : `The server is not called ${host.slice(0, 200)}.`,
    hint: 'Use the address that the server printed, or start it with a key.',
  })
}

function tooLarge(): never {
  throw new AgentGymError({
    code: 'request_too_large',
    message: `The body is larger than ${BODY_BYTES} bytes.`,
    data: { limit_bytes: BODY_BYTES },
  })
}

function internal(cause: unknown): AgentGymError {
  console.error(cause)
  return new AgentGymError({ code: 'internal_error', message: 'The server failed; its log says why.' }, { cause })
}
