import { randomUUID } from 'node:crypto'
import { postgresql } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { OpenApiDocument } from '../../app/documentation.ts'
import { conformingCalls } from '../../app/testing/conforming-calls.ts'
import type { Database } from '../../core/database/database.ts'
import { createTrader } from '../orders/testing/marketplace.ts'
import { type PaymentsServer, startPaymentsServer } from './testing/payments-server.ts'

let database: Database
let server: PaymentsServer

beforeAll(async () => {
  database = await postgresql.open()
  server = await startPaymentsServer(database, null, { payoutHoldDays: 0 })
})
afterAll(async () => {
  await server.close()
  await database.close()
})

it('balances, payments, payouts and earnings match the OpenAPI document', async () => {
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as OpenApiDocument
  const { call } = conformingCalls(server.url, document)
  const token = await server.token(await createTrader(database))
  const post = (path: string, body: unknown, headers: Record<string, string> = { 'idempotency-key': randomUUID() }) =>
    call(path, { method: 'POST', body, token, headers })
  for (const test_outcome of ['succeeds', 'pending', 'disputed'])
    expect((await post('/v1/top-ups', { amount_minor: 500, test_outcome })).status).toBe(201)
  expect((await post('/v1/top-ups', { amount_minor: 500, test_outcome: 'declined' })).status).toBe(402)
  expect((await post('/v1/top-ups', { amount_minor: 500 }, {})).status).toBe(422)
  expect((await post('/v1/top-ups', { amount_minor: 500, account: 'nobody-at-all' })).status).toBe(404)
  expect((await post('/v1/payouts', {})).status).toBe(409)
  expect((await call('/v1/payout-destination', { method: 'PUT', body: {}, token })).status).toBe(200)
  expect((await post('/v1/payouts', {})).status).toBe(409)
  expect((await post('/v1/payouts', { amount_minor: 0 })).status).toBe(422)
  const { body } = await call('/v1/payments?limit=2', { token })
  const [{ id }] = (body as { payments: { id: string }[] }).payments
  const paths = ['/v1/balance', '/v1/payments', `/v1/payments/${id}`, '/v1/payouts', '/v1/payout-destination']
  for (const path of [...paths, '/v1/earnings', '/v1/earnings/entries', '/v1/earnings.csv']) {
    expect((await call(path, { token })).status, path).toBe(200)
    expect((await call(path)).status, path).toBe(401)
  }
  expect((await call(`/v1/payments/${randomUUID()}`, { token })).status).toBe(404)
  expect((await call('/v1/payments?cursor=made-up', { token })).status).toBe(422)
  expect((await call('/v1/webhooks/stripe', { method: 'POST', body: {} })).status).toBe(400)
})
