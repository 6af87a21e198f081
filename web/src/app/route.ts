import assert from 'node:assert/strict'
import type { OwnAccount } from '@agentgym/contract'
import type { Visit } from './visit.ts'

/**
 * Who may come here. `public`: anyone. `account`: who is logged in. `member`: who belongs, in any role, to the account
 * that the path names; `owner`: who is its owner or one of its admins (a user owns their own). `operator`: who runs this
 * installation. It is a first wall and decides what is shown at all; what may be read and done, the API decides.
 */
export type Access = 'public' | 'account' | 'member' | 'owner' | 'operator'

type RouteRule = {
  access: Access
  /** Parameter of the path that names the account, for `member` and `owner`; `scope` unless told. `@acme` is `acme`. */
  of?: string
  /** A form that changes nothing but how this browser shows the site: our own origin suffices, and nothing is signed. */
  formToken?: false
}

export type SiteRoute = {
  method: 'get' | 'post'
  /** As Hono's router has it: `/packages/:scope/:name`. */
  path: string
  rule: RouteRule
  answer: (visit: Visit) => Response | Promise<Response>
}

/** One page, or what one form does. There is no route without a rule. */
export function route(
  method: SiteRoute['method'],
  path: string,
  rule: RouteRule,
  answer: SiteRoute['answer'],
): SiteRoute {
  assert(path.startsWith('/'), path)
  if (rule.access === 'member' || rule.access === 'owner')
    assert(path.includes(`:${rule.of ?? 'scope'}`), `${path} does not name the account`)
  return { method, path, rule, answer }
}

/** `log-in`: nobody is known yet. `hidden`: to this visitor there is no such page. */
type Verdict = 'allowed' | 'log-in' | 'hidden'

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
