import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { goodEntries } from '../../../../testdata/tarballs/good-package.ts'
import { archive, gzip } from '../../../../testdata/tarballs/tar-writer.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { deleteTag, deprecateVersions, setTag, yankVersion } from './change-versions.ts'
import { describeVersion, describeVersions } from './describe-versions.ts'
import { packumentOf } from './packument.ts'
import { resolveVersion } from './resolve-version.ts'
import { checkAll, createActor, publish, upload } from './testing/publishing.ts'

describeOnEngines('who sees which package on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let name: string
  let change: { actor: Actor; name: string; ip: string }

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  beforeEach(async () => {
    ada = await createActor(database)
    name = `@${ada.username}/maze`
    change = { actor: ada, name, ip: '192.0.2.1' }
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const publishAll = async (...versions: string[]) => {
    for (const version of versions) await publish(services, ada, version)
  }
  const resolved = async (wanted: string, actor: Actor | null = null) =>
    (await resolveVersion(services, actor, name, wanted)).version

  it('unpublished versions are hidden from others, in any casing', async () => {
    const stranger = await createActor(database)
    await upload(services, ada, '1.0.0')
    for (const actor of [null, stranger])
      for (const request of [name, name.toUpperCase()])
        await expect(resolveVersion(services, actor, request, '1.0.0')).rejects.toMatchObject({
          code: 'package_not_found',
        })
    expect(await resolved('1.0.0', ada)).toBe('1.0.0')
    expect((await resolveVersion(services, ada, name.toUpperCase(), '1.0.0')).name).toBe(name)
    await expect(resolved('*', ada)).rejects.toMatchObject({ code: 'version_not_found' })
    await checkAll(services)
    await upload(services, ada, '1.1.0')
    await checkAll(services, false)
    expect((await describeVersions(database.query, stranger, name)).versions.map(({ version }) => version)).toEqual([
      '1.0.0',
    ])
    await expect(describeVersion(services, stranger, name, '1.1.0')).rejects.toMatchObject({
      code: 'version_not_found',
    })
    expect(await describeVersion(services, ada, name, '1.1.0')).toMatchObject({
      state: 'rejected',
      checks: [{ ok: false }],
    })
    expect(Object.keys((await packumentOf(services, null, name)).versions)).toEqual(['1.0.0'])
    expect((await packumentOf(services, ada, name)).versions['1.1.0'].deprecated).toMatch(/rejected/)
    for (const wanted of ['1.1.0', '^1.1.0'])
      await expect(resolved(wanted)).rejects.toMatchObject({ code: 'version_not_found' })
  })

  it('a private package is hidden from others, in any casing (B29)', async () => {
    const stranger = await createActor(database)
    await publish(services, ada, '1.0.0', { visibility: 'private' })
    for (const actor of [null, stranger, { ...ada, scopes: new Set<never>() }])
      for (const request of [name, name.toUpperCase(), name.replace('maze', 'Maze')])
        await expect(packumentOf(services, actor, request)).rejects.toMatchObject({ code: 'package_not_found' })
    await expect(yankVersion(services, { ...change, actor: stranger }, '1.0.0')).rejects.toMatchObject({
      code: 'package_not_found',
    })
    expect((await packumentOf(services, ada, name.toUpperCase())).name).toBe(name)
  })

  it('others’ packages cannot be changed', async () => {
    await publishAll('1.0.0')
    const by = { ...change, actor: await createActor(database) }
    const refused = { code: 'forbidden' }
    await expect(setTag(services, by, 'next', '1.0.0')).rejects.toMatchObject(refused)
    await expect(deleteTag(services, by, 'latest')).rejects.toMatchObject(refused)
    await expect(yankVersion(services, by, '1.0.0')).rejects.toMatchObject(refused)
    await expect(deprecateVersions(services, by, new Map([['1.0.0', 'x']]))).rejects.toMatchObject(refused)
    await expect(
      yankVersion(services, { ...change, actor: { ...ada, scopes: new Set(['packages:publish']) } }, '1.0.0'),
    ).rejects.toMatchObject(refused)
  })

  it('each version keeps its own README (B30)', async () => {
    const text = '# 迷宫\n\ncafé 🧭 متاهة <script>alert(1)</script>\n'
    const withReadme = (version: string, body: string) =>
      gzip(
        archive(
          goodEntries({ name, version }).map((entry) =>
            entry.path === 'package/README.md' ? { ...entry, body } : entry,
          ),
        ),
      )
    await publish(services, ada, '1.0.0', { tarball: withReadme('1.0.0', text) })
    await publish(services, ada, '2.0.0', { tarball: withReadme('2.0.0', '# Two\n') })
    expect((await describeVersion(services, null, name, '1.0.0')).readme).toBe(text)
    expect((await describeVersion(services, null, name, '2.0.0')).readme).toBe('# Two\n')
  })
})
