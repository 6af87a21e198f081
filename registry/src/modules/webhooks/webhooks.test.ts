import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import type { WebhookDelivery } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type Asking, serveRoutes } from '@agentgym/testkit/registry'
import { sql } from 'kysely'
import { Webhook as Receiver } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { distributeEvents, recordEvent } from '../events/index.ts'
import { notifyUsers } from '../notifications/index.ts'
import { createOrganization, createTrader } from '../orders/testing/marketplace.ts'
import { queueDeliveries, sendDueDeliveries } from './deliver.ts'
import { WebhookSender } from './webhook-sender.ts'
import { webhookRoutes } from './webhooks.routes.ts'

type Received = { headers: IncomingHttpHeaders; body: string }

/** A receiver of webhooks; `respond` decides the status of the next responses. */
async function openReceiver() {
  const received: Received[] = []
  let respond: RequestListener = (_request, response) => void response.writeHead(204).end()
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      respond(request, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (listener: RequestListener) => {
      respond = listener
    },
    status: (status: number, headers: Record<string, string> = {}) => {
      respond = (_request, response) => void response.writeHead(status, headers).end()
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
type TestReceiver = Awaited<ReturnType<typeof openReceiver>>

describeOnEngines('webhooks on $kind', ({ open }) => {
  let database: Database
  let server: Asking
  let receiver: TestReceiver
  let webhookSender: WebhookSender
  beforeAll(async () => {
    database = await open()
    receiver = await openReceiver()
    webhookSender = new WebhookSender({ allowed: [receiver.origin], timeoutMs: 2_000 })
    server = await serveRoutes(database, (services) => [webhookRoutes({ ...services, webhookSender })])
  })
  afterAll(async () => {
    receiver.close()
    await webhookSender.close()
    await server.close()
    await database.close()
  })

  type User = Actor & { token: string }
  const user = async (): Promise<User> => {
    const actor = await createTrader(database)
    return { ...actor, token: await server.tokenOf(actor, 'account:manage') }
  }
  const create = async ({ token }: User, more: object = {}) => {
    const { status, body } = await server.ask(token, 'POST', '/v1/webhooks', {
      url: `${receiver.origin}/hook`,
      ...more,
    })
    expect(status).toBe(201)
    return body as { id: string; secret: string; account: string }
  }
  const review = (accountId: string) =>
    database.transaction((query) =>
      recordEvent(query, {
        ...{ type: 'review.written', accountId },
        data: { package: '@acme/maze', version: '1.0.0', review: crypto.randomUUID(), author: 'ann', stars: 4 },
      }),
    )
  const distribute = () => distributeEvents(server.services, [notifyUsers, queueDeliveries])
  const send = () => sendDueDeliveries({ ...server.services, webhookSender })
  const deliveries = async ({ token }: User, id: string) =>
    (await server.ask(token, 'GET', `/v1/webhooks/${id}/deliveries`)).body.deliveries as WebhookDelivery[]
  // Not now: times are kept in milliseconds, rounded up for half of one.
  const makeDue = (webhook: string) =>
    sql`update webhook_deliveries set next_at = now() - interval '1 second' where webhook_id = ${webhook}`.execute(
      database.query,
    )
  const messagesOf = (webhook: { secret: string }) =>
    receiver.received.filter(({ headers, body }) => isFrom(webhook.secret, { headers, body }))

  it('delivers a signed message once, which the reference library verifies', async () => {
    const owner = await user()
    const webhook = await create(owner)
    await review(owner.accountId)
    await distribute()
    await Promise.all([send(), send(), send()])
    const [message, ...more] = messagesOf(webhook)
    expect(more).toEqual([])
    const headers = message.headers as Record<string, string>
    expect(new Receiver(webhook.secret).verify(message.body, headers)).toMatchObject({
      ...{ type: 'review.written', account: owner.username, data: { package: '@acme/maze', author: 'ann', stars: 4 } },
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(() => new Receiver(webhook.secret).verify(`${message.body} `, headers)).toThrow()
    expect(await deliveries(owner, webhook.id)).toMatchObject([
      {
        ...{ type: 'review.written', state: 'delivered', next_at: null, message_id: headers['webhook-id'] },
        attempts: [{ status: 204, error: null }],
      },
    ])
  })

  it('goes to webhooks of the account that want the type', async () => {
    const [owner, other] = [await user(), await user()]
    const organization = await createOrganization(database, { [owner.accountId]: 'admin' })
    const wanting = await create(owner, { account: organization.username, types: ['review.written', 'order.paid'] })
    const unwanting = await create(owner, { account: organization.username, types: ['run.ended'] })
    const foreign = await create(other)
    await review(organization.id)
    await distribute()
    await send()
    expect([wanting, unwanting, foreign].map((webhook) => messagesOf(webhook).length)).toEqual([1, 0, 0])
  })

  it('retries with growing delays under one id, and resends on request', async () => {
    const owner = await user()
    const webhook = await create(owner)
    await review(owner.accountId)
    await distribute()
    receiver.status(500)
    await send()
    await send()
    expect(messagesOf(webhook)).toHaveLength(1)
    receiver.status(503, { 'retry-after': '3000' })
    await makeDue(webhook.id)
    await send()
    const [failing] = await deliveries(owner, webhook.id)
    expect(failing).toMatchObject({ state: 'pending', attempts: [{ status: 500 }, { status: 503 }] })
    expect(Date.parse(failing.next_at ?? '') - Date.now()).toBeGreaterThan(2_000_000)
    receiver.status(200)
    await makeDue(webhook.id)
    await send()
    const resent = await server.ask(owner.token, 'POST', `/v1/webhooks/${webhook.id}/deliveries/${failing.id}/resend`)
    expect(resent).toMatchObject({ status: 200, body: { state: 'pending' } })
    await send()
    const messages = messagesOf(webhook)
    expect(messages).toHaveLength(4)
    expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(messages.map(({ body }) => body)).size).toBe(1)
    expect(await deliveries(owner, webhook.id)).toMatchObject([{ state: 'delivered', attempts: { length: 4 } }])
  })

  it('a delivery that a killed server had claimed is sent by another', async () => {
    const owner = await user()
    const webhook = await create(owner)
    await review(owner.accountId)
    await distribute()
    // As a process that died after it had claimed it, before or after sending.
    await sql`update webhook_deliveries set attempts = 1, next_at = now() + interval '2 minutes'
      where webhook_id = ${webhook.id}`.execute(database.query)
    await send()
    expect(messagesOf(webhook)).toEqual([])
    await makeDue(webhook.id)
    await send()
    expect(messagesOf(webhook)).toHaveLength(1)
  })

  it('after a rotation, the previous secret still verifies for a day', async () => {
    const owner = await user()
    const webhook = await create(owner)
    const rotated = await server.ask(owner.token, 'POST', `/v1/webhooks/${webhook.id}/secret`)
    const secret = rotated.body.secret as string
    await review(owner.accountId)
    await distribute()
    await send()
    expect(messagesOf(webhook)).toHaveLength(1)
    expect(messagesOf({ secret })).toHaveLength(1)
    await sql`update webhooks set previous_until = now() - interval '1 second' where id = ${webhook.id}`.execute(
      database.query,
    )
    await server.ask(owner.token, 'POST', `/v1/webhooks/${webhook.id}/test`)
    await send()
    expect(messagesOf(webhook)).toHaveLength(1)
    expect(messagesOf({ secret })).toHaveLength(2)
  })

  it.each([
    ['that has failed for three days', 500, '4 days'],
    ['whose receiver is gone', 410, '0 days'],
  ])('a webhook %s is disabled, and its managers are notified', async (_, status, ago) => {
    const owner = await user()
    const webhook = await create(owner)
    for (let index = 0; index < 2; index++) await review(owner.accountId)
    await distribute()
    await sql`update webhooks set failing_since = now() - ${ago}::interval where id = ${webhook.id}`.execute(
      database.query,
    )
    receiver.status(status)
    await send()
    receiver.status(200)
    const [shown] = (await server.ask(owner.token, 'GET', '/v1/webhooks')).body.webhooks as { disabled: object }[]
    expect(shown.disabled).toMatchObject({ reason: expect.stringContaining(String(status)) })
    expect((await deliveries(owner, webhook.id)).map(({ state }) => state)).toEqual(['failed', 'failed'])
    await distribute()
    const notified = await database.query
      .selectFrom('notifications')
      .select('topic')
      .where('account_id', '=', owner.accountId)
      .where('topic', '=', 'webhooks')
      .execute()
    expect(notified).toHaveLength(1)
    const base = `/v1/webhooks/${webhook.id}`
    expect(await server.ask(owner.token, 'POST', `${base}/test`)).toMatchObject({ code: 'webhook_state_conflict' })
    expect(await server.ask(owner.token, 'PUT', base, { enabled: true })).toMatchObject({ body: { disabled: null } })
    const before = messagesOf(webhook).length
    await server.ask(owner.token, 'POST', `${base}/test`)
    await send()
    expect(messagesOf(webhook)).toHaveLength(before + 1)
  })

  it('slow, silent, redirecting and gigantic receivers fail alone', async () => {
    const [owner, other] = [await user(), await user()]
    const [webhook, healthy] = [await create(owner), await create(other)]
    await review(owner.accountId)
    await review(other.accountId)
    await distribute()
    let redirected = false
    const inside = await openReceiver()
    inside.answer((_request, response) => {
      redirected = true
      response.end()
    })
    const hostile: RequestListener[] = [
      (_request, response) => void response.writeHead(307, { location: inside.origin }).end(),
      // Never answers.
      () => {},
      (request) => void request.socket.destroy(),
    ]
    for (const listener of hostile) {
      receiver.answer((request, response) =>
        request.headers['webhook-id'] !== undefined &&
        isFrom(webhook.secret, receiver.received.at(-1) ?? { headers: {}, body: '' })
          ? listener(request, response)
          : void response.writeHead(204).end(),
      )
      await makeDue(webhook.id)
      await send()
    }
    receiver.answer((_request, response) => {
      response.writeHead(200)
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', flood)
      }
      flood()
    })
    await makeDue(webhook.id)
    await send()
    receiver.status(204)
    inside.close()
    expect(redirected).toBe(false)
    const [{ attempts }] = await deliveries(owner, webhook.id)
    expect(attempts.map(({ status }) => status)).toEqual([307, null, null, 200])
    expect(attempts[0].error).toBe('Redirects are not followed.')
    expect(await deliveries(other, healthy.id)).toMatchObject([{ state: 'delivered' }])
  })

  it('is managed by managers of its account alone', async () => {
    const [owner, member, stranger] = [await user(), await user(), await user()]
    const organization = await createOrganization(database, {
      [owner.accountId]: 'owner',
      [member.accountId]: 'member',
    })
    const webhook = await create(owner, { account: organization.username })
    expect(webhook.account).toBe(organization.username)
    const path = `/v1/webhooks/${webhook.id}`
    for (const { token } of [member, stranger])
      for (const [method, what, body] of [
        ['PUT', path, { description: 'mine' }],
        ['DELETE', path, undefined],
        ['POST', `${path}/secret`, undefined],
        ['POST', `${path}/test`, undefined],
        ['GET', `${path}/deliveries`, undefined],
        ['POST', `${path}/deliveries/${crypto.randomUUID()}/resend`, undefined],
      ] as const)
        expect(await server.ask(token, method, what, body), what).toMatchObject({ code: 'webhook_not_found' })
    expect(await server.ask(member.token, 'GET', `/v1/webhooks?account=${organization.username}`)).toMatchObject({
      code: 'forbidden',
    })
    expect(await server.ask(null, 'GET', '/v1/webhooks')).toMatchObject({ status: 401 })
    expect(await server.ask(owner.token, 'POST', `${path}/deliveries/${crypto.randomUUID()}/resend`)).toMatchObject({
      code: 'webhook_delivery_not_found',
    })
    expect(await server.ask(owner.token, 'DELETE', path)).toMatchObject({ status: 204 })
    expect(await server.ask(owner.token, 'DELETE', path)).toMatchObject({ code: 'webhook_not_found' })
    const stored = await database.query
      .selectFrom('audit')
      .select('data')
      .where('subject', '=', `webhook:${webhook.id}`)
      .execute()
    expect(JSON.stringify(stored)).not.toContain(webhook.secret)
  })

  it('an account has at most 20', async () => {
    const owner = await user()
    for (let index = 0; index < 20; index++) await create(owner)
    expect(await server.ask(owner.token, 'POST', '/v1/webhooks', { url: `${receiver.origin}/hook` })).toMatchObject({
      code: 'webhook_state_conflict',
    })
  })

  it.each([
    'http://example.com/hook',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://user:secret@example.com/',
    'https://example.com:22/',
    'http://127.0.0.1:1/',
    'file:///etc/passwd',
    'nonsense',
  ])('refuses %s', async (url) => {
    const owner = await user()
    expect(await server.ask(owner.token, 'POST', '/v1/webhooks', { url })).toMatchObject({ code: 'address_refused' })
  })
})

function isFrom(secret: string, { headers, body }: Received): boolean {
  try {
    new Receiver(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

describe('names that resolve to other addresses later', () => {
  it.each([['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['169.254.169.254'], ['::ffff:127.0.0.1'], []])(
    '%j is not called',
    async (...addresses) => {
      const lookup: LookupFunction = (_name, _options, callback) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      const sender = new WebhookSender({ allowed: [], lookup })
      expect(await sender.send('https://rebinding.example/hook', '{}', {})).toMatchObject({
        status: null,
        error: expect.stringContaining('does not resolve to public addresses'),
      })
      await sender.close()
    },
  )
})
