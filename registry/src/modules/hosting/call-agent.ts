import { randomUUID } from 'node:crypto'
import { AgentGymError, type ErrorCode, type HostedCall, type HostedCallRequest } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import { packageNotFound, requireActor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { outageIn } from '../../core/dependencies/outage.ts'
import { requestHash } from '../../core/idempotency/idempotency.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { heldPrice, majorOf, paymentRequired } from '../entitlements/index.ts'
import {
  type CallerAccess,
  callsPrice,
  callTerms,
  holdTrial,
  openTrialCalls,
  readCallerAccess,
} from '../metering/index.ts'
import { chooseVersion, type VersionRow } from '../packages/index.ts'
import type { HostingServices } from './call-broker.ts'
import {
  agentUnavailable,
  type Called,
  cannotPay,
  keyReused,
  notCallable,
  notPublished,
  tooManyOpen,
  trialExhausted,
  yanked,
} from './call-failures.ts'
import { dropCall, endUnanswered, insertCall, readAnswer } from './hosted-calls.store.ts'

/**
 * Calls an agent: admits the call and waits up to 30 s for a worker's answer. Throws the errors of `admitCall`,
 * `agent_unavailable`, `agent_failed`, and a worker's errors about the observation. `signal` aborts when the client
 * disconnects: a call that no worker has leased by then is dropped.
 */
export async function callAgent(services: HostingServices, call: Call, signal: AbortSignal): Promise<HostedCall> {
  const startedMs = performance.now()
  const note = (outcome: string) => services.metrics.hostedCall(outcome, (performance.now() - startedMs) / 1000)
  try {
    const answer = await answerOf(services, call, signal)
    note('answered')
    return JSON.parse(answer)
  } catch (error) {
    note(signal.aborted ? 'dropped' : codeOf(error))
    throw error
  }
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof AgentGymError) return error.code
  return outageIn(error)?.toReport().code ?? 'internal_error'
}

async function answerOf(services: HostingServices, call: Call, signal: AbortSignal): Promise<string> {
  const { database, log, callBroker } = services
  const { actor, id } = identifyCall(call)
  const waiter = callBroker.awaitCall(id)
  try {
    const admitted = await admitCall(services, { ...call, actor, id })
    if (admitted !== null) callBroker.admitted(admitted.versionId)
    const endsAt = performance.now() + callBroker.times.waitMs
    let answer = admitted === null ? await readAnswer(database.query, id) : undefined
    while (answer === undefined) {
      const leftMs = Math.min(endsAt, callBroker.endsAt) - performance.now()
      if (leftMs > 0) await waiter.news(leftMs, signal)
      else await endUnanswered(database.query, { id })
      if (signal.aborted) break
      answer = await readAnswer(database.query, id)
    }
    if (typeof answer !== 'string') throw agentUnavailable(nameOf(call), false)
    return answer
  } finally {
    waiter.leave()
    if (signal.aborted && !callBroker.isAwaited(id))
      inBackground(log, 'dropping a call', () => dropCall(database.query, id))
  }
}

function nameOf({ name, request }: Call): { name: string; version: string } {
  return { name, version: request.version ?? 'latest' }
}

/** Maximum number of calls in progress. */
const openOfAccount = 64
const openInAll = 2_000

type Call = {
  actor: Actor | null
  name: string
  request: HostedCallRequest
  /** ID chosen by the client, for retries. */
  key: string | undefined
  /** The highest price of 1,000 calls that the caller accepts, in minor units; undefined if the request gives none. */
  maxPriceMinor: number | undefined
  /** Computes what depends on the resolved version; replaces the request's. */
  observe?: (versionId: string) => Promise<Pick<HostedCallRequest, 'observation' | 'action_mask' | 'history'>>
}

type Admitting = Pick<HostingServices, 'database' | 'config' | 'callBroker'>
type Because = 'own' | 'free' | 'bought' | 'trial'
type Terms = { because: Because; priceMinor: number }
type Wanted = Called & {
  row: VersionRow
  actor: Actor
  id: string
  keyed: boolean
  hash: string
  request: string
} & Pick<Call, 'maxPriceMinor'>

/** The caller and the call's ID, known before admission. */
function identifyCall({ actor, key }: Pick<Call, 'actor' | 'key'>): { actor: Actor; id: string } {
  return { actor: requireActor(actor, 'agents:call'), id: key?.toLowerCase() ?? randomUUID() }
}

/**
 * The version of an agent that a call is for, if the caller may see it. Throws `package_not_found`, `version_not_found`,
 * `package_taken_down`, `version_not_published`, and `request_invalid` for a scenario.
 */
export async function findCallable(query: Queries, actor: Actor, name: string, range = 'latest') {
  // The scope `agents:call` includes reading, but only for calls.
  const reader = { ...actor, scopes: new Set([...actor.scopes, 'packages:read' as const]) }
  const { found, row } = await chooseVersion(query, reader, name, range)
  if (found.kind !== 'agent') throw notCallable(found.name)
  if (row.state !== 'published') throw notPublished({ name: found.name, version: row.version }, row.state)
  return { reader, found, row }
}

/**
 * Admits a call in one transaction: inserts a row that waits for a worker, if the caller is authorized and the trial or
 * balance covers it. A retry finds the existing row; a failed call may be retried. Resolves to the version of a new
 * row; null for a retry.
 *
 * Throws `package_not_found`, `version_not_found`, `version_not_published`, `version_yanked`, `package_taken_down`,
 * `request_invalid` for a scenario, `payment_required` (also for a price that was not confirmed), `price_changed`,
 * `trial_exhausted`, `insufficient_funds`, `spend_cap_exceeded`, `rate_limited`, `idempotency_key_reused`.
 */
export async function admitCall(
  services: Admitting,
  { actor, id, name, request, key, maxPriceMinor, observe }: Omit<Call, 'actor'> & { actor: Actor; id: string },
): Promise<{ versionId: string } | null> {
  const { database, callBroker, config } = services
  const { version: range = 'latest', max_price_minor: _, ...rest } = request
  const { reader, found, row } = await findCallable(database.query, actor, name, range)
  const called = { name: found.name, version: row.version }
  const requested = observe === undefined ? rest : { ...rest, ...(await observe(row.id)) }
  const hash = requestHash({ package: found.id, range, ...requested })
  const wanted = {
    ...called,
    row,
    actor: reader,
    id,
    keyed: key !== undefined,
    hash,
    request: JSON.stringify(requested),
    maxPriceMinor,
  }
  return database.transaction(async (query) => {
    // One admission per account at a time, so that two calls cannot spend the same balance.
    await database.lock(query, `hosted-calls:${actor.accountId}`)
    if (wanted.keyed && (await isRepeated(query, wanted))) return null
    const terms = await termsOf(services, query, wanted)
    await requireRoom(query, actor.accountId)
    await insertCall(
      query,
      { ...wanted, accountId: actor.accountId, tokenId: actor.tokenId, ...terms, currency: config.training.currency },
      callBroker.times,
    )
    return { versionId: row.id }
  })
}

/**
 * Whether the key belongs to a call that is in progress or answered. Not `withIdempotencyKey`, which stores an answer
 * in the transaction that does the work: a worker answers a call later, in another one. The call's ID is its key, so
 * calls without a key pay nothing for this.
 */
async function isRepeated(query: Transaction<Schema>, { id, actor, hash }: Wanted): Promise<boolean> {
  const known = await query
    .selectFrom('hosted_calls')
    .select(['account_id', 'request_hash', 'state'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (known === undefined) {
    const counted = await query.selectFrom('usage_events').select('id').where('id', '=', id).executeTakeFirst()
    // Its answer was deleted, and a charged call must not be charged again.
    if (counted !== undefined) throw keyReused(id, 'was used for an earlier call whose result is no longer available')
    return false
  }
  if (known.account_id !== actor.accountId || known.request_hash !== hash)
    throw keyReused(id, 'was already used for a different call')
  if (known.state !== 'failed') return true
  await query.deleteFrom('hosted_calls').where('id', '=', id).execute()
  return false
}

/** The basis on which the call is allowed, and the price of 1,000 calls. */
async function termsOf({ config }: Admitting, query: Transaction<Schema>, wanted: Wanted): Promise<Terms> {
  const { actor, name, version, maxPriceMinor } = wanted
  const { currency } = config.training
  const [access] = await readCallerAccess(query, [{ account: actor.username, package: name, version }])
  // It existed a moment ago.
  if ('unknown' in access) throw packageNotFound(name)
  const tryTrial = () => trialCallsLeft(query, access)
  const { because } = await callTerms(query, access, { tokenId: actor.tokenId, currency, tryTrial, maxPriceMinor })
  if (wanted.row.yanked_at !== null && !access.own && !access.bought) throw yanked(wanted)
  const priceMinor = because === 'trial' ? 0 : callsPrice(access)
  switch (because) {
    case 'trial_used_up': {
      const price = await heldPrice(query, access.packageId)
      throw trialExhausted({ ...saleOf(wanted, config), trialCalls: access.trialCalls, price })
    }
    case 'not_bought':
      throw paymentRequired(saleOf(wanted, config), await heldPrice(query, access.packageId))
    case 'balance':
    case 'cap':
    case 'price':
    case 'unconfirmed':
      throw cannotPay(because, { ...wanted, priceMinor, currency })
    default:
      return { because, priceMinor }
  }
}

function saleOf(wanted: Wanted, { publicUrl }: Admitting['config']) {
  return { ...wanted, major: majorOf(wanted.version), publicUrl }
}

async function trialCallsLeft(query: Transaction<Schema>, access: CallerAccess): Promise<number | null> {
  const left = access.trialCalls - (await holdTrial(query, access)) - (await openTrialCalls(query, access))
  return left > 0 ? left : null
}

async function requireRoom(query: Transaction<Schema>, accountId: string): Promise<void> {
  const { rows } = await sql<{ all: number; own: number }>`
    select count(*)::int as all, (count(*) filter (where account_id = ${accountId}))::int as own
    from hosted_calls where state in ('waiting', 'leased')`.execute(query)
  const [{ all, own }] = rows
  if (own >= openOfAccount) throw tooManyOpen('account', openOfAccount)
  if (all >= openInAll) throw tooManyOpen('server', openInAll)
}
