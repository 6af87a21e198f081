import { describeOnEngines } from '@agentgym/testkit/databases'
import { type Asking, serveRoutes } from '@agentgym/testkit/registry'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember } from '../../core/access/memberships.store.ts'
import type { Database } from '../../core/database/database.ts'
import { distributeEvents, type NewEvent, recordEvent } from '../events/index.ts'
import { createOrganization, createTrader } from '../orders/testing/marketplace.ts'
import { sendPendingMail } from './notification-mail.ts'
import { notificationRoutes, unsubscribeRoutes } from './notifications.routes.ts'
import { forgetNotifications, notifyUsers } from './notifications.store.ts'
import { unsubscribeToken } from './unsubscribe.ts'

describeOnEngines('notifications on $kind', ({ open }) => {
  let database: Database
  let server: Asking
  beforeAll(async () => {
    database = await open()
    server = await serveRoutes(database, (services) => [notificationRoutes(services), unsubscribeRoutes(services)])
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const user = async (): Promise<Actor & { token: string; email: string }> => {
    const actor = await createTrader(database)
    await database.query
      .updateTable('accounts')
      .set({ email_verified_at: new Date() })
      .where('id', '=', actor.accountId)
      .execute()
    return { ...actor, token: await server.tokenOf(actor, 'account:manage'), email: `${actor.username}@example.org` }
  }
  const record = (event: NewEvent) => database.transaction((query) => recordEvent(query, event))
  const distribute = () => distributeEvents(server.services, [notifyUsers])
  const review = (accountId: string, author = 'ann'): NewEvent => ({
    ...{ type: 'review.written', accountId },
    data: { package: '@acme/maze', version: '1.0.0', review: crypto.randomUUID(), author, stars: 4 },
  })
  const takeDown = (accountId: string): NewEvent => ({
    ...{ type: 'package.taken_down', accountId },
    data: { package: '@acme/maze', reason: 'Copied.', for_all: false },
  })
  const list = async (token: string, query = '') =>
    (await server.ask(token, 'GET', `/v1/notifications${query}`)).body as {
      notifications: { id: string; title: string; read: boolean }[]
      next_cursor: string | null
    }
  const titles = async (token: string) => (await list(token)).notifications.map(({ title }) => title)
  const mailTo = async (email: string) => (await server.services.mail.sent()).filter(({ to }) => to === email)
  const endQuiet = (accountId: string) =>
    sql`update notification_mailboxes set next_at = now() - interval '1 second' where account_id = ${accountId}`.execute(
      database.query,
    )

  it('an event that is rolled back is not notified of', async () => {
    const owner = await user()
    await expect(
      database.transaction(async (query) => {
        await recordEvent(query, review(owner.accountId))
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    await distribute()
    expect(await titles(owner.token)).toEqual([])
  })

  it('is listed once, however many replicas distribute it, and read by its owner alone', async () => {
    const [owner, other] = [await user(), await user()]
    await record(review(owner.accountId))
    await Promise.all([distribute(), distribute(), distribute()])
    await distribute()
    const { notifications } = await list(owner.token)
    expect(notifications).toMatchObject([{ title: 'ann reviewed @acme/maze@1.0.0: 4 of 5 stars', read: false }])
    const [{ id }] = notifications
    await server.ask(other.token, 'POST', '/v1/notifications/read', { ids: [id] })
    expect((await list(owner.token, '?unread=true')).notifications).toHaveLength(1)
    await server.ask(owner.token, 'POST', '/v1/notifications/read', { ids: [id] })
    expect((await list(owner.token, '?unread=true')).notifications).toEqual([])
    expect((await list(owner.token)).notifications).toMatchObject([{ read: true }])
    expect(await server.ask(null, 'GET', '/v1/notifications')).toMatchObject({ status: 401 })
  })

  it('pages keep their order', async () => {
    const owner = await user()
    for (const author of ['a', 'b', 'c']) await record(review(owner.accountId, author))
    await distribute()
    const first = await list(owner.token, '?limit=2')
    const rest = await list(owner.token, `?limit=2&cursor=${first.next_cursor}`)
    expect(new Set([...first.notifications, ...rest.notifications].map(({ title }) => title)).size).toBe(3)
    expect(rest.next_cursor).toBeNull()
  })

  it('of an organization go to its owners and admins', async () => {
    const [owner, admin, member] = [await user(), await user(), await user()]
    const organization = await createOrganization(database, { [owner.accountId]: 'owner', [admin.accountId]: 'admin' })
    await putMember(database.query, organization.id, member.accountId, 'member')
    await record(review(organization.id))
    await distribute()
    expect(await titles(owner.token)).toHaveLength(1)
    expect(await titles(admin.token)).toHaveLength(1)
    expect(await titles(member.token)).toEqual([])
  })

  it('a subscriber that fails delays its event alone, and stores nothing of it', async () => {
    const [owner, other] = [await user(), await user()]
    await record(review(owner.accountId, 'broken'))
    await record(review(other.accountId))
    await distributeEvents(server.services, [
      notifyUsers,
      async (_query, { account_id }) => {
        if (account_id === owner.accountId) throw new Error('a bug')
      },
    ])
    expect(await titles(other.token)).toHaveLength(1)
    expect(await titles(owner.token)).toEqual([])
    expect(server.services.logged.map(({ message }) => message)).toContain('an event was not distributed')
    await distribute()
    expect(await titles(owner.token)).toHaveLength(1)
  })

  it('mail: at once, then one digest after a quiet time', async () => {
    const owner = await user()
    await record(review(owner.accountId))
    await distribute()
    await Promise.all([sendPendingMail(server.services), sendPendingMail(server.services)])
    expect(await mailTo(owner.email)).toMatchObject([{ subject: 'ann reviewed @acme/maze@1.0.0: 4 of 5 stars' }])
    for (let index = 0; index < 30; index++) await record(review(owner.accountId, `reader-${index}`))
    await record(takeDown(owner.accountId))
    await distribute()
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toHaveLength(1)
    await endQuiet(owner.accountId)
    await sendPendingMail(server.services)
    const [, digest] = await mailTo(owner.email)
    expect(digest.subject).toMatch(/^31 notifications: .*reviews of your packages \(30\)/)
    expect(digest.text).toContain('And 11 more')
    await endQuiet(owner.accountId)
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toHaveLength(2)
  })

  it('mail that was sent before a crash is sent again under the same Message-ID', async () => {
    const owner = await user()
    await record(review(owner.accountId))
    await distribute()
    await sendPendingMail(server.services)
    await database.query
      .updateTable('notifications')
      .set({ email: 'pending' })
      .where('account_id', '=', owner.accountId)
      .execute()
    await endQuiet(owner.accountId)
    await sendPendingMail(server.services)
    const [first, second] = await mailTo(owner.email)
    expect(second.id).toBe(first.id)
    expect(first.id).toMatch(/^notification-/)
  })

  it('mail that fails is tried again later, and does not stop the mail of others', async () => {
    const [owner, other] = [await user(), await user()]
    await record(review(owner.accountId))
    await record(review(other.accountId))
    await distribute()
    const { send } = server.services.mail
    const refusing = {
      ...server.services,
      mail: {
        send: async (message: Parameters<typeof send>[0]) => {
          if (message.to === owner.email) throw new Error('550 no such user')
          return send(message)
        },
      },
    }
    await sendPendingMail(refusing)
    expect(await mailTo(other.email)).toHaveLength(1)
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toEqual([])
    await endQuiet(owner.accountId)
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toHaveLength(1)
  })

  it('optional topics are mailed to confirmed addresses only, decisions of operators to every address', async () => {
    const owner = await user()
    await sql`update accounts set email_verified_at = null where id = ${owner.accountId}`.execute(database.query)
    await record(review(owner.accountId))
    await distribute()
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toEqual([])
    expect(await titles(owner.token)).toHaveLength(1)
    await record(takeDown(owner.accountId))
    await distribute()
    await sendPendingMail(server.services)
    const [mail] = await mailTo(owner.email)
    expect(mail.text).toContain('Reason: Copied.')
    expect(mail.headers).toEqual({})
  })

  it('settings by topic and channel', async () => {
    const owner = await user()
    const put = (topic: string, site: boolean, email: boolean) =>
      server.ask(owner.token, 'PUT', `/v1/notification-settings/${topic}`, { site, email })
    expect(await put('reviews', false, true)).toMatchObject({ status: 200, body: { site: false, email: true } })
    expect(await put('moderation', true, false)).toMatchObject({ code: 'request_invalid' })
    expect(await put('weather', true, true)).toMatchObject({ code: 'request_invalid' })
    await record(review(owner.accountId))
    await distribute()
    expect(await titles(owner.token)).toEqual([])
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toHaveLength(1)
    await put('reviews', false, false)
    await record(review(owner.accountId))
    await distribute()
    await endQuiet(owner.accountId)
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toHaveLength(1)
  })

  it('unsubscribes by one POST without a login, also from mail that waits', async () => {
    const owner = await user()
    await record(review(owner.accountId))
    await distribute()
    await sendPendingMail(server.services)
    const [{ headers }] = await mailTo(owner.email)
    expect(headers?.['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click')
    const path =
      headers?.['List-Unsubscribe']?.match(/^<http:\/\/localhost:\d+(\/unsubscribe\?token=[\w.-]+)>$/)?.[1] ?? ''
    await record(review(owner.accountId))
    await distribute()
    // A scanner that follows the link changes nothing.
    expect((await server.call('GET', path)).text).toContain('<button>Unsubscribe</button>')
    const emailOf = async () =>
      (
        (await server.ask(owner.token, 'GET', '/v1/notification-settings')).body.settings as {
          topic: string
          email: boolean
        }[]
      )
        .filter(({ email }) => !email)
        .map(({ topic }) => topic)
    expect(await emailOf()).toEqual([])
    const oneClick = { form: { 'List-Unsubscribe': 'One-Click' }, headers: { origin: 'https://mail.example' } }
    // Again, as a replay does.
    for (let time = 0; time < 2; time++)
      expect(await server.call('POST', path, oneClick)).toMatchObject({ status: 200 })
    expect(await emailOf()).toEqual(['reviews'])
    await endQuiet(owner.accountId)
    await sendPendingMail(server.services)
    expect(await mailTo(owner.email)).toHaveLength(1)
    const audits = await database.query
      .selectFrom('audit')
      .select('data')
      .where('action', '=', 'notification.unsubscribe')
      .where('subject', '=', `account:${owner.username}`)
      .execute()
    expect(audits).toEqual([{ data: { topic: 'reviews' } }])
  })

  it('refuses forged unsubscribe tokens, and turns off no required topic', async () => {
    const [owner, other] = [await user(), await user()]
    const { secret } = server.services.config
    const token = unsubscribeToken(secret, { accountId: owner.accountId, topics: ['moderation', 'gone', 'sales'] })
    const [payload, signature] = token.split('.')
    const forged = Buffer.from(JSON.stringify([other.accountId, ['sales']])).toString('base64url')
    const foreign = unsubscribeToken(new Uint8Array(32), { accountId: owner.accountId, topics: ['sales'] })
    for (const bad of ['', 'x', payload, `${payload}.`, `${forged}.${signature}`, `${token}.x`, foreign, `${token}%00`])
      for (const method of ['GET', 'POST'])
        expect((await server.call(method, `/unsubscribe?token=${bad}`)).status, bad).toBeGreaterThanOrEqual(400)
    expect((await server.call('POST', `/unsubscribe?token=${token}`)).status).toBe(200)
    const { settings } = (await server.ask(owner.token, 'GET', '/v1/notification-settings')).body as {
      settings: { topic: string; email: boolean }[]
    }
    expect(settings.filter(({ email }) => !email).map(({ topic }) => topic)).toEqual(['sales'])
  })

  it('keeps the newest 500 of a user', async () => {
    const owner = await user()
    for (let index = 0; index < 3; index++) await record(review(owner.accountId))
    await sql`insert into events (type, account_id, data)
      select 'review.written', ${owner.accountId}, data from events, generate_series(1, 500)
      where account_id = ${owner.accountId} and id = (select id from events where account_id = ${owner.accountId} limit 1)`.execute(
      database.query,
    )
    await distribute()
    await sql`update notifications set email = 'sent' where account_id = ${owner.accountId}`.execute(database.query)
    await forgetNotifications(database.query)
    const { rows } = await sql<{ kept: number }>`select count(*)::int as kept from notifications
      where account_id = ${owner.accountId}`.execute(database.query)
    expect(rows).toEqual([{ kept: 500 }])
  })
})
