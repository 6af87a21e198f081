// @module-tag full
import { setTimeout as delay } from 'node:timers/promises'
import { publishPackage, versionPath } from '@agentgym/client'
import type { Run } from '@agentgym/contract'
import { runWorker } from '@agentgym/runtime'
import { packScenario } from '@agentgym/testkit/packages'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type OtlpCollector, startCollector } from '../../registry/src/app/testing/otlp-collector.ts'

let collector: OtlpCollector
let server: TestServer
const endpoint = process.env.OTEL_EXPORTER_OTLP_ENDPOINT
beforeEach(async () => {
  collector = await startCollector()
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
  server = await startServer({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
})
afterEach(async () => {
  if (endpoint === undefined) delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
  else process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint
  await server.remove()
  await collector.close()
})

it('one trace goes from the request through the worker to the iterations of the trainer', {
  timeout: 240_000,
}, async () => {
  const operator = await server.signUp('operator', ['worker'])
  const { client } = await server.signUp('acme')
  const stop = new AbortController()
  const worker = runWorker({ server: server.url, token: operator.token, slots: 1, stop: stop.signal, pollMs: 100 })
  const packed = await packScenario('cart-pole', { name: '@acme/cart-pole' })
  await publishPackage(client, packed)
  const read = async <Answer>(address: string) => (await (await client.send(address)).json()) as Answer
  while ((await read<{ state: string }>(versionPath(packed.name, packed.version))).state === 'checking')
    await delay(100)
  const settings = { environments: 8, rollout_steps: 32, evaluation_episodes: 4 }
  const started = await client.send('/v1/runs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ scenario: packed.name, steps: 1_024, settings }),
  })
  const { id } = (await started.json()) as Run
  while (['queued', 'running'].includes((await read<Run>(`/v1/runs/${id}`)).state)) await delay(100)
  stop.abort()
  await worker

  await collector.until('job.train')
  const spans = await collector.until('POST /v1/runs')
  const request = spans.find(({ name }) => name === 'POST /v1/runs')
  const job = spans.find(({ name }) => name === 'job.train')
  expect(job).toMatchObject({
    traceId: request?.traceId,
    parentSpanId: request?.spanId,
    failed: false,
    attributes: { 'agentgym.run_id': id, 'agentgym.attempt': 1, 'agentgym.state': 'completed' },
    resource: { 'service.name': 'agentgym-worker' },
  })
  const iterations = spans.filter(({ name }) => name === 'trainer.iteration')
  expect(iterations.map(({ attributes }) => attributes['agentgym.iteration'])).toEqual([1, 2, 3, 4])
  expect(
    iterations.every(({ parentSpanId, traceId }) => parentSpanId === job?.spanId && traceId === job?.traceId),
  ).toBe(true)
})
