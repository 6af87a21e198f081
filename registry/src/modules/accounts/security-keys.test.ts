import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { type AuthServer, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'
import { codeOf } from './test/enroll.ts'
import { SoftKey } from './test/soft-key.ts'

const factor = '/v1/account/second-factor'
const keys = '/v1/account/security-keys'
const confirmPath = '/v1/sessions/current/security-key'

describeOnEngines('security keys on $kind', ({ open }) => {
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

  type Options = { challenge: string }
  const post = (path: string, cookie: string, json: object = {}) => server.call('POST', path, { cookie, json })
  /** A user with an app; the session is confirmed. */
  const enrolled = async (username: string) => {
    const { cookie } = await newUser(server, username)
    const { body } = await post(factor, cookie, { current_password: password })
    const enabled = await server.call('PUT', factor, { cookie, json: { code: codeOf(String(body.secret)) } })
    expect(enabled.status).toBe(200)
    return { username, cookie, recovery: enabled.body.recovery_codes as string[] }
  }
  const optionsOf = async (path: string, cookie: string) => (await post(`${path}/options`, cookie)).body as Options
  const register = async (cookie: string, key: SoftKey, name = 'Blue key') =>
    post(keys, cookie, { name, credential: key.create(await optionsOf(keys, cookie)) })
  const withKey = async (username: string, key = new SoftKey(server.url)) => {
    const user = await enrolled(username)
    expect((await register(user.cookie, key)).status).toBe(201)
    return { ...user, key }
  }
  /** A log-in that lacks the factor. */
  const halfway = async (username: string) =>
    (await server.call('POST', '/v1/sessions', { json: { username, password } })).cookie
  const answer = (cookie: string, credential: object) => post(confirmPath, cookie, { credential })
  const alive = async (cookie: string) => (await server.call('GET', '/v1/account', { cookie })).status

  it('are added in addition to an app, named, listed and removed', async () => {
    const bare = await newUser(server, 'without-app')
    expect((await post(`${keys}/options`, bare.cookie)).code).toBe('second_factor_conflict')
    const { cookie, key, username } = await withKey('owner-of-keys')
    const options = (await post(`${keys}/options`, cookie)).body
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'AgentGym' },
      user: { name: username },
      attestation: 'none',
      excludeCredentials: [{ id: key.id, transports: ['usb'] }],
      authenticatorSelection: { userVerification: 'required' },
    })
    const listed = (await server.call('GET', keys, { cookie })).body
    expect(listed).toMatchObject({ available: true, security_keys: [{ name: 'Blue key', last_used_at: null }] })
    // The same key again, for this account or another one.
    expect((await register(cookie, key)).code).toBe('second_factor_conflict')
    expect((await register((await enrolled('second-owner')).cookie, key)).code).toBe('second_factor_conflict')
    await backgroundSettled()
    const mail = (await server.services.mail.sent()).filter(({ to }) => to === `${username}@example.com`)
    expect(mail.at(-1)?.text).toContain('the key "Blue key"')

    const [{ id }] = listed.security_keys as { id: string }[]
    const stranger = await enrolled('key-thief')
    await server.call('DELETE', `${keys}/${id}`, { cookie: stranger.cookie, json: {} })
    const token = await newToken(server, cookie, ['account:manage'])
    expect((await server.call('DELETE', `${keys}/${id}`, { token })).code).toBe('forbidden')
    expect((await server.call('GET', keys, { cookie })).body.security_keys).toHaveLength(1)
    expect((await server.call('DELETE', `${keys}/${id}`, { cookie, json: {} })).status).toBe(204)
    expect((await server.call('GET', keys, { cookie })).body.security_keys).toEqual([])
    const audit = await database.query
      .selectFrom('audit')
      .select('action')
      .where('subject', '=', `account:${username}`)
      .where('action', 'like', 'security-key.%')
      .orderBy('id')
      .execute()
    expect(audit.map(({ action }) => action)).toEqual(['security-key.add', 'security-key.remove'])
  })

  it('complete a login and confirm a session, each response once', async () => {
    const { username, key, cookie } = await withKey('log-in-by-key')
    const half = await halfway(username)
    expect((await server.call('GET', '/v1/sessions/current/second-factor', { cookie: half })).body).toEqual({
      awaits_code: true,
      security_key: true,
    })
    expect(await alive(half)).toBe(401)
    const credential = key.get(await optionsOf(confirmPath, half))
    const entered = await answer(half, credential)
    expect([entered.status, entered.body]).toEqual([200, { username }])
    expect(await alive(entered.cookie)).toBe(200)
    expect((await answer(entered.cookie, credential)).code).toBe('second_factor_invalid')
    expect((await answer(half, credential)).code).toBe('unauthenticated')

    const { id } = await database.query
      .selectFrom('accounts')
      .select('id')
      .where('username', '=', username)
      .executeTakeFirstOrThrow()
    const stale = { confirmed_at: new Date(Date.now() - 31 * 60_000) }
    await database.query.updateTable('sessions').set(stale).where('user_id', '=', id).execute()
    expect((await post(`${keys}/options`, cookie)).code).toBe('second_factor_required')
    const again = await answer(cookie, key.get(await optionsOf(confirmPath, cookie)))
    expect((await post(`${keys}/options`, again.cookie)).status).toBe(200)
    const [shown] = (await server.call('GET', keys, { cookie: again.cookie })).body.security_keys as object[]
    expect(shown).toMatchObject({ last_used_at: expect.any(String) })
  })

  it('refuse challenges that were used, replaced, or for another session or purpose', async () => {
    const { username, key, cookie } = await withKey('replayer')
    const [one, two] = [await halfway(username), await halfway(username)]
    const ofOne = await optionsOf(confirmPath, one)
    await optionsOf(confirmPath, two)
    expect((await answer(two, key.get(ofOne))).code, 'of another session').toBe('second_factor_invalid')
    const replaced = await optionsOf(confirmPath, one)
    const latest = await optionsOf(confirmPath, one)
    expect((await answer(one, key.get(replaced))).code, 'replaced').toBe('second_factor_invalid')
    expect((await answer(one, key.get(latest))).code, 'used up by the failure').toBe('second_factor_invalid')
    const adding = await optionsOf(keys, cookie)
    expect((await answer(cookie, key.get(adding))).code, 'of adding a key').toBe('second_factor_invalid')
    const both = key.get(await optionsOf(confirmPath, one))
    const outcomes = await Promise.all([answer(one, both), answer(one, both), answer(one, both)])
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(1)
    const late = await halfway(username)
    const expired = await optionsOf(confirmPath, late)
    await database.query
      .updateTable('key_challenges')
      .set({ expires_at: new Date(Date.now() - 1_000) })
      .execute()
    expect((await answer(late, key.get(expired))).code, 'expired').toBe('second_factor_invalid')
    expect(await alive(late)).toBe(401)
  })

  it('refuse other origins, other response types and keys without user verification', async () => {
    const { username, key, cookie } = await withKey('phished')
    const half = await halfway(username)
    const lies = {
      'a look-alike': { origin: 'https://localhost.evil.example' },
      'another port': { origin: 'http://localhost:1' },
      'another relying party': { rpId: 'evil.example' },
      'no user verification': { verified: false },
      'an answer to create': { type: 'webauthn.create' },
      'a challenge of its own': { challenge: 'AAAA' },
    }
    for (const [what, lie] of Object.entries(lies)) {
      const used = await answer(half, key.get(await optionsOf(confirmPath, half), lie))
      expect(used.code, `using: ${what}`).toBe('second_factor_invalid')
      const options = await optionsOf(keys, cookie)
      const lieOfAdding = what === 'an answer to create' ? { type: 'webauthn.get' } : lie
      const added = await post(keys, cookie, {
        name: what,
        credential: new SoftKey(server.url).create(options, lieOfAdding),
      })
      expect(added.code, `adding: ${what}`).toBe('second_factor_invalid')
    }
    const garbage = { ...key.get(await optionsOf(confirmPath, half)) }
    garbage.response = { ...garbage.response, signature: 'AAAA' }
    expect((await answer(half, garbage)).code).toBe('second_factor_invalid')
    const broken = key.create(await optionsOf(keys, cookie))
    broken.response.attestationObject = 'pAAA'
    expect((await post(keys, cookie, { name: 'x', credential: broken })).code).toBe('second_factor_invalid')
    expect((await answer(half, { ...garbage, id: 'no base64url!' })).code).toBe('request_invalid')
    expect((await server.call('GET', keys, { cookie })).body.security_keys).toHaveLength(1)
    expect(await alive(half)).toBe(401)
  })

  it('refuse another user’s key, also under this user’s key ID', async () => {
    const mine = await withKey('victim')
    const theirs = await withKey('attacker')
    const half = await halfway(mine.username)
    const foreign = theirs.key.get(await optionsOf(confirmPath, half))
    expect((await answer(half, foreign)).code).toBe('second_factor_invalid')
    const renamed = theirs.key.get(await optionsOf(confirmPath, half))
    const id = { id: mine.key.id, rawId: mine.key.id }
    expect((await answer(half, { ...renamed, ...id })).code).toBe('second_factor_invalid')
    expect(await alive(half)).toBe(401)
    const refused = await database.query
      .selectFrom('audit')
      .select('data')
      .where('subject', '=', 'account:victim')
      .where('action', '=', 'security-key.refuse')
      .execute()
    expect(refused).toHaveLength(2)
  })

  it('refuse a signature counter that does not increase, and notify the user', async () => {
    const key = new SoftKey(server.url, { count: 7 })
    const { username } = await withKey('copied', key)
    const use = async (count: number) => {
      key.count = count
      const half = await halfway(username)
      return (await answer(half, key.get(await optionsOf(confirmPath, half)))).code ?? 'accepted'
    }
    const outcomes: string[] = []
    for (const count of [7, 8, 8, 3, 0, 9]) outcomes.push(await use(count))
    const refused = 'second_factor_invalid'
    expect(outcomes).toEqual([refused, 'accepted', refused, refused, refused, 'accepted'])
    await backgroundSettled()
    const mail = (await server.services.mail.sent()).filter(({ to }) => to === `${username}@example.com`)
    expect(mail.filter(({ subject }) => subject.includes('copied'))).toHaveLength(4)
    // Two answers at once with one count, in two sessions: one of them is a copy's.
    key.count = 20
    const halves = [await halfway(username), await halfway(username)]
    const credentials: object[] = []
    for (const half of halves) credentials.push(key.get(await optionsOf(confirmPath, half)))
    const both = await Promise.all(halves.map((half, index) => answer(half, credentials[index])))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('are removed with the second factor, and codes remain valid alongside', async () => {
    const { username, key, recovery, cookie } = await withKey('remover')
    const code = await server.call('POST', '/v1/sessions', { json: { username, password, code: recovery[0] } })
    expect(code.status).toBe(200)
    const half = await halfway(username)
    const options = await optionsOf(confirmPath, half)
    expect((await server.call('DELETE', factor, { cookie, json: {} })).status).toBe(204)
    expect((await answer(half, key.get(options))).code).toBe('second_factor_invalid')
    expect((await server.call('GET', keys, { cookie })).body.security_keys).toEqual([])
    expect((await post(`${confirmPath}/options`, cookie)).code).toBe('second_factor_conflict')
  })

  it('are not offered under an IP address', async () => {
    const other = await startAuthServer(database, { publicUrl: 'http://127.0.0.1:1' })
    const { cookie } = await enrolled('by-address')
    expect((await other.call('GET', keys, { cookie })).body.available).toBe(false)
    const refused = await other.call('POST', `${keys}/options`, { cookie, json: {} })
    expect([refused.code, refused.text.includes('AGENTGYM_PUBLIC_URL')]).toEqual(['second_factor_conflict', true])
    await other.close()
  })
})
