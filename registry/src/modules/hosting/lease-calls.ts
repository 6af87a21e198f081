import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { AgentGymError, callsABatch, type LeasedCalls } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import { leaseLost, setLeased, setReleased } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { callDesk, mayBeLeased } from './call-desk.ts'
import type { HostingTimes } from './hosting-times.ts'

/** Of the requests of a batch, unless one alone has more. */
const batchBytes = 4 * 2 ** 20
/** For so long calls of a version that is not loaded may be passed over for those of one that is. */
const patienceMs = 200

type Asked = { loaded: string[]; waitMs: number }

/** Calls of one version for a worker, as soon as there are some; undefined where none came within `waitMs`. */
export async function leaseCalls(
  services: Services,
  { loaded, waitMs }: Asked,
  { times, signal }: { times: HostingTimes; signal: AbortSignal },
): Promise<LeasedCalls | undefined> {
  const desk = callDesk(services, times)
  const endsAt = performance.now() + waitMs
  const place = desk.awaitWork(loaded)
  try {
    for (;;) {
      const calls = await takeCalls(services, loaded, times)
      if (calls !== undefined && signal.aborted) return void (await giveBack(services, calls))
      const leftMs = endsAt - performance.now()
      if (calls !== undefined || leftMs <= 0 || desk.closed || signal.aborted) return calls
      await place.news(leftMs, signal)
    }
  } finally {
    place.leave()
  }
}

type Batch = { lease: string; versionId: string; leasedUntil: Date; requests: { id: string; request: string }[] }

async function takeCalls(services: Services, loaded: string[], times: HostingTimes): Promise<LeasedCalls | undefined> {
  const batch = await services.database.transaction((query) => takeBatch(query, loaded, times))
  if (batch === undefined) return undefined
  const { lease, versionId, leasedUntil, requests } = batch
  const agent = await services.database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.integrity'])
    .where('versions.id', '=', versionId)
    .executeTakeFirstOrThrow()
  const path = `/v1/hosted-calls/tarballs/${versionId}?${new URLSearchParams({ lease })}`
  return {
    lease,
    expires_at: leasedUntil.toISOString(),
    agent: { id: versionId, ...agent, tarball_url: services.config.publicUrl + path },
    calls: requests.map(({ id, request }) => {
      const { observation, action_mask = null } = JSON.parse(request)
      return { id, observation, action_mask }
    }),
  }
}

/**
 * The oldest calls of one version, held by nobody else: of the one whose call is the oldest; while that has not waited for long,
 * rather of one that is loaded.
 */
async function takeBatch(
  query: Transaction<Schema>,
  loaded: string[],
  { leaseMs }: HostingTimes,
): Promise<Batch | undefined> {
  const recent = sql`created_at > now() - ${patienceMs} * interval '1 millisecond'`
  const { rows: first } = await sql<{ version_id: string }>`
    select version_id from hosted_calls where ${mayBeLeased}
    order by ${recent}, (${recent} and version_id = any(${uuidArray(loaded)})) desc, created_at, id
    limit 1 for update skip locked`.execute(query)
  if (first.length === 0) return undefined
  const [{ version_id: versionId }] = first
  const { rows: found } = await sql<{ id: string; bytes: number }>`
    select id, octet_length(request) as bytes from hosted_calls where ${mayBeLeased} and version_id = ${versionId}
    order by created_at, id limit ${callsABatch} for update skip locked`.execute(query)
  const lease = randomBytes(24).toString('base64url')
  const ids = fitting(found)
  const { rows } = await sql<{ id: string; request: string; leased_until: Date }>`
    update hosted_calls set ${setLeased(leaseMs)}, lease = ${lease} where id = any(${uuidArray(ids)}) returning id, request, leased_until`.execute(
    query,
  )
  // An update returns its rows in whatever order it met them.
  const requests = rows.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  return { lease, versionId, leasedUntil: requests[0].leased_until, requests }
}

function fitting(found: { id: string; bytes: number }[]): string[] {
  let sum = 0
  const ids: string[] = []
  for (const { id, bytes } of found) {
    sum += bytes
    if (ids.length > 0 && sum > batchBytes) break
    ids.push(id)
  }
  return ids
}

/** The worker has gone while they were taken: the next one has them at once. */
async function giveBack(services: Services, { lease, agent, calls }: LeasedCalls): Promise<void> {
  await sql`update hosted_calls set ${setReleased}, lease = null
    where id = any(${uuidArray(calls.map(({ id }) => id))}) and state = 'leased' and lease = ${lease}`.execute(
    services.database.query,
  )
  callDesk(services).admitted(agent.id)
}

/** The tarball of the version whose calls the lease is for. Throws `lease_lost`. */
export async function openLeasedAgent(
  { database, objects }: Services,
  { id, lease }: { id: string; lease: string },
): Promise<{ body: Readable; size: number }> {
  const { rows } = await sql<{ object_key: string }>`
    select object_key from versions where id = ${id} and exists (
      select from hosted_calls where lease = ${lease} and state = 'leased' and version_id = versions.id
        and leased_until > now())`.execute(database.query)
  const [version] = rows
  if (version === undefined) throw leaseLost()
  const object = await objects.stream(version.object_key)
  if (object !== undefined) return object
  throw new AgentGymError({ code: 'object_damaged', message: `The tarball of version ${id} is missing.` })
}
