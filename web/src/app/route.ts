import assert from 'node:assert/strict'
import type { OwnAccount } from '@agentgym/contract'
import type { Visit } from './visit.ts'

/**
 * Who may open a page. `public`: everyone. `account`: logged-in users. `member`: members, in any role, of the account
 * in the path. `owner`: its owners and admins (users own their own account). `operator`: operators of this
 * installation. This only decides which pages are shown; the API decides what may be read and done.
 */
export type Access = 'public' | 'account' | 'member' | 'owner' | 'operator'

type RouteRule = {
  access: Access
  /** Path parameter with the account, for `member` and `owner`. Default: `scope`. `@acme` means `acme`. */
  of?: string
  /** A form that only changes how this browser shows the site: needs no token, only our own origin. */
  formToken?: false
}

export type SiteRoute = {
  method: 'get' | 'post'
  /** Pattern for Hono's router: `/packages/:scope/:name`. */
  path: string
  rule: RouteRule
  answer: (visit: Visit) => Response | Promise<Response>
}

/** A page, or the action of a form. Every route has an access rule. */
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

/** `log-in`: requires a login. `hidden`: shown as a missing page to this visitor. */
type Verdict = 'allowed' | 'log-in' | 'hidden'

/** Whether the visitor (null if anonymous) may open pages with this rule. */
export function judgeAccess(rule: RouteRule, account: OwnAccount | null, params: Record<string, string>): Verdict {
  if (rule.access === 'public') return 'allowed'
  if (account === null) return 'log-in'
  if (rule.access === 'account') return 'allowed'
  if (rule.access === 'operator') return account.operator ? 'allowed' : 'hidden'
  const role = roleIn(account, (params[rule.of ?? 'scope'] ?? '').replace(/^@/, ''))
  if (role === null) return 'hidden'
  return rule.access === 'member' || role === 'owner' || role === 'admin' ? 'allowed' : 'hidden'
}

/** The visitor's role in the account of that name; null if none. */
function roleIn(account: OwnAccount, username: string): OwnAccount['organisations'][number]['role'] | null {
  if (account.username === username) return 'owner'
  return account.organisations.find((organisation) => organisation.username === username)?.role ?? null
}
