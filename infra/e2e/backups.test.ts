// @module-tag full
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@agentgym/client'
import { openDatabase } from '@agentgym/registry/testing'
import { runCli } from '@agentgym/testkit/command-line'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { createEmptyPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import {
  runPostgresql,
  runPostgresqlProgram,
  startPostgresql,
  stopPostgresql,
} from '@agentgym/testkit/postgresql-server'
import { startS3 } from '@agentgym/testkit/s3'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'
import { dated, learned, leftBehind, type Name, unpackOldInstallation, withoutFields } from './old-installation.ts'

/** An installation's place: its folder, and PostgreSQL if its database is not in it. */
type Place = { data: string; url: string | undefined }

const environmentOf = ({ url }: Place): Record<string, string> => (url === undefined ? {} : { DATABASE_URL: url })
const startAt = (place: Place) => startServer({ data: place.data, environment: environmentOf(place) })
const admin = (place: Place, ...words: string[]) =>
  runCli(['admin', ...words, '--data', place.data, '--json'], { environment: environmentOf(place) })

describeOnEngines('backups of an installation on $kind', ({ kind }) => {
  const left = leftBehind(kind)
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-backups-'))
  const backups = join(folder, 'backups')
  let place: Place
  let server: TestServer
  beforeAll(async () => {
    place = await unpackOldInstallation(kind)
    server = await startAt(place)
    // An embedded database is its server's alone.
    if (kind === 'pglite') await server.close()
  }, 120_000)
  afterAll(async () => {
    await server?.close()
    for (const each of [folder, place.data]) rmSync(each, { recursive: true, force: true })
  })

  const emptyPlace = async (): Promise<Place> => ({
    data: mkdtempSync(join(folder, 'restored-')),
    url: kind === 'postgresql' ? await createEmptyPostgresqlDatabase() : undefined,
  })
  const fail = async (place: Place, ...words: string[]) => {
    const { status, lines } = await admin(place, ...words)
    expect(status).toBeGreaterThan(0)
    return (lines.at(-1) as { error: { code: string; message: string } }).error
  }

  it('holds all that a server serves: restored elsewhere, it answers as before', async () => {
    const made = await admin(place, 'backup', backups)
    expect(made, made.stderr).toMatchObject({ status: 0 })
    const [{ backup: name, objects, copied }] = made.lines as {
      backup: string
      objects: number
      copied: { objects: number }
    }[]
    expect(copied.objects).toBe(objects)
    expect(objects).toBeGreaterThan(3)
    const target = await emptyPlace()
    expect((await admin(target, 'restore', backups, '--backup', name)).lines).toMatchObject([
      { copied: objects, missing: [] },
    ])
    expect((await admin(target, 'audit', '--contents')).lines).toEqual([{ findings: [], objects, contents: true }])
    const restored = await startAt(target)
    try {
      const read = async (as: Name, path: string) =>
        (await createClient({ server: restored.url, token: left.tokens[as] }).send(path)).json()
      const lasting = left.answers.filter(({ path }) => !path.startsWith('/v1/runs'))
      for (const { as, path, answer } of lasting)
        expect(await read(as, path), path).toMatchObject(withoutFields(answer, [...dated, ...learned(path)]) as object)
      const tarball = `${restored.url}/npm/@builder/balancer/-/balancer-0.1.0.tgz`
      const headers = { authorization: `Bearer ${left.tokens.buyer}` }
      expect((await fetch(tarball, { headers })).status).toBe(200)
      const metrics = await (await fetch(`${restored.url}/metrics`)).text()
      expect(metrics).toMatch(/^agentgym_audit_findings 0$/m)
    } finally {
      await restored.close()
    }
    if (kind === 'postgresql')
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^agentgym_backup_timestamp_seconds \d/m)
    expect(await fail(target, 'restore', backups)).toMatchObject({ code: 'database_not_empty' })
  }, 120_000)

  it('the next one copies only what is new, and old ones go', async () => {
    await mkdir(join(backups, 'making-2026-01-01T00-00-00Z'), { recursive: true })
    const [{ backup: first }] = (await admin(place, 'backup', backups)).lines as { backup: string }[]
    // Names are by the second.
    await expect.poll(() => new Date().toISOString().slice(0, 19).replaceAll(':', '-')).not.toBe(first.slice(0, -1))
    const [made] = (await admin(place, 'backup', backups, '--keep', '1')).lines as Record<string, unknown>[]
    expect(made).toMatchObject({ copied: { objects: 0 }, deleted: expect.arrayContaining([first]) })
    // What a killed backup left goes, too.
    expect(readdirSync(backups).sort()).toEqual([made.backup, 'objects'])
    // Their objects are those of the one that is left.
    const target = await emptyPlace()
    expect((await admin(target, 'restore', backups)).lines).toMatchObject([{ backup: made.backup, missing: [] }])
  }, 120_000)

  it('a bucket holds it as well, and one that was interrupted is no backup', async () => {
    const s3 = await startS3()
    // The SDK reads them there.
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' })
    const endpoint = { AGENTGYM_S3_ENDPOINT: s3.address.endpoint }
    const bucket = `s3://${s3.address.bucket}/nightly/`
    const inBucket = (at: Place, ...words: string[]) =>
      runCli(['admin', ...words, '--data', at.data, '--json'], { environment: { ...environmentOf(at), ...endpoint } })
    try {
      const killed = `import { backUpInstallation } from '@agentgym/registry'
        await backUpInstallation({ data: ${JSON.stringify(place.data)}, environment: process.env }, {
          to: ${JSON.stringify(bucket)}, onProgress: () => process.kill(process.pid, 'SIGKILL') })`
      const interrupted = spawnSync(process.execPath, ['--input-type=module', '--eval', killed], {
        cwd: join(repositoryRoot, 'sdk/cli'),
        env: { ...process.env, ...environmentOf(place), ...endpoint },
      })
      expect(interrupted.signal, interrupted.stderr.toString()).toBe('SIGKILL')
      const target = await emptyPlace()
      const refused = await inBucket(target, 'restore', bucket)
      expect(refused.lines).toMatchObject([{ error: { code: 'file_not_found' } }])
      const made = await inBucket(place, 'backup', bucket)
      expect(made, made.stderr).toMatchObject({ status: 0 })
      const [{ objects }] = made.lines as { objects: number }[]
      expect((await inBucket(target, 'restore', bucket)).lines).toMatchObject([{ copied: objects, missing: [] }])
      expect((await admin(target, 'audit', '--contents')).lines).toEqual([{ findings: [], objects, contents: true }])
      await s3.pause()
      const outage = await inBucket(place, 'backup', bucket)
      expect(outage.lines).toMatchObject([{ error: { code: 'storage_unavailable' } }])
    } finally {
      await s3.stop()
    }
  }, 240_000)

  it('a damaged backup, and one of the other kind, is refused', async () => {
    const damaged = join(folder, 'damaged')
    await admin(place, 'backup', damaged)
    const [name] = readdirSync(damaged).filter((entry) => entry.startsWith('20'))
    const file = kind === 'postgresql' ? 'database.dump' : 'pglite/PG_VERSION'
    const bytes = readFileSync(join(damaged, name, file))
    bytes[Math.floor(bytes.length / 2)] ^= 1
    writeFileSync(join(damaged, name, file), bytes)
    const target = await emptyPlace()
    expect(await fail(target, 'restore', damaged)).toMatchObject({
      code: 'backup_invalid',
      message: expect.stringContaining(file),
    })
    const other = { ...target, url: kind === 'postgresql' ? undefined : 'postgresql:///nowhere' }
    expect(await fail(other, 'restore', damaged)).toMatchObject({ code: 'backup_invalid' })
    expect(await fail(target, 'restore', join(folder, 'empty'))).toMatchObject({ code: 'file_not_found' })
    expect(await fail(target, 'restore', damaged, '--backup', '2020-01-01T00-00-00Z')).toMatchObject({
      code: 'file_not_found',
    })
  }, 120_000)

  it('an audit names objects that are missing or changed, and a backup without them fails', async () => {
    const store = join(place.data, 'objects/sha256')
    const [one, other] = readdirSync(store, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^..\/.{62}$/.test(name))
      .sort()
    const whole = readFileSync(join(store, one))
    writeFileSync(join(store, one), 'something else')
    rmSync(join(store, other))
    const audited = await admin(place, 'audit', '--contents')
    expect(audited.status).toBe(1)
    expect((audited.lines as { findings: { subject: string; detail: string }[] }[])[0].findings).toEqual([
      expect.objectContaining({
        subject: `sha256/${one.replace('/', '')}`,
        detail: expect.stringContaining('damaged'),
      }),
      expect.objectContaining({ subject: `sha256/${other.replace('/', '')}`, detail: 'It is missing.' }),
    ])
    expect(await fail(place, 'backup', join(folder, 'incomplete'))).toMatchObject({
      code: expect.stringMatching(/^(object_damaged|backup_failed)$/),
    })
    expect(readdirSync(join(folder, 'incomplete'))).toEqual(['objects'])
    writeFileSync(join(store, one), whole)
  }, 120_000)

  it('migrate says that nothing is missing', async () => {
    const [{ before, after }] = (await admin(place, 'migrate')).lines as { before: number; after: number }[]
    expect(before).toBe(after)
    expect(after).toBeGreaterThan(30)
  })
})

if (isLong)
  it('a database restored from a base backup and the archive of its log has all that was committed (docs/backups.md)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentgym-archive-'))
    chmodSync(folder, 0o777)
    const archive = join(folder, 'archive')
    mkdirSync(archive)
    const [old, young] = [join(folder, 'old'), join(folder, 'young')]
    const restored = join(young, 'data')
    mkdirSync(young)
    // PostgreSQL runs as another user.
    for (const place of [archive, young]) chmodSync(place, 0o777)
    const durable = ['wal_level=replica', 'full_page_writes=on', 'fsync=on']
    try {
      const url = await startPostgresql(old, durable)
      // Settings with spaces do not pass through the command line of pg_ctl.
      const settings = { archive_mode: 'on', archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f` }
      const database = await openDatabase({ url })
      for (const [name, value] of Object.entries(settings))
        await database.execute(`alter system set ${name} = '${value}'`)
      await database.close()
      await stopPostgresql(old)
      await runPostgresql(old, durable)
      const data = join(folder, 'server')
      const server = await startServer({ data, environment: { DATABASE_URL: url } })
      const socket = ['--host', old, '--username', 'agentgym']
      await server.signUp('before')
      await runPostgresqlProgram('pg_basebackup', [...socket, '--pgdata', restored, '--checkpoint', 'fast'])
      await server.signUp('after')
      const { rows } = await (await openDatabase({ url })).execute('select pg_walfile_name(pg_switch_wal()) as name')
      await expect.poll(() => readdirSync(archive), { timeout: 60_000 }).toContain(rows[0].name)
      await stopPostgresql(old)
      await server.close()

      write(join(restored, 'postgresql.auto.conf'), `restore_command = 'cp ${archive}/%f %p'\n`)
      write(join(restored, 'recovery.signal'), '')
      await runPostgresql(young, durable)
      const environment = { DATABASE_URL: `postgresql:///postgres?host=${encodeURIComponent(young)}&user=agentgym` }
      const recovered = await startServer({ data, environment })
      const audited = await runCli(['admin', 'audit', '--contents', '--data', data, '--json'], { environment })
      expect(audited.lines).toMatchObject([{ findings: [] }])
      const opened = await openDatabase({ url: environment.DATABASE_URL })
      const accounts = await opened.execute(
        `select username from accounts where username in ('before', 'after') order by username`,
      )
      expect(accounts.rows).toEqual([{ username: 'after' }, { username: 'before' }])
      await opened.close()
      await recovered.close()
    } finally {
      for (const place of [old, young]) await stopPostgresql(place)
      rmSync(folder, { recursive: true, force: true })
    }
  }, 180_000)

const write = (path: string, text: string) => writeFileSync(path, text, { mode: 0o644 })
