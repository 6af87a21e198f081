import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { z } from 'zod'
import type { Env } from '../../core/http/env.ts'
import type { ServerConfig } from '../../core/services.ts'

/** Through GitHub or Google, or through an organization's own provider. */
type Kind = 'oauth' | 'sign_on'

/** Stores the state of a login at a provider in a cookie for ten minutes. */
export function keepPending(c: Context<Env>, config: ServerConfig, kind: Kind, pending: object): void {
  // Lax, because the provider's redirect is a navigation from another site and must send the cookie.
  setCookie(c, cookieName(config, kind), Buffer.from(JSON.stringify(pending)).toString('base64url'), {
    ...cookieAttributes(config),
    maxAge: 600,
  })
}

/** Reads and clears the state of `keepPending`; undefined if there is none. */
export function takePending<Pending>(
  c: Context<Env>,
  config: ServerConfig,
  kind: Kind,
  schema: z.ZodType<Pending>,
): Pending | undefined {
  const kept = getCookie(c, cookieName(config, kind)) ?? ''
  deleteCookie(c, cookieName(config, kind), cookieAttributes(config))
  try {
    return schema.parse(JSON.parse(Buffer.from(kept, 'base64url').toString()))
  } catch {
    return undefined
  }
}

function cookieName({ secure }: ServerConfig, kind: Kind): string {
  return `${secure ? '__Host-' : ''}agentgym_${kind}`
}

function cookieAttributes({ secure }: ServerConfig) {
  return { httpOnly: true, sameSite: 'Lax' as const, path: '/', secure }
}
