import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ServerType, serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../src/auth/actor.ts'
import { findPendingCode } from '../../src/auth/device-codes.store.ts'
import { decideDeviceCode } from '../../src/auth/device-log-in.ts'
import type { Database } from '../../src/database/database.ts'
import { unyankVersion, yankVersion } from '../../src/packages/change-versions.ts'
import { closeJobQueue } from '../../src/packages/job-queue.ts'
import { npmRoutes } from '../../src/packages/npm/npm.routes.ts'
import { resolveVersion } from '../../src/packages/resolve-version.ts'
import { createApp } from '../../src/server/app.ts'
import { testDatabases } from '../../src/testing/test-databases.ts'
import { type TestServices, testServices } from '../../src/testing/test-services.ts'
import { integrityOf, packScenario, publishDocument, type ScenarioPackage } from './scenario-package.ts'
import { freePort } from './start-registry.ts'
import { passCheck, signUp } from './test-registry.ts'

type Json = Record<string, unknown>
type Served = { 'dist-tags': Record<string, string>; versions: Record<string, Json>; readme?: string; _rev: string }

describe.each(await testDatabases())('npm registry on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let server: ServerType
  let url: string
  const tokens = new Map<string, string>()
  const accounts = new Map<string, string>()

  beforeAll(async () => {
    database = await open()
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    services = await testServices(database, { publicUrl: url })
    const app = createApp(services, { rooms: [npmRoutes(services)] })
    server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port })
    if (!server.listening) await once(server, 'listening')
    for (const username of ['acme', 'mallory']) {
      const { accountId, token } = await signUp(services, username, ['packages:manage'])
      tokens.set(username, token)
      accounts.set(username, accountId)
    }
  })
  afterAll(async () => {
    server.close()
    await closeJobQueue(database)
    await database.close()
    await services.remove()
  })

  type Options = { as?: string; method?: string; body?: string; headers?: Record<string, string> }
  async function ask(path: string, { as, method, body, headers = {} }: Options = {}): Promise<Response> {
    const authorization = as === undefined ? {} : { authorization: `Bearer ${tokens.get(as)}` }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    return fetch(`${url}/npm${path}`, { method, body, headers: { ...authorization, ...type, ...headers } })
  }
  const json = async (path: string, options?: Options) => (await (await ask(path, options)).json()) as Json
  const packument = async (name: string, as?: string) => (await json(`/${name}`, { as })) as unknown as Served

  /** Publishes as npm does, which sends `latest` unless told otherwise. */
  async function put(scenario: ScenarioPackage, as = 'acme', tag = 'latest'): Promise<Response> {
    const document = publishDocument(scenario, await packScenario(scenario), tag)
    return ask(`/${scenario.name.replace('/', '%2f')}`, { as, method: 'PUT', body: document })
  }
  async function pass(name: string, version: string): Promise<void> {
    const row = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select('versions.id')
      .where('packages.name', '=', name)
      .where('version', '=', version)
      .executeTakeFirstOrThrow()
    await passCheck(services, row.id, { name, version })
  }
  async function published(scenario: ScenarioPackage, tag?: string): Promise<void> {
    const response = await put(scenario, 'acme', tag)
    expect(response.status, await response.text()).toBe(201)
    await pass(scenario.name, scenario.version)
  }
  const change = (name: string) => ({
    actor: {
      accountId: accounts.get('acme') ?? '',
      username: 'acme',
      emailVerified: true,
      operator: false,
      tokenId: null,
      scopes: new Set(['packages:read', 'packages:publish', 'packages:manage'] as const),
    },
    name,
    ip: null,
  })

  describe('B25: the forms of a scoped name', () => {
    beforeAll(() => published({ name: '@acme/forms', version: '1.0.0' }))
    const forms = ['@acme/forms', '@acme%2fforms', '@acme%2Fforms']

    it('are one package for reading and for tags', async () => {
      const [first, ...others] = await Promise.all(
        forms.flatMap((form) => [form, form.toUpperCase().replace('%2F', '%2f')]).map((form) => json(`/${form}`)),
      )
      expect(first).toMatchObject({ name: '@acme/forms', 'dist-tags': { latest: '1.0.0' } })
      for (const other of others) expect(other).toEqual(first)
      for (const form of forms) {
        expect(await json(`/${form}/1.0.0`)).toMatchObject({ version: '1.0.0' })
        expect(await json(`/-/package/${form}/dist-tags`)).toMatchObject({ latest: '1.0.0' })
        const tarball = await ask(`/${form}/-/forms-1.0.0.tgz`)
        expect(integrityOf(new Uint8Array(await tarball.arrayBuffer()))).toBe(
          ((first as unknown as Served).versions['1.0.0'].dist as { integrity: string }).integrity,
        )
        const tagged = await ask(`/-/package/${form}/dist-tags/stable`, { as: 'acme', method: 'PUT', body: '"1.0.0"' })
        expect(tagged.status).toBe(200)
      }
    })

    it('are for publishing as well', async () => {
      for (const [index, form] of forms.entries()) {
        const scenario = { name: '@acme/forms', version: `2.0.${index}` }
        const body = publishDocument(scenario, await packScenario(scenario))
        expect((await ask(`/${form}`, { as: 'acme', method: 'PUT', body })).status, form).toBe(201)
      }
    })

    it('are nothing when encoded twice', async () => {
      for (const path of ['/@acme%252fforms', '/@acme%252Fforms/1.0.0', '/@acme%252fforms/-/forms-1.0.0.tgz']) {
        const response = await ask(path, { as: 'acme' })
        expect([path, response.status]).toEqual([path, 404])
        expect(await response.json()).toMatchObject({ error: expect.any(String) })
      }
    })
  })

  describe('B26: latest', () => {
    const name = '@acme/latest'
    beforeAll(async () => {
      for (const version of ['1.0.0', '2.0.0', '2.1.0-rc.1', '1.0.1']) await published({ name, version })
    })

    it('goes neither to a prerelease nor back', async () => {
      expect((await packument(name))['dist-tags'].latest).toBe('2.0.0')
    })

    it('goes where somebody says by name, and other tags as well', async () => {
      await published({ name, version: '3.0.0-beta.1' }, 'beta')
      expect((await packument(name))['dist-tags']).toMatchObject({ beta: '3.0.0-beta.1', latest: '2.0.0' })
      const moved = await ask(`/-/package/${name}/dist-tags/latest`, { as: 'acme', method: 'PUT', body: '"1.0.1"' })
      expect(moved.status).toBe(200)
      expect((await packument(name))['dist-tags'].latest).toBe('1.0.1')
    })

    it('never becomes a prerelease by a yank (spare), and is none where nothing stable is left', async () => {
      const only = '@acme/yanked'
      for (const version of ['1.0.0', '1.1.0', '2.0.0-rc.1']) await published({ name: only, version })
      await yankVersion(services, change(only), '1.1.0')
      expect((await packument(only))['dist-tags'].latest).toBe('1.0.0')
      await yankVersion(services, change(only), '1.0.0')
      expect((await packument(only))['dist-tags']).toEqual({ rc: '2.0.0-rc.1' })
      expect((await ask(`/${only}/latest`)).status).toBe(404)
      await unyankVersion(services, change(only), '1.1.0')
      expect((await packument(only))['dist-tags'].latest).toBe('1.1.0')
    })
  })

  describe('B29: casing', () => {
    const name = '@acme/secret'
    beforeAll(async () => {
      const scenario = { name, version: '1.0.0' }
      const document = JSON.parse(publishDocument(scenario, await packScenario(scenario))) as Json
      const body = JSON.stringify({ ...document, access: 'restricted' })
      expect((await ask(`/${name}`, { as: 'acme', method: 'PUT', body })).status).toBe(201)
      await pass(name, '1.0.0')
    })

    it('does not make another name of one', async () => {
      const scenario = { name: '@acme/Secret', version: '1.0.0' }
      for (const as of ['acme', 'mallory']) {
        const response = await put(scenario, as)
        expect([422, 403]).toContain(response.status)
        expect(await response.json()).toMatchObject({ code: 'name_invalid' })
      }
    })

    it('opens nothing that is private, and closes nothing to its members', async () => {
      for (const form of ['@acme/secret', '@ACME/secret', '@acme/SECRET', '@Acme%2fSecret']) {
        for (const path of [
          `/${form}`,
          `/${form}/1.0.0`,
          `/${form}/-/secret-1.0.0.tgz`,
          `/-/package/${form}/dist-tags`,
        ]) {
          for (const as of [undefined, 'mallory']) {
            const response = await ask(path, { as })
            expect([path, as, response.status]).toEqual([path, as, 404])
            // Word for word what is said of a name that nobody has.
            const nobody = await ask(path.replace(/secret/gi, 'nobody'), { as })
            expect((await response.text()).replaceAll(/secret/gi, 'nobody').toLowerCase()).toBe(
              (await nobody.text()).toLowerCase(),
            )
          }
          expect([path, (await ask(path, { as: 'acme' })).status]).toEqual([path, 200])
        }
      }
    })

    it('and private names are in nobody else’s search (spare)', async () => {
      const names = async (as?: string) => {
        const { objects } = (await json('/-/v1/search?text=secret', { as })) as { objects: { package: Json }[] }
        return objects.map((object) => object.package.name)
      }
      expect(await names()).toEqual([])
      expect(await names('mallory')).toEqual([])
      expect(await names('acme')).toEqual([name])
    })
  })

  it('B30: each version has its own README, letter for letter', async () => {
    const name = '@acme/readme'
    const first = '# 版本一 — é ü 🐢 مرحبا\n\n<script>alert(1)</script>\n'
    await published({ name, version: '1.0.0', readme: first })
    await published({ name, version: '2.0.0', readme: '# Two\n' })
    expect(await json(`/${name}/1.0.0`)).toMatchObject({ version: '1.0.0', readme: first })
    expect(await json(`/${name}/latest`)).toMatchObject({ version: '2.0.0', readme: '# Two\n' })
    expect((await packument(name)).readme).toBe('# Two\n')
  })

  describe('deprecation', () => {
    const name = '@acme/old'
    beforeAll(async () => {
      for (const version of ['1.0.0', '1.1.0']) await published({ name, version })
    })
    const send = async (document: unknown) =>
      ask(`/${name}`, { as: 'acme', method: 'PUT', body: JSON.stringify(document) })

    it('in a package.json loses no older version and deprecates nothing (spare)', async () => {
      await published({ name, version: '1.2.0', fields: { deprecated: 'from the start' } })
      const { versions } = await packument(name)
      expect(Object.keys(versions)).toEqual(['1.0.0', '1.1.0', '1.2.0'])
      expect(versions['1.2.0']).not.toHaveProperty('deprecated')
    })

    it('by the document of npm sets what differs', async () => {
      const document = await packument(name, 'acme')
      document.versions['1.0.0'].deprecated = 'use 1.1'
      expect((await send(document)).status).toBe(200)
      const { versions } = await packument(name)
      expect([versions['1.0.0'].deprecated, versions['1.1.0'].deprecated]).toEqual(['use 1.1', undefined])
    })

    it('by a document that is out of date takes nothing of others back', async () => {
      const [mine, theirs] = [await packument(name, 'acme'), await packument(name, 'acme')]
      theirs.versions['1.1.0'].deprecated = 'has a leak'
      expect((await send(theirs)).status).toBe(200)
      mine.versions['1.0.0'].deprecated = ''
      const refused = await send(mine)
      expect([refused.status, await refused.json()]).toEqual([
        409,
        expect.objectContaining({ code: 'document_outdated' }),
      ])
      expect((await packument(name)).versions['1.1.0'].deprecated).toBe('has a leak')
    })

    it('by a document without some versions is an attempt to unpublish, and refused', async () => {
      const document = await packument(name, 'acme')
      delete document.versions['1.0.0']
      const response = await send(document)
      expect([response.status, (await response.json()) as Json]).toEqual([
        405,
        expect.objectContaining({ error: expect.stringContaining('agentgym yank') }),
      ])
    })

    it('is for members only', async () => {
      const document = await packument(name, 'mallory')
      document.versions['1.1.0'].deprecated = 'mine now'
      const body = JSON.stringify(document)
      expect((await ask(`/${name}`, { as: 'mallory', method: 'PUT', body })).status).toBe(403)
      expect((await ask(`/${name}`, { method: 'PUT', body })).status).toBe(401)
    })
  })

  it('a yanked version is passed over by ranges and found by its number, for npm and the API alike', async () => {
    const name = '@acme/gone'
    for (const version of ['1.0.0', '1.1.0']) await published({ name, version })
    await yankVersion(services, change(name), '1.1.0')
    const { versions } = await packument(name)
    expect(versions['1.1.0'].deprecated).toMatch(/yanked/)
    expect((await resolveVersion(services, null, name, '^1.0.0')).version).toBe('1.0.0')
    expect((await resolveVersion(services, null, name, '1.1.0')).version).toBe('1.1.0')
    expect((await ask(`/${name}/-/gone-1.1.0.tgz`)).status).toBe(200)
  })

  it('`workspace:` is refused in what is published (spare)', async () => {
    const response = await put({
      name: '@acme/linked',
      version: '1.0.0',
      fields: { dependencies: { '@acme/walls': 'workspace:^' } },
    })
    expect([response.status, await response.json()]).toEqual([
      422,
      { code: 'package_dependency_forbidden', error: expect.stringContaining('workspace:') },
    ])
    expect((await ask('/@acme/linked', { as: 'acme' })).status).toBe(404)
  })

  it('a publish that met an error of the server can be repeated (spare)', async () => {
    const scenario = { name: '@acme/retried', version: '1.0.0' }
    const objects = join(services.folder, 'objects')
    await rename(objects, `${objects}-away`)
    await writeFile(objects, 'not a folder')
    const failed = await put(scenario)
    expect([failed.status, (await failed.json()) as Json]).toEqual([
      500,
      expect.objectContaining({ code: 'internal_error' }),
    ])
    expect((await ask('/@acme/retried', { as: 'acme' })).status).toBe(404)
    await rename(objects, `${objects}-file`)
    await rename(`${objects}-away`, objects)
    expect((await put(scenario)).status).toBe(201)
    // Also where the answer was lost, and not the publish.
    expect((await put(scenario)).status).toBe(201)
    expect((await put({ ...scenario, readme: '# Something else' })).status).toBe(409)
  })

  it('what is not published is its owner’s alone', async () => {
    const name = '@acme/pending'
    expect((await put({ name, version: '1.0.0' })).status).toBe(201)
    expect((await ask(`/${name}`)).status).toBe(404)
    expect((await ask(`/${name}/-/pending-1.0.0.tgz`, { as: 'mallory' })).status).toBe(404)
    expect((await ask(`/${name}/-/pending-1.0.0.tgz`, { as: 'acme' })).status).toBe(200)
    await pass(name, '1.0.0')
    expect((await put({ name, version: '1.1.0' })).status).toBe(201)
    expect(Object.keys((await packument(name)).versions)).toEqual(['1.0.0'])
    expect(Object.keys((await packument(name, 'acme')).versions)).toEqual(['1.0.0', '1.1.0'])
    expect((await ask(`/${name}/-/pending-1.1.0.tgz`)).status).toBe(404)
  })

  describe('answers in npm’s form', () => {
    it.each([
      ['GET', '/-/npm/v1/attestations/@acme%2fforms@1.0.0', 404],
      ['POST', '/-/npm/v1/security/advisories/bulk', 404],
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
      const response = await ask(path, { method, body: method === 'GET' || method === 'DELETE' ? undefined : '{}' })
      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: expect.stringMatching(/\w/) })
      expect(response.headers.get('www-authenticate')).toBeNull()
    })

    it('to a token that does not hold', async () => {
      const response = await ask('/@acme/forms', { headers: { authorization: 'Bearer agt_nonsense' } })
      expect([response.status, await response.json()]).toEqual([
        401,
        { code: 'unauthenticated', error: expect.stringContaining('The token is unknown.') },
      ])
    })

    it('to a body that is too large', async () => {
      const response = await ask('/@acme/forms', { as: 'acme', method: 'PUT', body: 'x'.repeat(32 * 2 ** 20) }).catch(
        () => undefined,
      )
      if (response !== undefined) expect(response.status).toBe(413)
    })
  })

  it('logs in by a page of the browser, and out again', async () => {
    const { loginUrl, doneUrl } = (await json('/-/v1/login', { method: 'POST', body: '{}' })) as Record<string, string>
    const pending = await fetch(doneUrl)
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([202, '5'])
    const code = await findPendingCode(database.query, new URL(loginUrl).searchParams.get('user_code') ?? '')
    if (code === undefined) throw new Error('the code is not there')
    await decideDeviceCode(services, { ...change('').actor, scopes: new Set(scopes) }, code, 'approved', '127.0.0.1')
    await database.query.updateTable('device_codes').set({ polled_at: null }).execute()
    const { token } = (await (await fetch(doneUrl)).json()) as { token: string }
    tokens.set('logged in', token)
    expect(await json('/-/whoami', { as: 'logged in' })).toEqual({ username: 'acme' })
    expect((await ask(`/-/user/token/${token}`, { as: 'logged in', method: 'DELETE' })).status).toBe(200)
    expect((await ask('/-/whoami', { as: 'logged in' })).status).toBe(401)
    expect(JSON.stringify(services.logged)).not.toContain(token)
  })

  it('tells nothing of how it works', async () => {
    const response = await ask('/@acme/forms')
    const body = (await response.json()) as Json
    expect(response.headers.get('x-powered-by')).toBeNull()
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    for (const internal of ['_distfiles', '_uplinks']) expect(body).not.toHaveProperty(internal)
  })

  it('serves what was asked for conditionally and by HEAD', async () => {
    for (const path of ['/@acme/forms', '/@acme/forms/-/forms-1.0.0.tgz']) {
      const first = await ask(path, { method: 'HEAD' })
      expect([path, first.status]).toEqual([path, 200])
      const again = await ask(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
      expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
    }
  })
})
