import type { OwnAccount } from '@agentgym/contract'
import type { RouteRule } from './route.ts'

/** `log-in`: nobody is known yet. `hidden`: to this visitor there is no such page. */
export type Verdict = 'allowed' | 'log-in' | 'hidden'

/** May whoever is there, null for nobody known, see what stands under this rule? */
export function judgeAccess(rule: RouteRule, account: OwnAccount | null, params: Record<string, string>): Verdict {
  if (rule.access === 'public') return 'allowed'
  if (account === null) return 'log-in'
  if (rule.access === 'account') return 'allowed'
  if (rule.access === 'operator') return account.operator ? 'allowed' : 'hidden'
  const role = roleIn(account, (params[rule.of ?? 'scope'] ?? '').replace(/^@/, ''))
  if (role === null) return 'hidden'
  return rule.access === 'member' || role === 'owner' || role === 'admin' ? 'allowed' : 'hidden'
}

/** The role that somebody has in the account of that name; null for none. */
function roleIn(account: OwnAccount, username: string): OwnAccount['organisations'][number]['role'] | null {
  if (account.username === username) return 'owner'
  return account.organisations.find((organisation) => organisation.username === username)?.role ?? null
}
