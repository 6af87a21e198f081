import { createHash, randomBytes } from 'node:crypto'
import { collectTarballFiles, writeTarball } from '@agentgym/contract/tarball'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endlessLoop, externalWeights, memoryBomb } from '../../../../testdata/models/hostile-models.ts'
import { agentTarball } from '../../../../testdata/tarballs/good-agent.ts'
import { goodEntries, goodTarball } from '../../../../testdata/tarballs/good-package.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember } from '../../core/access/memberships.store.ts'
import type { Database } from '../../core/database/database.ts'
import { finish, mustLease } from '../verification/testing/verifying.ts'
import { sweepObjects } from './packages.tasks.ts'
import { publishVersion } from './publish-version.ts'
import { checkAll, createActor, publish, upload } from './testing/publishing.ts'

const sha512 = (bytes: Uint8Array) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`

describeOnEngines('publishing on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let bob: Actor

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    ada = await createActor(database)
    bob = await createActor(database)
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const rows = () => database.query.selectFrom('versions').selectAll().orderBy('created_at').execute()
  const audits = (subject: string) =>
    database.query.selectFrom('audit').select('action').where('subject', '=', subject).orderBy('id').execute()

  it('writes package, version, object, audit entry and job', async () => {
    const before = (await rows()).length
    const answer = await upload(services, ada, '1.0.0')
    expect(answer).toMatchObject({ name: `@${ada.username}/maze`, version: '1.0.0', state: 'checking' })
    const [row] = (await rows()).slice(before)
    expect(row).toMatchObject({
      version: '1.0.0',
      state: 'checking',
      integrity: answer.integrity,
      published_by: ada.accountId,
    })
    expect(row.manifest).toMatchObject({ name: `@${ada.username}/maze`, agentgym: { title: 'Maze' } })
    expect(await services.objects.has(row.object_key)).toBe(true)
    expect(await audits(`@${ada.username}/maze@1.0.0`)).toEqual([{ action: 'package.publish' }])
    expect(await checkAll(services)).toEqual([`@${ada.username}/maze@1.0.0 published`])
    expect(await audits(`@${ada.username}/maze@1.0.0`)).toHaveLength(2)
  })

  it('repeats the response for the same bytes and account, and refuses other bytes for the version', async () => {
    const first = await upload(services, ada, '2.0.0')
    expect(await upload(services, ada, '2.0.0')).toEqual(first)
    expect(await checkAll(services)).toHaveLength(1)
    expect(await upload(services, ada, '2.0.0')).toEqual({ ...first, state: 'published' })
    await expect(upload(services, ada, '2.0.0', { manifest: { license: 'ISC' } })).rejects.toMatchObject({
      code: 'version_exists',
    })
  })

  it('stores and serves the rewritten tarball', async () => {
    const manifest = {
      scripts: { test: 'vitest' },
      dependencies: { semver: '^7.0.0' },
      peerDependencies: { zod: '^4' },
      devDependencies: { vitest: '^5' },
      _hasShrinkwrap: true,
      keywords: ['kept'],
    }
    const name = `@${ada.username}/canonical`
    const tarball = goodTarball({ name, version: '1.0.0', ...manifest })
    const answer = await upload(services, ada, '1.0.0', { name, tarball })
    const [row] = (await rows()).filter((version) => version.manifest.name === name)
    const stored = await services.objects.get(row.object_key)
    if (stored === undefined) throw new Error('the object is missing')
    expect(sha512(stored)).toBe(row.integrity)
    expect(answer).toMatchObject({ integrity: row.integrity, receivedIntegrity: sha512(tarball) })
    const limits = { ...services.config.limits, ratio: 1_000 }
    const files = await collectTarballFiles(stored, limits, 'upload', () => limits.unpackedBytes)
    expect([...files.keys()]).toEqual(['package.json', 'README.md', 'dist/scenario.js', 'src/index.ts'])
    const installed = JSON.parse(String(files.get('package.json')))
    const { scripts: _, dependencies, peerDependencies, _hasShrinkwrap, ...kept } = row.manifest
    expect(installed).toEqual({
      ...kept,
      devDependencies: { ...manifest.devDependencies, ...manifest.dependencies, ...manifest.peerDependencies },
    })
    expect(row.manifest).toMatchObject(manifest)
    const packed = [...files].map(([path, bytes]) => ({ path, bytes }))
    expect((await writeTarball(packed)).integrity).toBe(row.integrity)
    expect([row.size, row.unpacked_size]).toEqual([
      stored.length,
      packed.reduce((sum, file) => sum + file.bytes.length, 0),
    ])
    await checkAll(services)
  })

  it('recognizes a repeated upload that an earlier server stored unchanged', async () => {
    const name = `@${ada.username}/stored`
    const tarball = goodTarball({ name, version: '1.0.0', scripts: { test: 'vitest' } })
    const { objects } = services
    // As before tarballs were written again: the upload itself is the object, with its own hash.
    const asItCame = { ...services, objects: { ...objects, put: () => objects.put(tarball) } }
    await upload(asItCame, ada, '1.0.0', { name, tarball })
    await database.query.transaction().execute(async (query) => {
      await sql`alter table versions disable trigger user`.execute(query)
      await query
        .updateTable('versions')
        .set({ integrity: sha512(tarball) } as never)
        .where('object_key', '=', await objects.put(tarball))
        .execute()
      await sql`alter table versions enable trigger user`.execute(query)
    })
    expect(await checkAll(services)).toHaveLength(1)
    expect(await upload(services, ada, '1.0.0', { name, tarball })).toEqual({
      ...{ name, version: '1.0.0', state: 'published' },
      ...{ integrity: sha512(tarball), receivedIntegrity: sha512(tarball) },
    })
    const other = goodTarball({ name, version: '1.0.0', description: 'Other' })
    await expect(upload(services, ada, '1.0.0', { name, tarball: other })).rejects.toMatchObject({
      code: 'version_exists',
    })
  })

  it('a rejected version number cannot be reused', async () => {
    await upload(services, ada, '2.1.0')
    await checkAll(services, false)
    await expect(upload(services, ada, '2.1.0', { manifest: { license: 'ISC' } })).rejects.toMatchObject({
      code: 'version_exists',
      data: { state: 'rejected' },
    })
  })

  it('refuses publishing under another user’s scope, in any casing (B29)', async () => {
    const name = `@${ada.username}/maze`
    const as = (actor: Actor | null, wanted: string) =>
      publishVersion(services, {
        actor,
        name: wanted,
        version: '9.0.0',
        tarball: goodTarball({ name: wanted, version: '9.0.0' }),
        ip: null,
      })
    await expect(as(bob, name)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(as(null, name)).rejects.toMatchObject({ code: 'unauthenticated' })
    await expect(as(bob, `@${ada.username}/Maze`)).rejects.toMatchObject({ code: 'name_invalid' })
    await expect(as(bob, name.toUpperCase())).rejects.toMatchObject({ code: 'name_invalid' })
    await expect(as(bob, '@nobody-at-all/maze')).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('reads the bytes only from users who may publish', async () => {
    let request = 0
    const tarball = async () => {
      request++
      return goodTarball()
    }
    await expect(upload(services, bob, '1.0.0', { name: `@${ada.username}/maze`, tarball })).rejects.toMatchObject({
      code: 'forbidden',
    })
    expect(request).toBe(0)
  })

  it('lets members of an organization publish, but not viewers or tokens without the scope', async () => {
    const organisation = `org${randomBytes(6).toString('hex')}`
    const { id } = await database.query
      .insertInto('accounts')
      .values({
        kind: 'organisation',
        username: organisation,
        username_canonical: organisation,
        display_name: null,
        email: null,
        email_verified_at: null,
        password_hash: null,
        disabled_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const name = `@${organisation}/maze`
    const publishAs = (actor: Actor) => upload(services, actor, '1.0.0', { name, manifest: { name } })
    await putMember(database.query, id, bob.accountId, 'viewer')
    await expect(publishAs(bob)).rejects.toMatchObject({ code: 'forbidden' })
    await putMember(database.query, id, bob.accountId, 'member')
    await expect(publishAs({ ...bob, scopes: new Set(['packages:read']) })).rejects.toMatchObject({ code: 'forbidden' })
    await expect(publishAs(bob)).resolves.toMatchObject({ state: 'checking' })
    await checkAll(services)
  })

  it('refuses similar names, another kind and another visibility', async () => {
    await publish(services, ada, '1.0.0', { base: 'pole-1' })
    await expect(upload(services, ada, '1.0.0', { base: 'polel' })).rejects.toMatchObject({ code: 'name_taken' })
    await expect(upload(services, ada, '1.1.0', { base: 'pole-1', visibility: 'private' })).rejects.toMatchObject({
      code: 'package_visibility_fixed',
    })
    const name = `@${ada.username}/pole-1`
    const tarball = agentTarball({ name, version: '1.1.0' })
    await expect(upload(services, ada, '1.1.0', { name, tarball })).rejects.toMatchObject({
      code: 'package_kind_changed',
    })
  })

  it('queues a valid agent for verification before publishing it', async () => {
    const name = `@${ada.username}/maze-ppo`
    const tarball = agentTarball({ name })
    const answer = await upload(services, ada, '0.1.0', { name, tarball })
    expect(answer).toMatchObject({ name, version: '0.1.0', state: 'checking' })
    expect(await upload(services, ada, '0.1.0', { name, tarball })).toEqual(answer)
    expect(await checkAll(services), 'which is no check of a scenario').toEqual([])
    const job = await mustLease(services)
    expect(job.evaluation).toMatchObject({ purpose: 'verification', agent: { name, integrity: answer.integrity } })
    expect(job.evaluation.scenario, 'nobody published it here').toBeNull()
    const checks = [{ id: 'golden_batch', ok: true, message: 'finite outputs' }]
    await finish(services, job, { checks, output_hash: 'd'.repeat(64), results: [], runtime: {} })
    const found = await database.query
      .selectFrom('packages')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    expect(found).toMatchObject({ kind: 'agent', latest_version: '0.1.0' })
    expect(await audits(`${name}@0.1.0`)).toEqual([{ action: 'package.publish' }, { action: 'package.published' }])
  })

  it('refuses an agent with a hostile model before creating a version', async () => {
    const name = `@${ada.username}/maze-hostile`
    for (const [model, code] of [
      [endlessLoop, 'model_subgraph_forbidden'],
      [externalWeights, 'model_external_data'],
      [memoryBomb, 'model_static_size'],
    ] as const) {
      const tarball = agentTarball({ name }, {}, model)
      await expect(upload(services, ada, '0.1.0', { name, tarball })).rejects.toMatchObject({ code })
    }
    const found = await database.query.selectFrom('packages').select('id').where('name', '=', name).execute()
    expect(found).toEqual([])
  })

  it('leaves nothing of a refused upload', async () => {
    const before = await rows()
    await expect(upload(services, ada, '3.0.0', { base: 'nothing', manifest: { license: '' } })).rejects.toMatchObject({
      code: 'package_license_missing',
    })
    await expect(upload(services, ada, '3.0.0', { base: 'nothing', tag: 'v1' })).rejects.toMatchObject({
      code: 'tag_invalid',
    })
    expect(await rows()).toEqual(before)
    const named = await database.query.selectFrom('packages').select('id').where('name', 'like', '%/nothing').execute()
    expect(named).toEqual([])
  })

  it('metadata outside the tarball must match its content', async () => {
    const name = `@${ada.username}/declared`
    const manifest = { name, version: '1.0.0', scripts: { test: 'x' }, optionalDependencies: { a: '^1.0.0' } }
    const tarball = goodTarball(manifest)
    const { agentgym } = JSON.parse(String(goodEntries()[0].body))
    const declared = {
      ...manifest,
      agentgym,
      dependencies: { a: '^1.0.0' },
      readme: '# Maze',
      _id: name,
      gitHead: 'abc',
    }
    const say = (change: Record<string, unknown>) =>
      upload(services, ada, '1.0.0', { name, tarball, declared: { ...declared, ...change } })
    for (const change of [
      { scripts: { postinstall: 'x' } },
      { dependencies: { a: '^1.0.0', b: '*' } },
      { version: '1.0.1' },
      { bin: { x: 'x' } },
      { agentgym: undefined },
    ])
      await expect(say(change)).rejects.toMatchObject({
        code: 'package_manifest_mismatch',
        data: { field: Object.keys(change)[0] },
      })
    await expect(say({})).resolves.toMatchObject({ state: 'checking' })
    await checkAll(services)
  })

  it('publishes many versions of one package concurrently, each with its own bytes', async () => {
    const versions = Array.from({ length: 10 }, (_, index) => `1.0.${index}`)
    const answers = await Promise.all(versions.map((version) => upload(services, ada, version, { base: 'many' })))
    expect(await checkAll(services)).toHaveLength(10)
    const found = (await rows()).filter(({ manifest }) => manifest.name === `@${ada.username}/many`)
    expect(found.map(({ version }) => version).sort()).toEqual(versions)
    for (const { version, integrity } of answers)
      expect(found.find((row) => row.version === version)?.integrity).toBe(integrity)
  })

  it('accepts one of many concurrent uploads of a version', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        upload(services, ada, '1.0.0', { base: 'one', manifest: { author: `${index}` } }),
      ),
    )
    const won = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
    expect(won).toHaveLength(1)
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'version_exists' })
    const [row] = (await rows()).filter(({ manifest }) => manifest.name === `@${ada.username}/one`)
    expect(row.integrity).toBe(won[0].integrity)
    expect(await checkAll(services)).toHaveLength(1)
  })

  it('accepts one of several similar names published concurrently', async () => {
    const bases = ['twin-1', 'twinl', 'tw1n.1', 'twin_i']
    const attempts = await Promise.allSettled(bases.map((base) => upload(services, bob, '1.0.0', { base })))
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'name_taken' })
    await checkAll(services)
  })

  it('the sweeper removes only old, orphaned objects', async () => {
    const orphan = await services.objects.put(randomBytes(64))
    const kept = (await rows()).map(({ object_key }) => object_key)
    await sweepObjects(services)
    expect(await services.objects.has(orphan)).toBe(true)
    await sweepObjects(services, new Date(Date.now() + 2 * 60 * 60_000))
    expect(await services.objects.has(orphan)).toBe(false)
    for (const key of kept) expect(await services.objects.has(key)).toBe(true)
  })

  it('a concurrent sweeper takes nothing from a publish', async () => {
    const later = new Date(Date.now() + 2 * 60 * 60_000)
    const uploads = Array.from({ length: 8 }, (_, index) => upload(services, bob, `1.0.${index}`, { base: 'swept' }))
    const sweeps = Array.from({ length: 8 }, () => sweepObjects(services, later))
    await Promise.all([...uploads, ...sweeps])
    for (const { object_key } of await rows()) expect(await services.objects.has(object_key)).toBe(true)
    await checkAll(services)
  })

  it('an upload can be repeated after an aborted transaction', async () => {
    const { objects } = services
    const failing = {
      ...services,
      objects: { ...objects, has: () => Promise.reject(new Error('the store went away')) },
    }
    await expect(upload(failing, ada, '4.0.0')).rejects.toThrow('the store went away')
    expect((await rows()).some(({ version }) => version === '4.0.0')).toBe(false)
    await expect(upload(services, ada, '4.0.0')).resolves.toMatchObject({ state: 'checking' })
    await checkAll(services)
  })
})
