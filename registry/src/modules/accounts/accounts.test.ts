import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, type Call, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'

describeOnEngines('accounts on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const signUp = (username: string, rest: Record<string, unknown> = {}) =>
    server.call('POST', '/v1/accounts', { json: { username, email: `${username}@example.com`, password, ...rest } })
  const logIn = (username: string, typed: string, cookie?: string) =>
    server.call('POST', '/v1/sessions', { json: { username, password: typed }, cookie, ip: `log-in-${username}` })
  const sessionId = (cookie: string) => /agentgym_session=([^;]*)/.exec(cookie)?.[1] ?? ''

  it('makes only the first account an operator', async () => {
    const both = await Promise.all([signUp('first'), signUp('second')])
    expect(both.map(({ status }) => status)).toEqual([201, 201])
    expect(both.filter(({ body }) => body.operator)).toHaveLength(1)
    const third = await signUp('third')
    expect(third.body).toEqual({
      username: 'third',
      kind: 'user',
      email: 'third@example.com',
      email_verified: false,
      operator: false,
    })
  })

  it('gives a name with its look-alikes, and an address, to one account only', async () => {
    expect((await signUp('looper')).status).toBe(201)
    for (const [username, email] of [
      ['looper', 'other1@example.com'],
      ['l00per', 'other2@example.com'],
      ['loo-per', 'other3@example.com'],
    ]) {
      const refused = await signUp(username, { email })
      expect([refused.status, refused.code]).toEqual([409, 'name_taken'])
    }
    expect((await signUp('sharer', { email: 'Looper@EXAMPLE.com' })).code).toBe('email_taken')
    const atOnce = await Promise.all(['racer', 'rac-er'].map((name) => signUp(name)))
    expect(atOnce.map(({ status }) => status).sort()).toEqual([201, 409])
    const recorded = await database.query
      .selectFrom('audit')
      .select('id')
      .where('subject', 'like', 'account:rac%')
      .execute()
    expect(recorded).toHaveLength(1)
  })

  it('refuses invalid names and passwords, unknown fields, and non-JSON bodies', async () => {
    expect((await signUp('Acme')).code).toBe('name_invalid')
    expect((await signUp('admin')).code).toBe('name_invalid')
    for (const [field, value] of [
      ['password', 'short'],
      ['password', 'x'.repeat(201)],
      ['email', 'nobody'],
      ['operator', true],
    ] as const) {
      const refused = await signUp('breaker', { [field]: value })
      expect([refused.status, refused.code]).toEqual([422, 'request_invalid'])
    }
    const form = await server.call('POST', '/v1/accounts', {
      form: { username: 'breaker', email: 'b@example.com', password },
    })
    expect(form.code).toBe('request_invalid')
  })

  it('logs in, shows the account, and logs out', async () => {
    const { cookie } = await newUser(server, 'inout')
    const own = await server.call('GET', '/v1/account', { cookie })
    expect(own.body).toMatchObject({ username: 'inout', email: 'inout@example.com', organisations: [] })
    expect((await server.call('DELETE', '/v1/sessions/current', { cookie })).status).toBe(204)
    expect((await server.call('GET', '/v1/account', { cookie })).code).toBe('unauthenticated')
    expect((await server.call('DELETE', '/v1/sessions/current', { cookie })).code).toBe('unauthenticated')
  })

  it('logs in by email address in any casing, with a separate guess counter', async () => {
    await newUser(server, 'by-email')
    expect((await logIn('By-Email@Example.com', password)).body).toEqual({ username: 'by-email' })
    const guess = (username: string) =>
      server.call('POST', '/v1/sessions', { json: { username, password: 'wrong' }, ip: '203.0.113.77' })
    for (let attempt = 0; attempt < 10; attempt++) expect((await guess('by-email@example.com')).status).toBe(401)
    expect((await guess('BY-EMAIL@example.com')).code).toBe('rate_limited')
    expect((await guess('by-email')).code, 'tells nothing of the name that belongs to it').toBe('credentials_invalid')
  })

  it('answers the same to a wrong password, an unknown user, an organisation and a disabled account', async () => {
    const { cookie } = await newUser(server, 'known')
    await server.call('POST', '/v1/organisations', { cookie, json: { username: 'known-org' } })
    await newUser(server, 'barred')
    await database.query
      .updateTable('accounts')
      .set({ disabled_at: new Date() })
      .where('username', '=', 'barred')
      .execute()
    const answers = await Promise.all([
      logIn('known', 'not the password'),
      logIn('nobody-at-all', 'not the password'),
      logIn('known@example.com', 'not the password'),
      logIn('nobody-at-all@example.com', 'not the password'),
      logIn('known-org', 'not the password'),
      logIn('barred', password),
      logIn('not even a name', ''),
      logIn('known', 'x'.repeat(900)),
    ])
    for (const { status, text, setCookies } of answers) {
      expect(status).toBe(401)
      expect(text).toBe(answers[0].text)
      expect(setCookies).toEqual([])
    }
    expect(answers[0].code).toBe('credentials_invalid')
  })

  it('never reuses the browser’s previous session', async () => {
    const planted = await newUser(server, 'attacker')
    await newUser(server, 'victim')
    const loggedIn = await logIn('victim', password, planted.cookie)
    expect(sessionId(loggedIn.cookie)).not.toBe(sessionId(planted.cookie))
    expect((await server.call('GET', '/v1/account', { cookie: planted.cookie })).status).toBe(401)
    expect((await server.call('GET', '/v1/account', { cookie: loggedIn.cookie })).body.username).toBe('victim')
    const made = await logIn('victim', password, 'agentgym_session=of-my-own-making')
    expect(made.cookie).not.toContain('of-my-own-making')
  })

  it('sets cookies that are HttpOnly, SameSite and Secure', async () => {
    await newUser(server, 'baker')
    const [plain] = (await logIn('baker', password)).setCookies
    expect(plain).toMatch(/^agentgym_session=[a-z0-9]{40}; /)
    expect(plain).toMatch(/HttpOnly/)
    expect(plain).toMatch(/SameSite=Lax/)
    const secure = await startAuthServer(database, { secure: true, publicUrl: 'https://gym.example' })
    try {
      const answer = await secure.call('POST', '/v1/sessions', { json: { username: 'baker', password } })
      expect(answer.setCookies[0]).toMatch(/^__Host-agentgym_session=/)
      expect(answer.setCookies[0]).toMatch(/Secure/)
      expect(answer.setCookies[0]).toMatch(/Path=\//)
      expect(answer.setCookies[0]).not.toMatch(/Domain/)
    } finally {
      await secure.close()
    }
  })

  it('extends a session in use, and ends one that is not', async () => {
    const { cookie } = await newUser(server, 'slider')
    const setEnd = (daysAhead: number) =>
      database.query
        .updateTable('sessions')
        .set({ expires_at: new Date(Date.now() + daysAhead * 86_400_000) })
        .where('id', '=', hashSecret(sessionId(cookie)))
        .execute()
    expect((await server.call('GET', '/v1/account', { cookie })).setCookies).toEqual([])
    await setEnd(10)
    const used = await server.call('GET', '/v1/account', { cookie })
    expect(sessionId(used.cookie)).toBe(sessionId(cookie))
    await setEnd(-1)
    expect((await server.call('GET', '/v1/account', { cookie })).status).toBe(401)
  })

  it('ends every session, and no token, when the password changes', async () => {
    const { cookie } = await newUser(server, 'changer')
    const other = await logIn('changer', password)
    const token = await newToken(server, cookie, ['packages:read'])
    const change = (current_password: string) =>
      server.call('PUT', '/v1/account/password', { cookie, json: { current_password, password: 'a wholly new one' } })
    expect((await change('not the password')).code).toBe('credentials_invalid')
    const changed = await change(password)
    expect(changed.status).toBe(204)
    for (const old of [cookie, other.cookie])
      expect((await server.call('GET', '/v1/account', { cookie: old })).status).toBe(401)
    expect((await server.call('GET', '/v1/account', { cookie: changed.cookie })).status).toBe(200)
    expect((await server.call('GET', '/v1/account', { token })).status).toBe(200)
    expect((await logIn('changer', password)).status).toBe(401)
    expect((await logIn('changer', 'a wholly new one')).status).toBe(200)
  })

  it('revokes every token with the password if asked to', async () => {
    const { cookie } = await newUser(server, 'cleaner')
    const tokens = [
      await newToken(server, cookie, ['packages:read']),
      await newToken(server, cookie, ['account:manage']),
    ]
    const json = { current_password: password, password: 'a wholly new one', revoke_tokens: true }
    expect((await server.call('PUT', '/v1/account/password', { cookie, json })).status).toBe(204)
    for (const token of tokens) expect((await server.call('GET', '/v1/account', { token })).status).toBe(401)
  })

  it('limits guesses for existing and unknown names, and does not count successes', async () => {
    await newUser(server, 'guessed')
    const guess = (username: string, typed: string, ip: string) =>
      server.call('POST', '/v1/sessions', { json: { username, password: typed }, ip })
    for (const username of ['guessed', 'ghost-name']) {
      const statuses: number[] = []
      for (let attempt = 0; attempt < 12; attempt++)
        statuses.push((await guess(username, 'wrong', `203.0.113.${username.length}`)).status)
      expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    }
    const limited = await guess('guessed', password, '203.0.113.7')
    expect(limited.code).toBe('rate_limited')
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    // Its owner, from elsewhere, is not locked out, however often they log in.
    for (let times = 0; times < 12; times++) expect((await guess('GUESSED', password, '198.51.100.1')).status).toBe(200)
  })

  it('handles any input without an internal error', async () => {
    const odd = [
      '\u0000',
      'a\u0000b',
      'a\u0000@b',
      '\ud800@b',
      'a@b@c',
      '@',
      '\ud800',
      '%00',
      '../..',
      '__proto__',
      'ﬀ',
      '\u202e',
      'x'.repeat(254),
    ]
    for (const [index, text] of odd.entries()) {
      const typed = { json: { username: text, password: text }, ip: `203.0.113.${100 + index}` }
      expect((await server.call('POST', '/v1/sessions', typed)).code).toBe('credentials_invalid')
      expect((await signUp('odd', { username: text })).status).toBe(422)
      for (const path of [
        `/v1/organisations/${encodeURIComponent(text.toWellFormed())}`,
        `/device?user_code=${encodeURIComponent(text.toWellFormed())}`,
      ])
        expect((await server.call('GET', path)).status).toBeLessThan(500)
    }
    const { cookie } = await newUser(server, 'odd-one')
    for (const name of ['a\u0000b', '\ud800', '\u001b[31m', ' '])
      expect(
        (await server.call('POST', '/v1/tokens', { cookie, json: { name, scopes: ['packages:read'] } })).code,
      ).toBe('request_invalid')
    for (const cookie of [
      'agentgym_session=%',
      'agentgym_session=%00',
      'agentgym_session=',
      'agentgym_session',
      ';;=',
      'agentgym_session=%E0%A4%A',
    ])
      expect((await server.call('GET', '/v1/account', { cookie })).code).toBe('unauthenticated')
  })

  it('limits guesses at many names from one network', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 65 }, (_, index) =>
        server.call('POST', '/v1/sessions', {
          json: { username: `spray-${index}`, password: 'wrong' },
          ip: `2001:db8:7:7::${(index + 1).toString(16)}`,
        }),
      ),
    )
    expect(statuses.filter(({ status }) => status === 401)).toHaveLength(60)
    expect(statuses.filter(({ status }) => status === 429)).toHaveLength(5)
  })

  it('refuses cross-site writes and forms', async () => {
    const { cookie } = await newUser(server, 'clicker')
    const json = { name: 'x', scopes: ['packages:read'] }
    const attempts: Call[] = [
      { cookie, json, headers: { origin: 'https://evil.example' } },
      { cookie, json, headers: { 'sec-fetch-site': 'cross-site' } },
      { cookie, form: { name: 'x' } },
      { cookie, json, headers: { 'content-type': 'text/plain' } },
    ]
    for (const attempt of attempts) {
      const refused = await server.call('POST', '/v1/tokens', attempt)
      expect([refused.status, refused.code]).toEqual([403, 'forbidden'])
    }
    const fromPage = { cookie, json, headers: { origin: server.url, 'sec-fetch-site': 'same-origin' } }
    expect((await server.call('POST', '/v1/tokens', fromPage)).status).toBe(201)
    const logInElsewhere = { json: { username: 'clicker', password }, headers: { origin: 'https://evil.example' } }
    expect((await server.call('POST', '/v1/sessions', logInElsewhere)).status).toBe(403)
  })

  it('records actions in the audit log without secrets', async () => {
    const { cookie } = await newUser(server, 'recorded')
    await logIn('recorded', 'a mistyped secret')
    const token = await newToken(server, cookie, ['packages:read'])
    const { id } = await database.query
      .selectFrom('accounts')
      .select('id')
      .where('username', '=', 'recorded')
      .executeTakeFirstOrThrow()
    const entries = await database.query
      .selectFrom('audit')
      .selectAll()
      .where((is) => is.or([is('actor_id', '=', id), is('subject', '=', 'account:recorded')]))
      .orderBy('id')
      .execute()
    expect(entries.map(({ action }) => action)).toEqual([
      'account.create',
      'session.create',
      'session.refuse',
      'token.create',
    ])
    const everything = JSON.stringify([entries, server.services.logged])
    for (const secret of [token, password, 'a mistyped secret', sessionId(cookie)])
      expect(everything).not.toContain(secret)
  })

  it('stores no secret in clear', async () => {
    const { cookie } = await newUser(server, 'stored')
    const token = await newToken(server, cookie, ['packages:read'])
    const tables = ['accounts', 'sessions', 'tokens', 'mail_tokens', 'device_codes', 'rate_limits', 'audit'] as const
    const rows = await Promise.all(tables.map((table) => database.query.selectFrom(table).selectAll().execute()))
    const everything = JSON.stringify(rows)
    expect(everything).toContain('"username":"stored"')
    for (const secret of [token, password, sessionId(cookie)]) expect(everything).not.toContain(secret)
    expect(everything).not.toContain('agm_')
  })
})
