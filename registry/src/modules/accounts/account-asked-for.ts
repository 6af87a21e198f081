import { AgentGymError } from '@agentgym/contract'
import type { Actor } from '../../core/access/actor.ts'
import type { Queries } from '../../core/database/database.ts'

/**
 * The account that a request is for: whoever asks, or the one of that name, of which it is not said whether they may act for
 * it. `hint` says what else to do. Throws `account_not_found`.
 */
export async function accountAskedFor(
  query: Queries,
  { accountId, username }: Actor,
  asked: string | undefined,
  hint: string,
): Promise<{ id: string; username: string }> {
  const wanted = asked?.toLowerCase()
  if (wanted === undefined || wanted === username) return { id: accountId, username }
  const found = await query
    .selectFrom('accounts')
    .select(['id', 'username'])
    .where('username', '=', wanted)
    .executeTakeFirst()
  if (found === undefined)
    throw new AgentGymError({
      code: 'account_not_found',
      message: `There is no account "${wanted}".`,
      hint,
      data: { field: 'account' },
    })
  return found
}
