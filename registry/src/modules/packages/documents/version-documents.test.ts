import { createHash, randomBytes } from 'node:crypto'
import {
  changeListSchema,
  fileListSchema,
  fileViewSchema,
  type VersionReadme,
  versionComparisonSchema,
  versionReadmeSchema,
} from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { gif, jpeg, png, webp } from '../../../../../testdata/pictures/raw-pictures.ts'
import { goodEntries } from '../../../../../testdata/tarballs/good-package.ts'
import { archive, gzip, type RawEntry } from '../../../../../testdata/tarballs/tar-writer.ts'
import { createApp } from '../../../app/app.ts'
import { openModules } from '../../../app/modules.ts'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import { backgroundSettled } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import { keepFilesOfOlder } from '../files/version-files.store.ts'
import { renewDocuments, sweepObjects } from '../packages.tasks.ts'
import { publishVersion } from '../publish-version.ts'
import { checkAll, createActor } from '../testing/publishing.ts'
import { readReadmePicture } from './version-documents.store.ts'

describeOnEngines('documents of versions on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let name: string
  let app: ReturnType<typeof createApp>

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    app = createApp(services, { routes: (await openModules(services)).routes })
  })
  beforeEach(async () => {
    ada = await createActor(database)
    name = `@${ada.username}/maze`
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  type Files = Record<string, string | Buffer>
  const publish = async (version: string, readme: string, files: Files = {}, more: object = {}) => {
    const [manifest, , ...rest] = goodEntries({ name, version })
    // Pictures before the README and after it.
    const own: RawEntry[] = Object.entries(files).map(([path, body]) => ({ path: `package/${path}`, body }))
    const half = own.length >> 1
    const entries = [
      manifest,
      ...own.slice(0, half),
      { path: 'package/README.md', body: readme },
      ...own.slice(half),
      ...rest,
    ]
    const tarball = gzip(archive(entries))
    await publishVersion(services, { actor: ada, name, version, tarball, ip: null, ...more })
    await checkAll(services)
    await backgroundSettled()
  }
  const get = async (path: string, headers: Record<string, string> = {}) => app.request(path, { headers })
  const readmeOf = async (version: string): Promise<VersionReadme> =>
    versionReadmeSchema.parse(await (await get(`/v1/packages/${name}/versions/${version}/readme`)).json())
  const shownIn = (html: string) => [...html.matchAll(/<img src="([^"]+)"[^>]*>/g)].map(([, address]) => address)

  it('shows the images in a README by hash, with their size', async () => {
    const files = {
      'docs/curve.png': png(640, 480),
      'docs/a picture.jpg': jpeg(320, 240),
      'run.gif': gif(32, 16),
      // Its name is wrong, and a picture all the same.
      'photo.png': webp('VP8X', 800, 600),
    }
    await publish(
      '1.0.0',
      '# A\n\n![A curve](docs/curve.png)\n\n![b](<./docs/a picture.jpg>) ![c](run.gif) ![d](photo.png) ![again](docs/curve.png)\n',
      files,
    )
    const { html } = await readmeOf('1.0.0')
    const addresses = shownIn(html)
    expect(html).toMatch(/alt="A curve" width="640" height="480" loading="lazy"/)
    expect(addresses).toHaveLength(5)
    expect(addresses[4]).toBe(addresses[0])
    const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
    for (const [index, body] of Object.values(files).entries()) {
      const response = await get(addresses[index])
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': types[index],
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
        'cache-control': 'private, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)
      const etag = response.headers.get('etag') ?? ''
      expect((await get(addresses[index], { 'if-none-match': etag })).status).toBe(304)
    }
  })

  it('serves no other files, and no images of other versions', async () => {
    await publish('1.0.0', '![x](a.png)', { 'a.png': png(4, 4), 'hidden.png': png(5, 5) })
    await publish('2.0.0', 'No picture.', { 'a.png': png(4, 4) })
    const [shown] = shownIn((await readmeOf('1.0.0')).html)
    const pictures = `/v1/packages/${name}/versions/1.0.0/readme/pictures`
    const hidden = createHash('sha256').update(png(5, 5)).digest('hex')
    for (const path of [
      `${pictures}/${hidden}`,
      `${pictures}/${'0'.repeat(64)}`,
      shown.replace('/1.0.0/', '/2.0.0/'),
      shown.replace('/1.0.0/', '/9.9.9/'),
      shown.toUpperCase(),
      `${pictures}/a.png`,
      `${pictures}/..%2f..%2fpackage.json`,
      `${pictures}/%2e%2e/package.json`,
      `${pictures}/${hidden}%00`,
    ]) {
      const response = await get(path)
      expect([404, 422], path).toContain(response.status)
      expect(response.headers.get('content-type')).toContain('application/json')
    }
  })

  it('shows invalid, oversized, surplus and external images as text', async () => {
    const html = `<!doctype html><script>alert(1)</script>${' '.repeat(64)}`
    const files: Files = {
      'page.png': html,
      'vector.png': `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${' '.repeat(64)}</svg>`,
      'vector.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'bomb.png': png(1, 1, { width: 60_000, height: 60_000 }),
      'large.png': Buffer.concat([png(8, 8), randomBytes(2 * 1024 * 1024)]),
      'Case.png': png(8, 8),
      'polyglot.png': Buffer.concat([png(9, 9), Buffer.from(html)]),
    }
    const named = [...Object.keys(files), 'case.png', '../a.png', '/a.png', 'data:image/png;base64,AAAA', 'missing.png']
    await publish('1.0.0', named.map((path) => `![${path}](${path})`).join('\n\n'), files)
    const readme = (await readmeOf('1.0.0')).html
    // An image with trailing data is served as an image only.
    expect(shownIn(readme)).toHaveLength(2)
    const [, polyglot] = shownIn(readme)
    expect((await get(polyglot)).headers.get('content-type')).toBe('image/png')
    for (const path of ['page.png', 'vector.png', 'vector.svg', 'bomb.png', 'large.png', 'case.png', 'missing.png'])
      expect(readme).toContain(`<a>${path}</a>`)
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`p${index}.png`, png(4 + index, 4)]))
    await publish(
      '2.0.0',
      Object.keys(many)
        .map((path) => `![x](${path})`)
        .join(' '),
      many,
    )
    expect(shownIn((await readmeOf('2.0.0')).html)).toHaveLength(20)
  })

  it('shows images of a private package to members only, with revalidation', async () => {
    await publish('1.0.0', '![x](a.png)', { 'a.png': png(4, 4) }, { visibility: 'private' })
    const { html } = await database.query
      .selectFrom('readme_html')
      .innerJoin('versions', 'versions.id', 'version_id')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select('html')
      .where('packages.name', '=', name)
      .executeTakeFirstOrThrow()
    const [address] = shownIn(html)
    const refused = await get(address)
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error: { code: 'package_not_found' } })
    const requested = { name, version: '1.0.0', hash: address.slice(-64) }
    expect(await readReadmePicture(services, ada, requested)).toMatchObject({
      type: 'image/png',
      visibility: 'private',
    })
    const stranger = await createActor(database)
    await expect(readReadmePicture(services, stranger, requested)).rejects.toMatchObject({ code: 'package_not_found' })
  })

  it('keeps images from the sweeper while a README shows them', async () => {
    await publish('1.0.0', '![x](a.png)', { 'a.png': png(7, 7) })
    const [address] = shownIn((await readmeOf('1.0.0')).html)
    const orphan = await services.objects.put(png(99, 3))
    await sweepObjects(services, new Date(Date.now() + 24 * 60 * 60_000))
    expect(await services.objects.has(orphan)).toBe(false)
    expect((await get(address)).status).toBe(200)
  })

  it('regenerates documents of an earlier renderer, without images until then, and without retries', async () => {
    await publish('1.0.0', '![x](a.png)', { 'a.png': png(6, 6), 'CHANGELOG.md': '## 1.0.0\n\n- The first.\n' })
    await publish('2.0.0', '![x](a.png)', { 'a.png': png(8, 8) })
    const { query } = database
    const versions = await query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'package_id')
      .select(['versions.id', 'version', 'object_key'])
      .where('packages.name', '=', name)
      .execute()
    for (const { id } of versions) {
      await query
        .updateTable('readme_html')
        .set({ rendering: 2, html: '<a>x</a>' })
        .where('version_id', '=', id)
        .execute()
      await query.deleteFrom('readme_pictures').where('version_id', '=', id).execute()
      await query.deleteFrom('version_changes').where('version_id', '=', id).execute()
    }
    await services.objects.delete(versions.find(({ version }) => version === '2.0.0')?.object_key ?? '')
    expect((await readmeOf('1.0.0')).html).toBe('<p dir="auto"><a>x</a></p>')
    await renewDocuments(services)
    const [address] = shownIn((await readmeOf('1.0.0')).html)
    expect((await get(address)).status).toBe(200)
    expect((await changesIn()).map(({ version }) => version)).toEqual(['1.0.0'])
    expect((await readmeOf('2.0.0')).html).toBe('<p dir="auto"><a>x</a></p>')
    const stale = await query.selectFrom('readme_html').select('version_id').where('rendering', '<', 3).execute()
    expect(stale).toEqual([])
  })

  const changesIn = async (query = '') =>
    changeListSchema.parse(await (await get(`/v1/packages/${name}/changes${query}`)).json()).changes

  it('lists each version’s own release notes, newest first, or null', async () => {
    const all =
      '# Changelog\n\n## 3.0.0\n\n- Third <script>x</script> [a](javascript:x) ![p](a.png)\n\n## 1.0.0\n\n- First\n'
    await publish('1.0.0', '# A', { 'CHANGELOG.md': all })
    await publish('2.0.0', '# A', { 'CHANGELOG.md': all })
    await publish('3.0.0', '# A', { 'changelog.md': all, 'a.png': png(4, 4) })
    await publish('4.0.0', '# A', { 'CHANGELOG.md': Buffer.of(0xff, 0xfe, 0) })
    const changes = await changesIn()
    expect(changes.map(({ version }) => version)).toEqual(['3.0.0', '1.0.0'])
    expect(changes[1].html).toContain('<li dir="auto">First</li>')
    expect(changes[0].html).not.toMatch(/<script|javascript:|<img/)
    expect((await changesIn('?before=3.0.0&limit=1')).map(({ version }) => version)).toEqual(['1.0.0'])
    expect((await get(`/v1/packages/${name}/changes?before=9.9.9`)).status).toBe(404)
    const details = await (await get(`/v1/packages/${name}/versions/3.0.0`)).json()
    expect(details).toMatchObject({ changes: { markdown: expect.stringContaining('Third') } })
    expect(await (await get(`/v1/packages/${name}/versions/4.0.0`)).json()).toMatchObject({ changes: null })
    const list = await (await get(`/v1/packages/${name}/versions`)).json()
    expect(list).toMatchObject({ versions: [{ version: '4.0.0', checks_passed: 1, checks_count: 1 }, {}, {}, {}] })
  })

  const filesIn = (version: string) => `/v1/packages/${name}/versions/${version}/files`
  const contentOf = (version: string, path: string) =>
    get(`${filesIn(version)}/content?path=${encodeURIComponent(path)}`)

  it('lists files, and shows texts highlighted, cut, escaped, or not at all', async () => {
    const odd = "src/it's & #1 50% é.ts"
    const files: Files = {
      [odd]: '// </span><script>alert(1)</script>\r\nexport const a = 1',
      'data.bin': Buffer.of(0, 1, 2),
      'latin.txt': Buffer.of(0x61, 0xe9),
      'long.txt': 'line\n'.repeat(2_500),
      'large.json': `"${'x'.repeat(600_000)}"`,
      'wide.js': `a=${'('.repeat(60_000)}`,
    }
    await publish('1.0.0', '# A', files)
    const list = fileListSchema.parse(await (await get(filesIn('1.0.0'))).json())
    expect(list).toMatchObject({ name, version: '1.0.0', ready: true, refused: null })
    expect(list.files.every(({ readable }) => readable)).toBe(true)
    const texts = Object.fromEntries(list.files.map(({ path, text }) => [path, text]))
    expect(texts).toEqual({
      ...{ 'README.md': true, 'package.json': true, 'dist/scenario.js': true, 'src/index.ts': true },
      ...{ [odd]: true, 'data.bin': false, 'latin.txt': false, 'long.txt': true, 'large.json': false, 'wide.js': true },
    })
    const viewOf = async (path: string) =>
      fileViewSchema.parse(await (await get(`${filesIn('1.0.0')}/view?path=${encodeURIComponent(path)}`)).json())
    const view = await viewOf(odd)
    expect(view).toMatchObject({ path: odd, lines: 2, shown_lines: 2, complete: true })
    expect(view.html).not.toContain('<script')
    expect(view.html.split('\n')[1]).toContain('<span class="tok-keyword">export</span>')
    expect(await viewOf('long.txt')).toMatchObject({ lines: 2_500, shown_lines: 2_000, complete: false })
    // Nests deeper than the stack: as it is, without highlighting.
    expect((await viewOf('wide.js')).html).toBe(files['wide.js'])
    const response = await contentOf('1.0.0', odd)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': "attachment; filename*=UTF-8''it%27s%20%26%20%231%2050%25%20%C3%A9.ts",
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
    })
    expect(await response.text()).toBe(files[odd])
    for (const path of ['data.bin', 'latin.txt', 'large.json', 'missing', '../package.json', '/etc/passwd', 'src'])
      expect(await (await contentOf('1.0.0', path)).json()).toMatchObject({ error: { code: 'package_file_not_found' } })
  })

  it('compares the files of two versions', async () => {
    const many = (letter: string) => Array.from({ length: 4_000 }, (_, index) => `${letter}${index}\n`).join('')
    await publish('1.0.0', '# A', { 'gone.txt': 'x', 'data.bin': Buffer.of(0, 1), 'other.txt': many('a') })
    await publish('2.0.0', '# B', { 'new.txt': 'y\n', 'data.bin': Buffer.of(0, 2), 'other.txt': many('b') })
    const answer = await get(`/v1/packages/${name}/versions/2.0.0/compare/1.0.0`)
    const { files, ...rest } = versionComparisonSchema.parse(await answer.json())
    expect(rest).toMatchObject({ version: '2.0.0', base: '1.0.0', ready: true, refused: null, files_changed: 6 })
    const found = Object.fromEntries(files.map(({ path, ...file }) => [path, file]))
    expect(found['README.md'].hunks).toEqual([
      {
        before_line: 1,
        after_line: 1,
        lines: ['-# A', '\\ No newline at end of file', '+# B', '\\ No newline at end of file'],
      },
    ])
    expect(found['gone.txt']).toMatchObject({ change: 'removed', size_before: 1, size_after: null })
    expect(found['new.txt']).toMatchObject({ change: 'added', hunks: [{ lines: ['+y'] }] })
    expect(found['data.bin']).toMatchObject({ change: 'modified', hunks: null, omitted: 'binary' })
    expect(found['other.txt']).toMatchObject({ hunks: null, omitted: 'too_large' })
    expect((await get(`/v1/packages/${name}/versions/2.0.0/compare/3.0.0`)).status).toBe(404)
  })

  it('reads files of versions from before once, also where the tarball is lost', async () => {
    await publish('1.0.0', '# A', { 'a.txt': 'a' })
    const { query } = database
    const version = await query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'package_id')
      .select(['versions.id', 'object_key'])
      .where('packages.name', '=', name)
      .executeTakeFirstOrThrow()
    const forget = async () => {
      await query.deleteFrom('version_files').where('version_id', '=', version.id).execute()
      await query.updateTable('versions').set({ files_kept: false }).where('id', '=', version.id).execute()
    }
    await forget()
    expect(await (await get(filesIn('1.0.0'))).json()).toMatchObject({ ready: false, files: [] })
    const later = new Date(Date.now() + 60 * 60_000)
    await keepFilesOfOlder(services, later)
    expect(await (await contentOf('1.0.0', 'a.txt')).text()).toBe('a')
    await forget()
    await services.objects.delete(version.object_key)
    await keepFilesOfOlder(services, later)
    expect(await (await get(filesIn('1.0.0'))).json()).toMatchObject({ ready: true, files: [] })
  })

  it('does not reveal unpublished versions', async () => {
    await publish('1.0.0', '# A', { 'CHANGELOG.md': '## 1.0.0\n\n- First\n' })
    const tarball = gzip(
      archive([
        ...goodEntries({ name, version: '1.1.0' }),
        { path: 'package/CHANGELOG.md', body: '## 1.1.0\n\n- Secret\n' },
      ]),
    )
    await publishVersion(services, { actor: ada, name, version: '1.1.0', tarball, ip: null })
    expect((await changesIn()).map(({ version }) => version)).toEqual(['1.0.0'])
    for (const path of [filesIn('1.1.0'), `/v1/packages/${name}/versions/1.0.0/compare/1.1.0`])
      expect((await get(path)).status).toBe(404)
    expect((await contentOf('1.1.0', 'README.md')).status).toBe(404)
    await checkAll(services, false)
    expect((await changesIn()).map(({ version }) => version)).toEqual(['1.0.0'])
  })
})
