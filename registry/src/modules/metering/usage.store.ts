import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'

/** A usage event. Reports with the same ID must match, except for the time, which the first report sets. */
export type UsageEvent = {
  id: string
  accountId: string
  packageId: string
  versionId: string
  calls: number
  trialCalls: number
  /** Of 1,000 calls. */
  priceMinor: number
  currency: string
  at: string
  /** The token that made the call, if any. */
  tokenId?: string | null
}

/**
 * Stores new events in the order of their IDs, so that two callers reporting the same events do not deadlock. Returns
 * the IDs of new events. Throws `idempotency_key_reused` for an id that was reported with other contents.
 */
export async function insertEvents(query: Transaction<Schema>, events: readonly UsageEvent[]): Promise<Set<string>> {
  const sorted = [...events].sort((first, second) => (first.id < second.id ? -1 : 1))
  const rows = JSON.stringify(
    sorted.map((event, ordinal) => ({
      ...{ ordinal, id: event.id, account_id: event.accountId, package_id: event.packageId },
      ...{ version_id: event.versionId, calls: event.calls, trial_calls: event.trialCalls },
      ...{ price_minor: event.priceMinor, currency: event.currency, at: event.at, token_id: event.tokenId ?? null },
    })),
  )
  const { rows: inserted } = await sql<{ id: string }>`
    insert into usage_events (id, account_id, package_id, version_id, calls, trial_calls, price_minor, currency, at,
      token_id)
    select id, account_id, package_id, version_id, calls, trial_calls, price_minor, currency, at, token_id
    from jsonb_to_recordset(${rows}::text::jsonb) as reported (ordinal integer, id uuid, account_id uuid, package_id uuid,
      version_id uuid, calls integer, trial_calls integer, price_minor bigint, currency text, at timestamptz, token_id uuid)
    order by ordinal on conflict do nothing returning id`.execute(query)
  const { rows: other } = await sql<{ id: string }>`
    select reported.id from jsonb_to_recordset(${rows}::text::jsonb) as reported (id uuid, account_id uuid, version_id uuid, calls integer)
    join usage_events known on known.id = reported.id
    where (known.account_id, known.version_id, known.calls) is distinct from (reported.account_id, reported.version_id, reported.calls)
    order by reported.id`.execute(query)
  if (other.length > 0) throw reused(other.map(({ id }) => id))
  return new Set(inserted.map(({ id }) => id))
}

export async function writeTrialCalls(query: Transaction<Schema>, given: ReadonlyMap<string, number>): Promise<void> {
  if (given.size === 0) return
  const rows = JSON.stringify([...given].map(([id, trial_calls]) => ({ id, trial_calls })))
  await sql`update usage_events set trial_calls = given.trial_calls
    from jsonb_to_recordset(${rows}::text::jsonb) as given (id uuid, trial_calls integer)
    where usage_events.id = given.id`.execute(query)
}

export function reused(ids: string[]): AgentGymError {
  return new AgentGymError({
    code: 'idempotency_key_reused',
    message: `The usage event ${ids[0]} was sent before with a different account, version or number of calls.`,
    hint: 'Events cannot change; use a new id for a new event. No events of this request were counted.',
    data: { events: ids.slice(0, 100) },
  })
}

/** Number of trial calls made so far. Locked until the transaction ends, so that no other call uses the same ones. */
export async function holdTrial(
  query: Transaction<Schema>,
  { accountId, packageId }: { accountId: string; packageId: string },
): Promise<number> {
  const { calls } = await query
    .insertInto('trials')
    .values({ account_id: accountId, package_id: packageId, calls: 0 })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'package_id']).doUpdateSet(({ ref }) => ({ calls: ref('trials.calls') })),
    )
    .returning('calls')
    .executeTakeFirstOrThrow()
  return calls
}

export async function writeTrial(
  query: Transaction<Schema>,
  { accountId, packageId, calls }: { accountId: string; packageId: string; calls: number },
): Promise<void> {
  await query
    .updateTable('trials')
    .set({ calls })
    .where('account_id', '=', accountId)
    .where('package_id', '=', packageId)
    .execute()
}

/** Number of admitted trial calls that have not ended. They count as made until they fail. Lock the trial first. */
export async function openTrialCalls(
  query: Transaction<Schema>,
  { accountId, packageId }: { accountId: string; packageId: string },
): Promise<number> {
  const { open } = await query
    .selectFrom('hosted_calls')
    .select(({ fn }) => fn.countAll<number>().as('open'))
    .where('account_id', '=', accountId)
    .where('package_id', '=', packageId)
    .where('because', '=', 'trial')
    .where('state', 'in', ['waiting', 'leased'])
    .executeTakeFirstOrThrow()
  return Number(open)
}
