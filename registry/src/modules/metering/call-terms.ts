import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { packageTakenDown } from '../entitlements/refusals.ts'
import { lackOfFunds } from './call-funds.ts'
import { type CallerStanding, callsPrice, isOnTrial } from './caller-standing.ts'

export type CallTerms = {
  /** What a call is allowed for, or what keeps it from being allowed. */
  because: 'own' | 'free' | 'bought' | 'trial' | 'trial_used_up' | 'not_bought' | 'balance' | 'cap'
  /** Null where it is not a call of the trial. */
  trialCallsLeft: number | null
}

type Asking = {
  tokenId: string | null
  currency: string
  /** Holds the trial, and gives how many calls of it are left; null where this one is not to be had any more. */
  tryTrial(): Promise<number | null>
}

/** The rules of who may call an agent, and at whose cost. Throws `package_taken_down`. */
export async function callTerms(
  query: Transaction<Schema>,
  standing: CallerStanding,
  { tokenId, currency, tryTrial }: Asking,
): Promise<CallTerms> {
  const { own, bought, free, takenDown, accountId } = standing
  const terms = (because: CallTerms['because'], trialCallsLeft: number | null = null) => ({ because, trialCallsLeft })
  if (own) return terms('own')
  if (takenDown !== null && (takenDown.forAll || !bought)) throw packageTakenDown(standing.name, takenDown)
  if (isOnTrial(standing) && standing.trialCalls > 0) {
    const left = await tryTrial()
    if (left !== null) return terms('trial', left)
    // What is free has a trial of its calls' price; whoever has used it up pays.
    if (!free) return terms('trial_used_up', 0)
  }
  if (!bought && !free) return terms('not_bought')
  const lack = await lackOfFunds(query, { accountId, tokenId, priceMinor: callsPrice(standing) }, currency)
  return terms(lack ?? (bought ? 'bought' : 'free'))
}
