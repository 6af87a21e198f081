import type { OwnAccount } from '@agentgym/contract'

const ranks = { viewer: 0, member: 1, admin: 2, owner: 3 }
export type Role = keyof typeof ranks

/** The accounts that the visitor can act for in that role, their own first. The API decides what is allowed. */
export function accountsOf({ username, organisations }: OwnAccount, role: Role): string[] {
  const others = organisations.filter((organisation) => ranks[organisation.role] >= ranks[role])
  return [username, ...others.map((organisation) => organisation.username)]
}

/** The account parameter of the API; omitted for the visitor's own. */
export function accountField(chosen: string): string | undefined {
  return chosen === '' ? undefined : chosen
}
