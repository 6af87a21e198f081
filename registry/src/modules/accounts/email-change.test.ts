import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { type AuthServer, newOperator, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'

const path = '/v1/account/email-change'

describeOnEngines('changes of an email address on $kind', ({ open }) => {
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

  const mailTo = async (email: string) => {
    await backgroundSettled()
    return (await server.services.mail.sent()).filter(({ to }) => to === email)
  }
  /** Tokens of the newest mail to an address that has a link to that page. */
  const link = async (email: string, page = 'change-email'): Promise<string> =>
    (await mailTo(email))
      .flatMap(({ text }) => text.match(new RegExp(`(?<=/${page}\\?token=)\\S+`))?.[0] ?? [])
      .at(-1) ?? 'none'
  const account = async (cookie: string) => (await server.call('GET', '/v1/account', { cookie })).body
  const ask = (cookie: string, email: string) =>
    server.call('POST', path, { cookie, json: { email, current_password: password } })
  const use = (token: string) => server.call('POST', '/v1/email-changes', { json: { token } })
  const cancel = (token: string) => server.call('POST', '/v1/email-changes/cancellation', { json: { token } })
  const pending = async (cookie: string) => (await server.call('GET', path, { cookie })).body.email_change
  const confirmed = async (username: string) => {
    const user = await newUser(server, username)
    await verify(`${username}@example.com`)
    return user
  }
  const verify = async (email: string) =>
    server.call('POST', '/v1/email-verifications', { json: { token: await link(email, 'verify-email') } })
  const actions = async (username: string) => {
    const rows = await database.query
      .selectFrom('audit')
      .select(['action', 'data'])
      .where('subject', '=', `account:${username}`)
      .where('action', 'like', 'email.%')
      .orderBy('id')
      .execute()
    return rows.map(({ action, data }) => [action, data])
  }

  it('takes effect once both addresses have confirmed, each link once', async () => {
    const { cookie } = await confirmed('mover')
    const token = await newToken(server, cookie, ['account:manage'])
    const asked = await ask(cookie, 'Moved@Example.com')
    expect([asked.status, asked.body]).toMatchObject([
      202,
      { email: 'moved@example.com', confirmed: { new: false, old: false } },
    ])
    const [byNew, byOld] = [await link('moved@example.com'), await link('mover@example.com')]
    expect((await use(byNew)).body).toEqual({ changed: false })
    expect((await use(byNew)).code).toBe('link_invalid')
    expect((await account(cookie)).email).toBe('mover@example.com')
    expect(await pending(cookie)).toMatchObject({ confirmed: { new: true, old: false } })
    const both = await Promise.all([use(byOld), use(byOld)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await account(cookie)).toMatchObject({ email: 'moved@example.com', email_verified: true })
    expect(await pending(cookie)).toBeNull()
    // Sessions stay active, and both mailboxes are notified.
    expect((await server.call('GET', path, { token })).status).toBe(200)
    for (const email of ['mover@example.com', 'moved@example.com'])
      expect((await mailTo(email)).at(-1)?.subject).toBe('Your AgentGym email address was changed')
    expect(await actions('mover')).toEqual([
      ['email.verify', {}],
      ['email.change_request', { from: 'mover@example.com', to: 'moved@example.com' }],
      ['email.change_confirm', { address: 'new' }],
      ['email.change_confirm', { address: 'old' }],
      ['email.change', { from: 'mover@example.com', to: 'moved@example.com' }],
    ])
    expect(JSON.stringify(await database.query.selectFrom('email_changes').selectAll().execute())).not.toContain('agm_')
  })

  it('invalidates links for the former address, such as password resets', async () => {
    const { cookie } = await confirmed('resetter')
    await server.call('POST', '/v1/password-resets', { json: { email: 'resetter@example.com' } })
    const reset = await link('resetter@example.com', 'reset-password')
    await ask(cookie, 'resetter2@example.com')
    await use(await link('resetter@example.com'))
    await use(await link('resetter2@example.com'))
    const json = { token: reset, password: 'long enough for it' }
    const late = await server.call('PUT', '/v1/password-resets', { json })
    expect(late.code).toBe('link_invalid')
  })

  it('asks only the new address if the current one was never confirmed', async () => {
    const { cookie } = await newUser(server, 'typo')
    const asked = await ask(cookie, 'right@example.com')
    expect(asked.body.confirmed).toEqual({ new: false, old: null })
    expect(await link('typo@example.com')).toBe('none')
    expect((await use(await link('right@example.com'))).body).toEqual({ changed: true })
    expect(await account(cookie)).toMatchObject({ email: 'right@example.com', email_verified: true })
    // If the current address is confirmed after the request, it must agree, too.
    const late = await newUser(server, 'late-confirmer')
    await ask(late.cookie, 'late2@example.com')
    await verify('late-confirmer@example.com')
    expect((await use(await link('late2@example.com'))).code).toBe('link_invalid')
    expect((await account(late.cookie)).email).toBe('late-confirmer@example.com')
  })

  it('is canceled by the old address, by the user, by a new password and by signing out everywhere', async () => {
    const { cookie } = await confirmed('robbed')
    await ask(cookie, 'thief@example.com')
    const first = [await link('thief@example.com'), await link('robbed@example.com')]
    const stop = await link('robbed@example.com', 'cancel-email-change')
    await use(first[0])
    expect((await cancel(first[0])).code).toBe('link_invalid')
    expect((await cancel(stop)).status).toBe(204)
    expect((await cancel(stop)).code).toBe('link_invalid')
    expect((await use(first[1])).code).toBe('link_invalid')

    await ask(cookie, 'thief@example.com')
    expect((await server.call('DELETE', path, { cookie, json: {} })).status).toBe(204)
    expect((await use(await link('thief@example.com'))).code).toBe('link_invalid')

    await ask(cookie, 'thief@example.com')
    const changed = await server.call('PUT', '/v1/account/password', {
      cookie,
      json: { current_password: password, password },
    })
    expect((await use(await link('thief@example.com'))).code).toBe('link_invalid')

    await ask(changed.cookie, 'thief@example.com')
    await server.call('POST', '/v1/account/sign-out', { cookie: changed.cookie, json: {} })
    expect((await use(await link('thief@example.com'))).code).toBe('link_invalid')
    expect((await actions('robbed')).filter(([action]) => action === 'email.change_cancel')).toHaveLength(2)
  })

  it('requires a session, the password and the second factor', async () => {
    const { cookie } = await confirmed('careful')
    const token = await newToken(server, cookie, ['account:manage'])
    const json = { email: 'careful2@example.com', current_password: password }
    expect((await server.call('POST', path, { token, json })).code).toBe('forbidden')
    for (const current_password of [undefined, 'not the password'])
      expect((await server.call('POST', path, { cookie, json: { ...json, current_password } })).code).toBe(
        'credentials_invalid',
      )
    const { id } = await database.query
      .selectFrom('accounts')
      .select('id')
      .where('username', '=', 'careful')
      .executeTakeFirstOrThrow()
    await database.query
      .insertInto('second_factors')
      .values({ account_id: id, sealed_secret: 'x', enabled_at: new Date() })
      .execute()
    expect((await server.call('POST', path, { cookie, json })).code).toBe('second_factor_required')
    expect(await mailTo('careful2@example.com')).toEqual([])
  })

  it('replaces an earlier request, and its links', async () => {
    const { cookie } = await confirmed('undecided')
    await ask(cookie, 'first-choice@example.com')
    const stale = [await link('first-choice@example.com'), await link('undecided@example.com')]
    await ask(cookie, 'second-choice@example.com')
    for (const token of stale) expect((await use(token)).code).toBe('link_invalid')
    const both = await Promise.all([ask(cookie, 'third@example.com'), ask(cookie, 'fourth@example.com')])
    expect(both.map(({ status }) => status)).toEqual([202, 202])
    const { email } = (await pending(cookie)) as { email: string }
    const other = email === 'third@example.com' ? 'fourth@example.com' : 'third@example.com'
    expect((await use(await link(other))).code).toBe('link_invalid')
    expect((await use(await link(email))).status).toBe(200)
  })

  it('refuses another account’s address in any casing, also if taken meanwhile', async () => {
    const { cookie } = await confirmed('wanter')
    expect((await ask(cookie, 'THE-FIRST@example.com')).code).toBe('email_taken')
    expect((await ask(cookie, 'Wanter@example.com')).code).toBe('request_invalid')
    await ask(cookie, 'soon-taken@example.com')
    await newUser(server, 'soon-taken')
    await use(await link('wanter@example.com'))
    const token = await link('soon-taken@example.com')
    expect((await use(token)).code).toBe('email_taken')
    expect((await account(cookie)).email).toBe('wanter@example.com')
    // Two accounts with one new address: one of them gets it.
    const rivals = [await newUser(server, 'rival-one'), await newUser(server, 'rival-two')]
    for (const rival of rivals) expect((await ask(rival.cookie, 'prize@example.com')).status).toBe(202)
    const links = (await mailTo('prize@example.com')).flatMap(
      ({ text }) => text.match(/(?<=\/change-email\?token=)\S+/)?.[0] ?? [],
    )
    const outcomes = await Promise.all(links.map(use))
    expect(outcomes.map(({ status, code }) => code ?? status).sort()).toEqual([200, 'email_taken'])
  })

  it('rejects expired links and links of disabled accounts', async () => {
    const { cookie } = await newUser(server, 'slow')
    await ask(cookie, 'slow2@example.com')
    await database.query
      .updateTable('email_changes')
      .set({ expires_at: new Date(Date.now() - 1_000) })
      .where('new_email', '=', 'slow2@example.com')
      .execute()
    expect((await use(await link('slow2@example.com'))).code).toBe('link_invalid')
    expect(await pending(cookie)).toBeNull()
    const operator = await newOperator(server, 'disabler')
    const gone = await newUser(server, 'gone')
    await ask(gone.cookie, 'gone2@example.com')
    const state = '/v1/accounts/gone/disabled'
    await server.call('PUT', state, { cookie: operator.cookie, json: { reason: 'x' } })
    expect((await use(await link('gone2@example.com'))).code).toBe('link_invalid')
    await server.call('DELETE', state, { cookie: operator.cookie, json: {} })
    expect((await use(await link('gone2@example.com'))).code).toBe('link_invalid')
  })

  it('sends at most five mails an hour to one address', async () => {
    const statuses: number[] = []
    for (const name of ['sender-a', 'sender-b', 'sender-c', 'sender-d', 'sender-e', 'sender-f'])
      statuses.push((await ask((await newUser(server, name)).cookie, 'flooded@example.com')).status)
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429])
  })

  it('can be set by an operator, and is then unconfirmed', async () => {
    const operator = await newOperator(server, 'helper')
    const { cookie } = await confirmed('lost-mailbox')
    const own = '/v1/accounts/lost-mailbox/email'
    const set = (email: string) => server.call('PUT', own, { cookie: operator.cookie, json: { email } })
    expect((await server.call('PUT', own, { cookie, json: { email: 'x@example.com' } })).code).toBe('forbidden')
    expect((await set('Helper@example.com')).code).toBe('email_taken')
    expect((await set('Found@example.com')).status).toBe(204)
    expect(await account(cookie)).toMatchObject({ email: 'found@example.com', email_verified: false })
    expect((await mailTo('lost-mailbox@example.com')).at(-1)?.text).toContain('an operator of the server changed')
    expect((await verify('found@example.com')).status).toBe(204)
    // The same again changes nothing, not even that it is confirmed.
    expect((await set('found@example.com')).status).toBe(204)
    expect((await account(cookie)).email_verified).toBe(true)
    expect((await actions('lost-mailbox')).at(-2)).toEqual([
      'email.set',
      { from: 'lost-mailbox@example.com', to: 'found@example.com' },
    ])
  })

  it('shows pages that act only on submit', async () => {
    const { cookie } = await confirmed('presser')
    await ask(cookie, 'presser2@example.com')
    const [byNew, byOld] = [await link('presser2@example.com'), await link('presser@example.com')]
    const page = await server.call('GET', `/change-email?token=${byNew}`)
    expect([page.status, page.text.includes(byNew)]).toEqual([200, true])
    expect(await pending(cookie)).toMatchObject({ confirmed: { new: false } })
    const first = await server.call('POST', '/change-email', { form: { token: byNew } })
    expect(first.text).toContain('the email to the other address')
    const again = await server.call('POST', '/change-email', { form: { token: byNew } })
    expect(again.status).toBe(400)
    const done = await server.call('POST', '/change-email', { form: { token: byOld } })
    expect(done.text).toContain('Your email address is changed')
    await ask(cookie, 'presser3@example.com')
    const stop = await link('presser2@example.com', 'cancel-email-change')
    expect((await server.call('GET', `/cancel-email-change?token=${stop}`)).status).toBe(200)
    expect((await server.call('POST', '/cancel-email-change', { form: { token: stop } })).text).toContain('is canceled')
    expect(await pending(cookie)).toBeNull()
  })
})
