import { AgentGymError } from '@agentgym/contract'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

import { createTransactions, TransactionScope } from './transactions.ts'
import { arrayElementOids, valueParsers } from './value-parsers.ts'

/** No statement should take long. One that does is stuck and must not keep its locks and its connection forever. */
const limits = {
  max: 10,
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
}

/** A pool of connections to PostgreSQL 15 or later. Not migrated yet. */
export async function openPostgresql(url: string): Promise<Database> {
  const pool = createPool(url)
  await checkServer(pool)
  const scope = new TransactionScope()
  const query = new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: {
        connect: () => {
          scope.assertOutside()
          return pool.connect()
        },
        end: () => pool.end(),
        options: pool.options,
      },
      // The same day for everyone, whatever the server's own time zone.
      onCreateConnection: async (connection) => {
        await connection.executeQuery(CompiledQuery.raw(`set time zone 'UTC'`))
      },
    }),
  })
  return {
    kind: 'postgresql',
    query,
    ...createTransactions(query, scope),
    execute: async (statements, parameters = []) => {
      scope.assertOutside()
      return { rows: await execute(pool, statements, parameters) }
    },
    connections: () => ({
      active: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: async () => {
      await query.destroy()
      if (!pool.ending) await pool.end()
    },
  }
}

function createPool(connectionString: string): pg.Pool {
  let pool: pg.Pool
  try {
    pool = new pg.Pool({
      connectionString,
      ...limits,
      keepAlive: true,
      application_name: 'agentgym',
      types: { getTypeParser },
    })
  } catch (cause) {
    throw new AgentGymError(
      { code: 'config_invalid', message: 'DATABASE_URL is not a PostgreSQL URL.', hint: urlHint },
      { cause },
    )
  }
  // A broken connection (a server restart) leaves the pool by itself, and the query that used it fails. It also emits
  // an event (the pool for idle connections, the client for others) that would end the process if unhandled.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return pool
}

const urlHint = 'It looks like postgresql://user:password@host:5432/agentgym.'

async function checkServer(pool: pg.Pool): Promise<void> {
  let settings: { version: number; encoding: string } | undefined
  try {
    const { rows } = await pool.query<{ version: number; encoding: string }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    )
    settings = rows[0]
  } catch (cause) {
    await pool.end()
    throw new AgentGymError(
      {
        code: 'database_unavailable',
        message: `Connecting to PostgreSQL failed: ${cause instanceof Error ? cause.message || cause.name : cause}.`,
        hint: `Check DATABASE_URL and that the server is running. ${urlHint}`,
      },
      { cause },
    )
  }
  if (settings && settings.version >= 150_000 && settings.encoding === 'UTF8') return
  await pool.end()
  throw new AgentGymError({
    code: 'database_unavailable',
    message: `PostgreSQL 15 or later with the encoding UTF8 is required; this is ${settings?.version}, ${settings?.encoding}.`,
    data: { ...settings },
  })
}

async function execute(pool: pg.Pool, statements: string, parameters: unknown[]): Promise<Record<string, unknown>[]> {
  const client = await pool.connect()
  try {
    // Without parameters, the text may hold several statements and return several results.
    const results: pg.QueryResult | pg.QueryResult[] = await client.query(statements, parameters)
    client.release()
    return [results].flat().flatMap(({ rows }) => rows ?? [])
  } catch (error) {
    // A `BEGIN; …` that failed halfway would leave its transaction open for the next user of the connection.
    client.release(true)
    throw error
  }
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  const parse = valueParsers[oid]
  if (parse) return parse
  const element = valueParsers[arrayElementOids[oid]]
  if (element) return (text) => parseArray(text, element)
  return pg.types.getTypeParser(oid, format as 'text')
}

/** Arrays of numbers and days need no quotes: `{1,2,NULL}`. */
function parseArray(text: string, parse: (text: string) => unknown): unknown[] {
  const inside = text.slice(1, -1)
  return inside === '' ? [] : inside.split(',').map((item) => (item === 'NULL' ? null : parse(item)))
}
