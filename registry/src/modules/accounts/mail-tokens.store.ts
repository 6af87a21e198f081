import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import { hashSecret, isSecret, makeSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'

export type MailPurpose = 'verify' | 'reset'

/** Long enough if the mail is read the next day; short if the link gives access to the account. */
const hoursFor: Record<MailPurpose, number> = { verify: 72, reset: 1 }

/** Creates the token for a link in a mail. */
export async function createMailToken(
  query: Queries,
  purpose: MailPurpose,
  account: { id: string; email: string },
): Promise<string> {
  const secret = makeSecret('agm_')
  await query
    .insertInto('mail_tokens')
    .values({
      hash: hashSecret(secret),
      account_id: account.id,
      purpose,
      email: account.email,
      expires_at: new Date(Date.now() + hoursFor[purpose] * 3_600_000),
    })
    .execute()
  return secret
}

/**
 * Uses a link and invalidates all others for the same purpose and account. Throws the same `link_invalid` if it is
 * unknown, used or expired.
 */
export async function useMailToken(
  query: Queries,
  purpose: MailPurpose,
  secret: string,
): Promise<{ accountId: string; email: string }> {
  const row = isSecret('agm_', secret)
    ? await query
        .updateTable('mail_tokens')
        .set({ used_at: sql<Date>`now()` })
        .where('hash', '=', hashSecret(secret))
        .where('purpose', '=', purpose)
        .where('used_at', 'is', null)
        .where('expires_at', '>', sql<Date>`now()`)
        .returning(['account_id', 'email'])
        .executeTakeFirst()
    : undefined
  if (row === undefined)
    throw new AgentGymError({
      code: 'link_invalid',
      message: 'This link is unknown, already used or expired.',
      hint: 'Request a new one.',
    })
  await voidMailTokens(query, purpose, row.account_id)
  return { accountId: row.account_id, email: row.email }
}

/** Invalidates all links for that purpose and account. */
export async function voidMailTokens(query: Queries, purpose: MailPurpose, accountId: string): Promise<void> {
  await query
    .updateTable('mail_tokens')
    .set({ used_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .execute()
}

/** Invalidates the links of a change. Returns its new address. */
export async function dropEmailChange(query: Queries, accountId: string): Promise<string | undefined> {
  const row = await query
    .deleteFrom('email_changes')
    .where('account_id', '=', accountId)
    .returning('new_email')
    .executeTakeFirst()
  return row?.new_email
}
