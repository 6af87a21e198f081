import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { ServerConfig } from '../services.ts'
import type { Env } from './env.ts'

/**
 * CSRF protection: proves that a form comes from a page that this server sent to this browser, by a keyed hash over a
 * random cookie and the form's purpose (`purpose`, such as the account and the code to approve). A page of another site
 * can send the form but cannot read the cookie or the page; a planted cookie alone is useless without the key.
 */
export function makeFormToken(c: Context<Env>, config: ServerConfig, purpose: string): string {
  const name = cookieName(config)
  let seed = getCookie(c, name)
  if (seed === undefined || !/^[\w-]{22}$/.test(seed)) {
    seed = randomBytes(16).toString('base64url')
    setCookie(c, name, seed, { httpOnly: true, sameSite: 'Lax', path: '/', secure: config.secure })
  }
  return sign(config, seed, purpose)
}

/** Throws `forbidden` if the form does not come from such a page. */
export function checkFormToken(c: Context<Env>, config: ServerConfig, purpose: string, given: string): void {
  const seed = getCookie(c, cookieName(config))
  const expected = seed === undefined ? undefined : Buffer.from(sign(config, seed, purpose))
  const bytes = Buffer.from(given)
  if (expected !== undefined && expected.length === bytes.length && timingSafeEqual(expected, bytes)) return
  throw new AgentGymError({
    code: 'forbidden',
    message: 'The form has expired, or was opened in another browser.',
    hint: 'Reload the page.',
  })
}

function cookieName({ secure }: ServerConfig): string {
  return secure ? '__Host-agentgym_form' : 'agentgym_form'
}

function sign({ secret }: ServerConfig, seed: string, purpose: string): string {
  return createHmac('sha256', secret).update(`form\n${seed}\n${purpose}`).digest('base64url')
}
