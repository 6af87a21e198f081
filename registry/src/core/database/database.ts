import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/** The service's database: PGlite in a folder, or PostgreSQL. The only place that makes Kysely instances is this room. */
export type Database = {
  readonly kind: 'pglite' | 'postgresql'
  readonly query: Kysely<Schema>
  /**
   * Runs `work` in a transaction; on PostgreSQL at READ COMMITTED, tried again on serialisation failures and deadlocks
   * (40001, 40P01), so `work` must have no effects outside the database.
   */
  transaction<Result>(work: (query: Transaction<Schema>) => Promise<Result>): Promise<Result>
  /** Waits within a transaction until no other one holds this name, over all replicas (pg_advisory_xact_lock). */
  lock(query: Transaction<Schema>, name: string): Promise<void>
  /** Raw statements: resolves to the rows of every one. */
  execute(sql: string, parameters?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  /** Connections in use, open and unused, and those that somebody waits for. */
  connections(): Connections
  close(): Promise<void>
}

export type Connections = { active: number; idle: number; waiting: number }

/** Either part of a transaction or on its own. */
export type Queries = Kysely<Schema> | Transaction<Schema>
