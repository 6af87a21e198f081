import type { Visit } from '../../app/visit.ts'

/** Names of the account of whoever is there and of those that they may act for: not where they only look on. */
export function ownAccounts({ account }: Pick<Visit, 'account'>): string[] {
  if (account === null) return []
  const organisations = account.organisations.filter(({ role }) => role !== 'viewer')
  return [account.username, ...organisations.map(({ username }) => username)]
}
