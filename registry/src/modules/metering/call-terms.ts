import { AgentGymError, type callAllowanceRequestSchema, type callAllowanceSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { packageNotFound } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { packageTakenDown } from '../entitlements/index.ts'
import { availableMinor, readOwnersAccounts } from '../ledger/index.ts'
import { spentMinor } from '../orders/index.ts'
import { versionNotFound } from '../packages/index.ts'
import { type CallerAccess, callsPrice, isOnTrial, readCallerAccess, type Unknown } from './caller-access.ts'
import { holdTrial, insertEvents, openTrialCalls, writeTrial } from './usage.store.ts'

type CallTerms = {
  /** Why a call is allowed, or why it is not. */
  because: 'own' | 'free' | 'bought' | 'trial' | 'trial_used_up' | 'not_bought' | 'balance' | 'cap'
  /** Null if it is not a trial call. */
  trialCallsLeft: number | null
}

type Asking = {
  tokenId: string | null
  currency: string
  /** Locks the trial and returns how many of its calls are left; null if none is left for this call. */
  tryTrial(): Promise<number | null>
}

/** Who may call an agent, and at whose cost. Throws `package_taken_down`. */
export async function callTerms(
  query: Transaction<Schema>,
  access: CallerAccess,
  { tokenId, currency, tryTrial }: Asking,
): Promise<CallTerms> {
  const { own, bought, free, takenDown, accountId } = access
  const terms = (because: CallTerms['because'], trialCallsLeft: number | null = null) => ({ because, trialCallsLeft })
  if (own) return terms('own')
  if (takenDown !== null && (takenDown.forAll || !bought)) throw packageTakenDown(access.name, takenDown)
  if (isOnTrial(access) && access.trialCalls > 0) {
    const left = await tryTrial()
    if (left !== null) return terms('trial', left)
    // For a free agent, the trial waives the price of calls; after it, the caller pays.
    if (!free) return terms('trial_used_up', 0)
  }
  if (!bought && !free) return terms('not_bought')
  const lack = await lackOfFunds(query, { accountId, tokenId, priceMinor: callsPrice(access) }, currency)
  return terms(lack ?? (bought ? 'bought' : 'free'))
}

type Request = z.output<typeof callAllowanceRequestSchema>
type Allowance = z.infer<typeof callAllowanceSchema>

/**
 * Whether an account may call an agent now. With `call`, a trial call is counted when it is allowed, once per id, so
 * that concurrent calls never exceed the trial. Throws `account_not_found`, `package_not_found`, `version_not_found`,
 * `package_taken_down`, `idempotency_key_reused`; `request_invalid` for a scenario.
 */
export async function callAllowance(
  { database, config }: Pick<Services, 'database' | 'config'>,
  request: Request,
): Promise<Allowance> {
  return database.transaction(async (query) => {
    const [access] = await readCallerAccess(query, [request])
    if ('unknown' in access) throw notThere(request, access.unknown)
    const { because, trialCallsLeft } = await callTerms(query, access, {
      tokenId: null,
      currency: config.training.currency,
      tryTrial: () => tryTrial(query, access, request.call),
    })
    if (because === 'balance' || because === 'cap')
      return { allowed: false, because: 'balance_empty', trial_calls_left: null }
    return { allowed: allowing.has(because), because, trial_calls_left: trialCallsLeft }
  })
}

const allowing = new Set<CallTerms['because']>(['own', 'free', 'bought', 'trial'])

async function tryTrial(
  query: Transaction<Schema>,
  access: CallerAccess,
  call: string | undefined,
): Promise<number | null> {
  const made = await holdTrial(query, access)
  const left = Math.max(0, access.trialCalls - made - (await openTrialCalls(query, access)))
  if (call === undefined) return left > 0 ? left : null
  const known = await query.selectFrom('usage_events').select('id').where('id', '=', call).executeTakeFirst()
  if (known === undefined && left === 0) return null
  const { accountId, packageId, versionId } = access
  const event = { id: call, calls: 1, trialCalls: 1, priceMinor: callsPrice(access), at: new Date().toISOString() }
  const isNew = (await insertEvents(query, [{ ...event, accountId, packageId, versionId }])).size > 0
  if (!isNew) return left
  await writeTrial(query, { accountId, packageId, calls: made + 1 })
  return left - 1
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

type Charge = {
  accountId: string
  /** The token making the request, whose own caps apply too. */
  tokenId: string | null
  /** Price of 1,000 calls. */
  priceMinor: number
}

/**
 * What keeps an account from paying for one more call, besides those not posted yet and those in progress: its balance,
 * or a cap of the account or of the token. Null if nothing does.
 */
async function lackOfFunds(
  query: Queries,
  { accountId, tokenId, priceMinor }: Charge,
  currency: string,
): Promise<'balance' | 'cap' | null> {
  if (priceMinor === 0) return null
  const accounts = await readOwnersAccounts(query, accountId)
  const balance = accounts.find(({ code, currency: of }) => code === 'balance' && of === currency)
  const under = await costOfOpenCalls(query, { accountId, tokenId })
  // Prices are per 1,000 calls, so everything is in thousandths of a minor unit.
  const price = BigInt(priceMinor)
  const available = balance === undefined ? 0n : availableMinor(balance)
  if (under.unposted + under.open + price > available * 1_000n) return 'balance'
  const caps = await query
    .selectFrom('spend_caps')
    .selectAll()
    .where('account_id', '=', accountId)
    .where((where) => where.or([where('token_id', 'is', null), where('token_id', '=', tokenId)]))
    .execute()
  for (const cap of caps) {
    const left = BigInt(cap.amount_minor) - BigInt(await spentMinor(query, cap, currency))
    // The cost of a token's calls counts at once, that of an account's calls once it is posted.
    const beside = cap.token_id === null ? under.unposted + under.open : under.openOfToken
    if (beside + price > left * 1_000n) return 'cap'
  }
  return null
}

type Costs = { unposted: bigint; open: bigint; openOfToken: bigint }

async function costOfOpenCalls(query: Queries, { accountId, tokenId }: Omit<Charge, 'priceMinor'>): Promise<Costs> {
  const { rows } = await sql<{ unposted: string; open: string; of_token: string }>`
    select
      (select coalesce(sum((calls - trial_calls)::numeric * price_minor), 0)::text
        from usage_events where account_id = ${accountId} and batch_id is null) as unposted,
      coalesce(sum(price_minor), 0)::text as open,
      coalesce(sum(price_minor) filter (where token_id = ${tokenId}::uuid), 0)::text as of_token
    from hosted_calls where account_id = ${accountId} and state in ('waiting', 'leased')`.execute(query)
  const [{ unposted, open, of_token }] = rows
  return { unposted: BigInt(unposted), open: BigInt(open), openOfToken: BigInt(of_token) }
}
