// @module-tag full
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@agentgym/client'
import { openDatabase } from '@agentgym/registry/testing'
import { runCli } from '@agentgym/testkit/command-line'
import { createEmptyPostgresqlDatabase, createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { startS3, type TestS3 } from '@agentgym/testkit/s3'
import { startServer } from '@agentgym/testkit/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'
import { dated, learned, leftBehind, type Name, unpackOldInstallation, withoutFields } from './old-installation.ts'

const left = leftBehind('pglite')
let data: string
let s3: TestS3
const run = '11111111-1111-4111-8111-111111111111'
let environment: { DATABASE_URL: string; [name: string]: string }

const admin = (words: string[], own: Record<string, string> = environment) =>
  runCli(['admin', ...words, '--data', data, '--json'], { environment: own })
const failure = async (own: Record<string, string>) => {
  const { status, lines } = await admin(['move'], own)
  expect(status).toBe(2)
  const { code, hint } = (lines.at(-1) as { error: { code: string; hint: string } }).error
  // Migrating with the target's address would fill the target.
  if (code === 'database_incompatible') expect(hint).toContain('without DATABASE_URL')
  return code
}

beforeAll(async () => {
  const old = await unpackOldInstallation('pglite')
  data = old.data
  s3 = await startS3()
  environment = {
    DATABASE_URL: await createEmptyPostgresqlDatabase(),
    AGENTGYM_S3_BUCKET: s3.address.bucket,
    AGENTGYM_S3_ENDPOINT: s3.address.endpoint,
    AGENTGYM_S3_PREFIX: 'gym',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  }
  // The SDK reads them there.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' })
}, 240_000)
afterAll(async () => {
  await s3?.stop()
  rmSync(data, { recursive: true, force: true })
})

it('moves an installation to PostgreSQL and a bucket, whole or not at all', async () => {
  expect(await failure({})).toBe('config_invalid')
  expect(await failure({ DATABASE_URL: await createPostgresqlDatabase() })).toBe('database_incompatible')
  const old = await openDatabase({ folder: join(data, 'database') })
  try {
    expect(await failure(environment)).toBe('database_in_use')
    // What no version 0.1.0 had: a partition, and values that are easily mistaken.
    await old.execute(`create table packed_curves_2026_11 partition of packed_curves
        for values from ('2026-11-01') to ('2026-12-01');
      insert into packed_curves values ('${run}', '2026-11-01', 9007199254740991, 1, '\\x00ff');
      insert into installation (name, value) values ('{"odd, \\', E'null\\n"\\u00e9{},')`)
  } finally {
    await old.close()
  }
  expect(await failure({ DATABASE_URL: await createPostgresqlDatabase() })).toBe('database_not_empty')

  // Killed in the middle of the rows: nothing is there, or the next one would be refused.
  const killed = `import { moveInstallation } from '@agentgym/registry'
    await moveInstallation({ data: ${JSON.stringify(data)}, environment: process.env }, { onProgress: (what, done, total) => {
      if (what === 'rows' && done > total / 2) process.kill(process.pid, 'SIGKILL')
    } })`
  const interrupted = spawnSync(process.execPath, ['--input-type=module', '--eval', killed], {
    cwd: join(repositoryRoot, 'sdk/cli'),
    env: { ...process.env, ...environment },
  })
  expect(interrupted.signal, interrupted.stderr.toString()).toBe('SIGKILL')
  const { status, stderr, lines } = await admin(['move'])
  expect(status, stderr).toBe(0)
  expect(lines).toMatchObject([{ copied: { objects: 0 }, findings: [] }])
  const [{ objects, rows }] = lines as { objects: number; rows: number }[]
  expect(objects).toBeGreaterThan(3)
  expect(rows).toBeGreaterThan(100)

  const [moved, fresh] = [
    await openDatabase({ url: environment.DATABASE_URL }),
    await openDatabase({ url: await createPostgresqlDatabase() }),
  ]
  try {
    // Foreign keys and triggers are as the migrations made them.
    const rules = `select conrelid::regclass::text as of, conname as name, pg_get_constraintdef(oid) as rule, '' as state from pg_constraint
        where connamespace = 'public'::regnamespace
      union all select tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), tgenabled from pg_trigger where not tgisinternal
      order by 1, 2`
    const expected = (await fresh.execute(rules)).rows
    expect(expected.length).toBeGreaterThan(100)
    // A partition has its parent's key.
    const found = (await moved.execute(rules)).rows
    expect(found.filter((each) => each.of !== 'packed_curves_2026_11')).toEqual(expected)
    const odd = await moved.execute(`select value as odd from installation where name like '{%'
      union all select last_iteration || points::text from packed_curves_2026_11`)
    expect(odd.rows).toEqual([{ odd: 'null\n"é{},' }, { odd: '9007199254740991\\x00ff' }])
  } finally {
    for (const each of [moved, fresh]) await each.close()
  }

  const server = await startServer({ data, environment })
  try {
    const read = async (as: Name, path: string) =>
      (await createClient({ server: server.url, token: left.tokens[as] }).send(path)).json()
    const lasting = left.answers.filter(({ path }) => !path.startsWith('/v1/runs'))
    for (const { as, path, answer } of lasting)
      expect(await read(as, path), path).toMatchObject(withoutFields(answer, [...dated, ...learned(path)]) as object)
    const tarball = `${server.url}/npm/@builder/balancer/-/balancer-0.1.0.tgz`
    const headers = { authorization: `Bearer ${left.tokens.buyer}` }
    expect((await fetch(tarball, { headers })).status).toBe(200)
    // Sequences go on where they were.
    await server.signUp('newcomer')
  } finally {
    await server.close()
  }
}, 240_000)
