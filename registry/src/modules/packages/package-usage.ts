import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Source } from '../../core/http/page-views.ts'
import type { Services } from '../../core/services.ts'
import { ArrivalWriter } from './arrivals.ts'

/** A view of a package's page, a play of it in the page, or a training run on it that has completed. */
export type Usage = {
  kind: 'view' | 'play' | 'training'
  name: string
  /** Null: the latest. */
  version: string | null
  source: Source | 'other'
  /** Counted once a day; null: counted always. */
  client: { ip: string; userAgent: string } | null
  /** The account, if known: what the publisher's own members do does not count. */
  accountId: string | null
}

const flushAfterMs = 5_000
/** Rows that wait at most. More are dropped, because serving matters more than counting. */
const keptAtMost = 20_000
/** Clients remembered for a day. Beyond, a client may be counted again. */
const clientsAtMost = 200_000
/** Days for which daily rows are kept. */
export const usageDays = 400

type Counting = Pick<Services, 'database' | 'config' | 'log'>
type Row = { name: string; version: string | null; day: string; source: string; account: string | null } & Counts
type Counts = { views: number; plays: number; trainings: number }

/**
 * Counts views, plays and trainings in memory, and adds them to one row a package, version, day and source every five seconds.
 * Clients are remembered in memory only, as keyed hashes, until the day ends.
 */
export class UsageCounter {
  readonly #services: Counting
  #rows = new Map<string, Row>()
  #clients = new Set<string>()
  readonly #arrivals: ArrivalWriter
  #day = ''
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(services: Counting) {
    this.#services = services
    this.#arrivals = new ArrivalWriter(services)
  }

  /** Never throws and never waits. */
  record({ kind, name, version, source, client, accountId }: Usage): void {
    const day = new Date().toISOString().slice(0, 10)
    if (kind === 'view' && accountId !== null && source !== 'other') this.#arrivals.record({ accountId, name, source })
    if (client !== null && this.#isKnown(day, `${kind}\n${name}\n${version}\n${this.#clientOf(day, client)}`)) return
    const counts = { views: 0, plays: 0, trainings: 0, [`${kind}s`]: 1 }
    this.#put({ name, version, day, source, account: accountId, ...counts })
  }

  /** Resolves once everything recorded so far has been written, or has failed. One flush at a time. */
  async flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushNow())
    await Promise.all([this.#flushing, this.#arrivals.flush()])
  }

  #clientOf(day: string, { ip, userAgent }: NonNullable<Usage['client']>): string {
    const hmac = createHmac('sha256', this.#services.config.secret)
    return hmac.update(`usage\n${day}\n${clientNetwork(ip)}\n${userAgent}`).digest('base64url')
  }

  #isKnown(day: string, client: string): boolean {
    if (day !== this.#day) this.#clients.clear()
    this.#day = day
    if (this.#clients.has(client)) return true
    if (this.#clients.size < clientsAtMost) this.#clients.add(client)
    return false
  }

  #put(row: Row): void {
    const { name, version, day, source, account } = row
    const key = JSON.stringify([name, version, day, source, account])
    const known = this.#rows.get(key)
    if (known === undefined && this.#rows.size >= keptAtMost) return
    const { views = 0, plays = 0, trainings = 0 } = known ?? {}
    const sum = { views: views + row.views, plays: plays + row.plays, trainings: trainings + row.trainings }
    this.#rows.set(key, { ...row, ...sum })
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref()
  }

  async #flushNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const taken = [...this.#rows.values()]
    if (taken.length === 0) return
    this.#rows = new Map()
    try {
      await addUsage(this.#services.database, taken)
    } catch (error) {
      this.#services.log.warn('views and plays could not be counted; trying again', {
        rows: taken.length,
        error: error instanceof Error ? error.message : String(error),
      })
      for (const row of taken) this.#put(row)
    }
  }
}

/** In one statement, one replica after the other, so that they do not wait for each other forever. */
async function addUsage(database: Database, rows: Row[]): Promise<void> {
  await database.transaction(async (query) => {
    await database.lock(query, 'packages usage')
    await sql`
      with counted as materialized (
        select packages.id as package_id, coalesce(given.version, packages.latest_version) as version,
          given.day, given.source, sum(given.views)::bigint as views, sum(given.plays)::bigint as plays,
          sum(given.trainings)::bigint as trainings
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as given (name text, version text, day date,
          source text, account uuid, views bigint, plays bigint, trainings bigint)
        join packages on packages.name = given.name
        where coalesce(given.version, packages.latest_version) is not null
          and given.account is distinct from packages.owner_id and not exists (
            select from memberships where organisation_id = packages.owner_id and user_id = given.account)
          and (given.version is null or exists (
            select from versions where versions.package_id = packages.id and versions.version = given.version))
        group by 1, 2, 3, 4
      ), days as (
        insert into package_days as known (package_id, version, day, source, views, plays)
        select package_id, version, day, source, views, plays from counted where views + plays > 0
        on conflict (package_id, day, version, source) do update
          set views = known.views + excluded.views, plays = known.plays + excluded.plays
      )
      update packages set plays = packages.plays + used.plays, trainings = packages.trainings + used.trainings
      from (select package_id, sum(plays)::bigint as plays, sum(trainings)::bigint as trainings from counted
        group by 1 having sum(plays) + sum(trainings) > 0) used
      where packages.id = used.package_id`.execute(query)
  })
}

export async function deleteOldUsage(query: Queries): Promise<void> {
  await query
    .deleteFrom('package_days')
    .where('day', '<', sql<string>`(now() at time zone 'utc')::date - ${usageDays}::integer`)
    .execute()
}
