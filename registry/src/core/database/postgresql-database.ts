import { AgentGymError } from '@agentgym/contract'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { Outage, outageIn, reasonOf } from '../dependencies/outage.ts'
import type { Database } from './database.ts'
import { isDatabaseOutage } from './database-outage.ts'
import type { Schema } from './schema.ts'
import { PostgresqlSignals } from './signals.ts'
import { createTransactions, TransactionScope } from './transactions.ts'
import { arrayElementOids, valueParsers } from './value-parsers.ts'

export type PostgresqlAddress = {
  url: string
  /** Connections of this process. Default: 10. */
  connections?: number
  /** Statements are short: one that takes this long is stuck and must not keep its locks and connection. Default: 30 s. */
  statementMs?: number
  /** Longest wait for a connection: for a free one of the pool, or a new one. Default: 10 s. */
  connectMs?: number
}

const CONNECT_MS = 10_000

/** Without an answer this long after the statement timeout, the server is frozen or gone. */
const SILENCE_MS = 5_000

export type PostgresqlOptions = {
  /** Receives every outage: connections that fail, and statements that fail because the database cannot be used. */
  onOutage?: (outage: Outage) => void
  /** No timeout for the answers of statements, for migrations. */
  patient?: boolean
}

/** A pool of connections to PostgreSQL 15 or later. Not migrated yet. */
export async function openPostgresql(address: PostgresqlAddress, options: PostgresqlOptions = {}): Promise<Database> {
  const { onOutage = () => {} } = options
  const { url, statementMs = 30_000 } = address
  const pool = createPool({ ...address, statementMs }, options)
  await checkServer(pool)
  const scope = new TransactionScope()
  const connect = async () => {
    scope.assertOutside()
    try {
      return await pool.connect()
    } catch (cause) {
      // Any connection failure: a changed password is as bad as a server that is down.
      const outage = new Outage('database', cause)
      onOutage(outage)
      throw outage
    }
  }
  const signals = new PostgresqlSignals({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'agentgym signals',
    Client: watchedClient(statementMs + SILENCE_MS),
  })
  const query = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } }),
  })
  return {
    kind: 'postgresql',
    query,
    signals,
    ...createTransactions(query, scope),
    execute: async (statements, parameters = []) => ({ rows: await execute(await connect(), statements, parameters) }),
    connections: () => ({
      active: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: async () => {
      await signals.close()
      await query.destroy()
      if (!pool.ending) await pool.end()
    },
  }
}

function createPool(
  { url, connections = 10, statementMs, connectMs = CONNECT_MS }: PostgresqlAddress & { statementMs: number },
  { onOutage, patient }: PostgresqlOptions,
): pg.Pool {
  let pool: pg.Pool
  try {
    pool = new pg.Pool({
      Client: watchedClient(patient ? Number.POSITIVE_INFINITY : statementMs + SILENCE_MS, onOutage),
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: 30_000,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: statementMs,
      // All connections use UTC, whatever the server's time zone. A failure here closes the connection; later, the pool
      // would leak it.
      onConnect: async (client) => void (await client.query(`set time zone 'UTC'`)),
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

const urlHint = 'Use the form postgresql://user:password@host:5432/agentgym.'

async function checkServer(pool: pg.Pool): Promise<void> {
  let settings: { version: number; encoding: string } | undefined
  try {
    const client = await pool.connect()
    const { rows } = await client
      .query<{ version: number; encoding: string }>(
        `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
      )
      .finally(() => client.release())
    settings = rows[0]
  } catch (cause) {
    await pool.end()
    throw new AgentGymError(
      {
        code: 'database_unavailable',
        message: `Connecting to PostgreSQL failed: ${reasonOf(outageIn(cause)?.cause ?? cause)}.`,
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

/**
 * A client whose statements fail with an Outage where the database cannot be used. A connection is replaced once a
 * statement has gone unanswered for `silenceMs`, or the server no longer accepts writes, as after a failover.
 */
function watchedClient(silenceMs: number, onOutage: (outage: Outage) => void = () => {}): typeof pg.Client {
  return class extends pg.Client {
    override query(...parameters: unknown[]): never {
      const asked: unknown = super.query(...(parameters as [string]))
      return (asked instanceof Promise ? this.#watch(asked) : asked) as never
    }

    async #watch<Result>(asked: Promise<Result>): Promise<Result> {
      const cut = () => (this as unknown as { connection: pg.Connection }).connection.stream.destroy()
      const timer = Number.isFinite(silenceMs) ? setTimeout(cut, silenceMs) : undefined
      try {
        return await asked
      } catch (error) {
        if (!isDatabaseOutage(error)) throw error
        cut()
        const outage = new Outage('database', error)
        onOutage(outage)
        throw outage
      } finally {
        clearTimeout(timer)
      }
    }
  }
}

async function execute(
  client: pg.PoolClient,
  statements: string,
  parameters: unknown[],
): Promise<Record<string, unknown>[]> {
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
