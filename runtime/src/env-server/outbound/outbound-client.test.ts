import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { gzipSync } from 'node:zlib'
import { isPublicAddress } from '@agentgym/contract/outbound'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { OutboundClient } from './outbound-client.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

describe('public addresses', () => {
  it.each([
    ...['127.0.0.1', '10.1.2.3', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.100.100.200', '0.0.0.0'],
    ...['255.255.255.255', '224.0.0.1', '192.0.2.1', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254'],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001:db8::1',
      '2001:0:7f00::',
      'localhost',
    ],
  ])('%s is none', (address) => expect(isPublicAddress(address)).toBe(false))

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450::1'])('%s is one', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  )

  it('no address of a private network is, however it is written', () => {
    fc.assert(
      fc.property(fc.constantFrom(10, 127, 0), fc.ipV4(), (first, address) => {
        expect(isPublicAddress(address.replace(/^\d+/, String(first)))).toBe(false)
      }),
    )
  })
})

describe('addresses that are named', () => {
  it.each([
    ...['http://example.com/v1', 'ftp://example.com', 'file:///etc/passwd', 'nonsense', 'https://example.com:22/v1'],
    ...[
      'https://user:secret@example.com/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://0177.0.0.1/',
    ],
    ...['https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://169.254.169.254/', 'https://0/', 'https://127.1/'],
    ...['https://①②⑦.0.0.1/', 'https://127.0.0.1./'],
  ])('%s is refused before anything is resolved', async (address) => {
    const lookup: LookupFunction = () => expect.unreachable()
    await expect(client({ lookup }).post(address, {})).rejects.toMatchObject({ code: 'address_refused' })
  })

  it.each([['127.0.0.1'], ['10.0.0.1'], ['8.8.8.8', '192.168.1.1'], ['::ffff:169.254.169.254'], []])(
    'a name that stands for %j is refused',
    async (...addresses) => {
      const lookup: LookupFunction = (_name, _options, callback) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      await expect(client({ lookup }).post('https://rebinding.example/v1', {})).rejects.toMatchObject({
        code: 'address_refused',
        message: expect.stringContaining('rebinding.example'),
      })
    },
  )

  it('connects to an address that was looked at: a name is resolved once', async () => {
    let asked = 0
    const lookup: LookupFunction = (_name, _options, callback) => {
      asked += 1
      // Of a block that nobody has been given: nothing answers.
      callback(null, [{ address: asked === 1 ? '3000::1' : '127.0.0.1', family: asked === 1 ? 6 : 4 }])
    }
    const calling = client({ lookup, limits: { timeoutMs: 200, mostBytes: 1_000 } }).post(
      'https://rebinding.example/',
      {},
    )
    await expect(calling).rejects.toMatchObject({
      code: expect.stringMatching(/^language_model_(unreachable|timeout)$/),
    })
    expect(asked).toBe(1)
  })
})

describe('servers that the operator allows', () => {
  it('get the key of the request and nothing else, and answer', async () => {
    let headers: Record<string, unknown> = {}
    const url = await serve((request, response) => {
      headers = request.headers
      response.writeHead(200).end('{"ok":true}')
    })
    const answer = await client({ allowed: [url] }).post(
      `${url}/v1/chat/completions`,
      { model: 'm' },
      { key: 'theirs' },
    )
    expect(answer).toEqual({ status: 200, text: '{"ok":true}', retryAfter: null })
    expect(headers.authorization).toBe('Bearer theirs')
    expect(Object.keys(headers).sort()).toEqual(
      ['accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'host'].sort(),
    )
  })

  it('may not send the client elsewhere', async () => {
    let reached = false
    const inside = await serve((_request, response) => {
      reached = true
      response.end()
    })
    const url = await serve((_request, response) => response.writeHead(307, { location: inside }).end())
    await expect(client({ allowed: [url] }).post(url, {})).rejects.toMatchObject({ code: 'address_refused' })
    expect(reached).toBe(false)
  })

  it.each<[string, string, RequestListener]>([
    ['language_model_failed', 'its answer is too large', (_request, response) => void response.end('x'.repeat(5_000))],
    [
      'language_model_failed',
      'its answer is compressed',
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}')),
    ],
    ['language_model_timeout', 'no answer within', (_request, response) => void response.write('{')],
    ['language_model_unreachable', 'the connection failed', (request) => void request.socket.destroy()],
  ])('%s: %s', async (code, why, listener) => {
    const url = await serve(listener)
    const limited = client({ allowed: [url], limits: { timeoutMs: 500, mostBytes: 1_000 } })
    await expect(limited.post(url, {})).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why),
    })
  })
})

function client(options: Partial<ConstructorParameters<typeof OutboundClient>[0]>): OutboundClient {
  return new OutboundClient({ allowed: [], ...options })
}

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
