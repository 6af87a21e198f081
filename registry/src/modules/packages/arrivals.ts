import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import type { Source } from '../../core/http/page-views.ts'
import type { Services } from '../../core/services.ts'

/** An account's view of a package's page. */
export type Arrival = { accountId: string; name: string; source: Source }

/** An order within this time has the source of the arrival; older rows are deleted. */
const keptFor = sql`interval '24 hours'`
/** Arrivals that wait to be written, at most. More are dropped: serving matters more than counting. */
const waitingAtMost = 20_000

/**
 * Stores how accounts came to packages, at once: the next request, an order perhaps, may go to another replica. One
 * statement at a time, so arrivals under load share one.
 */
export class ArrivalWriter {
  readonly #services: Pick<Services, 'database' | 'log'>
  #waiting = new Map<string, Arrival>()
  #writing: Promise<void> | null = null

  constructor(services: Pick<Services, 'database' | 'log'>) {
    this.#services = services
  }

  /** Never throws and never waits. */
  record(arrival: Arrival): void {
    const key = `${arrival.accountId} ${arrival.name}`
    if (this.#waiting.size >= waitingAtMost && !this.#waiting.has(key)) return
    this.#waiting.set(key, arrival)
    void this.flush()
  }

  /** Resolves once everything recorded so far has been written, or has failed. */
  flush(): Promise<void> {
    if (this.#waiting.size > 0) this.#writing ??= this.#write()
    return this.#writing ?? Promise.resolve()
  }

  async #write(): Promise<void> {
    while (this.#waiting.size > 0) {
      const taken = [...this.#waiting.values()]
      this.#waiting = new Map()
      try {
        await putArrivals(this.#services.database, taken)
      } catch (error) {
        // Not retried: the order only lacks its source.
        this.#services.log.warn('how accounts came to packages could not be stored', {
          rows: taken.length,
          error: error instanceof Error ? error.message : String(error),
        })
      }
    }
    this.#writing = null
  }
}

/** In the order of the key, so that replicas do not wait for each other forever. */
async function putArrivals({ query }: Database, arrivals: Arrival[]): Promise<void> {
  await sql`
    insert into arrivals (account_id, package_id, source)
    select accounts.id, packages.id, given.source
    from jsonb_to_recordset(${JSON.stringify(arrivals)}::text::jsonb) as given ("accountId" uuid, name text, source text)
    join packages on packages.name = given.name join accounts on accounts.id = given."accountId"
    order by 1, 2
    on conflict (account_id, package_id) do update set source = excluded.source, at = now()`.execute(query)
}

/** How the account came to the package's page, if that was within a day. */
export async function sourceOfArrival(
  query: Queries,
  { accountId, packageId }: { accountId: string; packageId: string },
): Promise<Source | null> {
  const row = await query
    .selectFrom('arrivals')
    .select('source')
    .where('account_id', '=', accountId)
    .where('package_id', '=', packageId)
    .where('at', '>', sql<Date>`now() - ${keptFor}`)
    .executeTakeFirst()
  return row?.source ?? null
}

export async function deleteOldArrivals(query: Queries): Promise<void> {
  await query.deleteFrom('arrivals').where('at', '<', sql<Date>`now() - ${keptFor}`).execute()
}
