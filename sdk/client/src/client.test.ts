import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { AgentGymError } from '@agentgym/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from './create-client.ts'
import { downloadPackage, integrityOf, packagePath, publishPackage, versionPath } from './packages.ts'
import { downloadCheckpoint, jobAddress, leaseJob } from './worker-api.ts'

const tarball = new Uint8Array(300_000).map((_, index) => index * 7)
const sha512 = (bytes: Uint8Array) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void
const failure = (status: number, code: string, extra: object = {}): Answer => {
  const error = { code, message: 'It failed.', ...extra }
  return (_, response) => void response.writeHead(status, { 'x-request-id': 'r-1' }).end(JSON.stringify({ error }))
}
const json = (body: unknown): Answer => {
  return (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const routes: Record<string, Answer> = {
  'GET /v1/account': ({ headers }, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ username: 'ada', authorization: headers.authorization ?? null })),
  'GET /v1/packages': failure(429, 'rate_limited', { hint: 'Wait.', data: { retry_after_seconds: 3 } }),
  'GET /new': failure(409, 'a_code_of_the_future', { hint: 'Update.' }),
  'GET /proxy': (_, response) => void response.writeHead(502).end('<html>bad gateway</html>'),
  'GET /busy': (_, response) => void response.writeHead(503, { 'retry-after': '7' }).end('<html>try later</html>'),
  'GET /npm/down.tgz': (_, response) =>
    void response.writeHead(503, { 'retry-after': '5' }).end('{"error":"It is down.","code":"storage_unavailable"}'),
  'PUT /limited': (_, response) => void response.writeHead(413).end('<html>413 Request Entity Too Large</html>'),
  'POST /v1/jobs/lease': (_, response) => void response.writeHead(204).end(),
  'GET /proxy-login': (_, response) => void response.writeHead(403).end('nope'),
  'GET /npm/paid.tgz': (_, response) =>
    void response.writeHead(402).end('{"error":"Buy it: agentgym buy it.","code":"payment_required"}'),
  'GET /npm/hosted.tgz': (_, response) => void response.writeHead(403).end('{"error":"No.","code":"hosted_only"}'),
  'GET /npm/foreign.tgz': (_, response) => void response.writeHead(402).end('{"error":"Pay."}'),
  'GET /whole.tgz': (_, response) => void response.end(tarball),
  'GET /damaged.tgz': (_, response) => void response.end(tarball.with(1000, 255 - tarball[1000])),
  'GET /cut.tgz': (_, response) => void response.end(tarball.subarray(1)),
  'GET /token': ({ headers }, response) => void response.end(headers.authorization ?? 'none'),
  'PUT /v1/packages/@acme/maze/versions/1.0.0': (request, response, body) =>
    json({
      name: '@acme/maze',
      version: '1.0.0',
      state: 'checking',
      url: request.url,
      integrity: sha512(body),
    })(request, response, body),
  'PUT /v1/packages/@acme/altered/versions/1.0.0': json({ integrity: sha512(new Uint8Array(1)) }),
}

let listener: Server
let server: string
beforeAll(async () => {
  listener = createServer(async (request, response) => {
    const body = await buffer(request)
    const path = request.url?.split('?')[0]
    const answer = routes[`${request.method} ${path}`] ?? failure(404, 'endpoint_not_found')
    answer(request, response, body)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  server = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
})
afterAll(() => void listener.close())

describe('createClient', () => {
  it('calls the documented routes with the token', async () => {
    const { data } = await createClient({ server: `${server}/`, token: 'agt_ada' }).GET('/v1/account')
    expect(data).toEqual({ username: 'ada', authorization: 'Bearer agt_ada' })
    expect((await createClient({ server }).GET('/v1/account')).data).toMatchObject({ authorization: null })
  })

  it("throws the server's error", async () => {
    await expect(createClient({ server }).GET('/v1/packages')).rejects.toMatchObject({
      name: 'AgentGymError',
      code: 'rate_limited',
      message: 'It failed.',
      hint: 'Wait.',
      data: { retry_after_seconds: 3, request_id: 'r-1', status: 429 },
    })
  })

  it.each([
    ['/new', 'request_invalid', 'It failed.'],
    ['/proxy', 'internal_error', 'The server answered 502 Bad Gateway to /proxy.'],
    ['/proxy-login', 'forbidden', 'The server answered 403 Forbidden to /proxy-login.'],
  ])('%s, an unknown error, is %s by its status', async (path, code, message) => {
    await expect(createClient({ server }).send(path)).rejects.toMatchObject({ code, message })
  })

  it('reports the time to retry', async () => {
    const failure = (path: string) =>
      createClient({ server })
        .send(path)
        .catch((error: AgentGymError) => error)
    expect(await failure('/busy')).toMatchObject({
      code: 'internal_error',
      data: { status: 503, retry_after_seconds: 7 },
    })
    const down = await failure('/npm/down.tgz')
    expect(down).toMatchObject({ code: 'storage_unavailable', data: { status: 503, retry_after_seconds: 5 } })
    // The server's trouble, and no wrong use of the command.
    expect(down).toHaveProperty('exit', 1)
  })

  it('names a proxy that refuses a body, and the setting to change', async () => {
    const sent = createClient({ server }).send('/limited', { method: 'PUT', body: new Uint8Array(2_000_000) })
    await expect(sent).rejects.toMatchObject({
      code: 'request_too_large',
      message: `The proxy in front of ${server} refused a request body of 2,000,000 bytes (status 413).`,
      hint: expect.stringContaining('client_max_body_size'),
      data: { refused_by: 'proxy', bytes: 2_000_000 },
    })
  })

  it('accepts no job from a server of an older release', async () => {
    const leasing = leaseJob(createClient({ server }), { kinds: ['check'] })
    await expect(leasing).rejects.toMatchObject({ code: 'worker_incompatible' })
  })

  it('throws errors of the npm registry, which are text', async () => {
    const client = createClient({ server })
    const failure = (path: string) => client.send(path).catch((error: AgentGymError) => error.toReport())
    expect(await failure('/npm/paid.tgz')).toMatchObject({
      code: 'payment_required',
      message: 'Buy it: agentgym buy it.',
    })
    expect(await failure('/npm/hosted.tgz')).toMatchObject({ code: 'hosted_only', message: 'No.' })
    expect(await failure('/npm/foreign.tgz')).toMatchObject({ code: 'payment_required', message: 'Pay.' })
  })

  it('reports an unreachable server with the reason', async () => {
    const gone = createServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`
    await new Promise((resolve) => gone.close(resolve))
    await expect(createClient({ server: address }).send('/')).rejects.toMatchObject({
      code: 'server_unreachable',
      message: `The server ${address} did not answer (ECONNREFUSED).`,
    })
  })

  it('an abort stays an abort', async () => {
    await expect(createClient({ server }).send('/whole.tgz', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('sends the token to its own server only', async () => {
    const client = createClient({ server, token: 'agt_ada' })
    expect(await (await client.send('/token')).text()).toBe('Bearer agt_ada')
    const elsewhere = server.replace('127.0.0.1', 'localhost')
    expect(await (await client.send(`${elsewhere}/token`)).text()).toBe('none')
  })
})

describe('packages', () => {
  const download = (path: string, limitBytes?: number) =>
    downloadPackage(createClient({ server }), {
      what: '@acme/maze@1.0.0',
      tarball: server + path,
      integrity: sha512(tarball),
      limitBytes,
    })

  it('downloads published packages', async () => {
    expect(Buffer.compare(await download('/whole.tgz'), tarball)).toBe(0)
  })

  it.each(['/damaged.tgz', '/cut.tgz'])('refuses %s', async (path) => {
    await expect(download(path)).rejects.toMatchObject({
      code: 'integrity_mismatch',
      message: expect.stringContaining('@acme/maze@1.0.0'),
    })
  })

  it('reads at most its limit', async () => {
    await expect(download('/whole.tgz', 1_000)).rejects.toMatchObject({ data: { limit_bytes: 1_000 } })
  })

  it.each([undefined, (_sent: number, _total: number) => {}])(
    'uploads a complete tarball, streamed or not',
    async (onProgress) => {
      const client = createClient({ server, token: 'agt_ada' })
      const request = { name: '@acme/maze', version: '1.0.0', tarball, tag: 'next', visibility: 'private' as const }
      expect(await publishPackage(client, { ...request, onProgress })).toEqual({
        name: '@acme/maze',
        version: '1.0.0',
        state: 'checking',
        url: '/v1/packages/@acme/maze/versions/1.0.0?tag=next&visibility=private',
        integrity: sha512(tarball),
      })
    },
  )

  it('reports upload progress up to 100%', async () => {
    const sent: number[] = []
    const onProgress = (bytes: number, total: number) => {
      expect(total).toBe(tarball.length)
      sent.push(bytes)
    }
    await publishPackage(createClient({ server }), { name: '@acme/maze', version: '1.0.0', tarball, onProgress })
    expect(sent).toEqual([...sent].sort((a, b) => a - b))
    expect(sent.at(-1)).toBe(tarball.length)
  })

  it('detects a different upload on the server', async () => {
    const request = { name: '@acme/altered', version: '1.0.0', tarball }
    await expect(publishPackage(createClient({ server }), request)).rejects.toMatchObject({
      code: 'integrity_mismatch',
    })
  })
})

describe('what belongs to a job', () => {
  it('is fetched with the token from the server that the worker works for, whatever its public address', async () => {
    const asked: [string, string | null][] = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      asked.push([String(url), new Headers(init?.headers).get('authorization')])
      return new Response('weights')
    }
    const client = createClient({ server: 'http://server:4477', token: 'secret', fetch })
    const url = 'https://gym.example.com/v1/jobs/7/checkpoint?iteration=3'
    const sha256 = createHash('sha256').update('weights').digest('hex')
    expect(await downloadCheckpoint(client, { lease: 'l' }, { url, sha256 })).toEqual(
      new TextEncoder().encode('weights'),
    )
    expect(asked).toEqual([['http://server:4477/v1/jobs/7/checkpoint?iteration=3', 'Bearer secret']])
    expect(jobAddress('https://gym.example.com/v1/jobs/7/tarball')).toBe('/v1/jobs/7/tarball')
  })
})

describe('paths and hashes', () => {
  it('keep the two parts of a name, and escape everything else', () => {
    expect(packagePath('@acme/cart-pole')).toBe('/v1/packages/@acme/cart-pole')
    expect(versionPath('@acme/maze', '1.0.0-rc.1+b')).toBe('/v1/packages/@acme/maze/versions/1.0.0-rc.1%2Bb')
    expect(packagePath('@acme/a?b#c%2f')).toBe('/v1/packages/@acme/a%3Fb%23c%252f')
  })

  it('are those of Node’s own hash', async () => {
    const property = fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
      expect(await integrityOf(bytes)).toBe(sha512(bytes))
    })
    await fc.assert(property)
  })
})
