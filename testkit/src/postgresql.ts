import { randomBytes } from 'node:crypto'
import { basename, join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'
import { startPostgresql } from './postgresql-server.ts'
import { onceARun, runFolder } from './run-folder.ts'

/** A server that is there already, instead of one that the run starts: an address whose user may make databases. */
const given = process.env.AGENTGYM_TEST_DATABASE_URL

/** URL of a new, migrated PostgreSQL database. */
export async function createPostgresqlDatabase(): Promise<string> {
  const template = await onceARun('postgresql-template', async (folder) => {
    const url = await createDatabase(await serverUrl(folder), `${namePrefix(folder)}_template`)
    await (await openDatabase({ url })).close()
    return url
  })
  const folder = runFolder()
  return createDatabase(
    await serverUrl(folder),
    `${namePrefix(folder)}_${randomBytes(6).toString('hex')}`,
    databaseName(template),
  )
}

/** Address of a PostgreSQL database with nothing in it. */
export async function createEmptyPostgresqlDatabase(): Promise<string> {
  const folder = runFolder()
  return createDatabase(await serverUrl(folder), `${namePrefix(folder)}_${randomBytes(6).toString('hex')}`)
}

/** Address of a database made by a dump: plain SQL, as `pg_dump --inserts` writes it. */
export async function restorePostgresqlDatabase(dump: string): Promise<string> {
  const url = await createEmptyPostgresqlDatabase()
  await asAdministrator(url, async (client) => void (await client.query(dump)))
  return url
}

/** Our own server is deleted with its databases; on a shared one they must be dropped. */
export async function dropTestDatabases(folder: string): Promise<void> {
  if (given === undefined) return
  await asAdministrator(given, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [`${namePrefix(folder)}_`],
    )
    for (const { datname } of rows) await client.query(`drop database ${client.escapeIdentifier(datname)} with (force)`)
  })
}

const serverUrl = async (folder: string): Promise<string> =>
  given ?? onceARun('postgresql', () => startPostgresql(join(folder, 'postgresql')))

/** `agentgym-run-123-aBcDeF` names the run on a server that others use too. */
const namePrefix = (folder: string): string => basename(folder).toLowerCase().replaceAll('-', '_')

const databaseName = (url: string): string => new URL(url, 'postgresql://localhost').pathname.slice(1)

async function createDatabase(server: string, name: string, template?: string): Promise<string> {
  await asAdministrator(server, async (client) => {
    const from = template === undefined ? 'template0' : client.escapeIdentifier(template)
    await client.query(`create database ${client.escapeIdentifier(name)} template ${from} encoding 'UTF8'`)
  })
  return server.replace(/^(\w+:\/\/[^/?]*)\/[^?]*/, `$1/${name}`)
}

async function asAdministrator(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
