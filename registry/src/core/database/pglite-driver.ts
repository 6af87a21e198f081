import type { PGlite } from '@electric-sql/pglite'
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Connections } from './database.ts'
import type { TransactionScope } from './transactions.ts'

/**
 * PGlite has one connection. Whoever asks for it waits until the one before has given it back, so that transactions run
 * one after the other and no statement slips into somebody else's. (Kysely's own dialect does so too, but waits before it
 * asks the driver: a query that goes past its own transaction would hang instead of failing.)
 */
export class PgliteDialect implements Dialect {
  readonly driver: PgliteDriver

  constructor(pglite: PGlite, scope: TransactionScope) {
    this.driver = new PgliteDriver(pglite, scope)
  }

  createDriver = () => this.driver
  createAdapter = () => new PostgresAdapter()
  createQueryCompiler = () => new PostgresQueryCompiler()
  createIntrospector = (query: Kysely<unknown>) => new PostgresIntrospector(query)
}

class PgliteDriver implements Driver {
  readonly #connection: PgliteConnection
  readonly #pglite: PGlite
  readonly #scope: TransactionScope
  /** Resolves when the connection is free for whoever comes next. */
  #free = Promise.resolve()
  #giveBack = () => {}
  /** Who has it, and who waits for it. */
  #claims = 0

  constructor(pglite: PGlite, scope: TransactionScope) {
    this.#pglite = pglite
    this.#connection = new PgliteConnection(pglite)
    this.#scope = scope
  }

  async init(): Promise<void> {
    await this.#pglite.waitReady
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

  /** Several statements at once; parameters only where there is one statement. */
  async execute(statements: string, parameters: unknown[]): Promise<Record<string, unknown>[]> {
    await this.acquireConnection()
    try {
      if (parameters.length > 0) return (await this.#pglite.query<Record<string, unknown>>(statements, parameters)).rows
      const results = await this.#pglite.exec(statements)
      return results.flatMap(({ rows }) => rows as Record<string, unknown>[])
    } catch (error) {
      // A `BEGIN; …` that failed half-way would leave its transaction to whoever comes next. Without one this is a warning.
      await this.#pglite.exec('rollback')
      throw error
    } finally {
      await this.releaseConnection()
    }
  }

  async beginTransaction(connection: PgliteConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    await connection.run(isolationLevel ? `start transaction isolation level ${isolationLevel}` : 'begin')
  }

  async commitTransaction(connection: PgliteConnection): Promise<void> {
    // PostgreSQL answers COMMIT of a failed transaction by undoing it, without an error; any other statement fails.
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
    await this.#pglite.close()
  }
}

class PgliteConnection implements DatabaseConnection {
  readonly #pglite: PGlite

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  async run(command: string): Promise<void> {
    await this.#pglite.exec(command)
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, affectedRows } = await this.#pglite.query<Row>(sql, [...parameters])
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('PGlite has no cursors')
  }
}
