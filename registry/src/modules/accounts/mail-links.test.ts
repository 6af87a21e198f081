import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { linkIdentity } from './oauth-log-in.ts'
import { type AuthServer, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'

describeOnEngines('links in mails on $kind', ({ open }) => {
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

  /** The links that were mailed to an address, oldest first. */
  const linksTo = async (email: string, page: string): Promise<string[]> => {
    await backgroundSettled()
    const sent = await server.services.mail.sent()
    return sent
      .filter(({ to }) => to === email)
      .flatMap(({ text }) => text.match(new RegExp(`(?<=/${page}\\?token=)\\S+`))?.[0] ?? [])
  }
  const account = (cookie: string) => server.call('GET', '/v1/account', { cookie })
  const verify = (token: string) => server.call('POST', '/v1/email-verifications', { json: { token } })
  const askReset = (email: string, ip = `reset-${email}`) =>
    server.call('POST', '/v1/password-resets', { json: { email }, ip: ip.slice(0, 40) })
  const reset = (token: string, newPassword = 'chosen after all') =>
    server.call('PUT', '/v1/password-resets', {
      json: { token, password: newPassword },
      ip: `r-${token.slice(4, 20)}`,
    })
  const logIn = (username: string, typed: string) =>
    server.call('POST', '/v1/sessions', { json: { username, password: typed }, ip: `in-${username}` })

  it('confirms an address by the link sent to it, once', async () => {
    const { cookie } = await newUser(server, 'reader')
    const [token] = await linksTo('reader@example.com', 'verify-email')
    expect((await account(cookie)).body.email_verified).toBe(false)
    expect((await verify(token)).status).toBe(204)
    expect((await account(cookie)).body.email_verified).toBe(true)
    const again = await verify(token)
    expect([again.status, again.code]).toEqual([400, 'link_invalid'])
    expect((await server.call('POST', '/v1/account/verification-mail', { cookie, json: {} })).status).toBe(202)
    expect(await linksTo('reader@example.com', 'verify-email')).toHaveLength(1)
  })

  it('resends the link; using one invalidates the others', async () => {
    const { cookie } = await newUser(server, 'loser')
    expect((await server.call('POST', '/v1/account/verification-mail', { cookie, json: {} })).status).toBe(202)
    const [first, second] = await linksTo('loser@example.com', 'verify-email')
    expect((await verify(second)).status).toBe(204)
    expect((await verify(first)).code).toBe('link_invalid')
  })

  it('does not reveal whether an address is registered', async () => {
    await newUser(server, 'exists')
    const known = await askReset('exists@example.com')
    const unknown = await askReset('exists-not@example.com')
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    expect(known.status).toBe(202)
    expect(await linksTo('exists@example.com', 'reset-password')).toHaveLength(1)
    expect(await linksTo('exists-not@example.com', 'reset-password')).toHaveLength(0)
    for (const email of ['exists@example.com', 'exists-not@example.com']) {
      const statuses: number[] = []
      for (let times = 0; times < 5; times++) statuses.push((await askReset(email, `again-${times}`)).status)
      expect(statuses).toEqual([202, 202, 202, 202, 429])
    }
  })

  it('sets a new password, and ends all sessions and other links', async () => {
    const { cookie } = await newUser(server, 'forgetful')
    await verify((await linksTo('forgetful@example.com', 'verify-email'))[0])
    const token = await newToken(server, cookie, ['packages:read'])
    await askReset('Forgetful@Example.com')
    await askReset('forgetful@example.com')
    const [first, second] = await linksTo('forgetful@example.com', 'reset-password')
    expect((await reset(first, 'short')).code).toBe('request_invalid')
    const outcomes = await Promise.all([reset(first), reset(first)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual([204, 400])
    expect((await reset(second)).code).toBe('link_invalid')
    expect((await account(cookie)).status).toBe(401)
    expect((await logIn('forgetful', password)).status).toBe(401)
    expect((await logIn('forgetful', 'chosen after all')).status).toBe(200)
    // Tokens of an account whose address was confirmed have nothing to do with its password.
    expect((await server.call('GET', '/v1/account', { token })).status).toBe(200)
  })

  it('gives an account registered with another person’s address to the owner of the mailbox', async () => {
    const squatter = await newUser(server, 'squatter')
    const token = await newToken(server, squatter.cookie, ['account:manage'])
    const { id } = await database.query
      .selectFrom('accounts')
      .select('id')
      .where('username', '=', 'squatter')
      .executeTakeFirstOrThrow()
    await linkIdentity(database.query, { provider: 'github', subject: '7', accountId: id })
    await askReset('squatter@example.com')
    const [link] = await linksTo('squatter@example.com', 'reset-password')
    expect((await reset(link)).status).toBe(204)
    expect((await account(squatter.cookie)).status).toBe(401)
    expect((await server.call('GET', '/v1/account', { token })).status).toBe(401)
    expect(await database.query.selectFrom('oauth_identities').selectAll().execute()).toEqual([])
    expect((await account((await logIn('squatter', 'chosen after all')).cookie)).body.email_verified).toBe(true)
  })

  it('rejects links that are expired, for another purpose, or for a former address', async () => {
    const { cookie } = await newUser(server, 'mover')
    const [verification] = await linksTo('mover@example.com', 'verify-email')
    expect((await reset(verification)).code).toBe('link_invalid')
    await askReset('mover@example.com')
    const [link] = await linksTo('mover@example.com', 'reset-password')
    expect((await verify(link)).code).toBe('link_invalid')
    await database.query
      .updateTable('accounts')
      .set({ email: 'moved@example.com' })
      .where('username', '=', 'mover')
      .execute()
    expect((await verify(verification)).code).toBe('link_invalid')
    expect((await reset(link)).code).toBe('link_invalid')
    expect((await account(cookie)).body.email_verified).toBe(false)
  })

  it('shows pages that act only on submit', async () => {
    const { cookie } = await newUser(server, 'clicky')
    const [token] = await linksTo('clicky@example.com', 'verify-email')
    const page = await server.call('GET', `/verify-email?token=${token}`)
    expect([page.status, page.text.includes(token)]).toEqual([200, true])
    expect((await account(cookie)).body.email_verified).toBe(false)
    expect((await server.call('POST', '/verify-email', { form: { token } })).status).toBe(200)
    expect((await account(cookie)).body.email_verified).toBe(true)
    expect((await server.call('POST', '/verify-email', { form: { token } })).status).toBe(400)
    await askReset('clicky@example.com')
    const [link] = await linksTo('clicky@example.com', 'reset-password')
    const evil = await server.call('GET', `/reset-password?token=${encodeURIComponent('"><script>alert(1)</script>')}`)
    expect(evil.text).not.toContain('<script>')
    expect((await server.call('POST', '/reset-password', { form: { token: link, password: 'short' } })).status).toBe(
      422,
    )
    expect(
      (await server.call('POST', '/reset-password', { form: { token: link, password: 'by the page itself' } })).status,
    ).toBe(200)
    expect((await logIn('clicky', 'by the page itself')).status).toBe(200)
  })

  it('never logs a link', () => {
    expect(JSON.stringify(server.services.logged)).not.toContain('agm_')
  })
})
