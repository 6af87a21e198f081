import { AgentGymError, type callAllowanceRequestSchema, type callAllowanceSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { packageNotFound } from '../../auth/authorise.ts'
import type { Schema } from '../../database/schema.ts'
import { versionNotFound } from '../../packages/packages.store.ts'
import type { Services } from '../../server/services.ts'
import { packageTakenDown } from '../access/refusals.ts'
import { lackOfFunds } from './call-funds.ts'
import { type CallerStanding, callerStandings, callsPrice, isOnTrial, type Unknown } from './caller-standing.ts'
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
    const { own, bought, free, takenDown } = standing
    if (own) return allowed('own')
    if (takenDown !== null && (takenDown.forAll || !bought)) throw packageTakenDown(standing.name, takenDown)
    if (isOnTrial(standing) && standing.trialCalls > 0) {
      const trial = await tryTrial(query, standing, request.call)
      // What is free has a trial of its calls' price; whoever has used it up pays.
      if (trial.allowed || !free) return trial
    }
    if (!bought && !free) return refused('not_bought')
    const asked = { accountId: standing.accountId, tokenId: null, priceMinor: callsPrice(standing) }
    if ((await lackOfFunds(query, asked, config.training.currency)) !== null) return refused('balance_empty')
    return allowed(bought ? 'bought' : 'free')
  })
}

async function tryTrial(
  query: Transaction<Schema>,
  standing: CallerStanding,
  call: string | undefined,
): Promise<Allowance> {
  const made = await holdTrial(query, standing)
  const left = Math.max(0, standing.trialCalls - made - (await openTrialCalls(query, standing)))
  const trial = (trial_calls_left: number): Allowance => ({ allowed: true, because: 'trial', trial_calls_left })
  const usedUp: Allowance = { allowed: false, because: 'trial_used_up', trial_calls_left: 0 }
  if (call === undefined) return left > 0 ? trial(left) : usedUp
  const known = await query.selectFrom('usage_events').select('id').where('id', '=', call).executeTakeFirst()
  if (known === undefined && left === 0) return usedUp
  const { accountId, packageId, versionId } = standing
  const event = { id: call, calls: 1, trialCalls: 1, priceMinor: callsPrice(standing), at: new Date().toISOString() }
  const isNew = (await insertEvents(query, [{ ...event, accountId, packageId, versionId }])).size > 0
  if (!isNew) return trial(left)
  await writeTrial(query, { accountId, packageId, calls: made + 1 })
  return trial(left - 1)
}

const allowed = (because: Allowance['because']): Allowance => ({ allowed: true, because, trial_calls_left: null })
const refused = (because: Allowance['because']): Allowance => ({ allowed: false, because, trial_calls_left: null })

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
