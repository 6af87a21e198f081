import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { Actor } from './actor.ts'

/**
 * Whether somebody who was known when a long request began still is: the account not disabled, the token neither revoked
 * nor expired. A session that has ended is not noticed.
 */
export async function actorHolds(query: Queries, { accountId, tokenId }: Actor): Promise<boolean> {
  const row = await query
    .selectFrom('accounts')
    .leftJoin('tokens', (join) =>
      join
        .onRef('tokens.account_id', '=', 'accounts.id')
        .on('tokens.id', '=', tokenId)
        .on('tokens.revoked_at', 'is', null)
        .on((on) => on.or([on('tokens.expires_at', 'is', null), on('tokens.expires_at', '>', sql<Date>`now()`)])),
    )
    .select('tokens.id as token')
    .where('accounts.id', '=', accountId)
    .where('accounts.disabled_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined && (tokenId === null || row.token !== null)
}
