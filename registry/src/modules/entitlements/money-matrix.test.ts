import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { type AccessWorld, type Caller, callers, openAccessWorld } from './testing/market-server.ts'

describeOnEngines('who may see whose money, on $kind', ({ open }) => {
  let database: Database
  let world: AccessWorld

  beforeAll(async () => {
    database = await open()
    world = await openAccessWorld(database)
  })
  afterAll(async () => {
    await world.server.close()
    await database.close()
  })

  it('answers about others’ orders, money and licenses as if they did not exist', async () => {
    const { order } = world.names
    const unknown = crypto.randomUUID()
    const asking: Caller[] = ['other', 'refunded', 'colleague', 'operator']
    const text = async (caller: Caller, method: string, path: string, json?: unknown) => {
      const answer = await world.server.call(method, path, { token: world.tokens[caller], json })
      return `${answer.status} ${answer.text.replaceAll(order, '…').replaceAll(unknown, '…')}`
    }
    for (const caller of asking.filter((name) => name !== 'operator'))
      for (const [method, path, json] of [
        ['GET', '/v1/orders/ID', undefined],
        ['POST', '/v1/orders/ID/refunds', { reason: 'mine' }],
        ['POST', '/v1/orders/ID/cancel', undefined],
        ['GET', '/v1/payments/ID', undefined],
      ] as const)
        expect(await text(caller, method, path.replace('ID', order), json), `${caller} ${path}`).toBe(
          await text(caller, method, path.replace('ID', unknown), json),
        )
    expect(await world.statuses('GET', `/v1/orders/${order}`)).toEqual([
      401,
      404,
      200,
      404,
      404,
      200,
      200,
      expect.any(Number),
    ])
    const ofAccount = [
      'orders',
      'entitlements',
      'balance',
      'payments',
      'earnings',
      'earnings/days',
      'earnings/entries',
      'payouts',
      'spend-caps',
    ]
    for (const what of ofAccount)
      for (const account of ['{buyerName}', '{seller}', '{org}']) {
        const got = await world.statuses('GET', `/v1/${what}?account=${account}`)
        const mine: Caller[] =
          account === '{buyerName}' ? ['buyer', 'narrow'] : account === '{seller}' ? ['seller'] : ['colleague']
        for (const [index, status] of got.entries())
          if (!mine.includes(callers[index]))
            expect([401, 403, 404], `${what} ${account} ${callers[index]}`).toContain(status)
      }
  })

  it('RPC has no market methods', async () => {
    for (const method of [
      'orders.list',
      'orders.place',
      'market.buy',
      'balance.get',
      'earnings.get',
      'entitlements.list',
    ])
      for (const caller of callers) {
        const call = { jsonrpc: '2.0', id: 1, method, params: {} }
        const { text } = await world.server.call('POST', '/rpc', { token: world.tokens[caller], json: call })
        expect(JSON.parse(text).result).toBeUndefined()
      }
  })
})
