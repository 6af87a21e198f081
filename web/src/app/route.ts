import assert from 'node:assert/strict'
import type { Visit } from './visit.ts'

/**
 * Who may come here. `public`: anyone. `account`: who is logged in. `member`: who belongs, in any role, to the account
 * that the path names; `owner`: who is its owner or one of its admins (a user owns their own). `operator`: who runs this
 * installation. It is a first wall and decides what is shown at all; what may be read and done, the API decides.
 */
export type Access = 'public' | 'account' | 'member' | 'owner' | 'operator'

export type RouteRule = {
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
