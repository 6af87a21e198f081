import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, newUser, startAuthServer } from './test/auth-server.ts'
import { enrollSession, expectCodeAsked } from './test/enroll.ts'

const signOn = '/v1/organisations/example/sign-on'

describeOnEngines('single sign-on of an organization on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  let provider: ChildProcess
  let issuer: string
  let owner: string
  /** TXT records of a DNS of our own. */
  const records = new Map<string, string[][]>()
  const resolveTxt = async (name: string) => {
    const found = records.get(name)
    if (found === undefined) throw new Error('ENOTFOUND')
    return found
  }

  beforeAll(async () => {
    database = await open()
    const allowed: string[] = []
    server = await startAuthServer(database, { signOnIssuers: allowed }, undefined, resolveTxt)
    const entry = new URL('./test/openid-provider.process.ts', import.meta.url)
    provider = fork(entry, [`${server.url}/v1/sign-on/callback`], { silent: true })
    ;[issuer] = (await once(provider, 'message')) as [string]
    allowed.push(issuer)
    owner = (await newUser(server, 'owner')).cookie
    await server.call('POST', '/v1/organisations', { cookie: owner, json: { username: 'example' } })
  })
  afterAll(async () => {
    provider.disconnect()
    await server.close()
    await database.close()
  })

  const settings = () => ({
    ...{ issuer, client_id: 'gym', client_secret: 'the-secret-of-the-gym', default_role: 'member' },
  })
  const verify = async (domain: string) => {
    const { body } = await server.call('POST', `${signOn}/domains`, { cookie: owner, json: { domain } })
    const { name, value } = body.record as { name: string; value: string }
    records.set(name, [['v=spf1 -all'], [value.slice(0, 20), value.slice(20)]])
    return server.call('POST', `${signOn}/domains/${domain}/verify`, { cookie: owner, json: {} })
  }
  const membersOf = async () => {
    const { body } = await server.call('GET', '/v1/organisations/example', { cookie: owner })
    return (body.members as { username: string; role: string }[]).map(({ username, role }) => `${username}: ${role}`)
  }
  /** Goes through the provider's pages as `login` and back, in a browser with these cookies here. */
  const logIn = async (login: string, { cookie = '', email = `${login}@example.org` } = {}) => {
    const start = await server.call('GET', `/v1/sign-on?${new URLSearchParams({ email, return_to: '/runs' })}`, {
      cookie,
    })
    if (start.status !== 302) return start
    const back = await throughProvider(String(start.headers.get('location')), login)
    const cookies = [cookie, start.cookie].filter((text) => text !== '').join('; ')
    return server.call('GET', back.slice(server.url.length), { cookie: cookies })
  }

  it('requires an owner, an allowed and responding issuer, and a verified domain', async () => {
    const stranger = (await newUser(server, 'stranger')).cookie
    expect(await server.call('PUT', signOn, { cookie: stranger, json: settings() })).toMatchObject({
      code: 'forbidden',
    })
    for (const elsewhere of ['http://169.254.169.254/latest', 'https://idp.example.org', 'file:///etc/passwd'])
      expect(
        await server.call('PUT', signOn, { cookie: owner, json: { ...settings(), issuer: elsewhere } }),
      ).toMatchObject({ status: 400, code: 'config_invalid' })
    expect(
      await server.call('PUT', signOn, { cookie: owner, json: { ...settings(), issuer: `${issuer}/nothing` } }),
    ).toMatchObject({ code: 'oauth_failed' })
    expect(await logIn('ann')).toMatchObject({ code: 'oauth_not_configured' })

    const { status, text } = await server.call('PUT', signOn, { cookie: owner, json: settings() })
    expect(status).toBe(200)
    expect(text).not.toContain('the-secret-of-the-gym')
    expect(text).toContain(`${server.url}/v1/sign-on/callback`)
    const { sealed_client_secret: sealed } = await database.query
      .selectFrom('sign_on_providers')
      .select('sealed_client_secret')
      .executeTakeFirstOrThrow()
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('the-secret')

    // The domain is added, but has no DNS record.
    await server.call('POST', `${signOn}/domains`, { cookie: owner, json: { domain: 'example.org' } })
    expect(
      await server.call('POST', `${signOn}/domains/example.org/verify`, { cookie: owner, json: {} }),
    ).toMatchObject({
      code: 'domain_unverified',
    })
    expect(await logIn('ann')).toMatchObject({ code: 'oauth_not_configured' })
    expect((await verify('example.org')).body).toMatchObject({ domain: 'example.org', verified: true })
  })

  it('creates an account and membership with the default role once, and then logs in to it', async () => {
    const first = await logIn('ann')
    expect({ status: first.status, to: first.headers.get('location') }).toEqual({ status: 302, to: '/runs' })
    expect((await server.call('GET', '/v1/account', { cookie: first.cookie })).body).toMatchObject({
      ...{ username: 'ann', email: 'ann@example.org', email_verified: true, operator: false },
      organisations: [{ username: 'example', role: 'member' }],
    })
    const second = await logIn('ann')
    expect((await server.call('GET', '/v1/account', { cookie: second.cookie })).body.username).toBe('ann')
    expect(await membersOf()).toEqual(['ann: member', 'owner: owner'])
  })

  it('requires the account’s second factor in addition to the provider', async () => {
    const first = await logIn('cleo')
    expect(first.headers.get('location')).toBe('/runs')
    const { recovery } = await enrollSession(server, first.cookie)
    await expectCodeAsked(server, await logIn('cleo'), { next: '/runs', recovery: recovery[0] })
    await server.call('DELETE', '/v1/organisations/example/members/cleo', { cookie: owner })
  })

  it('does not add a removed member again', async () => {
    await server.call('DELETE', '/v1/organisations/example/members/ann', { cookie: owner })
    expect((await logIn('ann')).status).toBe(302)
    expect(await membersOf()).toEqual(['owner: owner'])
  })

  it('does not log in to an existing account with the address, but links it for its logged-in user', async () => {
    const bob = await newUser(server, 'bob')
    await database.query
      .updateTable('accounts')
      .set({ email: 'bob@example.org' })
      .where('username', '=', 'bob')
      .execute()
    expect(await logIn('bob')).toMatchObject({ code: 'oauth_failed' })
    expect(await logIn('bob', { cookie: owner })).toMatchObject({ code: 'oauth_failed' })
    const linked = await logIn('bob', { cookie: bob.cookie })
    expect((await server.call('GET', '/v1/account', { cookie: linked.cookie })).body).toMatchObject({ username: 'bob' })
    expect(await membersOf()).toEqual(['bob: member', 'owner: owner'])
  })

  it('trusts the provider only for verified addresses in verified domains', async () => {
    for (const login of ['eve@elsewhere.com', 'eve@sub.example.org', 'eve@example.org.evil.com', 'unverified-eve'])
      expect(await logIn(login, { email: 'eve@example.org' }), login).toMatchObject({ code: 'oauth_failed' })
    expect(
      await database.query.selectFrom('accounts').select('id').where('username', 'like', '%eve%').execute(),
    ).toEqual([])
  })

  it('accepts a callback once, only from the browser that started it', async () => {
    const start = await server.call('GET', '/v1/sign-on?email=ann@example.org')
    const back = (await throughProvider(String(start.headers.get('location')), 'ann')).slice(server.url.length)
    expect(await server.call('GET', back)).toMatchObject({ code: 'oauth_failed' })
    const other = await server.call('GET', '/v1/sign-on?email=ann@example.org')
    expect(await server.call('GET', back, { cookie: other.cookie })).toMatchObject({ code: 'oauth_failed' })
    expect((await server.call('GET', back, { cookie: start.cookie })).status).toBe(302)
    expect(await server.call('GET', back, { cookie: start.cookie })).toMatchObject({ code: 'oauth_failed' })
  })

  it('redirects the browser to the login page with the failure', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml' }
    for (const [path, code] of [
      ['/v1/sign-on?email=zoe@nowhere.example', 'oauth_not_configured'],
      ['/v1/sign-on/callback?code=x&state=y', 'oauth_failed'],
    ]) {
      const answer = await server.call('GET', path, { headers })
      expect(answer.status).toBe(302)
      expect(answer.headers.get('location')).toBe(`/login/organization?failed=${code}`)
    }
  })

  it('gives a domain to one organization at a time', async () => {
    const rival = (await newUser(server, 'rival-owner')).cookie
    await server.call('POST', '/v1/organisations', { cookie: rival, json: { username: 'rival' } })
    const path = '/v1/organisations/rival/sign-on/domains'
    const { body } = await server.call('POST', path, { cookie: rival, json: { domain: 'Example.org' } })
    const { name, value } = body.record as { name: string; value: string }
    records.set(name, [...(records.get(name) ?? []), [value]])
    expect(await server.call('POST', `${path}/example.org/verify`, { cookie: rival, json: {} })).toMatchObject({
      code: 'domain_unverified',
    })
    await server.call('DELETE', `${signOn}/domains/example.org`, { cookie: owner })
    expect((await server.call('POST', `${path}/example.org/verify`, { cookie: rival, json: {} })).body).toMatchObject({
      verified: true,
    })
    // Its addresses no longer come in through the first organization.
    expect(await logIn('ann')).toMatchObject({ code: 'oauth_not_configured' })
  })

  it('ends with the provider', async () => {
    await verify('example.net')
    expect((await logIn('cleo@example.net', { email: 'cleo@example.net' })).status).toBe(302)
    expect((await server.call('DELETE', signOn, { cookie: owner })).status).toBe(204)
    expect(await logIn('cleo@example.net', { email: 'cleo@example.net' })).toMatchObject({
      code: 'oauth_not_configured',
    })
  })
})

/** Follows the provider's redirects, fills in its two forms, and gives the address that it sends the browser back to. */
async function throughProvider(location: string, login: string): Promise<string> {
  const jar = new Map<string, string>()
  const { origin } = new URL(location)
  let address = location
  let body: URLSearchParams | undefined
  for (let steps = 0; steps < 20; steps++) {
    if (new URL(address).origin !== origin) return address
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, {
      method: body === undefined ? 'GET' : 'POST',
      ...{ body, headers: { cookie }, redirect: 'manual' },
    })
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(';')[0].split(/=(.*)/s)
      jar.set(name, value)
    }
    const next = response.headers.get('location')
    const page = await response.text()
    body = undefined
    if (next !== null) address = new URL(next, address).href
    else {
      const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
      if (action === undefined) throw new Error(`the provider answered ${response.status}: ${page.slice(0, 400)}`)
      address = new URL(action, address).href
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
      body = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login, password: 'any' } : {}) })
    }
  }
  throw new Error('the provider goes in circles')
}
