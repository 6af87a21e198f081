import { randomBytes } from 'node:crypto'
import { type CallAnswer, callsABatch, type HostedCall, type LeasedCalls } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import { type OpenedObject, openFound } from '../../core/queue/leased-object.ts'
import { setLeased, setReleased } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { countServed } from '../metering/index.ts'
import { type HostingServices, type HostingTimes, mayBeLeased } from './call-broker.ts'
import { failureOf } from './call-failures.ts'

type HeldCall = {
  id: string
  account_id: string
  token_id: string | null
  package_id: string
  version_id: string
  because: HostedCall['because']
  price_minor: number
  currency: string
  name: string
  version: string
  trial_calls: number
}
type Ended = { id: string; answer: string | null; error: string | null }

/**
 * Ends the calls that the lease still covers. A successful call is charged once, in the same transaction, on the terms
 * of its admission; a failed one is free. Late answers change nothing.
 */
export async function answerCalls(
  services: HostingServices,
  { lease, answers }: { lease: string; answers: CallAnswer[] },
): Promise<{ taken: number; late: number }> {
  const answerOf = new Map(answers.map((answer) => [answer.id.toLowerCase(), answer]))
  const ended = await services.database.transaction(async (query) => {
    const held = await holdCalls(services, query, lease, answerOf.keys())
    const served = held.filter(({ id }) => !isFailure(answerOf.get(id)))
    const made = await countServed(
      query,
      served.map((call) => ({
        ...{ id: call.id, accountId: call.account_id, packageId: call.package_id, versionId: call.version_id },
        ...{ tokenId: call.token_id, trial: call.because === 'trial', priceMinor: call.price_minor },
        currency: call.currency,
      })),
    )
    const ended = held.map((call) => endOf(call, answerOf.get(call.id), made.get(call.id)))
    await writeEnds(query, ended)
    return ended
  })
  services.callBroker.ended(ended.map(({ id }) => id))
  return { taken: ended.length, late: answers.length - ended.length }
}

const isFailure = (answer: CallAnswer | undefined) => answer !== undefined && 'error' in answer

async function holdCalls(
  { config }: Pick<Services, 'config'>,
  query: Transaction<Schema>,
  lease: string,
  ids: Iterable<string>,
): Promise<HeldCall[]> {
  const { rows } = await sql<HeldCall>`
    select hosted_calls.id, hosted_calls.account_id, hosted_calls.token_id, hosted_calls.package_id, version_id, because,
      hosted_calls.price_minor, coalesce(hosted_calls.currency, ${config.training.currency}) as currency, packages.name, versions.version,
      coalesce(case when sale_terms.next_at <= now() then sale_terms.next_trial_calls else sale_terms.trial_calls end, 0)
        as trial_calls
    from hosted_calls join packages on packages.id = hosted_calls.package_id join versions on versions.id = version_id
    left join sale_terms on sale_terms.package_id = packages.id
    where hosted_calls.id = any(${uuidArray(ids)}) and hosted_calls.state = 'leased' and lease = ${lease}
      and expires_at > now()
    order by hosted_calls.id for update of hosted_calls`.execute(query)
  return rows
}

function endOf(call: HeldCall, answer: CallAnswer | undefined, made: number | undefined): Ended {
  const { id, because, name, version } = call
  if (answer === undefined || 'error' in answer) {
    const report = answer?.error ?? { code: 'internal_error' as const, message: 'The result is missing.' }
    return { id, answer: null, error: JSON.stringify(failureOf({ name, version }, report)) }
  }
  const { action, label, probabilities, tool_probabilities, state, model_ms } = answer
  const left = made === undefined ? null : Math.max(0, call.trial_calls - made)
  const result: HostedCall = {
    ...{ id, package: name, version, action, label, probabilities, tool_probabilities, state },
    ...{ because, trial_calls_left: left, model_ms },
  }
  return { id, answer: JSON.stringify(result), error: null }
}

async function writeEnds(query: Transaction<Schema>, ended: Ended[]): Promise<void> {
  if (ended.length === 0) return
  const texts = (values: (string | null)[]) => sql`${sql.val(values)}::text[]`
  await sql`
    update hosted_calls set state = case when ends.error is null then 'answered' else 'failed' end,
      answer = ends.answer, error = ends.error, request = null, ended_at = now()
    from unnest(${uuidArray(ended.map(({ id }) => id))}, ${texts(ended.map(({ answer }) => answer))},
      ${texts(ended.map(({ error }) => error))}) as ends (id, answer, error)
    where hosted_calls.id = ends.id`.execute(query)
}

/** Size limit of a batch's requests, unless a single one is larger. */
const batchBytes = 4 * 2 ** 20
/** How long calls of a loaded version may be preferred to older calls of others. */
const patienceMs = 200

type LeaseRequest = { loaded: string[]; waitMs: number }

/** Calls of one version for a worker, as soon as there are any; undefined if none arrive within `waitMs`. */
export async function leaseCalls(
  services: HostingServices,
  { loaded, waitMs }: LeaseRequest,
  signal: AbortSignal,
): Promise<LeasedCalls | undefined> {
  const { callBroker } = services
  const endsAt = performance.now() + waitMs
  const waiter = callBroker.awaitWork(loaded)
  try {
    for (;;) {
      const calls = await takeCalls(services, loaded)
      if (calls !== undefined && signal.aborted) return void (await giveBack(services, calls))
      const leftMs = endsAt - performance.now()
      if (calls !== undefined || leftMs <= 0 || callBroker.closed || signal.aborted) return calls
      await waiter.news(leftMs, signal)
    }
  } finally {
    waiter.leave()
  }
}

type Batch = { lease: string; versionId: string; leasedUntil: Date; requests: { id: string; request: string }[] }

async function takeCalls(services: HostingServices, loaded: string[]): Promise<LeasedCalls | undefined> {
  const batch = await services.database.transaction((query) => takeBatch(query, loaded, services.callBroker.times))
  if (batch === undefined) return undefined
  const { lease, versionId, leasedUntil, requests } = batch
  const agent = await services.database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.integrity'])
    .where('versions.id', '=', versionId)
    .executeTakeFirstOrThrow()
  const path = `/v1/hosted-calls/tarballs/${versionId}`
  return {
    lease,
    expires_at: leasedUntil.toISOString(),
    agent: { id: versionId, ...agent, tarball_url: services.config.publicUrl + path },
    calls: requests.map(({ id, request }) => {
      const { observation, action_mask = null, state = null, history } = JSON.parse(request)
      return { id, observation, action_mask, state, ...(history && { history }) }
    }),
  }
}

/**
 * The oldest unleased calls of one version: that with the oldest call or, unless it has waited for too long, a loaded
 * one.
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
  // UPDATE returns rows in no defined order.
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

/** The worker disconnected meanwhile: releases the calls for the next one. */
async function giveBack(services: HostingServices, { lease, agent, calls }: LeasedCalls): Promise<void> {
  await sql`update hosted_calls set ${setReleased}, lease = null
    where id = any(${uuidArray(calls.map(({ id }) => id))}) and state = 'leased' and lease = ${lease}`.execute(
    services.database.query,
  )
  services.callBroker.admitted(agent.id)
}

/** The tarball of the version whose calls the lease is for. Throws `lease_lost`. */
export async function openLeasedAgent(
  { database, objects }: Services,
  { id, lease }: { id: string; lease: string },
): Promise<OpenedObject> {
  const { rows } = await sql<{ object_key: string }>`
    select object_key from versions where id = ${id} and exists (
      select from hosted_calls where lease = ${lease} and state = 'leased' and version_id = versions.id
        and leased_until > now())`.execute(database.query)
  return openFound(objects, rows[0]?.object_key)
}
