import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SiteHost } from '../app/site-host.ts'

type Signer = Pick<SiteHost, 'formKey' | 'secure'>

/**
 * Proof that a form was sent from a page that this site gave to this browser, in this session: a keyed hash over a
 * random cookie and the session's own. A page of another site can send the form but reads neither cookie nor page; a
 * planted cookie is useless without the key, and a token from before a login is invalid after it.
 */
export function makeFormToken(cookies: string, host: Signer): { token: string; setCookie: string | null } {
  const known = seedIn(cookies, host)
  const seed = known ?? randomBytes(16).toString('base64url')
  const attributes = `HttpOnly; SameSite=Lax; Path=/${host.secure ? '; Secure' : ''}`
  return {
    token: sign(host, seed, cookies),
    setCookie: known === undefined ? `${seedName(host)}=${seed}; ${attributes}` : null,
  }
}

/** Whether a form's token was issued to this browser. */
export function isFormToken(given: string, cookies: string, host: Signer): boolean {
  const seed = seedIn(cookies, host)
  if (seed === undefined) return false
  const expected = Buffer.from(sign(host, seed, cookies))
  const bytes = Buffer.from(given)
  return expected.length === bytes.length && timingSafeEqual(expected, bytes)
}

/** Cookies with this prefix were set over TLS, for this exact host. */
function seedName({ secure }: Signer): string {
  return secure ? '__Host-agentgym_site' : 'agentgym_site'
}

function seedIn(cookies: string, host: Signer): string | undefined {
  const seed = cookieIn(cookies, seedName(host))
  return seed !== undefined && /^[\w-]{22}$/.test(seed) ? seed : undefined
}

function sign(host: Signer, seed: string, cookies: string): string {
  const session = cookieIn(cookies, sessionName(host)) ?? ''
  return createHmac('sha256', host.formKey).update(`${seed}\n${session}`).digest('base64url')
}

/** Name of the server's session cookie. */
export function sessionName({ secure }: Pick<SiteHost, 'secure'>): string {
  return secure ? '__Host-agentgym_session' : 'agentgym_session'
}

/** Name of the server's cookie for known devices. */
export function deviceName({ secure }: Pick<SiteHost, 'secure'>): string {
  return secure ? '__Host-agentgym_device' : 'agentgym_device'
}

/** Raw value of a cookie in a Cookie header. */
export function cookieIn(header: string, name: string): string | undefined {
  for (const cookie of header.split(';')) {
    const [key, ...rest] = cookie.trim().split('=')
    if (key === name) return rest.join('=')
  }
  return undefined
}
