import { postgresql } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OtlpCollector, startCollector } from '../../app/testing/otlp-collector.ts'
import type { Database } from '../database/database.ts'
import { currentTraceparent } from '../http/request-context.ts'
import { createRoutes, declare } from '../http/route.ts'
import type { ServerConfig } from '../services.ts'
import { openTracing } from './open-tracing.ts'
import { tracingSettings } from './tracing.ts'

const callers = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const run = '3b241101-e2bb-4255-8caf-4136c566a962'
let database: Database
let collector: OtlpCollector
const closing: (() => Promise<void>)[] = []
beforeAll(async () => {
  database = await postgresql.open()
})
beforeEach(async () => {
  collector = await startCollector()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await collector.close()
})
afterAll(() => database.close())

function room() {
  return createRoutes()
    .post('/v1/runs', (c) => {
      c.set('runId', run)
      return c.json({ traceparent: currentTraceparent(c) }, 201)
    })
    .get('/v1/runs/:id', declare({ access: 'anyone', subject: 'run' }), (c) =>
      c.json({ traceparent: currentTraceparent(c) }),
    )
    .post('/v1/jobs/:id/outcome', declare({ access: 'anyone', subject: 'job' }), (c) => c.json({}))
    .post('/v1/jobs/lease', (c) => {
      c.set('jobId', run)
      return c.json({})
    })
    .get('/v1/bug', () => {
      throw new Error('the secret is 42')
    })
}

type Options = { config?: Partial<ServerConfig>; sampler?: 'always_off' | 'parentbased_always_on'; url?: string }

/** The application with a tracer and an exporter. */
async function serveTraced({ config = {}, sampler = 'parentbased_always_on', url }: Options = {}) {
  const settings = tracingSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: url ?? `${collector.url}/`,
    OTEL_TRACES_SAMPLER: sampler,
  })
  if (settings === null) return expect.fail('no settings')
  const lines: unknown[] = []
  const log = (message: string, data?: Record<string, unknown>) => void lines.push({ message, ...data })
  const tracer = openTracing(settings, { info: log, warn: log, error: log })
  const app = await serveApp(database, [room()], config, { tracer })
  closing.push(() => app.close())
  return { app, lines, send: () => tracer.close() }
}

async function call(app: ServedApp, path: string, init: RequestInit = {}): Promise<Record<string, string>> {
  return (await (await fetch(app.url + path, init)).json()) as Record<string, string>
}

describe('a request', () => {
  it('is a span with route, status and ID, and its trace context continues the trace', async () => {
    const { app, send } = await serveTraced()
    const response = await fetch(`${app.url}/v1/runs`, { method: 'POST' })
    const { traceparent } = (await response.json()) as Record<string, string>
    await send()
    const [span, ...others] = collector.spans
    expect(others).toEqual([])
    expect(traceparent).toBe(`00-${span.traceId}-${span.spanId}-01`)
    expect(span).toMatchObject({
      name: 'POST /v1/runs',
      kind: 2,
      parentSpanId: null,
      links: [],
      failed: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/runs',
        'http.response.status_code': 201,
        'agentgym.request_id': response.headers.get('x-request-id'),
        'agentgym.run_id': run,
      },
      resource: { 'service.name': 'agentgym-serve', 'service.version': expect.stringMatching(/^\d+\./) },
    })
  })

  it('has its run or job as an attribute', async () => {
    const { app, send } = await serveTraced()
    await call(app, `/v1/runs/${run}`)
    await call(app, `/v1/jobs/${run}/outcome`, { method: 'POST' })
    await call(app, '/v1/jobs/lease', { method: 'POST' })
    await call(app, '/v1/runs/no-id')
    await send()
    const about = collector.spans.map(({ name, attributes }) => [
      name,
      attributes['agentgym.run_id'],
      attributes['agentgym.job_id'],
    ])
    expect(about).toEqual([
      ['GET /v1/runs/:id', run, undefined],
      ['POST /v1/jobs/:id/outcome', undefined, run],
      ['POST /v1/jobs/lease', undefined, run],
      ['GET /v1/runs/:id', undefined, undefined],
    ])
  })

  it('is a failed span after a bug, without the cause', async () => {
    const { app, send } = await serveTraced()
    await call(app, '/v1/bug')
    await call(app, '/v1/nowhere?token=secret')
    await send()
    expect(collector.spans.map(({ name, failed }) => [name, failed])).toEqual([
      ['GET /v1/bug', true],
      ['GET unmatched', false],
    ])
    expect(JSON.stringify(collector.spans)).not.toMatch(/secret/)
  })

  it('has its trace in the log', async () => {
    const { app, send } = await serveTraced()
    await call(app, '/v1/runs', { method: 'POST' })
    await call(app, '/v1/bug')
    await send()
    const traced = app.services.logged.map(({ message, data }) => [message, data?.trace_id])
    const [first, second] = collector.spans.map(({ traceId }) => traceId)
    expect(traced).toEqual([
      ['request', first],
      ['a request failed', second],
      ['request', second],
    ])
  })
})

describe("a caller's trace", () => {
  const [, traceId, spanId] = callers.split('-')

  it.each<[string, Partial<ServerConfig>, Record<string, string>]>([
    ['a trusted proxy', { trustedProxies: 1 }, { 'x-forwarded-for': '203.0.113.9' }],
    ['this machine', {}, {}],
  ])('from %s is gone on with', async (_, config, headers) => {
    const { app, send } = await serveTraced({ config })
    const { traceparent } = await call(app, `/v1/runs/${run}`, { headers: { ...headers, traceparent: callers } })
    await send()
    expect(collector.spans[0]).toMatchObject({ traceId, parentSpanId: spanId, links: [] })
    expect(traceparent).toBe(`00-${traceId}-${collector.spans[0].spanId}-01`)
  })

  it('links to the trace of an untrusted caller instead of continuing it', async () => {
    const { app, send } = await serveTraced()
    const headers = { 'x-forwarded-for': '203.0.113.9', traceparent: callers }
    const { traceparent } = await call(app, `/v1/runs/${run}`, { headers })
    await send()
    expect(collector.spans[0]).toMatchObject({ parentSpanId: null, links: [{ traceId, spanId }] })
    expect(traceparent).not.toContain(traceId)
  })

  it.each([
    ['nothing', ''],
    ['a word', 'x'],
    ['no flags', `00-${traceId}-${spanId}`],
    ['a trace of noughts', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span of noughts', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a version that cannot be', `ff-${traceId}-${spanId}-01`],
    ['4,000 letters more', `${callers}-${'x'.repeat(4_000)}`],
  ])('is ignored if malformed: %s', async (_, traceparent) => {
    const { app, send } = await serveTraced()
    const answer = await call(app, `/v1/runs/${run}`, { headers: { traceparent } })
    await send()
    expect(answer.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(collector.spans[0]).toMatchObject({ parentSpanId: null, links: [] })
  })
})

describe('sampling and failures', () => {
  it('unsampled spans are not sent, and the trace context is marked', async () => {
    const { app, send } = await serveTraced({ sampler: 'always_off' })
    expect((await call(app, `/v1/runs/${run}`)).traceparent).toMatch(/-00$/)
    await send()
    expect(collector.spans).toEqual([])
  })

  it('follows the caller’s sampling decision', async () => {
    const { app, send } = await serveTraced({ config: { trustedProxies: 1 } })
    await call(app, `/v1/runs/${run}`, { headers: { traceparent: callers.replace(/01$/, '00') } })
    await send()
    expect(collector.spans).toEqual([])
  })

  it('does not block on an unavailable collector, and logs it', async () => {
    const { app, lines, send } = await serveTraced({ url: 'http://127.0.0.1:9' })
    expect(await call(app, `/v1/runs/${run}`)).toHaveProperty('traceparent')
    await send()
    expect(lines).toEqual([{ message: 'traces could not be sent', spans: 1, error: expect.stringMatching(/./) }])
  })
})
