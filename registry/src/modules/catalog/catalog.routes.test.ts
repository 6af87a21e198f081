import { packageListSchema, packagePageSchema, type VersionReadme, versionReadmeSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { z } from 'zod'
import { goodEntries } from '../../../../testdata/tarballs/good-package.ts'
import { archive, gzip } from '../../../../testdata/tarballs/tar-writer.ts'
import { createApp } from '../../app/app.ts'
import { type HttpListener, listenHttp } from '../../app/http-listener.ts'
import { openModules } from '../../app/modules.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { publishVersion } from '../packages/publish-version.ts'
import { checkAll, createActor } from '../packages/testing/publishing.ts'

const firstReadme = `# 倒立摆 — crème brûlée 🚗👩‍🔬

مرحبا بالعالم

<script>alert('first')</script>

[here](javascript:alert(1)) and [there](https://example.org)
`

describeOnEngines('the catalogue over HTTP on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let listener: HttpListener
  let ada: Actor
  let name: string

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    const rooms = await openModules(services)
    listener = await listenHttp('127.0.0.1', 0)
    listener.answerWith(createApp(services, { routes: rooms.routes }).fetch)
    ada = await createActor(database)
    name = `@${ada.username}/cart-pole`
    await publish('1.0.0', firstReadme, { title: 'First' })
    await publish('2.0.0', '# Second\n', { title: 'Second', summary: 'Keep the pole upright on its cart.' })
  })
  afterAll(async () => {
    await listener.drain(0)
    await database.close()
    await services.remove()
  })

  const publish = async (version: string, readme: string, agentgym: Record<string, unknown>, more = {}) => {
    const entries = goodEntries({ name, version })
    const manifest = JSON.parse(String(entries[0].body))
    Object.assign(manifest, { keywords: ['pole', 'cart'], repository: 'git+https://example.org/a.git' })
    Object.assign(manifest.agentgym, agentgym)
    const files = [
      { ...entries[0], body: JSON.stringify(manifest) },
      { ...entries[1], body: readme },
    ]
    const tarball = gzip(archive([...files, ...entries.slice(2)]))
    await publishVersion(services, { actor: ada, name, version, tarball, ip: null, ...more })
    await checkAll(services)
  }
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${listener.port}${path}`, { headers })
  const read = async <Schema extends z.ZodType>(schema: Schema, path: string): Promise<z.infer<Schema>> => {
    const response = await get(path)
    expect(response.status).toBe(200)
    return schema.parse(await response.json())
  }

  it('stores README HTML at publishing, and ignores HTML of another sanitizer version', async () => {
    const { query } = database
    const versions = await query.selectFrom('versions').select('id').execute()
    const made = await query.selectFrom('readme_html').selectAll().execute()
    expect(made.map(({ version_id }) => version_id).sort()).toEqual(versions.map(({ id }) => id).sort())
    await query.updateTable('readme_html').set({ rendering: 1, html: '<p>stale</p>' }).execute()
    const shown = await read(packagePageSchema, `/v1/packages/${name}`)
    expect(shown.readme?.html).toContain('Second')
    expect(shown.readme?.html).not.toContain('stale')
  })

  it('shows a page at the URL printed by publishing', async () => {
    for (const path of [`/packages/${name}`, `/packages/${name.replace('/', '%2F')}`]) {
      const response = await get(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      const text = await response.text()
      expect(text).toContain(`agentgym train ${name}`)
      expect(text).toContain('Keep the pole upright on its cart.')
      expect(text).not.toContain('<script')
    }
    expect((await get('/packages/@nobody/nothing')).status).toBe(404)
  })

  it('lists published packages as described by their latest version', async () => {
    const list = await read(packageListSchema, '/v1/packages?q=cart+pole&kind=scenario')
    expect(list).toMatchObject({
      total: 1,
      next_cursor: null,
      facets: { kind: [{ value: 'scenario', count: 1 }], category: [{ value: 'navigation', count: 1 }] },
    })
    expect(list.packages).toMatchObject([
      { name, title: 'Second', latest_version: '2.0.0', keywords: ['pole', 'cart'] },
    ])
    expect((await read(packageListSchema, '/v1/packages?q=第一')).packages).toEqual([])
  })

  it('returns everything that a package page shows', async () => {
    const page = await read(packagePageSchema, `/v1/packages/${name}`)
    expect(page).toMatchObject({
      name,
      owner: { username: ada.username, kind: 'user' },
      latest: {
        version: '2.0.0',
        license: 'MIT',
        repository: 'https://example.org/a',
        published_by: ada.username,
        tarball: `http://localhost:4477/npm/${name}/-/cart-pole-2.0.0.tgz`,
        agentgym: { title: 'Second' },
        yanked: false,
      },
      readme: { markdown: '# Second\n', html: '<h1 dir="auto">Second</h1>' },
      tags: { latest: '2.0.0' },
      versions_count: 2,
    })
    expect(page.versions.map(({ version }) => version)).toEqual(['2.0.0', '1.0.0'])
    expect(page.quality.parts.map(({ id }) => id)).toContain('docs')
    const [listed] = (await read(packageListSchema, '/v1/packages')).packages
    expect(listed.quality).toBe(page.quality.score)
  })

  it("returns each version's own README, complete and with inert scripts", async () => {
    const path = `/v1/packages/${name}/versions/1.0.0/readme`
    const readme: VersionReadme = await read(versionReadmeSchema, path)
    expect(readme).toMatchObject({ name, version: '1.0.0', markdown: firstReadme })
    for (const text of ['倒立摆 — crème brûlée 🚗👩‍🔬', 'مرحبا بالعالم']) expect(readme.html).toContain(text)
    expect(readme.html).not.toMatch(/<script|javascript:/)
    expect(readme.html).toContain('<a href="https://example.org" rel="nofollow noopener noreferrer">there</a>')
    const page = await get(path, { accept: 'text/html' })
    expect(page.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
    const html = new TextDecoder('utf-8', { fatal: true }).decode(await page.arrayBuffer())
    expect(html).toContain(readme.html)
    const second = await read(versionReadmeSchema, `/v1/packages/${name}/versions/2.0.0/readme`)
    expect(second.markdown).toBe('# Second\n')
  })

  it.each(['', '/versions/1.0.0/readme'])('accepts every form of a name, but not doubly encoded: …%s', async (rest) => {
    const [scope, base] = name.split('/')
    const plain = await (await get(`/v1/packages/${scope}/${base}${rest}`)).json()
    for (const form of [`${scope}%2f${base}`, `${scope}%2F${base}`, `%40${scope.slice(1)}%2f${base}`]) {
      const response = await get(`/v1/packages/${form}${rest}`)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual(plain)
    }
    expect((await get(`/v1/packages/${scope}%252f${base}${rest}`)).status).toBe(404)
  })

  it('pages by cursors, and refuses forged ones', async () => {
    const first = await read(packageListSchema, '/v1/packages?limit=1&sort=newest')
    expect(first.next_cursor).toBeNull()
    for (const query of [
      'cursor=x',
      'cursor=%00',
      'cursor=WzEsMl0.AAAA',
      'limit=0',
      'sort=best',
      'category=%00',
      'kind=x',
    ]) {
      const response = await get(`/v1/packages?${query}`)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ error: { code: 'request_invalid' } })
    }
  })

  it('hides versions and packages from callers without access', async () => {
    const hidden = `@${ada.username}/hidden`
    await loadHidden(hidden)
    for (const path of [
      `/v1/packages/${hidden}`,
      `/v1/packages/${hidden}/versions/1.0.0/readme`,
      '/v1/packages/@no/thing',
    ]) {
      const response = await get(path)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'package_not_found' } })
    }
    const missing = await get(`/v1/packages/${name}/versions/9.9.9/readme`)
    expect(await missing.json()).toMatchObject({ error: { code: 'version_not_found' } })
    expect((await read(packageListSchema, '/v1/packages?q=hidden')).packages).toEqual([])
  })

  const loadHidden = async (hidden: string) => {
    const tarball = gzip(archive(goodEntries({ name: hidden })))
    const upload = { actor: ada, name: hidden, version: '1.0.0', tarball, ip: null, visibility: 'private' as const }
    await publishVersion(services, upload)
    await checkAll(services)
  }
})
