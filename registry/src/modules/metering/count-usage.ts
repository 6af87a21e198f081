import { AgentGymError, type usageAcceptedSchema, type usageEventsRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { fitCallHolds } from './call-holds.ts'
import { type CallerAccess, callsPrice, isOnTrial, readCallerAccess } from './caller-access.ts'
import { holdTrial, insertEvents, reused, type UsageEvent, writeTrial, writeTrialCalls } from './usage.store.ts'

type ReportedUsage = z.output<typeof usageEventsRequestSchema>['events'][number]
type Resolved = { event: UsageEvent; access: CallerAccess }

const hourMs = 3_600_000
/** Maximum age of an event. Older events must be settled by hand. */
const oldestMs = 366 * 24 * hourMs

/**
 * Counts calls, each event once however often it is reported; a request counts completely or not at all. Calls cost the
 * current price, which is held as far as the balance covers it. Trial calls are used first come, first served. Throws
 * `idempotency_key_reused`, and `request_invalid` for events whose account, package or version does not exist.
 */
export async function countUsage(
  { database, config }: Pick<Services, 'database'> & { config: Pick<ServerConfig, 'training'> },
  reported: readonly ReportedUsage[],
): Promise<z.infer<typeof usageAcceptedSchema>> {
  const events = onceEach(reported)
  const { currency } = config.training
  return database.transaction(async (query) => {
    const resolved = await resolve(query, events, currency)
    const counted = await insertEvents(
      query,
      resolved.map(({ event }) => event),
    )
    await takeFromTrials(
      query,
      resolved.filter(({ event, access }) => counted.has(event.id) && isOnTrial(access)),
    )
    const costly = resolved.filter(({ event }) => counted.has(event.id) && event.priceMinor > 0)
    const callers = new Set(costly.map(({ event }) => event.accountId))
    if (callers.size > 0) await fitCallHolds(query, callers, currency)
    return { counted: counted.size, repeated: reported.length - counted.size }
  })
}

/** An event may also appear twice in one request. */
function onceEach(reported: readonly ReportedUsage[]): ReportedUsage[] {
  const events = new Map<string, ReportedUsage>()
  for (const event of reported) {
    const id = event.id.toLowerCase()
    const known = events.get(id)
    if (known !== undefined && contents(known) !== contents(event)) throw reused([id])
    if (known === undefined) events.set(id, { ...event, id })
  }
  return [...events.values()]
}

const contents = (event: ReportedUsage) => JSON.stringify([event.package, event.version, event.account, event.calls])

async function resolve(query: Transaction<Schema>, events: ReportedUsage[], currency: string): Promise<Resolved[]> {
  const now = Date.now()
  const accesses = await readCallerAccess(query, events)
  const wrong = new Map<string, string>()
  const resolved = events.flatMap((event, index): Resolved[] => {
    const access = accesses[index]
    const at = Date.parse(event.at)
    if (at > now + hourMs || at < now - oldestMs) wrong.set(event.id, 'at')
    if ('unknown' in access) {
      wrong.set(event.id, access.unknown)
      return []
    }
    const { accountId, packageId, versionId } = access
    const usage = { id: event.id, calls: event.calls, trialCalls: 0, priceMinor: callsPrice(access), at: event.at }
    return [{ access, event: { ...usage, currency, accountId, packageId, versionId } }]
  })
  if (wrong.size > 0) throw unknownEvents(wrong)
  return resolved
}

/** Trials in the order of their keys, so that two requests lock them in the same order. */
async function takeFromTrials(query: Transaction<Schema>, onTrial: Resolved[]): Promise<void> {
  const trials = new Map<string, Resolved[]>()
  for (const one of onTrial) {
    const key = `${one.event.accountId} ${one.event.packageId}`
    trials.set(key, [...(trials.get(key) ?? []), one])
  }
  const given = new Map<string, number>()
  for (const key of [...trials.keys()].sort()) {
    const calls = trials.get(key) ?? []
    const [{ event, access }] = calls
    const before = await holdTrial(query, event)
    let left = Math.max(0, access.trialCalls - before)
    for (const { event: one } of calls) {
      const taken = Math.min(left, one.calls)
      left -= taken
      if (taken > 0) given.set(one.id, taken)
    }
    const after = Math.max(before, access.trialCalls - left)
    if (after !== before) await writeTrial(query, { ...event, calls: after })
  }
  await writeTrialCalls(query, given)
}

function unknownEvents(wrong: ReadonlyMap<string, string>): AgentGymError {
  const [[id, what]] = wrong
  const why: Record<string, string> = {
    account: 'there is no such account',
    package: 'there is no such package, or the account has no access to it',
    version: 'the package has no such published version',
    kind: 'the package is a scenario',
    at: 'it is in the future, or more than a year ago',
  }
  return new AgentGymError({
    code: 'request_invalid',
    message: `The usage event ${id} cannot be counted: ${why[what]}.`,
    hint: 'No events of this request were counted. `data` lists the invalid ones; send the others again without them.',
    data: { events: Object.fromEntries([...wrong].slice(0, 100)) },
  })
}

/** A call that was answered, with the terms at admission. */
type ServedCall = {
  /** Id of the call and of its usage event. */
  id: string
  accountId: string
  packageId: string
  versionId: string
  tokenId: string | null
  trial: boolean
  /** Price of 1,000 calls. */
  priceMinor: number
  currency: string
}

/**
 * Counts calls in the transaction that answers them, each once, and deducts trial calls. Returns the cumulative number
 * of trial calls for each of those.
 */
export async function countServed(
  query: Transaction<Schema>,
  calls: readonly ServedCall[],
): Promise<Map<string, number>> {
  const at = new Date().toISOString()
  const counted = await insertEvents(
    query,
    calls.map((call) => ({ ...call, calls: 1, trialCalls: call.trial ? 1 : 0, at })),
  )
  const trials = Map.groupBy(
    calls.filter(({ trial }) => trial),
    ({ accountId, packageId }) => `${accountId} ${packageId}`,
  )
  const made = new Map<string, number>()
  // Always in the same order, so that transactions do not deadlock on trials.
  for (const key of [...trials.keys()].sort()) {
    const ofTrial = trials.get(key) ?? []
    const [trial] = ofTrial
    let sum = await holdTrial(query, trial)
    const before = sum
    for (const { id } of ofTrial) made.set(id, counted.has(id) ? ++sum : sum)
    if (sum > before) await writeTrial(query, { ...trial, calls: sum })
  }
  return made
}
