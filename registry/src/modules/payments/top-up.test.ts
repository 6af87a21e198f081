import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { createOrganization, createTrader, holdings } from '../orders/testing/marketplace.ts'
import { disputeTestPayments } from './payments.tasks.ts'
import { type PaymentsServer, startPaymentsServer } from './testing/payments-server.ts'

describeOnEngines('balances and top-ups on $kind', ({ open }) => {
  let database: Database
  let server: PaymentsServer
  let buyer: Actor
  let token: string

  beforeAll(async () => {
    database = await open()
    server = await startPaymentsServer(database)
    buyer = await createTrader(database)
    token = await server.token(buyer)
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    await server.close()
    await database.close()
  })

  const newBuyer = async () => {
    const actor = await createTrader(database)
    return { actor, token: await server.token(actor) }
  }
  const topUp = (of: string, json: Record<string, unknown>, key?: string) =>
    server.call('POST', '/v1/top-ups', of, { json, key })
  const balanceOf = async (of: string) => (await server.call('GET', '/v1/balance', of)).body

  it('is credited immediately', async () => {
    const { token, actor } = await newBuyer()
    expect(await balanceOf(token)).toEqual({
      ...{ account: actor.username, currency: 'USD', test_money: true, training_quota: null },
      ...{ available_minor: 0, held_minor: 0, awaited_minor: 0 },
    })
    const paid = await topUp(token, { amount_minor: 2_500 })
    expect(paid).toMatchObject({
      status: 201,
      body: {
        purpose: 'top_up',
        state: 'succeeded',
        provider: 'test',
        order: null,
        amount_minor: 2_500,
        message: null,
      },
    })
    expect(await balanceOf(token)).toMatchObject({ available_minor: 2_500, awaited_minor: 0 })
    expect((await server.call('GET', `/v1/payments/${paid.body.id}`, token)).body).toEqual(paid.body)
    expect((await server.call('GET', '/v1/payments', token)).body).toEqual({ payments: [paid.body], next_cursor: null })
  })

  it('is made once per key, also concurrently', async () => {
    const { token } = await newBuyer()
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 20 }, () => topUp(token, { amount_minor: 700 }, key)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await balanceOf(token)).toMatchObject({ available_minor: 700 })
    expect(await topUp(token, { amount_minor: 701 }, key)).toMatchObject({
      status: 409,
      code: 'idempotency_key_reused',
    })
    const without = { json: { amount_minor: 1 }, headers: { 'idempotency-key': '' } }
    expect(await server.call('POST', '/v1/top-ups', token, without)).toMatchObject({ code: 'request_invalid' })
  })

  it('that is declined credits nothing, also when repeated', async () => {
    const { token } = await newBuyer()
    const key = randomUUID()
    const declined = { amount_minor: 700, test_outcome: 'declined' }
    for (const _ of [1, 2])
      expect(await topUp(token, declined, key)).toMatchObject({ status: 402, code: 'payment_declined' })
    expect(await balanceOf(token)).toMatchObject({ available_minor: 0, awaited_minor: 0 })
    const { payments } = (await server.call('GET', '/v1/payments', token)).body
    expect(payments).toMatchObject([{ state: 'failed', message: expect.stringMatching(/declined/) }])
  })

  it.each([0, -1, 0.5, 1e15 + 2, '5', Number.NaN])('of %s is refused', async (amount_minor) => {
    expect(await topUp(token, { amount_minor })).toMatchObject({ status: 422, code: 'request_invalid' })
  })

  it('is limited where sums would lose precision', async () => {
    const { token } = await newBuyer()
    expect(await topUp(token, { amount_minor: 1e15 })).toMatchObject({ status: 201 })
    expect(await topUp(token, { amount_minor: 1 })).toMatchObject({ status: 422, code: 'request_invalid' })
  })

  it('that is pending has a page for paying once', async () => {
    const { token } = await newBuyer()
    const { body } = await topUp(token, { amount_minor: 900, test_outcome: 'pending' })
    expect(body).toMatchObject({ state: 'pending', ended_at: null })
    expect(await balanceOf(token)).toMatchObject({ available_minor: 0, awaited_minor: 900 })
    const address = String(body.checkout_url)
    const page = await (await fetch(address)).text()
    expect(page).toContain('Pay $9.00')
    const proof = /name="proof" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const submit = (fields: Record<string, string>) =>
      fetch(`${server.url}/test-checkout`, { method: 'POST', body: new URLSearchParams(fields) })
    expect((await submit({ payment: String(body.id), proof: `${proof}x`, outcome: 'pay' })).status).toBe(404)
    expect((await submit({ payment: randomUUID(), proof, outcome: 'pay' })).status).toBe(404)
    const answers = await Promise.all([1, 2, 3].map(() => submit({ payment: String(body.id), proof, outcome: 'pay' })))
    for (const answer of answers) expect(await answer.text()).toContain('The payment was made')
    // What was paid stays paid.
    await submit({ payment: String(body.id), proof, outcome: 'decline' })
    expect(await balanceOf(token)).toMatchObject({ available_minor: 900, awaited_minor: 0 })
  })

  it('declined on its page can still be paid there', async () => {
    const { token } = await newBuyer()
    const { body } = await topUp(token, { amount_minor: 900, test_outcome: 'pending' })
    const proof = new URL(String(body.checkout_url)).searchParams.get('proof') ?? ''
    const submit = (outcome: string) =>
      fetch(`${server.url}/test-checkout`, {
        method: 'POST',
        body: new URLSearchParams({ payment: String(body.id), proof, outcome }),
      })
    await submit('decline')
    expect((await server.call('GET', `/v1/payments/${body.id}`, token)).body).toMatchObject({ state: 'failed' })
    await submit('pay')
    expect(await balanceOf(token)).toMatchObject({ available_minor: 900 })
  })

  it('that is disputed is reversed', async () => {
    const { token, actor } = await newBuyer()
    const { body } = await topUp(token, { amount_minor: 900, test_outcome: 'disputed' })
    expect(body).toMatchObject({ state: 'succeeded' })
    await Promise.all([disputeTestPayments(server.services), disputeTestPayments(server.services)])
    expect((await server.call('GET', `/v1/payments/${body.id}`, token)).body).toMatchObject({ state: 'disputed' })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 0, debt: 0, earnings: 0 })
  })

  it('works for organizations: members pay, viewers read', async () => {
    const [member, viewer, stranger] = await Promise.all([newBuyer(), newBuyer(), newBuyer()])
    const { username } = await createOrganization(database, {
      [member.actor.accountId]: 'member',
      [viewer.actor.accountId]: 'viewer',
    })
    const json = { amount_minor: 500, account: username }
    expect(await topUp(member.token, json)).toMatchObject({ status: 201, body: { account: username } })
    for (const { token } of [viewer, stranger])
      expect(await topUp(token, json)).toMatchObject({ status: 403, code: 'forbidden' })
    const shown = (of: string) => server.call('GET', `/v1/balance?account=${username}`, of)
    expect((await shown(viewer.token)).body).toMatchObject({ account: username, available_minor: 500 })
    expect(await shown(stranger.token)).toMatchObject({ status: 403, code: 'forbidden' })
    expect(await balanceOf(member.token)).toMatchObject({ available_minor: 0 })
  })

  it('is not visible to others', async () => {
    const { body } = await topUp(token, { amount_minor: 100 })
    const stranger = await newBuyer()
    const notThere = await server.call('GET', `/v1/payments/${randomUUID()}`, stranger.token)
    expect(notThere).toMatchObject({ status: 404, code: 'payment_not_found' })
    expect(await server.call('GET', `/v1/payments/${body.id}`, stranger.token)).toMatchObject({
      status: 404,
      code: 'payment_not_found',
    })
    const other = `account=${buyer.username}`
    for (const path of [`/v1/payments?${other}`, `/v1/balance?${other}`])
      expect(await server.call('GET', path, stranger.token)).toMatchObject({ status: 403, code: 'forbidden' })
    for (const path of ['/v1/balance', '/v1/payments', `/v1/payments/${body.id}`]) {
      expect(await server.call('GET', path, null)).toMatchObject({ status: 401, code: 'unauthenticated' })
      const reader = await server.token(buyer, ['packages:read', 'training:start'])
      expect(await server.call('GET', path, reader)).toMatchObject({ status: 403, code: 'forbidden' })
    }
    const seller = await server.token(buyer, ['market:sell'])
    expect(await server.call('GET', '/v1/balance', seller)).toMatchObject({ status: 200 })
    expect(await topUp(seller, { amount_minor: 1 })).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('is listed page by page', async () => {
    const { token } = await newBuyer()
    for (const amount_minor of [1, 2, 3]) await topUp(token, { amount_minor })
    const list = async (query: string) => (await server.call('GET', `/v1/payments?${query}`, token)).body
    const first = await list('limit=2')
    expect(first.payments).toMatchObject([{ amount_minor: 3 }, { amount_minor: 2 }])
    const rest = await list(`limit=2&cursor=${first.next_cursor}`)
    expect(rest).toMatchObject({ payments: [{ amount_minor: 1 }], next_cursor: null })
  })
})
