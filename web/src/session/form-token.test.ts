import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFormToken, makeFormToken } from './form-token.ts'

const host = { formKey: randomBytes(32), secure: false }
const session = `agentgym_session=${'a'.repeat(40)}`

/** A browser's cookies and the token of the page that it was given, with those cookies at the start. */
function given(cookies: string, signer = host) {
  const { token, setCookie } = makeFormToken(cookies, signer)
  const seed = setCookie?.split(';')[0]
  return { token, setCookie, cookies: [cookies, seed].filter(Boolean).join('; ') }
}

describe('a form token', () => {
  it('is valid for its browser and session', () => {
    for (const start of ['', session]) {
      const { token, cookies } = given(start)
      expect(isFormToken(token, cookies, host)).toBe(true)
      // Every page of the session has the same: tabs do not end each other's forms.
      expect(makeFormToken(cookies, host)).toEqual({ token, setCookie: null })
    }
  })

  it('is invalid without the cookie, or for another browser, session or installation', () => {
    const { token, cookies } = given(session)
    expect(isFormToken(token, session, host)).toBe(false)
    expect(isFormToken(token, given(session).cookies, host)).toBe(false)
    expect(isFormToken(token, cookies.replace(session, ''), host)).toBe(false)
    expect(isFormToken(token, cookies.replace('aaaa', 'bbbb'), host)).toBe(false)
    expect(isFormToken(token, cookies, { ...host, formKey: randomBytes(32) })).toBe(false)
    expect(isFormToken('', cookies, host)).toBe(false)
  })

  it('a planted cookie is useless without the key, and an invalid one is replaced', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (seed, token) => {
        const planted = `agentgym_site=${seed.replaceAll(';', '')}`
        expect(isFormToken(token, planted, host)).toBe(false)
        const made = given(planted === `agentgym_site=${'s'.repeat(22)}` ? '' : planted)
        expect(made.token).toMatch(/^[\w-]{43}$/)
      }),
    )
  })

  it('its cookie is bound to the host over TLS', () => {
    expect(given('', { ...host, secure: true }).setCookie).toMatch(
      /^__Host-agentgym_site=[\w-]{22}; HttpOnly; SameSite=Lax; Path=\/; Secure$/,
    )
    expect(given('').setCookie).toMatch(/^agentgym_site=[\w-]{22}; HttpOnly; SameSite=Lax; Path=\/$/)
  })
})
