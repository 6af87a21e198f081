import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'
import type { AuthServer } from './auth-server.ts'

/** The code that an app shows, some steps from now. */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
}

/** Enables a second factor for an account without a password; its secret, and recovery codes. */
export async function enrollSession(
  { call }: AuthServer,
  cookie: string,
): Promise<{ secret: string; recovery: string[] }> {
  const begun = await call('POST', '/v1/account/second-factor', { cookie, json: {} })
  const secret = String(begun.body.secret)
  const enabled = await call('PUT', '/v1/account/second-factor', { cookie, json: { code: codeOf(secret) } })
  expect(enabled.status).toBe(200)
  return { secret, recovery: enabled.body.recovery_codes as string[] }
}

/** A log-in through a provider that lacks the code: a page asks for it, and nothing else is permitted until then. */
export async function expectCodeAsked(
  { call }: AuthServer,
  { headers, cookie }: { headers: Headers; cookie: string },
  { next, recovery }: { next: string; recovery: string },
): Promise<void> {
  expect(headers.get('location')).toBe(`/login/code?next=${encodeURIComponent(next)}`)
  expect((await call('GET', '/v1/account', { cookie })).code).toBe('unauthenticated')
  const enter = (code: string) => call('POST', '/v1/sessions/current/second-factor', { cookie, json: { code } })
  expect((await enter('000000')).code).toBe('second_factor_invalid')
  expect((await call('GET', '/v1/account', { cookie })).code).toBe('unauthenticated')
  const entered = await enter(recovery)
  expect(entered.status).toBe(200)
  expect((await call('GET', '/v1/account', { cookie: entered.cookie })).status).toBe(200)
}
