import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Services } from '../../core/services.ts'

/** `accountId`: the downloading account, if known. */
export type Download = { versionId: string; ip: string; userAgent: string; accountId?: string | null }

const flushAfterMs = 2_000
/** With more pending downloads than this, flushes immediately. */
const flushAbove = 10_000
/** Maximum number of pending downloads. More are dropped, because serving matters more than counting. */
const keptAtMost = 100_000
const batchSize = 5_000

type Counting = Pick<Services, 'database' | 'config' | 'log'>

/**
 * Counts downloads, once per client, day and version, and writes them every two seconds. A client is an address (for
 * IPv6 its /64) with a user agent. The database stores a keyed hash of it, with a new key every day.
 */
export class DownloadCounter {
  readonly #services: Counting
  #waiting = new Map<string, CountedDownload>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(services: Counting) {
    this.#services = services
  }

  /** Never throws and never waits. */
  record({ versionId, ip, userAgent, accountId = null }: Download): void {
    const day = new Date().toISOString().slice(0, 10)
    const client = createHmac('sha256', this.#services.config.secret)
      .update(`download\n${day}\n${clientNetwork(ip)}\n${programOf(userAgent)}`)
      .digest('base64url')
    this.#put({ version_id: versionId, day, client, account_id: accountId })
    if (this.#waiting.size === flushAbove) void this.flush()
  }

  /** Resolves once everything recorded so far has been written, or has failed. One flush at a time. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushNow())
    return this.#flushing
  }

  async #flushNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const taken = [...this.#waiting.values()]
    this.#waiting = new Map()
    for (let at = 0; at < taken.length; at += batchSize) {
      const batch = taken.slice(at, at + batchSize)
      try {
        await addDownloads(this.#services.database, batch)
      } catch (error) {
        this.#services.log.warn('downloads could not be counted; trying again', {
          downloads: taken.length - at,
          error: error instanceof Error ? error.message : String(error),
        })
        for (const counted of taken.slice(at)) this.#put(counted)
        return
      }
    }
  }

  #put(counted: CountedDownload): void {
    if (this.#waiting.size >= keptAtMost) return
    const { version_id, day, client, account_id } = counted
    this.#waiting.set(`${version_id} ${day} ${client} ${account_id}`, counted)
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref()
  }
}

/** `npm` from `npm/10.9.0 node/v24.1.0 linux x64`, so that a new version of a program is not a new client. */
function programOf(userAgent: string): string {
  return (/^[a-z][a-z0-9_-]*/.exec(userAgent.toLowerCase())?.[0] ?? 'unknown').slice(0, 32)
}

/** `client` is a keyed hash; `day` is in UTC; `account_id` is null if anonymous. */
type CountedDownload = { version_id: string; day: string; client: string; account_id: string | null }

/**
 * Adds new downloads in one statement, so that the counters of versions and packages always match the rows. Replicas
 * take turns, because each updates many versions in the planner's order. Known accounts become users of the package and
 * may review it. Downloads by the package's own members are not counted.
 */
async function addDownloads(database: Database, downloads: CountedDownload[]): Promise<void> {
  await database.transaction(async (query) => {
    await database.lock(query, 'catalog downloads')
    const given = JSON.stringify(downloads)
    await sql`with fresh as (
        insert into downloads (version_id, day, client)
        select given.version_id, given.day, given.client
        from jsonb_to_recordset(${given}::jsonb) as given (version_id uuid, day date, client text, account_id uuid)
        join versions on versions.id = given.version_id
        join packages on packages.id = versions.package_id
        where given.account_id is distinct from packages.owner_id and not exists (
          select from memberships where organisation_id = packages.owner_id and user_id = given.account_id)
        on conflict do nothing
        returning version_id
      ), of_versions as (
        select versions.package_id, fresh.version_id, count(*) as downloads
        from fresh join versions on versions.id = fresh.version_id group by 1, 2
      ), versions_counted as (
        update versions set downloads = versions.downloads + of_versions.downloads
        from of_versions where versions.id = of_versions.version_id
      ), of_packages as (
        select package_id, sum(downloads)::bigint as downloads from of_versions group by 1
      )
      update packages set downloads = packages.downloads + of_packages.downloads
      from of_packages where packages.id = of_packages.package_id`.execute(query)
    if (downloads.every(({ account_id }) => account_id === null)) return
    await sql`insert into package_users (account_id, package_id)
      select distinct accounts.id, versions.package_id
      from jsonb_to_recordset(${given}::jsonb) as given (version_id uuid, account_id uuid)
      join versions on versions.id = given.version_id
      join accounts on accounts.id = given.account_id
      on conflict do nothing`.execute(query)
  })
}

/** Rows only serve to count a client once per day. The counters are kept. */
export async function deleteOldDownloads(query: Queries, keptDays: number): Promise<void> {
  await query
    .deleteFrom('downloads')
    .where('day', '<', sql<string>`(now() at time zone 'utc')::date - ${keptDays}::integer`)
    .execute()
}
