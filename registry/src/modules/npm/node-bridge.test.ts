import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { askNodeListener, type BridgedResponse } from './node-bridge.ts'

const requested = { method: 'GET', path: '/x', headers: { accept: 'text/plain' } } as const
const ask = (listener: (request: IncomingMessage, bridged: BridgedResponse) => void, signal?: AbortSignal) =>
  askNodeListener(listener, requested, signal)

it('returns status, headers and body as written', async () => {
  const response = await ask((request, { response }) => {
    response.setHeader('x-path', request.url ?? '')
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.writeHead(201, { 'content-type': request.headers.accept })
    response.write('one ')
    response.write(Buffer.from('two '))
    response.end('three')
  })
  expect(response.status).toBe(201)
  expect(response.headers.get('x-path')).toBe('/x')
  expect(response.headers.get('content-type')).toBe('text/plain')
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await response.text()).toBe('one two three')
})

it('has no body for HEAD, 204 and 304', async () => {
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    const response = await askNodeListener(
      (_request, { response }) => {
        response.statusCode = status
        response.setHeader('content-length', 5)
        response.end('12345')
      },
      { ...requested, method },
    )
    expect([response.status, response.body, response.headers.get('content-length')]).toEqual([status, null, '5'])
  }
})

it('makes the writer wait for a slow reader', async () => {
  let accepted = 0
  const response = await ask(async (_request, { response }) => {
    for (let index = 0; index < 64; index++) {
      accepted = index + 1
      if (!response.write(Buffer.alloc(64 * 1024))) await once(response, 'drain')
    }
    response.end()
  })
  await sleep(20)
  expect(accepted).toBeLessThan(16)
  expect((await response.arrayBuffer()).byteLength).toBe(64 * 64 * 1024)
})

it('closes the response when the reader disconnects', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const response = await ask((_request, { response }) => {
    response.on('close', resolve)
    response.write('begun')
  })
  await response.body?.cancel()
  await closed
})

it('rejects when the client disconnects before the response', async () => {
  const client = new AbortController()
  const answer = ask(() => client.abort(), client.signal)
  await expect(answer).rejects.toThrow('the client disconnected')
})

it('aborts the body if the listener fails after the headers', async () => {
  const response = await ask((_request, { response, fail }) => {
    response.write('begun')
    setImmediate(() => fail(new Error('the disk is gone')))
  })
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow('the disk is gone')
})
