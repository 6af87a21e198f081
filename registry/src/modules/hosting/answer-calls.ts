import type { CallAnswer, HostedCall } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import type { Services } from '../../core/services.ts'
import { countServed } from '../metering/index.ts'
import { callDesk } from './call-desk.ts'
import { failureOf } from './call-failures.ts'

type HeldCall = {
  id: string
  account_id: string
  token_id: string | null
  package_id: string
  version_id: string
  because: HostedCall['because']
  price_minor: number
  name: string
  version: string
  trial_calls: number
}
type Ended = { id: string; answer: string | null; error: string | null }

/**
 * Ends the calls that the lease still holds: what is answered is counted in the same transaction, each call once, on the terms
 * on which it was admitted; what has failed costs nothing. The others are late, and nothing of them changes.
 */
export async function answerCalls(
  services: Services,
  { lease, answers }: { lease: string; answers: CallAnswer[] },
): Promise<{ taken: number; late: number }> {
  const answerOf = new Map(answers.map((answer) => [answer.id.toLowerCase(), answer]))
  const ended = await services.database.transaction(async (query) => {
    const held = await holdCalls(query, lease, answerOf.keys())
    const served = held.filter(({ id }) => !isFailure(answerOf.get(id)))
    const made = await countServed(
      query,
      served.map((call) => ({
        ...{ id: call.id, accountId: call.account_id, packageId: call.package_id, versionId: call.version_id },
        ...{ tokenId: call.token_id, trial: call.because === 'trial', priceMinor: call.price_minor },
      })),
    )
    const ended = held.map((call) => endOf(call, answerOf.get(call.id), made.get(call.id)))
    await writeEnds(query, ended)
    return ended
  })
  callDesk(services).ended(ended.map(({ id }) => id))
  return { taken: ended.length, late: answers.length - ended.length }
}

const isFailure = (answer: CallAnswer | undefined) => answer !== undefined && 'error' in answer

async function holdCalls(query: Transaction<Schema>, lease: string, ids: Iterable<string>): Promise<HeldCall[]> {
  const { rows } = await sql<HeldCall>`
    select hosted_calls.id, hosted_calls.account_id, hosted_calls.token_id, hosted_calls.package_id, version_id, because,
      hosted_calls.price_minor, packages.name, versions.version, coalesce(sale_terms.trial_calls, 0) as trial_calls
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
    const report = answer?.error ?? { code: 'internal_error' as const, message: 'There is no answer.' }
    return { id, answer: null, error: JSON.stringify(failureOf({ name, version }, report)) }
  }
  const { action, label, probabilities, model_ms } = answer
  const left = made === undefined ? null : Math.max(0, call.trial_calls - made)
  const told: HostedCall = {
    ...{ id, package: name, version, action, label, probabilities, because, trial_calls_left: left, model_ms },
  }
  return { id, answer: JSON.stringify(told), error: null }
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
