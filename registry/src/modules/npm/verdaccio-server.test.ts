import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { AgentGymError } from '@agentgym/contract'
import { expect, it } from 'vitest'
import type { ReadTarget } from './npm-path.ts'
import type { NpmSource, Packument } from './verdaccio-plugins.ts'
import { verdaccioReader } from './verdaccio-server.ts'

const signalsBefore = process.eventNames().filter((event) => String(event).startsWith('SIG'))
const emitBefore = process.emit
const reported: unknown[] = []
let downloads = 0
const reader = verdaccioReader('https://gym.test/sub', (error) => reported.push(error))

type Asked = { method?: 'GET' | 'HEAD'; headers?: Record<string, string> }

function source(changes: Partial<NpmSource> = {}): NpmSource {
  const manifest = (version: string) => ({
    name: '@t/s',
    version,
    dist: { tarball: `https://gym.test/sub/npm/@t/s/-/s-${version}.tgz`, integrity: 'sha512-AA' },
  })
  return {
    username: null,
    name: '@t/s',
    assertReadable: async () => {},
    packument: async () => ({
      name: '@t/s',
      _rev: '7-abc',
      readme: '# Grüße 你好',
      'dist-tags': { latest: '1.0.0' },
      time: { '1.0.0': '2026-01-01T00:00:00.000Z' },
      versions: { '1.0.0': manifest('1.0.0'), '2.0.0-rc.1': manifest('2.0.0-rc.1') },
    }),
    tarball: async (file) =>
      file === 's-1.0.0.tgz'
        ? {
            body: Readable.from([Buffer.from('tar'), Buffer.from('ball')]),
            size: 7,
            integrity: 'sha512-AA',
            downloaded: () => downloads++,
          }
        : undefined,
    ...changes,
  }
}

const packageTarget: ReadTarget = { kind: 'package', name: '@t/s' }
const tarballTarget: ReadTarget = { kind: 'tarball', name: '@t/s', file: 's-1.0.0.tgz' }

function read(target: ReadTarget, { method = 'GET', headers = {} }: Asked = {}, from = source()): Promise<Response> {
  return reader.read(target, { method, header: (name) => headers[name] }, from)
}

it('serves full and abbreviated packuments, with tarballs at the public URL', async () => {
  const whole = await read(packageTarget)
  const body = (await whole.json()) as Packument
  expect(body).toMatchObject({ name: '@t/s', _rev: '7-abc', readme: '# Grüße 你好', 'dist-tags': { latest: '1.0.0' } })
  expect(body.versions['1.0.0'].dist).toMatchObject({ tarball: 'https://gym.test/sub/npm/@t/s/-/s-1.0.0.tgz' })
  const brief = await read(packageTarget, { headers: { accept: 'application/vnd.npm.install-v1+json' } })
  expect(brief.headers.get('content-type')).toMatch('application/vnd.npm.install-v1+json')
  expect(await brief.json()).not.toHaveProperty('readme')
})

it('uses another host name in URLs only if both are local', async () => {
  const local = verdaccioReader('http://localhost:4477', (error) => reported.push(error))
  const tarballHost = async (from: typeof local, host: string) => {
    const response = await from.read(packageTarget, { method: 'GET', header: () => host }, source())
    const { versions } = (await response.json()) as Packument
    return new URL((versions['1.0.0'].dist as { tarball: string }).tarball).host
  }
  expect(await tarballHost(reader, 'evil.test')).toBe('gym.test')
  expect(await tarballHost(reader, '127.0.0.1:443')).toBe('gym.test')
  expect(await tarballHost(local, '127.0.0.1:4477')).toBe('127.0.0.1:4477')
  expect(await tarballHost(local, '127.0.0.1:9999')).toBe('localhost:4477')
  expect(await tarballHost(local, 'evil.test:4477')).toBe('localhost:4477')
})

it('answers 304 for cached packuments and tarballs', async () => {
  for (const target of [packageTarget, tarballTarget]) {
    const first = await read(target)
    await first.arrayBuffer()
    const again = await read(target, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
    expect([target.kind, again.status, again.body]).toEqual([target.kind, 304, null])
  }
})

it('serves a tarball, which counts as a download, and its HEAD, which does not', async () => {
  downloads = 0
  const whole = await read(tarballTarget)
  expect([whole.status, whole.headers.get('content-length'), await whole.text()]).toEqual([200, '7', 'tarball'])
  const head = await read(tarballTarget, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, '7', null])
  expect(downloads).toBe(1)
})

it('compresses a large packument at the reader’s pace', async () => {
  const { versions, ...rest } = await source().packument()
  const many = Array.from({ length: 3_000 }, (_, index) => [`1.0.${index}`, versions['1.0.0']])
  const packument = async () => ({ ...rest, versions: Object.fromEntries(many) })
  const plain = await (await read(packageTarget, {}, source({ packument }))).text()
  const packed = await read(packageTarget, { headers: { 'accept-encoding': 'gzip' } }, source({ packument }))
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(packed.headers.get('content-length')).toBeNull()
  const bytes = new Uint8Array(await packed.arrayBuffer())
  expect(bytes.byteLength).toBeLessThan(plain.length / 4)
  expect(gunzipSync(bytes).toString()).toBe(plain)
})

it('serves a tarball of many chunks byte for byte', async () => {
  const bytes = randomBytes(3_000_000)
  const tarball = async () => ({
    body: Readable.from(chunksOf(bytes)),
    size: bytes.length,
    integrity: 'x',
    downloaded() {},
  })
  const response = await read(tarballTarget, {}, source({ tarball }))
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
})

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

it('serves one version by number or tag', async () => {
  for (const version of ['1.0.0', 'latest'])
    expect(await (await read({ kind: 'version', name: '@t/s', version })).json()).toMatchObject({ version: '1.0.0' })
})

it('does not make a prerelease latest if there is no latest', async () => {
  const { versions, ...rest } = await source().packument()
  const onlyPrerelease = async () => ({ ...rest, 'dist-tags': { next: '2.0.0-rc.1' }, versions })
  const body = (await (await read(packageTarget, {}, source({ packument: onlyPrerelease }))).json()) as Packument
  expect(body['dist-tags']).toEqual({ next: '2.0.0-rc.1' })
  const latest = await read(
    { kind: 'version', name: '@t/s', version: 'latest' },
    {},
    source({ packument: onlyPrerelease }),
  )
  expect(latest.status).toBe(404)
})

it('refuses with the access rules’ own error and code', async () => {
  const refused = new AgentGymError({
    code: 'package_not_found',
    message: 'Package @t/s not found.',
    hint: 'Log in.',
  })
  const assertReadable = async () => {
    throw refused
  }
  for (const target of [packageTarget, tarballTarget])
    await expect(read(target, {}, source({ assertReadable }))).rejects.toBe(refused)
  const tarball = async () => {
    throw refused
  }
  for (const method of ['GET', 'HEAD'] as const)
    await expect(read(tarballTarget, { method }, source({ tarball }))).rejects.toBe(refused)
  expect(reported).toEqual([])
})

it('serves no pages of its own', async () => {
  for (const file of ['package.json', 's-9.9.9.tgz', 's.tgz']) {
    const response = await read({ ...tarballTarget, file })
    expect([file, response.status]).toEqual([file, 404])
    expect(response.headers.get('content-type')).toMatch('application/json')
  }
})

it('logs a bug, and reports only its occurrence to the client', async () => {
  const packument = async () => {
    throw new Error('connection to 10.0.0.7 refused')
  }
  const response = await read(packageTarget, {}, source({ packument }))
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('10.0.0.7')
  expect(reported.splice(0)).toEqual([expect.objectContaining({ message: 'connection to 10.0.0.7 refused' })])
})

it('closes its source when the client disconnects', async () => {
  const body = new PassThrough()
  body.write('ta')
  const response = await read(
    tarballTarget,
    {},
    source({ tarball: async () => ({ body, size: 7, integrity: 'x', downloaded: () => downloads++ }) }),
  )
  await response.body?.cancel()
  if (!body.closed) await once(body, 'close')
  expect(body.destroyed).toBe(true)
})

it('tolerates a client that disconnects before the packument is ready', async () => {
  const client = new AbortController()
  const { promise: packument, resolve } = Promise.withResolvers<Packument>()
  const from = source({ packument: () => packument })
  const answer = reader.read(packageTarget, { method: 'GET', header: () => undefined, signal: client.signal }, from)
  client.abort()
  await expect(answer).rejects.toThrow('the client disconnected')
  resolve(await source().packument())
  expect((await read(packageTarget)).status).toBe(200)
})

it('lets clients cache with revalidation', async () => {
  const response = await read(packageTarget)
  expect(response.headers.get('cache-control')).toBe('private, no-cache')
  expect(response.headers.get('vary')).toMatch(/Accept.*Authorization/)
})

it('aborts a download when the storage fails in the middle', async () => {
  const body = new PassThrough()
  body.write('ta')
  const response = await read(
    tarballTarget,
    {},
    source({ tarball: async () => ({ body, size: 7, integrity: 'x', downloaded: () => downloads++ }) }),
  )
  expect(response.status).toBe(200)
  body.destroy(new Error('the bucket is gone'))
  await expect(response.text()).rejects.toThrow('the bucket is gone')
  expect(reported.splice(0)).toHaveLength(1)
})

it('leaves no signal listeners and does not replace process.emit', () => {
  expect(process.eventNames().filter((event) => String(event).startsWith('SIG'))).toEqual(signalsBefore)
  expect(process.emit).toBe(emitBefore)
})
