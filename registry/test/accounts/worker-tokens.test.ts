import { randomUUID } from 'node:crypto'
import { type JobKind, type WorkKind, workerProtocol, workerProtocolHeader, workKindSchema } from '@agentgym/contract'
import { postgresql } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import type { Handler, Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../../testdata/episodes/sample-episode.ts'
import { openModules } from '../../src/app/modules.ts'
import type { WorkerBinding } from '../../src/core/access/authorize.ts'
import type { Database } from '../../src/core/database/database.ts'
import type { Env, RouteRules } from '../../src/core/http/env.ts'
import { leaseOf } from '../../src/core/queue/leases.ts'
import { insertAccount } from '../../src/modules/accounts/accounts.store.ts'
import { createToken } from '../../src/modules/accounts/tokens.store.ts'

const id = randomUUID()
const about = { package: '@acme/x', version: '1.0.0', account: 'acme' }
const sha256 = '0'.repeat(64)
const rental = {
  ...{ provider: 'runpod', gpu: 'L4', memory_bytes: null, cents_per_hour: 40, max_seconds: 3_600, wait_seconds: 60 },
  limits: { machines: 1, cents_per_hour: 100, cents_per_day: 100 },
}

/** Every route for workers, with the kind of work it is for and a request that only the binding refuses. */
type Row = { route: string; kinds: WorkKind[]; path?: string; json?: (lease: (kind: JobKind) => string) => unknown }
const rows: Row[] = [
  ...(['replay', 'check', 'evaluate', 'train'] as const).flatMap((kind): Row[] => [
    { route: 'POST /v1/jobs/lease', kinds: [kind], json: () => ({ kinds: [kind] }) },
    { route: 'POST /v1/jobs/:id/heartbeat', kinds: [kind], json: (lease) => ({ lease: lease(kind) }) },
    { route: 'POST /v1/jobs/:id/release', kinds: [kind], json: (lease) => ({ lease: lease(kind), reason: 'x' }) },
  ]),
  {
    route: 'POST /v1/jobs/:id/replay',
    kinds: ['replay'],
    json: (lease) => ({ lease: lease('replay'), episode: null, error: { code: 'worker_failed', message: 'x' } }),
  },
  {
    route: 'POST /v1/jobs/:id/result',
    kinds: ['check'],
    json: (lease) => ({
      lease: lease('check'),
      report: { ok: false, name: '@acme/x', version: '1.0.0', checks: [{ id: 'x', ok: false, message: 'x' }] },
    }),
  },
  {
    route: 'POST /v1/jobs/:id/evaluation',
    kinds: ['evaluate'],
    json: (lease) => ({
      ...{ lease: lease('evaluate'), checks: [{ id: 'x', ok: true, message: '' }] },
      ...{ output_hash: null, results: [], runtime: {} },
    }),
  },
  {
    route: 'POST /v1/jobs/:id/progress',
    kinds: ['train'],
    json: (lease) => ({ lease: lease('train'), points: [], metered_ms: 0 }),
  },
  {
    route: 'PUT /v1/jobs/:id/checkpoint',
    kinds: ['train'],
    path: `/v1/jobs/${id}/checkpoint?iteration=1&steps=1&seconds=1&metered_ms=1&sha256=${sha256}`,
  },
  {
    route: 'POST /v1/jobs/:id/trajectories',
    kinds: ['train'],
    json: (lease) => ({
      lease: lease('train'),
      trajectories: [{ iteration: 1, environment: 0, return: 0, length: 0, partial: false, steps: [] }],
    }),
  },
  { route: 'PUT /v1/jobs/:id/parts', kinds: ['train'], path: `/v1/jobs/${id}/parts` },
  {
    route: 'POST /v1/jobs/:id/checkpoint',
    kinds: ['train'],
    json: (lease) => ({
      ...{ lease: lease('train'), parts: [sha256], iteration: 1, steps: 1, seconds: 1, metered_ms: 1, sha256 },
    }),
  },
  {
    route: 'POST /v1/jobs/:id/agent',
    kinds: ['train'],
    json: (lease) => ({ lease: lease('train'), parts: [sha256] }),
  },
  { route: 'PUT /v1/jobs/:id/agent', kinds: ['train'], path: `/v1/jobs/${id}/agent` },
  {
    route: 'POST /v1/jobs/:id/outcome',
    kinds: ['train'],
    json: (lease) => ({ lease: lease('train'), metered_ms: 0, outcome: { state: 'cancelled' } }),
  },
  {
    route: 'POST /v1/hosted-calls/lease',
    kinds: ['call'],
    json: () => ({ worker_id: id, loaded: [], wait_ms: 0 }),
  },
  {
    route: 'POST /v1/hosted-calls/answers',
    kinds: ['call'],
    json: () => ({ lease: 'x', answers: [{ id, error: { code: 'agent_failed', message: 'x' } }] }),
  },
  {
    route: 'POST /v1/usage-events',
    kinds: ['call'],
    json: () => ({ events: [{ id, ...about, calls: 1, at: new Date().toISOString() }] }),
  },
  { route: 'POST /v1/call-allowance', kinds: ['call'], json: () => about },
  {
    route: 'POST /v1/jobs/:id/episodes',
    kinds: ['train'],
    json: (lease) => ({
      ...{ lease: lease('train'), iteration: 1, steps: 1, return: 0, length: 1, episode: sampleEpisode() },
    }),
  },
  // Only for the process that rents workers, never for a worker.
  { route: 'GET /v1/rentals', kinds: [], path: '/v1/rentals?wait_seconds=60' },
  { route: 'POST /v1/rentals', kinds: [], json: () => rental },
  { route: 'GET /v1/rentals/:id', kinds: [] },
  { route: 'PUT /v1/rentals/:id', kinds: [], json: () => ({ state: 'ended', reason: 'gone' }) },
]

describe('worker tokens', () => {
  let database: Database
  let app: ServedApp
  let routes: Hono<Env>[]
  let operatorId: string
  beforeAll(async () => {
    database = await postgresql.open()
    operatorId = await database.transaction(
      async (query) => (await insertAccount(query, { kind: 'user', username: 'ops', operator: true })).id,
    )
    app = await serveApp(database, [])
    routes = (await openModules(app.services)).routes
    await app.close()
    app = await serveApp(database, routes, { secret: app.services.config.secret })
  })
  afterAll(async () => {
    await app.close()
    await database.close()
  })

  const tokenBoundTo = async (worker: WorkerBinding | null) =>
    (
      await createToken(database.query, {
        ...{ accountId: operatorId, name: 'w', scopes: ['worker'], expiresAt: null, worker },
      })
    ).token
  const lease = (kind: JobKind) =>
    leaseOf(app.services.config.secret, { kind, id, attempt: 1, workerId: null } as Parameters<typeof leaseOf>[1])
  const send = async (token: string, { route, path, json }: Row) => {
    const [method, pattern] = route.split(' ')
    const response = await fetch(app.url + (path ?? pattern.replace(':id', id)), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'agentgym-lease': 'x',
        [workerProtocolHeader]: workerProtocol,
        'content-type': json === undefined ? 'application/octet-stream' : 'application/json',
      },
      body: method === 'GET' ? undefined : json === undefined ? 'x' : JSON.stringify(json(lease)),
    })
    const { error } = (response.status === 204 ? {} : await response.json()) as { error?: { message: string } }
    return { status: response.status, bound: error?.message.startsWith('The token can') ?? false }
  }

  it.each(rows)('$route of $kinds', async (row) => {
    const others = workKindSchema.options.filter((kind) => !row.kinds.includes(kind))
    expect(await send(await tokenBoundTo({ kinds: others, name: null }), row)).toEqual({ status: 403, bound: true })
    if (row.kinds.length > 0) {
      expect((await send(await tokenBoundTo({ kinds: row.kinds, name: null }), row)).bound).toBe(false)
    }
    expect((await send(await tokenBoundTo(null), row)).bound).toBe(false)
  })

  it('limited to a name are for that worker only', async () => {
    const token = await tokenBoundTo({ kinds: null, name: 'north' })
    const usage = { cpu: null, memory: null, gpu: null }
    const describe = (name: string) => ({
      ...{ id: randomUUID(), name, cores: 1, memory_bytes: 1, gpus: [], slots: 1, price_minor_per_hour: 0, usage },
    })
    const leaseAs = (worker?: ReturnType<typeof describe>) =>
      send(token, { route: 'POST /v1/jobs/lease', kinds: ['check'], json: () => ({ kinds: ['check'], worker }) })
    expect((await leaseAs(describe('north'))).status).toBe(204)
    for (const worker of [describe('south'), undefined]) expect((await leaseAs(worker)).status).toBe(403)
    const calls = (worker_name?: string) =>
      send(token, {
        ...{ route: 'POST /v1/hosted-calls/lease', kinds: ['call'] },
        json: () => ({ worker_id: id, worker_name, loaded: [], wait_ms: 0 }),
      })
    expect((await calls('north')).status).toBe(204)
    expect((await calls()).status).toBe(403)
  })

  it('are tested at every worker route', () => {
    const forWorkers = routes
      .flatMap((each) => each.routes)
      .filter(({ handler }) => {
        const access = (handler as Handler & { rules?: RouteRules }).rules?.access
        return typeof access === 'object' && access.operator === 'worker'
      })
      .map(({ method, path }) => `${method} ${path}`)
    expect([...new Set(rows.map(({ route }) => route))].sort()).toEqual([...new Set(forWorkers)].sort())
  })
})
