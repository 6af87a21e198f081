import { type TokenScope, tokenScopeSchema } from '@agentgym/contract'

/** What a token may do; a session may do all that its user may. */
export const scopes = tokenScopeSchema.options
export type Scope = TokenScope

/** Whoever makes a request: known by session cookie or by token. */
export type Actor = {
  accountId: string
  username: string
  emailVerified: boolean
  operator: boolean
  /** Null for a session. */
  tokenId: string | null
  scopes: ReadonlySet<Scope>
}

/**
 * The one question every route asks (implemented in auth): may this actor do that to the scope `owner` (account id)?
 * `read` of a private package needs membership (viewer up), `publish` member, `manage` admin, `own` owner; and the scope of
 * the token. Denials throw AgentGymError: `unauthenticated` (401) without an actor, `forbidden` (403) otherwise, or
 * `package_not_found` (404) where the very existence is private.
 */
export type Permission = 'read' | 'publish' | 'manage' | 'own'
