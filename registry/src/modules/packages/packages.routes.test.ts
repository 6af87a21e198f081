import { createHash } from 'node:crypto'
import { createClient, publishPackage } from '@agentgym/client'
import { type ErrorReport, workerProtocol, workerProtocolHeader } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { goodTarball } from '../../../../testdata/tarballs/good-package.ts'
import { createApp } from '../../app/app.ts'
import { type HttpListener, listenHttp } from '../../app/http-listener.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { createToken } from '../accounts/tokens.store.ts'
import { jobRoutes } from '../jobs/jobs.routes.ts'
import { checkJobRoutes } from './check-jobs.routes.ts'
import { checkJobs } from './check-jobs.ts'
import { packageRoutes } from './packages.routes.ts'
import { createActor } from './testing/publishing.ts'

describeOnEngines('packages over HTTP on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let listener: HttpListener
  let url: string
  let ada: Actor
  let token: string
  let worker: string
  let name: string

  beforeAll(async () => {
    database = await open()
    listener = await listenHttp('127.0.0.1', 0)
    url = `http://127.0.0.1:${listener.port}`
    services = await testServices(database, {
      publicUrl: url,
      limits: { tarballBytes: 200_000, unpackedBytes: 2_000_000, files: 100, ratio: 100 },
    })
    listener.answerWith(
      createApp(services, {
        routes: [packageRoutes(services), jobRoutes(services, [checkJobs(services)]), checkJobRoutes(services)],
      }).fetch,
    )
    const operator = await createActor(database, 'op')
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
    worker = await tokenOf(operator, ['worker'])
  })
  beforeEach(async () => {
    ada = await createActor(database)
    name = `@${ada.username}/maze`
    token = await tokenOf(ada, ['packages:read', 'packages:publish', 'packages:manage'])
  })
  afterAll(async () => {
    await listener.drain(0)
    await database.close()
    await services.remove()
  })

  async function tokenOf(actor: Actor, scopes: Parameters<typeof createToken>[1]['scopes']): Promise<string> {
    const made = await createToken(database.query, {
      accountId: actor.accountId,
      name: 'test',
      scopes,
      expiresAt: null,
    })
    return made.token
  }
  async function ask(method: string, path: string, { as = token, body }: { as?: string | null; body?: object } = {}) {
    const headers: Record<string, string> = { [workerProtocolHeader]: workerProtocol }
    if (as !== null) headers.authorization = `Bearer ${as}`
    const isBytes = body instanceof Uint8Array
    if (body !== undefined) headers['content-type'] = isBytes ? 'application/octet-stream' : 'application/json'
    const sent = body === undefined || isBytes ? (body as Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(body)
    const response = await fetch(url + path, { method, headers, body: sent })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const put = (version: string, query = '') =>
    ask('PUT', `/v1/packages/${name}/versions/${version}${query}`, { body: goodTarball({ name, version }) })
  async function lease() {
    const { status, body } = await ask('POST', '/v1/jobs/lease', { as: worker, body: { kinds: ['check'] } })
    return status === 204 ? undefined : body
  }
  async function work(ok = true) {
    for (let job = await lease(); job !== undefined; job = await lease()) {
      const { version, name: of } = job.package
      const report = { ok, name: of, version, checks: [{ id: 'loads', ok, message: 'So it is.' }] }
      const { status } = await ask('POST', `/v1/jobs/${job.id}/result`, {
        as: worker,
        body: { lease: job.lease, report },
      })
      expect(status).toBe(200)
    }
  }

  it('from an upload by the client to its resolution by others', async () => {
    const tarball = goodTarball({ name, version: '1.0.0' })
    const client = createClient({ server: url, token })
    const sent: number[] = []
    const published = await publishPackage(client, {
      name,
      version: '1.0.0',
      tarball,
      onProgress: (bytes) => sent.push(bytes),
    })
    expect(published).toMatchObject({ name, version: '1.0.0', state: 'checking' })
    expect(published.url.startsWith(url)).toBe(true)
    expect(sent.at(-1)).toBe(tarball.length)
    expect(await ask('GET', `/v1/packages/${name}/versions/1.0.0`, { as: null })).toMatchObject({ status: 404 })
    expect((await ask('GET', `/v1/packages/${name}/versions/1.0.0`)).body).toMatchObject({
      state: 'checking',
      checks: [],
    })
    await work()
    expect((await put('1.0.0')).status).toBe(200)
    expect(await ask('GET', `/v1/packages/${name}/resolve?range=^1`, { as: null })).toMatchObject({
      status: 200,
      body: { name, version: '1.0.0', integrity: published.served_integrity, deprecated: null, yanked: false },
    })
    expect((await ask('GET', `/v1/packages/${name}/versions`, { as: null })).body).toMatchObject({
      tags: { latest: '1.0.0' },
      versions: [{ version: '1.0.0', state: 'published', downloads: 0 }],
    })
    expect((await ask('GET', `/v1/packages/${name}/versions/1.0.0`, { as: null })).body).toMatchObject({
      tags: ['latest'],
      checks: [{ id: 'loads', ok: true }],
      manifest: { name },
      readme: expect.stringContaining('# Maze'),
    })
  })

  it('%2f, %2F and a slash name one package, %252f none (B25)', async () => {
    await put('1.0.0')
    await work()
    const [scope, base] = name.split('/')
    for (const form of [
      name,
      `${scope}%2f${base}`,
      `${scope}%2F${base}`,
      `%40${scope.slice(1)}%2f${base}`,
      name.toUpperCase(),
    ])
      for (const tail of ['/versions', '/versions/1.0.0', '/resolve', '/tags'])
        expect((await ask('GET', `/v1/packages/${form}${tail}`, { as: null })).body, form + tail).toMatchObject({
          name,
        })
    for (const tail of ['/versions', '/versions/1.0.0', '/resolve', '/tags'])
      expect((await ask('GET', `/v1/packages/${scope}%252f${base}${tail}`)).status, tail).toBe(404)
  })

  it('tags, deprecation and yank', async () => {
    await put('1.0.0')
    await put('1.1.0', '?tag=next')
    await work()
    const path = `/v1/packages/${name}`
    expect((await ask('GET', `${path}/tags`)).body.tags).toEqual({ latest: '1.0.0', next: '1.1.0' })
    expect((await ask('PUT', `${path}/tags/latest`, { body: { version: '1.1.0' } })).status).toBe(204)
    expect((await ask('DELETE', `${path}/tags/next`)).status).toBe(204)
    expect((await ask('DELETE', `${path}/tags/latest`)).body.error.code).toBe('tag_protected')
    expect((await ask('PUT', `${path}/versions/1.1.0/deprecation`, { body: { message: 'No.' } })).status).toBe(204)
    expect((await ask('GET', `${path}/resolve?range=latest`)).body).toMatchObject({
      version: '1.1.0',
      deprecated: 'No.',
    })
    expect((await ask('PUT', `${path}/versions/1.1.0/yank`)).status).toBe(204)
    expect((await ask('GET', `${path}/resolve`)).body).toMatchObject({ version: '1.0.0' })
    expect((await ask('GET', `${path}/resolve?range=1.1.0`)).body).toMatchObject({ yanked: true })
    expect((await ask('DELETE', `${path}/versions/1.1.0/yank`)).status).toBe(204)
    expect((await ask('GET', `${path}/resolve`)).body).toMatchObject({ version: '1.1.0' })
  })

  it('reports errors by code and status', async () => {
    const path = `/v1/packages/${name}/versions/1.0.0`
    const upload = async (as: string | null, body: object, at = path) => {
      const answer = await ask('PUT', at, { as, body })
      return [answer.status, answer.body.error.code]
    }
    const good = goodTarball({ name, version: '1.0.0' })
    expect(await upload(null, good)).toEqual([401, 'unauthenticated'])
    expect(await upload(await tokenOf(ada, ['packages:read']), good)).toEqual([403, 'forbidden'])
    expect(await upload(token, Buffer.from('text'))).toEqual([422, 'tarball_not_gzip'])
    expect(await upload(token, goodTarball({ name, version: '1.0.1' }))).toEqual([422, 'package_version_mismatch'])
    expect(await upload(token, good, path.replace('maze', 'Maze'))).toEqual([422, 'name_invalid'])
    expect(await upload(token, good, path.replace('1.0.0', 'v1.0'))).toEqual([422, 'version_invalid'])
    expect(await upload(token, good, `${path}?visibility=secret`)).toEqual([422, 'request_invalid'])
    expect(await upload(token, Buffer.alloc(300_000))).toEqual([413, 'request_too_large'])
    expect((await put('1.0.0')).status).toBe(202)
    expect(await upload(token, goodTarball({ name, version: '1.0.0', license: 'ISC' }))).toEqual([
      409,
      'version_exists',
    ])
    await work()
  })

  it('a worker of an older release gets no job, and no file for a lease in the URL', async () => {
    await put('1.0.0')
    const authorization = `Bearer ${worker}`
    const headers = { authorization, 'content-type': 'application/json' }
    const leasing = await fetch(`${url}/v1/jobs/lease`, { method: 'POST', headers, body: '{"kinds":["check"]}' })
    const { error } = (await leasing.json()) as { error: ErrorReport }
    expect([leasing.status, error.code]).toEqual([403, 'worker_incompatible'])
    expect(error.hint).toContain('Update the worker')
    const job = await lease()
    const download = await fetch(`${job.package.tarball_url}?lease=${encodeURIComponent(job.lease)}`)
    expect([download.status, await download.json()]).toMatchObject([403, { error: { code: 'worker_incompatible' } }])
    await ask('POST', `/v1/jobs/${job.id}/release`, { as: worker, body: { lease: job.lease, reason: '' } })
    await work()
  })

  it('workers need a worker token, and download by the lease alone', async () => {
    await put('1.0.0')
    const leaseAs = (as: string | null) => ask('POST', '/v1/jobs/lease', { as, body: { kinds: ['check'] } })
    expect((await leaseAs(null)).status).toBe(401)
    expect((await leaseAs(token)).status).toBe(403)
    expect((await leaseAs(await tokenOf(ada, ['worker']))).status).toBe(403)
    const job = await lease()
    const download = (headers: Record<string, string>) => fetch(job.package.tarball_url, { headers })
    const response = await download({ 'agentgym-lease': job.lease })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(`sha512-${createHash('sha512').update(bytes).digest('base64')}`).toBe(job.package.integrity)
    expect((await download({ 'agentgym-lease': `0.forged.${job.lease.slice(9)}` })).status).toBe(409)
    const beat = await ask('POST', `/v1/jobs/${job.id}/heartbeat`, { as: worker, body: { lease: job.lease } })
    expect(beat).toMatchObject({ status: 200, body: { expires_at: expect.any(String) } })
    const report = { ok: true, name, version: '1.0.0', checks: [{ id: 'loads', ok: true, message: 'So it is.' }] }
    const result = (lease: string) => ask('POST', `/v1/jobs/${job.id}/result`, { as: worker, body: { lease, report } })
    expect((await result('0.forged')).body.error.code).toBe('lease_lost')
    expect((await result(job.lease)).body).toEqual({ state: 'published' })
    expect(await result(job.lease)).toMatchObject({ status: 409, body: { error: { code: 'lease_lost' } } })
    expect((await download({ 'agentgym-lease': job.lease })).status).toBe(409)
    expect(await lease()).toBeUndefined()
  })
})
