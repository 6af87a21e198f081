import { AgentGymError, formatAmount } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { type Cap, spentMinor } from './spend-caps.store.ts'

type Spending = { accountId: string; tokenId: string | null; amountMinor: number; currency: string }

/**
 * Whether an account, and the token that asks for it, may spend so much more. Hold the account's balance before, and until
 * what is spent is written down: the caps are held as well, so two orders at once never both find room under one.
 * Throws `spend_cap_exceeded`.
 */
export async function requireWithinCaps(
  query: Transaction<Schema>,
  { accountId, tokenId, amountMinor, currency }: Spending,
): Promise<void> {
  const caps = await query
    .selectFrom('spend_caps')
    .selectAll()
    .where((where) =>
      where.or([
        where.and([where('account_id', '=', accountId), where('token_id', 'is', null)]),
        ...(tokenId === null ? [] : [where('token_id', '=', tokenId)]),
      ]),
    )
    .orderBy('id')
    .forUpdate()
    .execute()
  for (const cap of caps) {
    const spent = await spentMinor(query, cap, currency)
    if (spent + amountMinor > cap.amount_minor) throw exceeded(cap, { spent, amountMinor, currency })
  }
}

const periods = { day: 'a day', month: 'a month', total: 'in all' }

function exceeded(
  { id, token_id: tokenId, period, amount_minor: cap }: Cap,
  { spent, amountMinor, currency }: { spent: number; amountMinor: number; currency: string },
): AgentGymError {
  const left = Math.max(0, cap - spent)
  const whose = tokenId === null ? 'account' : 'token'
  return new AgentGymError({
    code: 'spend_cap_exceeded',
    message: `The ${whose} may spend ${formatAmount(cap, currency)} ${periods[period]}; ${formatAmount(left, currency)} is left, and this costs ${formatAmount(amountMinor, currency)}.`,
    hint:
      period === 'total'
        ? 'Whoever set the cap can raise it: `agentgym spend-cap`.'
        : `The cap counts from midnight UTC${period === 'month' ? ' of the first of the month' : ''}. Whoever set it can raise it: \`agentgym spend-cap\`.`,
    data: { cap: id, of: whose, period, cap_minor: cap, left_minor: left, needed_minor: amountMinor, currency },
  })
}
