import { AgentGymError } from '@agentgym/contract'
import type { Actor } from '../../core/access/actor.ts'
import type { Queries } from '../../core/database/database.ts'

/**
 * Whoever was given a token with a limit can neither raise a limit nor make a token without one. Throws `forbidden` where the
 * token that asks has a spend cap.
 */
export async function requireUncapped(query: Queries, { tokenId }: Pick<Actor, 'tokenId'>): Promise<void> {
  if (tokenId === null) return
  const cap = await query.selectFrom('spend_caps').select('id').where('token_id', '=', tokenId).executeTakeFirst()
  if (cap === undefined) return
  throw new AgentGymError({
    code: 'forbidden',
    message: 'This token has a spend cap: it can neither change caps nor make tokens.',
    hint: 'Log in, or use a token that has no cap.',
  })
}
