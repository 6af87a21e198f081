// @module-tag full
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, leaseJob, releaseJob, sendHeartbeat, sendResult } from '@agentgym/client'
import { verificationStatementSchema } from '@agentgym/contract'
import { openDatabase } from '@agentgym/registry/testing'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { startAsPostgresqlUser } from '@agentgym/testkit/postgresql-server'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditLedger } from '../../registry/src/modules/ledger/audit-ledger.ts'
import { dated, learned, leftBehind, type Name, unpackOldInstallation, withoutFields } from './old-installation.ts'

/** What later versions add to answers. */
const added = [
  'attempts',
  'confidence',
  'gpu',
  'gpu_usage',
  'season',
  'nondeterministic',
  'outcome',
  'own_hidden',
  'parent',
  'pause_at',
  'people',
  'plays',
  'similar',
  'test_money',
  'trained_on',
  'training_quota',
  'trainings',
  'unread_notifications',
  'unserved',
  'workers',
]
/** Left out of both answers: a publisher's are new, and spaces have some of the same name. */
const ambiguous = ['counts']
/** What an interrupted run says once its lease has ended. */
const leased = ['state', 'worker', 'ahead', 'last_event', 'attempt', 'cost']

describeOnEngines('a database that version 0.1.0 wrote, on $kind', ({ kind }) => {
  let data: string
  let url: string | undefined
  let server: TestServer
  const left = leftBehind(kind)
  const clientOf = (name: Name) => createClient({ server: server.url, token: left.tokens[name] })
  const read = async (name: Name, path: string) => (await clientOf(name).send(path)).json()
  beforeAll(async () => {
    const restored = await unpackOldInstallation(kind)
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
      const changing = [...dated, ...ambiguous, ...learned(path), ...(path.startsWith('/v1/runs') ? leased : [])]
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

  // It waits for a lease to end, a minute.
  if (kind === 'postgresql' || isLong)
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

/** Every statement of a transaction on one connection of PostgreSQL, and the next transaction on any other. */
if (isLong)
  it('is served as before through PgBouncer in transaction mode (docs/operating.md)', async () => {
    const { data, url } = await unpackOldInstallation('postgresql')
    const folder = mkdtempSync(join(tmpdir(), 'agentgym-pgbouncer-'))
    const parsed = new URL(url ?? '')
    const address = `postgresql://${parsed.pathname}?host=${encodeURIComponent(folder)}&port=6432&user=agentgym`
    // Migrations take as long as they need: on PostgreSQL itself.
    await (await openDatabase({ url: url ?? '' })).close()
    const settings = {
      ...{
        unix_socket_dir: folder,
        listen_port: 6432,
        auth_type: 'any',
        pool_mode: 'transaction',
        default_pool_size: 3,
      },
      ignore_startup_parameters: 'statement_timeout, idle_in_transaction_session_timeout',
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
    const databases = `* = host=${parsed.searchParams.get('host')} user=agentgym`
    writeFileSync(join(folder, 'pgbouncer.ini'), ['[databases]', databases, '[pgbouncer]', ...lines, ''].join('\n'))
    chmodSync(folder, 0o777)
    const pooler = startAsPostgresqlUser('/usr/sbin/pgbouncer', [join(folder, 'pgbouncer.ini')])
    let server: TestServer | undefined
    try {
      await expect.poll(() => existsSync(join(folder, '.s.PGSQL.6432')), { timeout: 30_000 }).toBe(true)
      server = await startServer({ data, environment: { DATABASE_URL: address, AGENTGYM_DATABASE_CONNECTIONS: '20' } })
      const left = leftBehind('postgresql')
      const read = async ({ as, path, answer }: (typeof left.answers)[number]) => {
        const client = createClient({ server: server?.url ?? '', token: left.tokens[as] })
        const changing = [...dated, ...ambiguous, ...learned(path), ...(path.startsWith('/v1/runs') ? leased : [])]
        const found = withoutFields(await (await client.send(path)).json(), [...changing, ...added])
        expect(found, path).toEqual(withoutFields(answer, changing))
      }
      // More at once than the pooler has connections.
      for (let round = 0; round < 5; round++) await Promise.all(left.answers.map(read))
      await server.signUp('pooled')
    } finally {
      await server?.remove()
      pooler.kill()
      for (const place of [data, folder]) rmSync(place, { recursive: true, force: true })
    }
  }, 120_000)

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
