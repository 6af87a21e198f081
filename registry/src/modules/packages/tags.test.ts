import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { deleteTag, deprecateVersions, setTag, unyankVersion, yankVersion } from './change-versions.ts'
import { describeTags } from './describe-versions.ts'
import { packumentOf } from './packument.ts'
import { resolveVersion } from './resolve-version.ts'
import { parseTag } from './tags.ts'
import { checkAll, createActor, publish, upload } from './testing/publishing.ts'

describeOnEngines('tags, yanks and deprecations on $kind', ({ open }) => {
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

  const tags = async () => (await describeTags(database.query, ada, name)).tags
  const publishAll = async (...versions: string[]) => {
    for (const version of versions) await publish(services, ada, version)
  }
  const resolved = async (wanted: string, actor: Actor | null = null) =>
    (await resolveVersion(services, actor, name, wanted)).version

  it('neither a prerelease nor a backport moves latest (B26)', async () => {
    await publishAll('1.0.0', '2.0.0', '2.1.0-rc.1', '1.0.1')
    expect(await tags()).toEqual({ latest: '2.0.0', rc: '2.1.0-rc.1', 'backport-1': '1.0.1' })
    expect(await resolved('latest')).toBe('2.0.0')
    const found = await database.query
      .selectFrom('packages')
      .select(['latest_version', 'title'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    expect(found).toEqual({ latest_version: '2.0.0', title: 'Maze' })
  })

  it('a requested tag is used, even latest for a prerelease', async () => {
    await publishAll('1.0.0')
    await publish(services, ada, '1.1.0-rc.1', { tag: 'latest' })
    await publish(services, ada, '0.9.0', { tag: 'old' })
    expect(await tags()).toEqual({ latest: '1.1.0-rc.1', old: '0.9.0' })
  })

  it('a prerelease as the first version does not become latest', async () => {
    await publishAll('1.0.0-beta.1')
    expect(await tags()).toEqual({ beta: '1.0.0-beta.1' })
    await publishAll('1.0.0')
    expect(await tags()).toMatchObject({ latest: '1.0.0' })
  })

  it('tags do not depend on the order in which checks finish', async () => {
    const order = ['2.0.0', '1.0.0', '1.0.1', '3.0.0-rc.2', '3.0.0-rc.1']
    for (const version of order) await upload(services, ada, version)
    await checkAll(services)
    expect(await tags()).toMatchObject({ latest: '2.0.0', rc: '3.0.0-rc.2' })
  })

  it('a rejected version gets no tag', async () => {
    await publishAll('1.0.0')
    await upload(services, ada, '2.0.0', { tag: 'next' })
    await checkAll(services, false)
    expect(await tags()).toEqual({ latest: '1.0.0' })
  })

  it('tags are set and removed by hand, within the rules', async () => {
    await publishAll('1.0.0', '2.0.0')
    await setTag(services, change, 'stable', '1.0.0')
    await setTag(services, change, 'latest', '1.0.0')
    expect(await tags()).toMatchObject({ latest: '1.0.0', stable: '1.0.0' })
    await deleteTag(services, change, 'stable')
    await expect(deleteTag(services, change, 'stable')).rejects.toMatchObject({ code: 'tag_not_found' })
    await expect(deleteTag(services, change, 'latest')).rejects.toMatchObject({ code: 'tag_protected' })
    await expect(setTag(services, change, 'x', '1.0.0')).rejects.toMatchObject({ code: 'tag_invalid' })
    await expect(setTag(services, change, 'next', '9.0.0')).rejects.toMatchObject({ code: 'version_not_found' })
    await upload(services, ada, '3.0.0')
    await expect(setTag(services, change, 'next', '3.0.0')).rejects.toMatchObject({ code: 'version_not_published' })
    await checkAll(services)
  })

  it('a yanked version is excluded from ranges and tags, but installable by its exact number', async () => {
    await publishAll('1.0.0', '1.1.0', '2.0.0-rc.1')
    await setTag(services, change, 'stable', '1.1.0')
    await yankVersion(services, change, '1.1.0')
    await yankVersion(services, change, '1.1.0')
    expect(await tags()).toEqual({ latest: '1.0.0', rc: '2.0.0-rc.1' })
    expect(await resolved('^1')).toBe('1.0.0')
    expect(await resolved('1.1.0')).toBe('1.1.0')
    expect(await resolveVersion(services, null, name, '1.1.0')).toMatchObject({ yanked: true })
    await expect(resolved('~1.1.0')).rejects.toMatchObject({ code: 'version_not_found' })
    await expect(setTag(services, change, 'stable', '1.1.0')).rejects.toMatchObject({ code: 'version_yanked' })
    const packument = await packumentOf(services, null, name)
    expect(packument.versions['1.1.0'].deprecated).toMatch(/yanked/)
    expect(packument.versions['1.0.0']).not.toHaveProperty('deprecated')
    await unyankVersion(services, change, '1.1.0')
    expect(await tags()).toMatchObject({ latest: '1.1.0' })
  })

  it('yanking the only stable version removes latest, and never sets it to a prerelease', async () => {
    await publishAll('1.0.0', '2.0.0-rc.1')
    await yankVersion(services, change, '1.0.0')
    expect(await tags()).toEqual({ rc: '2.0.0-rc.1' })
    await expect(resolved('latest')).rejects.toMatchObject({
      code: 'version_not_found',
      hint: 'Its tags: rc (2.0.0-rc.1).',
    })
    await unyankVersion(services, change, '1.0.0')
    expect(await tags()).toMatchObject({ latest: '1.0.0' })
  })

  it('a deprecated version warns, and ranges prefer another one', async () => {
    await publishAll('1.0.0', '1.1.0')
    await setTag(services, change, 'latest', '1.0.0')
    await deprecateVersions(services, change, new Map([['1.0.0', 'Use 1.1.0.']]))
    expect(await resolveVersion(services, null, name, '1.0.0')).toMatchObject({ deprecated: 'Use 1.1.0.' })
    expect(await resolved('^1')).toBe('1.1.0')
    await deprecateVersions(services, change, new Map([['1.0.0', '']]))
    expect(await resolved('^1')).toBe('1.0.0')
    expect((await packumentOf(services, null, name)).versions['1.0.0']).not.toHaveProperty('deprecated')
  })

  it('a deprecated range may include a rejected version', async () => {
    await publishAll('1.0.0')
    await upload(services, ada, '1.1.0')
    await checkAll(services, false)
    const both = new Map([
      ['1.0.0', 'Old.\n\u001b[2J\u202eUse 2.'],
      ['1.1.0', 'Old.'],
    ])
    await deprecateVersions(services, change, both)
    expect(await resolveVersion(services, null, name, '1.0.0')).toMatchObject({ deprecated: 'Old. [2J Use 2.' })
    await expect(deprecateVersions(services, change, new Map([['9.0.0', 'x']]))).rejects.toMatchObject({
      code: 'version_not_found',
    })
  })

  it('`deprecated` in package.json is ignored, and no older version is lost', async () => {
    await publishAll('1.0.0')
    await publish(services, ada, '1.1.0', { manifest: { deprecated: 'by itself' } })
    const { versions, 'dist-tags': distTags } = await packumentOf(services, null, name)
    expect(Object.keys(versions)).toEqual(['1.0.0', '1.1.0'])
    expect(versions['1.1.0']).not.toHaveProperty('deprecated')
    expect(distTags.latest).toBe('1.1.0')
  })
})

describe('parseTag', () => {
  it.each(['latest', 'next', 'beta', 'backport-1', 'rc', 'v1-legacy'])('takes %s', (tag) => {
    expect(parseTag(tag)).toBe(tag)
  })
  it.each([
    '',
    'v1',
    'v1.0.0beta',
    '1',
    '1.x',
    'x',
    'Next',
    '__proto__',
    'a/b',
    '*',
    '>=1',
    'a b',
    `a${'b'.repeat(80)}`,
  ])('refuses %j', (tag) => {
    expect(() => parseTag(tag)).toThrowError(expect.objectContaining({ code: 'tag_invalid' }))
  })
})
