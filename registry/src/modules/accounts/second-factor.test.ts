import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, newOperator, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'
import { codeOf } from './test/enroll.ts'

const own = '/v1/account/second-factor'
const confirmPath = '/v1/sessions/current/second-factor'

/** A code that is not valid at any step near the current time. */
function wrongCode(secret: string, salt = 0): string {
  const right = [-3, -2, -1, 0, 1, 2, 3].map((steps) => codeOf(secret, steps))
  const candidates = Array.from({ length: 8 }, (_, index) => String(100_000 + salt * 8 + index))
  return candidates.find((code) => !right.includes(code)) ?? ''
}

describeOnEngines('second factors on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    await newUser(server, 'the-first')
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  type Enrolled = { username: string; cookie: string; secret: string; recovery: string[] }
  const enroll = async (user: { username: string; cookie: string }): Promise<Enrolled> => {
    const { cookie } = user
    const begun = await server.call('POST', own, { cookie, json: { current_password: password } })
    expect(begun.status).toBe(200)
    const secret = String(begun.body.secret)
    const enabled = await server.call('PUT', own, { cookie, json: { code: codeOf(secret) } })
    expect(enabled.status).toBe(200)
    await forget(user.username)
    return { ...user, secret, recovery: enabled.body.recovery_codes as string[] }
  }
  const idOf = async (username: string) => {
    const select = database.query.selectFrom('accounts').select('id').where('username', '=', username)
    return (await select.executeTakeFirstOrThrow()).id
  }
  /** As if its last code were long ago, so that a test need not wait for the next. */
  const forget = async (username: string) =>
    database.query
      .updateTable('second_factors')
      .set({ last_step: 0 })
      .where('account_id', '=', await idOf(username))
      .execute()
  const age = async (username: string) =>
    database.query
      .updateTable('sessions')
      .set({ confirmed_at: new Date(Date.now() - 31 * 60_000) })
      .where('user_id', '=', await idOf(username))
      .execute()
  const logIn = (username: string, code?: string, ip?: string) =>
    server.call('POST', '/v1/sessions', { json: { username, password, ...(code && { code }) }, ip })
  const account = (cookie: string) => server.call('GET', '/v1/account', { cookie })

  it('is set up with the password and a code, and shown without its secret', async () => {
    const user = await newUser(server, 'starter')
    const { cookie } = user
    expect((await server.call('POST', own, { cookie, json: {} })).code).toBe('credentials_invalid')
    const token = await newToken(server, cookie, ['account:manage'])
    expect((await server.call('POST', own, { token, json: { current_password: password } })).code).toBe('forbidden')
    expect((await server.call('PUT', own, { cookie, json: { code: '123456' } })).code).toBe('second_factor_conflict')
    const first = await server.call('POST', own, { cookie, json: { current_password: password } })
    const begun = await server.call('POST', own, { cookie, json: { current_password: password } })
    expect(begun.body.uri).toBe(
      `otpauth://totp/AgentGym:starter?issuer=AgentGym&secret=${begun.body.secret}&algorithm=SHA1&digits=6&period=30`,
    )
    const stale = codeOf(String(first.body.secret))
    expect((await server.call('PUT', own, { cookie, json: { code: stale } })).code).toBe('second_factor_invalid')
    // Until a code proves the set-up, logging in needs none.
    expect((await logIn('starter')).status).toBe(200)
    const code = codeOf(String(begun.body.secret))
    const enabled = await server.call('PUT', own, { cookie, json: { code } })
    const codes = enabled.body.recovery_codes as string[]
    expect(new Set(codes).size).toBe(10)
    for (const one of codes) expect(one).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
    const shown = await server.call('GET', own, { cookie })
    expect(shown.body).toEqual({ enabled_at: expect.any(String), recovery_codes_left: 10, confirmed: true })
    // The code of the set-up is used up.
    expect((await logIn('starter', code)).code).toBe('second_factor_invalid')
    const again = await server.call('POST', own, { cookie, json: { current_password: password } })
    expect(again.code).toBe('second_factor_conflict')
    const stored = await database.query.selectFrom('second_factors').selectAll().execute()
    const hashes = await database.query.selectFrom('recovery_codes').selectAll().execute()
    const everything = JSON.stringify([stored, hashes])
    for (const secret of [String(begun.body.secret), ...codes, ...codes.map((one) => one.replaceAll('-', ''))])
      expect(everything).not.toContain(secret)
  })

  it('permits only entering the code after a login without it', async () => {
    const { username, secret } = await enroll(await newUser(server, 'halfway'))
    const half = await logIn(username)
    expect([half.status, half.code]).toEqual([403, 'second_factor_required'])
    expect(half.cookie).not.toBe('')
    expect((await account(half.cookie)).code).toBe('unauthenticated')
    expect((await server.call('POST', '/v1/tokens', { cookie: half.cookie, json: {} })).code).toBe('unauthenticated')
    expect(
      (await server.call('POST', confirmPath, { cookie: half.cookie, json: { code: wrongCode(secret) } })).code,
    ).toBe('second_factor_invalid')
    const whole = await server.call('POST', confirmPath, { cookie: half.cookie, json: { code: codeOf(secret) } })
    expect([whole.status, whole.body]).toEqual([200, { username }])
    expect((await account(whole.cookie)).status).toBe(200)
    // A new ID: the one from before the code is invalid.
    expect((await account(half.cookie)).code).toBe('unauthenticated')
    await forget(username)
    const gone = await server.call('POST', confirmPath, { cookie: half.cookie, json: { code: codeOf(secret) } })
    expect(gone.code).toBe('unauthenticated')
    // It expires soon, and ends with every other session.
    const late = await logIn(username)
    const id = hashSecret(/session=(\w+)/.exec(late.cookie)?.[1] ?? '')
    const row = await database.query.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    expect(row.expires_at.getTime() - Date.now()).toBeLessThan(11 * 60_000)
    expect((await server.call('GET', '/v1/sessions', { cookie: whole.cookie })).body.sessions).toHaveLength(2)
    await server.call('POST', '/v1/account/sign-out', { cookie: whole.cookie, json: {} })
    expect((await server.call('POST', confirmPath, { cookie: late.cookie, json: { code: codeOf(secret) } })).code).toBe(
      'unauthenticated',
    )
    expect((await server.call('POST', confirmPath, { json: { code: codeOf(secret) } })).code).toBe('unauthenticated')
  })

  it('rejects used and earlier codes, also concurrently', async () => {
    const { username, secret } = await enroll(await newUser(server, 'replayed'))
    const code = codeOf(secret)
    const both = await Promise.all([logIn(username, code), logIn(username, code), logIn(username, code)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expect((await logIn(username, code)).code).toBe('second_factor_invalid')
    expect((await logIn(username, codeOf(secret, 1))).status).toBe(200)
    // The one that was skipped is older than the last.
    expect((await logIn(username, code)).code).toBe('second_factor_invalid')
    expect((await logIn(username, codeOf(secret, 20))).code).toBe('second_factor_invalid')
  })

  it('accepts each recovery code of this account once, and replaces all of them', async () => {
    const { username, recovery } = await enroll(await newUser(server, 'recoverer'))
    const other = await enroll(await newUser(server, 'other-recoverer'))
    const [first, second, third] = recovery
    expect((await logIn(other.username, first)).code).toBe('second_factor_invalid')
    const at = await Promise.all([logIn(username, first), logIn(username, first)])
    expect(at.map(({ status }) => status).sort()).toEqual([200, 401])
    const in_ = await logIn(username, second.toUpperCase().replaceAll('-', ' '))
    expect(in_.status).toBe(200)
    const { cookie } = in_
    expect((await server.call('GET', own, { cookie })).body.recovery_codes_left).toBe(8)
    const replaced = await server.call('POST', `${own}/recovery-codes`, { cookie, json: {} })
    expect(replaced.body.recovery_codes).toHaveLength(10)
    expect((await logIn(username, third)).code).toBe('second_factor_invalid')
    expect((await logIn(username, (replaced.body.recovery_codes as string[])[0])).status).toBe(200)
  })

  it('stops guessing after ten codes from any network, but accepts recovery codes', async () => {
    const { username, secret, recovery } = await enroll(await newUser(server, 'guessed'))
    const half = await logIn(username)
    const guesses: string[] = []
    for (let guess = 0; guess < 12; guess += 1) {
      const call = { json: { code: wrongCode(secret, guess) }, ip: `198.51.100.${guess}` }
      const answer =
        guess % 2 === 0
          ? await server.call('POST', confirmPath, { cookie: half.cookie, ...call })
          : await logIn(username, call.json.code, call.ip)
      guesses.push(answer.code ?? '')
    }
    expect(guesses).toEqual([...Array(10).fill('second_factor_invalid'), 'rate_limited', 'rate_limited'])
    expect((await logIn(username, codeOf(secret), '198.51.100.200')).code).toBe('rate_limited')
    expect((await logIn(username, recovery[0], '198.51.100.201')).status).toBe(200)
    // After a wrong password, the response does not mention the code.
    const wrong = { username, password: 'not the password', code: codeOf(secret) }
    expect((await server.call('POST', '/v1/sessions', { json: wrong })).code).toBe('credentials_invalid')
  })

  it('must be confirmed within 30 minutes for sensitive actions', async () => {
    const { username, secret, cookie } = await enroll(await newOperator(server, 'careful'))
    await newUser(server, 'careless')
    const scopes = { name: 'x', scopes: ['market:sell', 'account:manage'] }
    const acts: [method: string, path: string, json?: object][] = [
      ['POST', '/v1/tokens', scopes],
      ['POST', `${own}/recovery-codes`, {}],
      ['PUT', '/v1/accounts/careless/disabled', { reason: 'x' }],
      ['DELETE', '/v1/accounts/careless/disabled'],
      ['POST', '/v1/accounts/careless/sign-out', {}],
      ['PUT', '/v1/accounts/careless/operator'],
      ['DELETE', '/v1/accounts/careless/operator'],
      ['DELETE', '/v1/accounts/careless/second-factor'],
      ['DELETE', own],
    ]
    await age(username)
    for (const [method, path, json] of acts)
      expect((await server.call(method, path, { cookie, json })).code, path).toBe('second_factor_required')
    expect((await server.call('GET', '/v1/accounts', { cookie })).status).toBe(200)
    expect((await server.call('GET', own, { cookie })).body.confirmed).toBe(false)
    const confirmed = await server.call('POST', confirmPath, { cookie, json: { code: codeOf(secret) } })
    expect(confirmed.status).toBe(200)
    for (const [method, path, json] of acts)
      expect((await server.call(method, path, { cookie: confirmed.cookie, json })).status, path).toBeLessThan(300)
    // Without a factor nothing needs to be confirmed.
    expect((await server.call('POST', '/v1/tokens', { cookie: confirmed.cookie, json: scopes })).status).toBe(201)
  })

  it('lets tokens from confirmed sessions act, and others only read', async () => {
    const user = await newOperator(server, 'automated')
    await newUser(server, 'managed')
    const before = await newToken(server, user.cookie, ['account:manage'])
    const { cookie, secret, username } = await enroll(user)
    const after = await newToken(server, cookie, ['account:manage'])
    const act = (token: string) => server.call('PUT', '/v1/accounts/managed/disabled', { token, json: { reason: 'x' } })
    expect((await act(before)).code).toBe('second_factor_required')
    expect((await server.call('GET', '/v1/accounts', { token: before })).status).toBe(200)
    const child = { name: 'child', scopes: ['account:manage'] }
    expect((await server.call('POST', '/v1/tokens', { token: before, json: child })).code).toBe(
      'second_factor_required',
    )
    expect((await act(after)).status).toBe(204)
    const made = await server.call('POST', '/v1/tokens', { token: after, json: child })
    expect((await act(String(made.body.token))).status).toBe(204)
    // A later factor was never confirmed by those tokens.
    expect((await server.call('DELETE', own, { cookie })).status).toBe(204)
    expect((await act(before)).status).toBe(204)
    await enroll({ username, cookie })
    expect((await act(after)).code).toBe('second_factor_required')
    expect(secret).not.toBe('')
  })

  it('is reset by an operator, in the audit log, and ends the sessions', async () => {
    const operator = await newOperator(server, 'resetter')
    const { username, cookie } = await enroll(await newUser(server, 'lost-phone'))
    const path = `/v1/accounts/${username}/second-factor`
    expect((await server.call('DELETE', path, { cookie })).code).toBe('forbidden')
    expect((await server.call('DELETE', path, { cookie: operator.cookie })).status).toBe(204)
    expect((await account(cookie)).code).toBe('unauthenticated')
    expect((await logIn(username)).status).toBe(200)
    const audit = await server.call('GET', `/v1/audit?subject=account:${username}&action=second-factor.reset`, {
      cookie: operator.cookie,
    })
    expect(audit.body.entries).toMatchObject([{ actor: 'resetter', action: 'second-factor.reset' }])
  })

  it('is required on the page of `agentgym login`, too', async () => {
    const { username, secret } = await enroll(await newUser(server, 'device-user'))
    const json = { name: 'laptop', scopes: ['market:sell'] }
    const codes = (await server.call('POST', '/v1/device-codes', { json })).body
    const address = `/device?user_code=${codes.user_code}`
    const formOn = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      )
    const post = (cookie: string, form: Record<string, string>) =>
      server.call('POST', '/device', { cookie, form, headers: { origin: server.url } })
    const first = await server.call('GET', address)
    const asked = await post(first.cookie, { ...formOn(first.text), username, password })
    expect(asked.text).toContain('name="code"')
    const half = `${asked.cookie}; ${first.cookie}`
    const wrong = await post(half, { ...formOn(asked.text), code: wrongCode(secret) })
    expect([wrong.status, wrong.text.includes('wrong, expired or already used')]).toEqual([401, true])
    const entered = await post(half, { ...formOn(asked.text), code: codeOf(secret) })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, address])
    const session = `${entered.cookie}; ${first.cookie}`
    const page = await server.call('GET', address, { cookie: session })
    await age(username)
    const stale = await post(session, { ...formOn(page.text), step: 'approve' })
    expect(stale.status).toBe(403)
    expect((await server.call('GET', address, { cookie: session })).text).toContain('name="code"')
  })
})
