import { setTimeout as delay } from 'node:timers/promises'
import { AgentGymError } from '@agentgym/contract'
import { outageIn, reasonOf } from '../dependencies/outage.ts'
import type { Database } from './database.ts'
import { openPostgresql, type PostgresqlAddress } from './postgresql-database.ts'
import { sqlState } from './violated-constraint.ts'

type Note = (message: string, data?: Record<string, unknown>) => void
type Log = { info: Note; warn: Note }

/** How often the replica's position is compared with the database's. */
const EVERY_MS = 1_000

export type ReplicaAddress = PostgresqlAddress & {
  /** A replica that is further behind is not read. */
  maxLagMs: number
}

/**
 * A standby of the database (streaming replication) that answers reads whose readers do not mind what changed in the last seconds. It is
 * read only while it is known to be at most so far behind, and whatever it fails at is done by the database itself: no
 * request depends on it.
 */
export class ReadReplica {
  readonly #primary: Database
  readonly #address: ReplicaAddress
  readonly #log: Log
  /** Positions of the database's log, oldest first, with the times by `performance.now()` at which they were reached. */
  #reached: { at: number; position: bigint }[] = []
  #replica: Database | null = null
  /** Of what the replica has: since when, at the least, it lacks something. Null: unknown. */
  #currentAt: number | null = null
  #problem: string | null = null

  constructor(primary: Database, address: ReplicaAddress, log: Log) {
    this.#primary = primary
    this.#address = address
    this.#log = log
  }

  /** How far behind it is at most; infinite where it cannot be read. */
  lagMs(): number {
    return this.#currentAt === null ? Number.POSITIVE_INFINITY : performance.now() - this.#currentAt
  }

  /** Runs `work`, which only reads, on the replica; on the database if the replica is too far behind or fails. */
  async read<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    const replica = this.#replica
    if (replica === null || this.lagMs() > this.#address.maxLagMs) return work(this.#primary)
    try {
      return await work(replica)
    } catch (error) {
      if (!isOfReplica(error)) throw error
      if (outageIn(error) !== undefined) this.#leave(reasonOf(outageIn(error)?.cause ?? error))
      return work(this.#primary)
    }
  }

  /** Compares the two until the signal aborts; then closes the replica's connections. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.compare()
      await delay(EVERY_MS, undefined, { signal }).catch(() => {})
    }
    await this.#replica?.close()
    this.#replica = null
  }

  /** Compares the two once. */
  async compare(): Promise<void> {
    try {
      this.#replica ??= await openPostgresql(this.#address)
      const at = performance.now()
      const [[{ position }], [replayed]] = await Promise.all([
        rowsOf(this.#primary, 'select pg_current_wal_lsn()::text as position'),
        rowsOf(this.#replica, 'select pg_last_wal_replay_lsn()::text as position'),
      ])
      if (replayed.position === null) throw new Error('it is no standby of a PostgreSQL database')
      this.#reached.push({ at, position: positionOf(position as string) })
      const has = positionOf(replayed.position as string)
      const index = this.#reached.findLastIndex(({ position }) => position <= has)
      if (index >= 0) this.#currentAt = this.#reached[index].at
      // Up to a minute of positions of a replica that follows, and what has been caught up with is of no more use.
      this.#reached = this.#reached.slice(Math.max(index, 0)).slice(-60)
      this.#note(this.lagMs() > this.#address.maxLagMs ? 'it is too far behind' : null)
    } catch (error) {
      this.#leave(reasonOf(outageIn(error)?.cause ?? (error instanceof AgentGymError ? error.cause : null) ?? error))
    }
  }

  #leave(problem: string): void {
    this.#currentAt = null
    this.#note(problem)
  }

  #note(problem: string | null): void {
    if (this.#problem === problem) return
    this.#problem = problem
    if (problem === null) this.#log.info('the read replica is used again')
    else this.#log.warn('the read replica is not used', { reason: problem })
  }
}

async function rowsOf(database: Database, statement: string): Promise<Record<string, unknown>[]> {
  return (await database.execute(statement)).rows
}

/** A position in PostgreSQL's log, such as `16/B374D848`, in bytes. */
function positionOf(text: string): bigint {
  const [high, low] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** Whether the replica failed, and not the work: it is unreachable, or cancelled a statement that replication was in the way of. */
function isOfReplica(error: unknown): boolean {
  return outageIn(error) !== undefined || ['40001', '40P01'].includes(sqlState(error) ?? '')
}
