import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import type { Connection } from '../account/connection.ts'
import { callApi, sendIdempotent } from './call-api.ts'

/** Answers that it is unavailable this many times, and then as it should. */
let outages = 0
let retryAfter: string | undefined
let requests = 0
let listener: Server
let connection: Connection
beforeAll(async () => {
  listener = createServer((request, response) => {
    requests++
    request.resume()
    if (outages-- <= 0) return response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
    response.writeHead(503, { ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) })
    response.end(JSON.stringify({ error: { code: 'database_unavailable', message: 'It is down.' } }))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const server = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  connection = { server, token: null, tokenSource: null }
})
afterAll(() => void listener.close())
beforeEach(() => {
  requests = 0
  retryAfter = '0'
})

const answer = z.object({ ok: z.boolean() })
const unavailable = { code: 'database_unavailable', exit: 1 }

it('retries safe requests while the server is unavailable', async () => {
  outages = 3
  expect(await callApi(connection, { path: '/v1/thing', answer })).toEqual({ ok: true })
  expect(requests).toBe(4)
  outages = 1
  const request = { method: 'POST' as const, path: '/v1/orders', json: {}, answer }
  expect(await sendIdempotent(connection, request)).toEqual({ ok: true })
})

it('gives up after a while, and immediately without a retry time or with a long one', async () => {
  outages = 100
  await expect(callApi(connection, { path: '/v1/thing', answer })).rejects.toMatchObject(unavailable)
  expect(requests).toBe(4)
  for (const text of [undefined, '3600']) {
    retryAfter = text
    requests = 0
    await expect(callApi(connection, { path: '/v1/thing', answer })).rejects.toMatchObject(unavailable)
    expect(requests).toBe(1)
  }
})

it('never retries a write without an idempotency key', async () => {
  outages = 1
  const request = { method: 'POST' as const, path: '/v1/thing', json: {}, answer }
  await expect(callApi(connection, request)).rejects.toMatchObject(unavailable)
  expect(requests).toBe(1)
})

it('stops waiting when interrupted', async () => {
  outages = 1
  retryAfter = '10'
  const interrupt = new AbortController()
  const asked = callApi(connection, { path: '/v1/thing', answer, signal: interrupt.signal })
  while (requests === 0) await new Promise(setImmediate)
  interrupt.abort()
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
})
