import { AgentGymError, type callAllowanceRequestSchema, type callAllowanceSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { packageNotFound } from '../../core/access/authorise.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { versionNotFound } from '../packages/index.ts'
import { type CallTerms, callTerms } from './call-terms.ts'
import { type CallerStanding, callerStandings, callsPrice, type Unknown } from './caller-standing.ts'
import { holdTrial, openTrialCalls, writeTrial } from './trials.store.ts'
import { insertEvents } from './usage-events.store.ts'

type Request = z.output<typeof callAllowanceRequestSchema>
type Allowance = z.infer<typeof callAllowanceSchema>

/**
 * May that account call that agent now? With `call`, a call of the trial is counted as it is allowed, once for each id: calls
 * at the same moment never come to more than the trial has. Throws `account_not_found`, `package_not_found`,
 * `version_not_found`, `package_taken_down`, `idempotency_key_reused`; `request_invalid` for a scenario.
 */
export async function callAllowance(
  { database, config }: Pick<Services, 'database' | 'config'>,
  request: Request,
): Promise<Allowance> {
  return database.transaction(async (query) => {
    const [standing] = await callerStandings(query, [request])
    if ('unknown' in standing) throw notThere(request, standing.unknown)
    const { because, trialCallsLeft } = await callTerms(query, standing, {
      tokenId: null,
      currency: config.training.currency,
      tryTrial: () => tryTrial(query, standing, request.call),
    })
    if (because === 'balance' || because === 'cap')
      return { allowed: false, because: 'balance_empty', trial_calls_left: null }
    return { allowed: allowing.has(because), because, trial_calls_left: trialCallsLeft }
  })
}

const allowing = new Set<CallTerms['because']>(['own', 'free', 'bought', 'trial'])

async function tryTrial(
  query: Transaction<Schema>,
  standing: CallerStanding,
  call: string | undefined,
): Promise<number | null> {
  const made = await holdTrial(query, standing)
  const left = Math.max(0, standing.trialCalls - made - (await openTrialCalls(query, standing)))
  if (call === undefined) return left > 0 ? left : null
  const known = await query.selectFrom('usage_events').select('id').where('id', '=', call).executeTakeFirst()
  if (known === undefined && left === 0) return null
  const { accountId, packageId, versionId } = standing
  const event = { id: call, calls: 1, trialCalls: 1, priceMinor: callsPrice(standing), at: new Date().toISOString() }
  const isNew = (await insertEvents(query, [{ ...event, accountId, packageId, versionId }])).size > 0
  if (!isNew) return left
  await writeTrial(query, { accountId, packageId, calls: made + 1 })
  return left - 1
}

function notThere({ package: name, version, account }: Request, unknown: Unknown): AgentGymError {
  if (unknown === 'package') return packageNotFound(name)
  if (unknown === 'version') return versionNotFound(name, version)
  if (unknown === 'account')
    return new AgentGymError({ code: 'account_not_found', message: `There is no account "${account}".` })
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "package" of the body is invalid: ${name} is a scenario, which is not called.`,
    data: { field: 'package', in: 'json' },
  })
}
