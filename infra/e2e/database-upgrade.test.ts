// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { createClient, leaseJob, releaseJob, sendHeartbeat, sendResult } from '@agentgym/client'
import { verificationStatementSchema } from '@agentgym/contract'
import { openDatabase } from '@agentgym/registry/testing'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { restorePostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditLedger } from '../../registry/src/modules/ledger/audit-ledger.ts'

/** What version 0.1.0 left behind: testdata/databases/README.md says how it was made. */
const folder = join(import.meta.dirname, '../../testdata/databases/0.1.0')

type Name = 'operator' | 'author' | 'builder' | 'buyer' | 'guest'
type Left = {
  tokens: Record<Name, string>
  jobs: {
    /** Leased to a worker that never came back. */
    check: { id: string; lease: string }
    runs: Record<'interrupted' | 'released' | 'cancelled' | 'waiting', string>
  }
  answers: { as: Name; path: string; answer: unknown }[]
}

/** What changes with time alone: holds that end, deadlines that pass, counts that a task updates, and the server's address. */
const dated = ['cleared_minor', 'held_minor', 'refundable', 'quality', 'updated_at', 'downloads', 'tarball']
/** What later versions add to answers. */
const added = [
  'attempts',
  'confidence',
  'season',
  'nondeterministic',
  'parent',
  'pause_at',
  'test_money',
  'training_quota',
]
/** What an interrupted run says once its lease has ended. */
const leased = ['state', 'worker', 'ahead', 'last_event', 'attempt', 'cost']

function withoutFields(value: unknown, fields: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, fields))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      fields.includes(name) ? [] : [[name, withoutFields(part, fields)]],
    ),
  )
}

/** The folder of a server of 0.1.0, unpacked, and the address of its database. */
async function restore(kind: 'postgresql' | 'pglite') {
  const data = mkdtempSync(join(tmpdir(), 'agentgym-upgrade-'))
  const tar = zstdDecompressSync(readFileSync(join(folder, kind, 'data.tar.zst')))
  execFileSync('tar', ['-x', '-C', data], { input: tar })
  const dump = () => gunzipSync(readFileSync(join(folder, kind, 'database.sql.gz'))).toString('utf8')
  return { data, url: kind === 'postgresql' ? await restorePostgresqlDatabase(dump()) : undefined }
}

describeOnEngines('a database that version 0.1.0 wrote, on $kind', ({ kind }) => {
  let data: string
  let url: string | undefined
  let server: TestServer
  const left: Left = JSON.parse(readFileSync(join(folder, kind, 'answers.json'), 'utf8'))
  const clientOf = (name: Name) => createClient({ server: server.url, token: left.tokens[name] })
  const read = async (name: Name, path: string) => (await clientOf(name).send(path)).json()
  beforeAll(async () => {
    const restored = await restore(kind)
    data = restored.data
    url = restored.url
    server = await startServer({ data, environment: url === undefined ? {} : { DATABASE_URL: url } })
  }, 120_000)
  afterAll(async () => {
    await server?.remove()
    rmSync(data, { recursive: true, force: true })
  })

  it.each(left.answers.map(({ as, path, answer }) => [as, path, answer] as const))(
    '%s reads %s as before',
    async (as, path, answer) => {
      const changing = path.startsWith('/v1/runs') ? [...dated, ...leased] : dated
      expect(withoutFields(await read(as, path), [...changing, ...added])).toEqual(withoutFields(answer, changing))
    },
  )

  it('users log in with their old passwords', async () => {
    const body = JSON.stringify({ username: 'buyer', password: 'correct horse battery staple' })
    const headers = { 'content-type': 'application/json' }
    const client = createClient({ server: server.url })
    expect((await client.send('/v1/sessions', { method: 'POST', headers, body })).status).toBe(200)
  })

  it('purchases are still served, and only to buyers', async () => {
    const tarball = `${server.url}/npm/@builder/balancer/-/balancer-0.1.0.tgz`
    const download = (name: Name) => fetch(tarball, { headers: { authorization: `Bearer ${left.tokens[name]}` } })
    expect((await download('buyer')).status).toBe(200)
    expect((await download('guest')).status).toBeGreaterThanOrEqual(400)
  })

  it('signed verifications are unchanged', async () => {
    const path = '/v1/packages/@builder/balancer/versions/0.1.0'
    const before = left.answers.find((answer) => answer.path === path)?.answer
    const signed = ((await read('guest', path)) as { verification: { signed: { statement: string } } }).verification
    expect(signed).toEqual((before as { verification: unknown }).verification)
    expect(verificationStatementSchema.parse(JSON.parse(signed.signed.statement))).toBeDefined()
  })

  it('every open job is leased once, and canceled ones are not', async () => {
    const operator = clientOf('operator')
    const { check, runs } = left.jobs
    const jobs = await leaseAll(operator, 5)
    const trained = jobs.filter(({ kind }) => kind === 'train').map(({ id }) => id)
    expect(trained.sort()).toEqual([runs.interrupted, runs.released, runs.waiting].sort())
    const checks = jobs.filter((job) => job.kind === 'check')
    expect(checks.map((job) => job.package.name).sort()).toEqual(['@author/leased-check', '@author/waiting-check'])
    expect(checks.map(({ id }) => id)).toContain(check.id)
    // Who had it before the upgrade is too late; who has it now is not.
    await expect(sendHeartbeat(operator, check)).rejects.toMatchObject({ code: 'lease_lost' })
    for (const job of jobs) await sendHeartbeat(operator, job)
    const again = jobs.find(({ id }) => id === runs.interrupted)
    const before = left.answers.find(({ path }) => path === `/v1/runs/${runs.interrupted}`)?.answer as {
      attempt: number
      checkpoint: { steps: number }
    }
    expect(again).toMatchObject({
      run: { attempt: before.attempt + 1, checkpoint: { steps: before.checkpoint.steps } },
    })
    for (const job of checks) {
      const { name, version } = job.package
      await sendResult(operator, job, { ok: true, name, version, checks: [{ id: 'loads', ok: true, message: 'ok' }] })
      expect(await read('author', `/v1/packages/${name}/versions/${version}`)).toMatchObject({ state: 'published' })
    }
    for (const job of jobs) if (job.kind === 'train') await releaseJob(operator, job, { reason: 'the test ends' })
  })

  it('the ledger balances', async () => {
    await server.close()
    const database = await openDatabase(url === undefined ? { folder: join(data, 'database') } : { url })
    try {
      expect(await auditLedger(database)).toEqual([])
    } finally {
      await database.close()
    }
  })
})

/**
 * Leases until there are `count` checks and trainings (evaluations may be those of a new season); a lease of a worker that is
 * gone may take a while to end.
 */
async function leaseAll(operator: ReturnType<typeof createClient>, count: number) {
  const jobs = []
  while (jobs.length < count) {
    const leased = await leaseJob(operator, { kinds: ['check', 'train'] })
    if (leased === undefined) await delay(200)
    else jobs.push(leased.job)
  }
  expect(await leaseJob(operator, { kinds: ['check', 'train'] })).toBeUndefined()
  return jobs
}
