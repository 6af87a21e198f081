import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import { normalizeUserCode } from './device-log-in.ts'
import { type Answer, type AuthServer, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'

describeOnEngines('device log-in on $kind', ({ open }) => {
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

  type Codes = { device_code: string; user_code: string; verification_uri_complete: string }
  const start = async (name = 'agentgym on laptop', scopes = ['packages:publish']): Promise<Codes> =>
    (await server.call('POST', '/v1/device-codes', { json: { name, scopes } })).body as Codes
  const ask = (device_code: string) => server.call('POST', '/v1/device-codes/token', { json: { device_code } })
  /** As if the client had waited for the polling interval. */
  const wait = (device_code: string) =>
    database.query
      .updateTable('device_codes')
      .set({ polled_at: new Date(Date.now() - 5_000) })
      .where('hash', '=', hashSecret(device_code))
      .execute()
  const open_ = (user_code: string, cookie?: string, ip?: string) =>
    server.call('GET', `/device?user_code=${user_code}`, { cookie, ip })
  /** What the form on a page would send, and the cookies of the browser. */
  const formOn = (page: Answer) =>
    Object.fromEntries(
      [...page.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    )
  const decide = (page: Answer, cookie: string, step: 'approve' | 'deny', rest: Record<string, string> = {}) =>
    server.call('POST', '/device', {
      cookie: [cookie, page.cookie].filter(Boolean).join('; '),
      form: { ...formOn(page), step, ...rest },
      headers: { origin: server.url, 'sec-fetch-site': 'same-origin' },
    })

  it('issues a working token to the terminal after approval in the browser', async () => {
    await newUser(server, 'walker')
    const codes = await start()
    expect(codes).toMatchObject({ verification_uri: `${server.url}/device`, interval: 5, expires_in: 600 })
    expect(codes.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect((await ask(codes.device_code)).code).toBe('authorization_pending')
    const tooSoon = await ask(codes.device_code)
    expect([tooSoon.status, tooSoon.code]).toEqual([400, 'slow_down'])

    // The browser: log in, compare, approve.
    const first = await server.call(
      'GET',
      new URL(codes.verification_uri_complete).pathname + new URL(codes.verification_uri_complete).search,
    )
    expect(first.text).toContain('name="password"')
    expect(first.text).not.toContain('agentgym on laptop')
    const loggedIn = await server.call('POST', '/device', {
      cookie: first.cookie,
      form: { ...formOn(first), username: 'walker', password },
      headers: { origin: server.url },
    })
    expect([loggedIn.status, loggedIn.headers.get('location')]).toEqual([303, `/device?user_code=${codes.user_code}`])
    const session = `${loggedIn.cookie}; ${first.cookie}`
    const second = await open_(codes.user_code, session)
    for (const shown of ['agentgym on laptop', 'walker', 'Publish packages', codes.user_code])
      expect(second.text).toContain(shown)
    const approved = await decide(second, session, 'approve')
    expect([approved.status, approved.text.includes('Approved')]).toEqual([200, true])

    await wait(codes.device_code)
    const outcomes = await Promise.all([ask(codes.device_code), ask(codes.device_code)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 400])
    const { token, ...rest } = outcomes.find(({ status }) => status === 200)?.body ?? {}
    expect(rest).toMatchObject({ username: 'walker', name: 'agentgym on laptop', scopes: ['packages:publish'] })
    const own = await server.call('GET', '/v1/account', { token: String(token) })
    expect(own.body).toMatchObject({ username: 'walker', scopes: ['packages:publish', 'packages:read'] })
    await wait(codes.device_code)
    expect((await ask(codes.device_code)).code).toBe('expired_token')
    expect((await open_(codes.user_code, session)).status).toBe(400)

    const actions = await database.query
      .selectFrom('audit')
      .select('action')
      .where('action', 'like', 'device.%')
      .execute()
    expect(actions).toEqual([{ action: 'device.approve' }])
    expect(JSON.stringify(server.services.logged)).not.toContain(codes.device_code)
  })

  it('reports a denied login to the client', async () => {
    const { cookie } = await newUser(server, 'refuser')
    const codes = await start()
    const page = await open_(codes.user_code, cookie)
    expect((await decide(page, cookie, 'deny')).text).toContain('Denied')
    const answer = await ask(codes.device_code)
    expect([answer.status, answer.code]).toEqual([400, 'access_denied'])
  })

  it('rejects unknown and expired codes', async () => {
    const { cookie } = await newUser(server, 'latecomer')
    const codes = await start()
    const page = await open_(codes.user_code, cookie)
    await database.query
      .updateTable('device_codes')
      .set({ polled_at: null })
      .where('hash', '=', hashSecret(codes.device_code))
      .execute()
    const age = database.query.insertInto('device_codes').columns(['hash', 'user_code', 'name', 'scopes', 'expires_at'])
    await age
      .expression((from) =>
        from
          .selectFrom('device_codes')
          .select((row) => [
            row.val(hashSecret('old')).as('hash'),
            row.val('BBBB-BBBB').as('user_code'),
            'name',
            'scopes',
            row.val(new Date(Date.now() - 1_000)).as('expires_at'),
          ])
          .where('hash', '=', hashSecret(codes.device_code)),
      )
      .execute()
    expect((await open_('BBBB-BBBB', cookie)).status).toBe(400)
    expect((await open_('ZZZZ-ZZZZ', cookie)).status).toBe(400)
    expect((await ask('agd_nothing')).code).toBe('expired_token')
    // Withdrawn with the password, before the client asked.
    await decide(page, cookie, 'approve')
    await server.call('PUT', '/v1/account/password', {
      cookie,
      json: { current_password: password, password: 'another password' },
    })
    expect((await ask(codes.device_code)).code).toBe('access_denied')
  })

  it('accepts a decision only from the page served to this browser and user', async () => {
    const victim = await newUser(server, 'victim')
    const attacker = await newUser(server, 'attacker')
    const codes = await start('evil')
    const attackersPage = await open_(codes.user_code, attacker.cookie)
    const state = async () =>
      (
        await database.query
          .selectFrom('device_codes')
          .select('state')
          .where('hash', '=', hashSecret(codes.device_code))
          .executeTakeFirstOrThrow()
      ).state

    // From another site, with everything that an attacker could plant: their own form and cookie.
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const form = { ...formOn(attackersPage), step: 'approve' }
    const cookie = `${victim.cookie}; ${attackersPage.cookie}`
    expect((await server.call('POST', '/device', { cookie, form, headers: elsewhere })).status).toBe(403)
    expect((await server.call('POST', '/device', { cookie, form })).status).toBe(403)
    expect((await server.call('POST', '/device', { cookie: victim.cookie, form })).status).toBe(403)
    const blank = { step: 'approve', user_code: codes.user_code }
    expect((await server.call('POST', '/device', { cookie: victim.cookie, form: blank })).status).toBe(403)
    // A page for one code does not decide about another.
    const other = await start('innocent')
    const page = await open_(other.user_code, victim.cookie)
    expect((await decide(page, victim.cookie, 'approve', { user_code: codes.user_code })).status).toBe(403)
    // Anonymous callers and tokens cannot decide.
    expect((await server.call('POST', '/device', { form })).status).toBe(401)
    const token = await newToken(server, victim.cookie, ['account:manage'])
    expect((await server.call('POST', '/device', { token, form })).status).toBe(401)
    expect(await state()).toBe('pending')
    // The login form is protected, too, against login CSRF.
    const logIn = { step: 'log-in', username: 'attacker', password, user_code: '' }
    const planted = await server.call('POST', '/device', { form: logIn })
    expect([planted.status, planted.cookie.includes('session')]).toEqual([403, false])
  })

  it('keeps typed values after a failed login, and escapes them', async () => {
    const first = await open_('BCDF-GHJK')
    const failed = await server.call('POST', '/device', {
      cookie: first.cookie,
      form: { ...formOn(first), username: '"><script>alert(1)</script>', password: 'wrong' },
      ip: '192.0.2.77',
    })
    expect(failed.status).toBe(401)
    expect(failed.text).toContain('The username or password is wrong.')
    expect(failed.text).toContain('BCDF-GHJK')
    expect(failed.text).toContain('&quot;&gt;&lt;script&gt;')
    expect(failed.text).not.toContain('<script>')
    expect(failed.headers.get('content-security-policy')).toContain("default-src 'none'")
    const { cookie } = await newUser(server, 'named')
    const codes = await start('<img src=x onerror=alert(1)>')
    expect((await open_(codes.user_code, cookie)).text).toContain('&lt;img src=x')
  })

  it('issues worker tokens to operators only', async () => {
    const { cookie } = await newUser(server, 'no-operator')
    const codes = await start('worker', ['worker'])
    const page = await open_(codes.user_code, cookie)
    expect((await decide(page, cookie, 'approve')).status).toBe(403)
    expect((await ask(codes.device_code)).code).toBe('authorization_pending')
  })

  it('limits guesses of user codes', async () => {
    const { cookie } = await newUser(server, 'trier')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 32; attempt++)
      statuses.push((await open_('BBBB-CCCC', cookie, '192.0.2.99')).status)
    expect(statuses).toEqual([...Array(30).fill(400), 429, 429])
  })
})

it('reads codes as people type them', () => {
  for (const typed of ['bcdf-ghjk', 'BCDFGHJK', ' bcdf ghjk ']) expect(normalizeUserCode(typed)).toBe('BCDF-GHJK')
  for (const typed of ['', 'BCDF', 'BCDF-GHJKL', 'AEIO-UAEI', 'BCDF-GH1K'])
    expect(normalizeUserCode(typed)).toBeUndefined()
})
