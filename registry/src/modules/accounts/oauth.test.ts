import type { AgentGymError } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { insertAccount } from './accounts.store.ts'
import { type Identity, logInByOauth, type OauthProvider, usernamesFrom } from './oauth-log-in.ts'
import { type AuthServer, newUser, startAuthServer } from './test/auth-server.ts'
import { enrollSession, expectCodeAsked } from './test/enroll.ts'

/** An in-memory provider: a code is valid once, with the verifier of its login. */
function providerInMemory() {
  const granted = new Map<string, { identity: Identity; codeVerifier: string }>()
  const provider: OauthProvider = {
    authorisationUrl: ({ state, codeVerifier }) =>
      new URL(`https://provider.example/authorise?${new URLSearchParams({ state, verifier: codeVerifier })}`),
    identify: async (code, codeVerifier) => {
      const grant = granted.get(code)
      granted.delete(code)
      if (grant?.codeVerifier !== codeVerifier) throw new Error('invalid_grant')
      return grant.identity
    },
  }
  return { provider, granted }
}

describeOnEngines('OAuth on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  let plain: AuthServer
  const { provider, granted } = providerInMemory()
  beforeAll(async () => {
    database = await open()
    const clients = { clientId: 'the-client', clientSecret: 'the-secret' }
    plain = await startAuthServer(database, { oauth: { github: clients, google: clients } })
    server = await startAuthServer(database, {}, { github: provider })
    await newUser(server, 'the-first')
  })
  afterAll(async () => {
    await server.close()
    await plain.close()
    await database.close()
  })

  const begin = async (returnTo = '/') => {
    const answer = await server.call('GET', `/v1/oauth/github?return_to=${encodeURIComponent(returnTo)}`)
    const { searchParams } = new URL(answer.headers.get('location') ?? 'https://nowhere.example')
    return {
      answer,
      cookie: answer.cookie,
      state: searchParams.get('state') ?? '',
      verifier: searchParams.get('verifier') ?? '',
    }
  }
  const comeBack = (code: string, state: string, cookie?: string) =>
    server.call('GET', `/v1/oauth/github/callback?${new URLSearchParams({ code, state })}`, { cookie })
  const grant = (code: string, codeVerifier: string, identity: Partial<Identity> = {}) =>
    granted.set(code, {
      codeVerifier,
      identity: { subject: code, login: code, email: `${code}@example.org`, ...identity },
    })

  it('returns 404 without a configured client', async () => {
    for (const path of [
      '/v1/oauth/google',
      '/v1/oauth/google/callback?code=x&state=y',
      '/v1/oauth/constructor',
      '/v1/oauth/myspace',
    ]) {
      const answer = await server.call('GET', path)
      expect([answer.status, answer.code]).toEqual([404, 'oauth_not_configured'])
    }
  })

  it('redirects to GitHub and Google with state, and PKCE where supported', async () => {
    const toGitHub = await plain.call('GET', '/v1/oauth/github')
    const gitHub = new URL(String(toGitHub.headers.get('location')))
    expect([toGitHub.status, gitHub.origin, gitHub.pathname]).toEqual([
      302,
      'https://github.com',
      '/login/oauth/authorize',
    ])
    expect(Object.fromEntries(gitHub.searchParams)).toMatchObject({
      client_id: 'the-client',
      scope: 'user:email',
      redirect_uri: `${plain.url}/v1/oauth/github/callback`,
    })
    const google = new URL(String((await plain.call('GET', '/v1/oauth/google')).headers.get('location')))
    expect(google.origin).toBe('https://accounts.google.com')
    expect(google.searchParams.get('code_challenge_method')).toBe('S256')
    for (const url of [gitHub, google]) expect(url.searchParams.get('state')?.length).toBeGreaterThan(20)
    expect(toGitHub.setCookies[0]).toMatch(/^agentgym_oauth=.*; Max-Age=600; .*HttpOnly; SameSite=Lax/)
    expect(toGitHub.text + gitHub.href + google.href).not.toContain('the-secret')
  })

  it('creates an account for a new identity, and finds it again', async () => {
    const { cookie, state, verifier } = await begin('/device?user_code=BCDF-GHJK')
    grant('newcomer', verifier, { login: 'New_Comer' })
    const back = await comeBack('newcomer', state, cookie)
    expect([back.status, back.headers.get('location')]).toEqual([302, '/device?user_code=BCDF-GHJK'])
    const own = await server.call('GET', '/v1/account', { cookie: back.cookie })
    expect(own.body).toMatchObject({
      username: 'new-comer',
      email: 'newcomer@example.org',
      email_verified: true,
      operator: false,
    })
    const again = await begin()
    grant('newcomer', again.verifier, { login: 'renamed', email: 'elsewhere@example.org' })
    const second = await comeBack('newcomer', again.state, again.cookie)
    expect((await server.call('GET', '/v1/account', { cookie: second.cookie })).body.username).toBe('new-comer')
    expect((await server.call('POST', '/v1/sessions', { json: { username: 'new-comer', password: '' } })).status).toBe(
      401,
    )
  })

  it('requires the account’s second factor, whatever the provider required', async () => {
    const logIn = async () => {
      const { cookie, state, verifier } = await begin('/orders')
      grant('two-factors', verifier)
      return comeBack('two-factors', state, cookie)
    }
    const first = await logIn()
    expect(first.headers.get('location')).toBe('/orders')
    const { recovery } = await enrollSession(server, first.cookie)
    await expectCodeAsked(server, await logIn(), { next: '/orders', recovery: recovery[0] })
  })

  it('accepts only logins started in this browser', async () => {
    const mine = await begin()
    const theirs = await begin()
    grant('stolen', theirs.verifier)
    for (const [state, cookie] of [
      [theirs.state, mine.cookie],
      [theirs.state, undefined],
      ['', theirs.cookie],
      [mine.state, 'agentgym_oauth=e30'],
      [mine.state, 'agentgym_oauth=%00'],
    ]) {
      const refused = await comeBack('stolen', String(state), cookie)
      expect([refused.status, refused.code]).toEqual([400, 'oauth_failed'])
      expect(refused.cookie).not.toContain('agentgym_session')
    }
    // Correct state, but the code belongs to another login: the verifier does not match.
    expect((await comeBack('stolen', mine.state, mine.cookie)).code).toBe('oauth_failed')
    const cancelled = await server.call('GET', `/v1/oauth/github/callback?error=access_denied&state=${mine.state}`, {
      cookie: mine.cookie,
    })
    expect(cancelled.code).toBe('oauth_failed')
  })

  it('returns only to this site', async () => {
    const tricks = [
      '/\t/evil.example',
      '/\r\n/evil.example',
      '/\n//evil.example',
      '/x\r\nset-cookie: a=b',
      '/ü',
      '/\u0000',
    ]
    for (const place of [
      ...['https://evil.example', '//evil.example', '/\\evil.example', '\t//evil.example', 'javascript:alert(1)', ''],
      ...tricks,
    ])
      expect((await server.call('GET', `/v1/oauth/github?return_to=${encodeURIComponent(place)}`)).code).toBe(
        'request_invalid',
      )
  })

  const vouch = (identity: Partial<Identity> & { subject: string }) =>
    logInByOauth(
      server.services,
      'github',
      { login: 'somebody', email: null, ...identity },
      { ip: '192.0.2.1', cookieHeader: '', local: false },
    )

  it('links accounts by address only if both sides have verified it', async () => {
    const make = (username: string, emailVerified: boolean) =>
      database.transaction((query) =>
        insertAccount(query, {
          kind: 'user',
          username,
          email: `${username}@example.net`,
          emailVerified,
          passwordHash: null,
        }),
      )
    const verified = await make('verified', true)
    expect((await vouch({ subject: '1', email: 'Verified@example.net' })).account.id).toBe(verified.id)
    expect((await vouch({ subject: '1' })).account.id).toBe(verified.id)

    const squatted = await make('squatted', false)
    const owner = await vouch({ subject: '2', login: 'owner', email: 'squatted@example.net' })
    expect(owner.account.id).not.toBe(squatted.id)
    expect(owner.account.email).toBe('squatted@example.net')
    const left = await database.query
      .selectFrom('accounts')
      .select('email')
      .where('id', '=', squatted.id)
      .executeTakeFirstOrThrow()
    expect(left.email).toBeNull()

    const error = await vouch({ subject: '3' }).catch((caught: unknown) => caught)
    expect((error as AgentGymError).code).toBe('oauth_failed')
  })

  it('creates one account per identity under concurrency', async () => {
    const both = await Promise.all(
      [1, 2, 3].map(() => vouch({ subject: '4', login: 'twin', email: 'twin@example.net' })),
    )
    expect(new Set(both.map(({ account }) => account.id)).size).toBe(1)
  })

  it('refuses a disabled account', async () => {
    const { account } = await vouch({ subject: '5', login: 'banned', email: 'banned@example.net' })
    await database.query.updateTable('accounts').set({ disabled_at: new Date() }).where('id', '=', account.id).execute()
    const error = await vouch({ subject: '5' }).catch((caught: unknown) => caught)
    expect((error as AgentGymError).code).toBe('oauth_failed')
  })
})

it('derives valid usernames from any provider name', () => {
  expect(usernamesFrom('Octo_Cat').slice(0, 3)).toEqual(['octo-cat', 'octo-cat-2', 'octo-cat-3'])
  expect(usernamesFrom('--')[0]).toBe('user')
  expect(usernamesFrom('日本')[0]).toBe('user')
  expect(usernamesFrom('x'.repeat(80)).every((name) => name.length <= 39)).toBe(true)
})
