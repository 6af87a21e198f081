import { AgentGymError, type callAllowanceRequestSchema, type callAllowanceSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { packageNotFound } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { packageTakenDown } from '../entitlements/index.ts'
import { checkCallCaps } from '../orders/index.ts'
import { versionNotFound } from '../packages/index.ts'
import { couldPayForCall, holdForCall, type PaidCall } from './call-holds.ts'
import { type CallerAccess, callsPrice, isOnTrial, readCallerAccess, type Unknown } from './caller-access.ts'
import { holdTrial, insertEvents, openTrialCalls, type UsageEvent, writeTrial } from './usage.store.ts'

type CallTerms = {
  /** Why a call is allowed or denied. */
  because:
    | 'own'
    | 'free'
    | 'bought'
    | 'trial'
    | 'trial_used_up'
    | 'not_bought'
    | 'balance'
    | 'cap'
    | 'price'
    | 'unconfirmed'
  /** Null if it is not a trial call. */
  trialCallsLeft: number | null
}

type Asking = {
  tokenId: string | null
  currency: string
  /** Locks the trial and returns the number of calls left; null if none is left for this call. */
  tryTrial(): Promise<number | null>
  /** `ask`: no call is made, so nothing is held. `paid`: the call was already paid for. */
  pay?: Paying
  /**
   * The highest price of 1,000 calls that the caller accepts. Undefined: not given, so a spend cap for calls must
   * confirm the price. `any`: the requesting host has agreed on prices with its callers.
   */
  maxPriceMinor: number | 'any' | undefined
}

type Paying = 'hold' | 'ask' | 'paid'

/**
 * Checks whether an account may call an agent and who pays. Holds the cost of the call on the caller's balance. Throws
 * `package_taken_down`.
 */
export async function callTerms(
  query: Transaction<Schema>,
  access: CallerAccess,
  { tokenId, currency, tryTrial, pay = 'hold', maxPriceMinor }: Asking,
): Promise<CallTerms> {
  const { own, bought, free, takenDown, accountId, versionId } = access
  const terms = (because: CallTerms['because'], trialCallsLeft: number | null = null) => ({ because, trialCallsLeft })
  if (own) return terms('own')
  if (takenDown !== null && (takenDown.forAll || !bought)) throw packageTakenDown(access.name, takenDown)
  if (isOnTrial(access) && access.trialCalls > 0) {
    const left = await tryTrial()
    if (left !== null) return terms('trial', left)
    // With a license, or for a free agent, the trial waives the price of calls. After it, the caller pays.
    if (!free && !bought) return terms('trial_used_up', 0)
  }
  if (!bought && !free) return terms('not_bought')
  const call = { accountId, versionId, currency, priceMinor: callsPrice(access) }
  const lack = await payForCall(query, { ...call, tokenId, pay, maxPriceMinor })
  return terms(lack ?? (bought ? 'bought' : 'free'))
}

type Request = z.output<typeof callAllowanceRequestSchema>
type Allowance = z.infer<typeof callAllowanceSchema>

/**
 * Whether an account may call an agent now. With `call`, the call is counted when it is allowed, once per id: concurrent
 * calls never exceed the trial, nor what the balance can pay. Throws `account_not_found`, `package_not_found`,
 * `version_not_found`, `package_taken_down`, `idempotency_key_reused`; `request_invalid` for a scenario.
 */
export async function callAllowance(
  { database, config }: Pick<Services, 'database' | 'config'>,
  request: Request,
): Promise<Allowance> {
  return database.transaction(async (query) => {
    const [access] = await readCallerAccess(query, [request])
    if ('unknown' in access) throw notThere(request, access.unknown)
    const { call } = request
    const { currency } = config.training
    const counted = call !== undefined && (await findCounted(query, call)) !== undefined
    const { because, trialCallsLeft } = await callTerms(query, access, {
      ...{ tokenId: null, currency, pay: call === undefined ? 'ask' : counted ? 'paid' : 'hold' },
      tryTrial: () => tryTrial(query, access, { call, currency }),
      maxPriceMinor: request.max_price_minor ?? 'any',
    })
    if (because === 'balance' || because === 'cap' || because === 'price' || because === 'unconfirmed')
      return { allowed: false, because: 'balance_empty', trial_calls_left: null }
    const isPaid = (because === 'bought' || because === 'free') && callsPrice(access) > 0
    if (call !== undefined && isPaid) await insertEvents(query, [eventOf(access, { call, currency, trialCalls: 0 })])
    return { allowed: allowing.has(because), because, trial_calls_left: trialCallsLeft }
  })
}

const allowing = new Set<CallTerms['because']>(['own', 'free', 'bought', 'trial'])

async function tryTrial(
  query: Transaction<Schema>,
  access: CallerAccess,
  { call, currency }: { call: string | undefined; currency: string },
): Promise<number | null> {
  const made = await holdTrial(query, access)
  const left = Math.max(0, access.trialCalls - made - (await openTrialCalls(query, access)))
  if (call === undefined) return left > 0 ? left : null
  // A call that was already counted is not changed.
  const counted = await findCounted(query, call)
  if (counted === undefined ? left === 0 : counted.trial_calls === 0) return null
  const { accountId, packageId } = access
  const isNew = (await insertEvents(query, [eventOf(access, { call, currency, trialCalls: 1 })])).size > 0
  if (!isNew) return left
  await writeTrial(query, { accountId, packageId, calls: made + 1 })
  return left - 1
}

async function findCounted(query: Transaction<Schema>, call: string): Promise<{ trial_calls: number } | undefined> {
  return query.selectFrom('usage_events').select('trial_calls').where('id', '=', call).executeTakeFirst()
}

function eventOf(
  access: CallerAccess,
  { call: id, currency, trialCalls }: { call: string; currency: string; trialCalls: 0 | 1 },
): UsageEvent {
  const { accountId, packageId, versionId } = access
  const at = new Date().toISOString()
  return { id, accountId, packageId, versionId, calls: 1, trialCalls, priceMinor: callsPrice(access), currency, at }
}

function notThere({ package: name, version, account }: Request, unknown: Unknown): AgentGymError {
  if (unknown === 'package') return packageNotFound(name)
  if (unknown === 'version') return versionNotFound(name, version)
  if (unknown === 'account')
    return new AgentGymError({ code: 'account_not_found', message: `No account is named "${account}".` })
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "package" of the body is invalid: ${name} is a scenario; only agents can be called.`,
    data: { field: 'package', in: 'json' },
  })
}

/**
 * Pays for one more call: holds its price on the balance, within the caps of the account and the token. Returns the
 * reason for a failure (balance, cap, or a price above the accepted maximum or never accepted), or null if the price is
 * held or zero. After a failure, the caller must roll back its transaction, or the amount stays held until the hold is
 * next adjusted.
 */
async function payForCall(
  query: Transaction<Schema>,
  { tokenId, pay, maxPriceMinor, ...call }: PaidCall & Pick<Asking, 'tokenId' | 'maxPriceMinor'> & { pay: Paying },
): Promise<'balance' | 'cap' | 'price' | 'unconfirmed' | null> {
  const { accountId, versionId, currency, priceMinor } = call
  if (priceMinor === 0 || pay === 'paid') return null
  if (typeof maxPriceMinor === 'number' && priceMinor > maxPriceMinor) return 'price'
  const held = pay === 'ask' ? await couldPayForCall(query, call) : await holdForCall(query, call)
  if (!held) return 'balance'
  const { exceeded, confirmed } = await checkCallCaps(query, { accountId, tokenId, versionId, currency, priceMinor })
  if (exceeded) return 'cap'
  return confirmed || maxPriceMinor !== undefined ? null : 'unconfirmed'
}
