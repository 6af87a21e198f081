import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { PGlite } from '@electric-sql/pglite'
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { Outage } from '../dependencies/outage.ts'
import type { Connections, Database } from './database.ts'
import { diskFull, isDatabaseOutage } from './database-outage.ts'
import { lockFolder } from './folder-lock.ts'
import type { Schema } from './schema.ts'
import { noSignals } from './signals.ts'
import { createTransactions, TransactionScope } from './transactions.ts'
import { valueParsers } from './value-parsers.ts'

/** The embedded database, in a folder that only this process may open. Not migrated yet. */
export async function openPgliteFolder(
  folder: string,
  { onOutage = () => {} }: { onOutage?: (outage: Outage) => void } = {},
): Promise<Database> {
  const unlock = await lockFolder(folder)
  try {
    const pglite = await openPglite(folder)
    const scope = new TransactionScope()
    const dialect = new PgliteDialect(new PgliteConnection(pglite, folder, onOutage), scope)
    const query = new Kysely<Schema>({ dialect })
    return {
      kind: 'pglite',
      query,
      ...createTransactions(query, scope),
      execute: async (sql, parameters = []) => ({ rows: await dialect.driver.execute(sql, parameters) }),
      signals: noSignals,
      connections: () => dialect.driver.connections(),
      close: async () => {
        await query.destroy()
        // Kysely closes only what it has opened, and it opens on the first query.
        if (!pglite.closed) await pglite.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

async function openPglite(folder: string): Promise<PGlite> {
  const data = join(folder, 'pglite')
  if (!existsSync(data)) await makeDatabase(data)
  try {
    return await PGlite.create(data, { parsers: valueParsers, ...(await compiledPglite()) })
  } catch (cause) {
    throw new AgentGymError(
      {
        code: 'database_damaged',
        message: `The embedded database in ${folder} cannot be opened: ${cause instanceof Error ? cause.message : cause}.`,
        hint: 'If another version of AgentGym created it, start that version. Otherwise restore the folder from a backup.',
        data: { path: folder },
      },
      { cause },
    )
  }
}

// Node's own types have the classes of WebAssembly only.
declare global {
  namespace WebAssembly {
    function compile(bytes: Uint8Array): Promise<Module>
  }
}

type CompiledPglite = { pgliteWasmModule: WebAssembly.Module; initdbWasmModule: WebAssembly.Module }

let compiled: Promise<CompiledPglite> | undefined

/**
 * PostgreSQL as WebAssembly, compiled once per process and never freed: Node 24 may crash when V8 frees WebAssembly
 * code (nodejs/node#64500), and test processes open and close hundreds of databases.
 */
function compiledPglite(): Promise<CompiledPglite> {
  compiled ??= compilePglite()
  return compiled
}

async function compilePglite(): Promise<CompiledPglite> {
  const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all(
    ['pglite.wasm', 'initdb.wasm'].map(async (file) => WebAssembly.compile(await readFile(join(folder, file)))),
  )
  return { pgliteWasmModule, initdbWasmModule }
}

/** Created next to its final path and then moved there, so a killed process leaves no partial database. */
async function makeDatabase(data: string): Promise<void> {
  const unfinished = `${data}.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await (await PGlite.create(unfinished, await compiledPglite())).close()
  await rename(unfinished, data)
}

/**
 * PGlite has one connection. Each request for it waits until the previous one has released it, so transactions run one
 * after another and no statement runs inside another caller's transaction. (Kysely's own dialect does this too, but
 * waits before it calls the driver: a query that bypasses its own transaction would hang instead of failing.)
 */
class PgliteDialect implements Dialect {
  readonly driver: PgliteDriver

  constructor(connection: PgliteConnection, scope: TransactionScope) {
    this.driver = new PgliteDriver(connection, scope)
  }

  createDriver = () => this.driver
  createAdapter = () => new PostgresAdapter()
  createQueryCompiler = () => new PostgresQueryCompiler()
  createIntrospector = (query: Kysely<unknown>) => new PostgresIntrospector(query)
}

class PgliteDriver implements Driver {
  readonly #connection: PgliteConnection
  readonly #scope: TransactionScope
  /** Resolves when the connection is free for the next request. */
  #free = Promise.resolve()
  #giveBack = () => {}
  /** Number of callers that hold the connection or wait for it. */
  #claims = 0

  constructor(connection: PgliteConnection, scope: TransactionScope) {
    this.#connection = connection
    this.#scope = scope
  }

  async init(): Promise<void> {
    await this.#connection.pglite.waitReady
  }

  async acquireConnection(): Promise<PgliteConnection> {
    this.#scope.assertOutside()
    this.#claims++
    const mine = this.#free
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#free = promise
    await mine
    this.#giveBack = resolve
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#claims--
    this.#giveBack()
  }

  connections(): Connections {
    const active = Math.min(1, this.#claims)
    return { active, idle: 1 - active, waiting: this.#claims - active }
  }

  /** Runs several statements at once; parameters only with a single statement. */
  async execute(statements: string, parameters: unknown[]): Promise<Record<string, unknown>[]> {
    await this.acquireConnection()
    try {
      return await this.#connection.execute(statements, parameters)
    } catch (error) {
      // A `BEGIN; …` that fails halfway would leave its transaction open to the next caller; otherwise this only warns.
      await this.#connection.run('rollback')
      throw error
    } finally {
      await this.releaseConnection()
    }
  }

  async beginTransaction(connection: PgliteConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    await connection.run(isolationLevel ? `start transaction isolation level ${isolationLevel}` : 'begin')
  }

  async commitTransaction(connection: PgliteConnection): Promise<void> {
    // PostgreSQL answers COMMIT of a failed transaction with a rollback and no error; any other statement fails.
    const failure: unknown = await connection.run('select').then(
      () => undefined,
      (error) => error,
    )
    await connection.run('commit')
    if (failure) throw new AbortedTransactionError({ cause: failure })
  }

  async rollbackTransaction(connection: PgliteConnection): Promise<void> {
    await connection.run('rollback')
  }

  async destroy(): Promise<void> {
    await this.acquireConnection()
    await this.#connection.pglite.close()
  }
}

/** Statements that write nothing, or end a transaction. */
const needsNoSpace = /^\s*(select|begin|start|commit|rollback|savepoint|release|set|show)\b/i
/** Two segments of the write-ahead log, and two more. */
const reservedBytes = 64 * 2 ** 20

class PgliteConnection implements DatabaseConnection {
  readonly pglite: PGlite
  readonly #folder: string
  readonly #onOutage: (outage: Outage) => void

  constructor(pglite: PGlite, folder: string, onOutage: (outage: Outage) => void) {
    this.pglite = pglite
    this.#folder = folder
    this.#onOutage = onOutage
  }

  async run(command: string): Promise<void> {
    await this.#naming(command, () => this.pglite.exec(command))
  }

  async execute(statements: string, parameters: unknown[]): Promise<Record<string, unknown>[]> {
    return this.#naming(statements, async () => {
      if (parameters.length > 0) return (await this.pglite.query<Record<string, unknown>>(statements, parameters)).rows
      const results = await this.pglite.exec(statements)
      return results.flatMap(({ rows }) => rows as Record<string, unknown>[])
    })
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, affectedRows } = await this.#naming(sql, () => this.pglite.query<Row>(sql, [...parameters]))
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) }
  }

  /**
   * A full disk is no bug: what fails of it can be tried again. Nothing is written while the disk is nearly full: PGlite never
   * returns from a write to its log that finds no space, and the whole process hangs.
   */
  async #naming<Result>(statement: string, ask: () => Promise<Result>): Promise<Result> {
    try {
      if (!needsNoSpace.test(statement)) await requireSpace(this.#folder)
      return await ask()
    } catch (error) {
      if (!isDatabaseOutage(error)) throw error
      const outage = new Outage('database', error)
      this.#onOutage(outage)
      throw outage
    }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('PGlite has no cursors')
  }
}

async function requireSpace(folder: string): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder)
  // Some file systems do not say.
  if (blocks === 0 || bavail * bsize >= reservedBytes) return
  const message = `less than ${reservedBytes / 2 ** 20} MiB are free on the disk of ${folder}: No space left on device`
  throw Object.assign(new Error(message), { code: diskFull })
}
