import type { Queries } from '../../core/database/database.ts'

export const providerNames = ['github', 'google'] as const
export type ProviderName = (typeof providerNames)[number]

/** The account that logs in through this identity. `subject` is the provider's own id, never a name or an address. */
export async function findLinkedAccount(
  query: Queries,
  provider: ProviderName,
  subject: string,
): Promise<string | undefined> {
  const row = await query
    .selectFrom('oauth_identities')
    .select('account_id')
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.account_id
}

export async function linkIdentity(
  query: Queries,
  identity: { provider: ProviderName; subject: string; accountId: string },
): Promise<void> {
  await query
    .insertInto('oauth_identities')
    .values({ provider: identity.provider, subject: identity.subject, account_id: identity.accountId })
    .execute()
}

export async function unlinkAll(query: Queries, accountId: string): Promise<void> {
  await query.deleteFrom('oauth_identities').where('account_id', '=', accountId).execute()
}
