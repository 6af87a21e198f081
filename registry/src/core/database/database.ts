import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema.ts'
import type { Signals } from './signals.ts'

/** The service's database: PGlite in a folder, or PostgreSQL. Only this module creates Kysely instances. */
export type Database = {
  readonly kind: 'pglite' | 'postgresql'
  readonly query: Kysely<Schema>
  /**
   * Runs `work` in a transaction, on PostgreSQL at READ COMMITTED. Retries serialization failures and deadlocks (40001,
   * 40P01), so `work` must have no other side effects.
   */
  transaction<Result>(work: (query: Transaction<Schema>) => Promise<Result>): Promise<Result>
  /** Within a transaction, waits until no other transaction on any replica holds this name (pg_advisory_xact_lock). */
  lock(query: Transaction<Schema>, name: string): Promise<void>
  /** Runs raw statements and resolves to the rows of all of them. */
  execute(sql: string, parameters?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  /** Signals to and from the other processes of the installation. */
  readonly signals: Signals
  /** Connections in use, open and idle, and those being waited for. */
  connections(): Connections
  close(): Promise<void>
}

export type Connections = { active: number; idle: number; waiting: number }

/** Either part of a transaction or on its own. */
export type Queries = Kysely<Schema> | Transaction<Schema>
