// @module-tag full
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  runPostgresql,
  runPostgresqlProgram,
  startPostgresql,
  stopPostgresql,
} from '@agentgym/testkit/postgresql-server'
import { callAt } from '@agentgym/testkit/registry'
import { runFolder } from '@agentgym/testkit/run-folder'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampled, scrape } from '../../app/testing/scrape.ts'
import type { Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import { openPostgresql } from './postgresql-database.ts'
import { ReadReplica } from './read-replica.ts'

const settings = ['wal_level=replica', 'full_page_writes=on']
const addressOf = (folder: string) => `postgresql:///postgres?host=${encodeURIComponent(folder)}&user=agentgym`

let primaryFolder: string
let standbyFolder: string
let primary: Database
let standby: Database

beforeAll(async () => {
  primaryFolder = join(runFolder(), 'primary')
  standbyFolder = join(runFolder(), 'standby')
  primary = await openDatabase({ url: await startPostgresql(primaryFolder, settings) })
  await mkdir(standbyFolder)
  // PostgreSQL runs as another user.
  await chmod(standbyFolder, 0o777)
  const data = ['--pgdata', join(standbyFolder, 'data'), '--write-recovery-conf', '--checkpoint', 'fast']
  await runPostgresqlProgram('pg_basebackup', ['--host', primaryFolder, '--username', 'agentgym', ...data])
  await runPostgresql(standbyFolder, settings)
  standby = await openPostgresql({ url: addressOf(standbyFolder) })
}, 60_000)
afterAll(async () => {
  await Promise.all([primary.close(), standby.close()])
  await Promise.all([stopPostgresql(standbyFolder), stopPostgresql(primaryFolder)])
})

const pause = () => standby.execute('select pg_wal_replay_pause()')
const resume = () => standby.execute('select pg_wal_replay_resume()')

describe('a read replica', () => {
  /** Warnings of a replica that was compared once with the database at `url`. */
  async function comparedWith(url: string, maxLagMs: number) {
    const warnings: unknown[] = []
    const log = {
      info() {},
      warn: (_: string, data?: Record<string, unknown>) => warnings.push(data?.reason),
    }
    const replica = new ReadReplica(primary, { url, maxLagMs }, log)
    await replica.compare()
    return { replica, warnings }
  }
  const close = (replica: ReadReplica) => replica.watch(AbortSignal.abort())
  const isAsked = async (replica: ReadReplica) => (await replica.read(async (database) => database)) !== primary

  const isAskedAgain = async (replica: ReadReplica) => {
    await replica.compare()
    return isAsked(replica)
  }

  it('answers while it is current, and not once it lags', async () => {
    const { replica } = await comparedWith(addressOf(standbyFolder), 500)
    await expect.poll(() => isAskedAgain(replica)).toBe(true)
    await pause()
    await primary.execute('create table written_meanwhile ()')
    await delay(600)
    await replica.compare()
    expect(await isAsked(replica)).toBe(false)
    expect(replica.lagMs()).toBeGreaterThan(500)
    await resume()
    await expect.poll(() => isAskedAgain(replica)).toBe(true)
    await close(replica)
  })

  it('fails over to the database where a statement is cancelled for replication, but not where the work is at fault', async () => {
    const { replica } = await comparedWith(addressOf(standbyFolder), 60_000)
    await expect.poll(() => isAskedAgain(replica)).toBe(true)
    const asked: string[] = []
    const failing = (code: string) => async (database: Database) => {
      asked.push(database === primary ? 'primary' : 'standby')
      if (database !== primary) throw Object.assign(new Error('canceling statement'), { code })
    }
    await replica.read(failing('40001'))
    await expect(replica.read(failing('42P01'))).rejects.toThrow('canceling')
    expect(asked).toEqual(['standby', 'primary', 'standby'])
    await close(replica)
  })

  it.each([
    ['the database itself', () => addressOf(primaryFolder), 'it is no standby of a PostgreSQL database'],
    ['nothing that answers', () => addressOf(join(runFolder(), 'nowhere')), /ENOENT/],
  ])('is not read where its address is that of %s', async (_, url, reason) => {
    const { replica, warnings } = await comparedWith(url(), 60_000)
    expect(await isAsked(replica)).toBe(false)
    expect(warnings).toEqual([reason instanceof RegExp ? expect.stringMatching(reason) : reason])
    await close(replica)
  })
})

describe('a server with a read replica', () => {
  let server: TestServer
  beforeAll(async () => {
    const environment = { DATABASE_URL: addressOf(primaryFolder), DATABASE_REPLICA_URL: addressOf(standbyFolder) }
    server = await startServer({ environment: { ...environment, AGENTGYM_REPLICA_LAG_SECONDS: '600' } })
  })
  afterAll(() => server.remove())

  const lag = async () => sampled(await scrape(server.url), 'agentgym_replica_lag_seconds') ?? Number.NaN
  const statusOf = async (username: string, token?: string) =>
    (await callAt(server.url, 'GET', `/v1/accounts/${username}`, { token })).status

  it('shows people with an account what they have done, and others what the replica has; without it, the same to all', async () => {
    await expect.poll(lag, { timeout: 20_000 }).toBeLessThan(600)
    await pause()
    const { token } = await server.signUp('novice')
    expect(await statusOf('novice', token)).toBe(200)
    expect(await statusOf('novice')).toBe(404)
    expect((await callAt(server.url, 'GET', '/v1/packages?q=cart')).status).toBe(200)
    await stopPostgresql(standbyFolder)
    expect(await statusOf('novice')).toBe(200)
    await expect.poll(lag, { timeout: 20_000 }).toBe(Number.POSITIVE_INFINITY)
    expect((await callAt(server.url, 'GET', '/readyz')).status).toBe(200)
    await runPostgresql(standbyFolder, settings)
    await expect.poll(lag, { timeout: 20_000 }).toBeLessThan(600)
    await expect.poll(() => statusOf('novice'), { timeout: 20_000 }).toBe(200)
  }, 90_000)
})
