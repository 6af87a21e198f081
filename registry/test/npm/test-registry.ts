import assert from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { type Scope, scopes } from '../../src/core/access/authorize.ts'
import type { Database } from '../../src/core/database/database.ts'
import { openDatabase } from '../../src/core/database/open-database.ts'
import type { Attempt } from '../../src/core/queue/job-handler.ts'
import { insertAccount } from '../../src/modules/accounts/accounts.store.ts'
import { decideDeviceCode } from '../../src/modules/accounts/device-log-in.ts'
import { createToken } from '../../src/modules/accounts/tokens.store.ts'
import { finishCheck } from '../../src/modules/packages/check-jobs.ts'
import type { RegistryServerOptions } from './registry-server.ts'
import { startRegistry } from './start-registry.ts'

export type TestRegistry = {
  url: string
  services: TestServices
  /** For a second server on the same data. */
  options: Omit<RegistryServerOptions, 'port' | 'publicUrl'>
  /** Makes a user with a token. */
  signUp(username: string, scopes?: Scope[]): Promise<{ accountId: string; token: string }>
  /** What a worker's good report does: the version is published. */
  pass(name: string, version: string): Promise<void>
  versions(name: string): Promise<{ version: string; integrity: string; state: string }[]>
  recordedIntegrity(name: string, version: string): Promise<string>
  /** Waits for a started login, and approves it like its page. */
  approveLogin(by: { accountId: string; username: string }): Promise<void>
  close(): Promise<void>
}

/** A server in a process of its own, on a PostgreSQL database that this process looks into as well. */
export async function openTestRegistry(): Promise<TestRegistry> {
  const address = { url: await createPostgresqlDatabase() }
  const database = await openDatabase(address)
  const services = await testServices(database)
  const secret = Buffer.from(services.config.secret).toString('hex')
  const options = { database: address, folder: services.folder, secret }
  const server = await startRegistry(options)
  const find = async (name: string, version: string) => {
    const row = (await versionsOf(database, name)).find((candidate) => candidate.version === version)
    assert(row !== undefined, `${name}@${version} is not there`)
    return row
  }
  return {
    url: server.url,
    services,
    options,
    signUp: (username, scopes = ['packages:manage']) => signUp(services, username, scopes),
    pass: async (name, version) => passCheck(services, (await find(name, version)).id, { name, version }),
    versions: (name) => versionsOf(database, name),
    recordedIntegrity: async (name, version) => (await find(name, version)).integrity,
    approveLogin: (by) => approveLogin(services, by),
    close: async () => {
      await server.stop()
      await database.close()
      await services.remove()
      assert.equal(server.errors(), '', 'the server logged errors')
    },
  }
}

export function versionsOf({ query }: Database, name: string) {
  return query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['versions.id', 'versions.version', 'versions.integrity', 'versions.state'])
    .where('packages.name', '=', name)
    .orderBy('versions.version')
    .execute()
}

/** Versions that wait for a check. */
export async function versionsWithoutJob(database: Database, name: string): Promise<string[]> {
  const jobs = await sql<{ id: string }>`select id from jobs`.execute(database.query)
  const known = new Set(jobs.rows.map(({ id }) => id))
  return (await versionsOf(database, name)).filter(({ id }) => !known.has(id)).map(({ version }) => version)
}

export async function signUp({ database }: TestServices, username: string, scopes: Scope[]) {
  const account = await database.transaction((query) =>
    insertAccount(query, { kind: 'user', username, email: `${username}@example.test`, emailVerified: true }),
  )
  const { token } = await createToken(database.query, {
    accountId: account.id,
    name: 'test',
    scopes,
    expiresAt: null,
  })
  return { accountId: account.id, token }
}

const leased = new Map<string, Attempt>()

/** Leases jobs until the one of this version comes, and reports that all is well. */
export async function passCheck(
  services: TestServices,
  versionId: string,
  { name, version }: { name: string; version: string },
): Promise<void> {
  const { queue } = services
  while (!leased.has(versionId)) {
    const attempt = await queue.next('check', null)
    assert(attempt !== undefined, `there is no job for ${name}@${version}`)
    leased.set(attempt.id, attempt)
  }
  const attempt = leased.get(versionId)
  assert(attempt !== undefined)
  leased.delete(versionId)
  const report = { ok: true, name, version, checks: [{ id: 'loads', ok: true, message: 'It loads.' }] }
  assert.equal(await finishCheck(services, attempt, report), 'published')
}

async function approveLogin(services: TestServices, by: { accountId: string; username: string }): Promise<void> {
  const actor = { ...by, emailVerified: true, operator: false, tokenId: null, scopes: new Set(scopes) }
  for (;;) {
    const codes = services.database.query.selectFrom('device_codes').selectAll().where('state', '=', 'pending')
    const code = await codes.executeTakeFirst()
    if (code !== undefined) return decideDeviceCode(services, actor, code, 'approved', '127.0.0.1')
    await sleep(50)
  }
}
