import { startRunRequestSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { refundOrder } from '../orders/refunds.ts'
import { buy, codeOf, createTrader, fund } from '../orders/testing/marketplace.ts'
import { openTarball } from '../packages/packument.ts'
import { submitRun } from '../runs/submit-run.ts'
import { type Access, tarballAccess } from './entitlements.ts'
import { type Cast, type MarketServer, openCast, sell, startMarketServer } from './testing/market-server.ts'

describe('access to files', () => {
  it('depends on membership, license, price and moderation, in this order', () => {
    const state = fc.record({
      kind: fc.constantFrom('free' as const, 'one_time' as const, 'per_run' as const),
      license: fc.boolean(),
      takenDown: fc.constantFrom('no', 'for strangers', 'for all'),
    })
    fc.assert(
      fc.property(fc.boolean(), state, (member, { kind, license, takenDown }) => {
        const access = tarballAccess(member, {
          price: { id: null, kind, amountMinor: kind === 'free' ? 0 : 1, currency: 'USD' },
          license: license ? { orderId: '', used: false } : null,
          takenDown: takenDown === 'no' ? null : { at: new Date(), reason: null, forAll: takenDown === 'for all' },
        })
        const byPrice: Record<typeof kind, Access> = {
          ...{ free: 'granted', one_time: 'payment_required', per_run: 'hosted_only' },
        }
        const expected: Access = member
          ? 'granted'
          : takenDown === 'for all' || (takenDown === 'for strangers' && !license)
            ? 'taken_down'
            : license
              ? 'granted'
              : byPrice[kind]
        expect(access).toBe(expected)
      }),
    )
  })
})

describeOnEngines('using a licence on $kind', ({ open }) => {
  let database: Database
  let server: MarketServer
  let cast: Cast
  let name: string

  beforeAll(async () => {
    database = await open()
    server = await startMarketServer(database)
    cast = await openCast(database)
    name = await sell(server.services, cast.seller, 'maze', { kind: 'one_time', amount_minor: 300 })
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  async function buyer(): Promise<Actor & { order: string }> {
    const actor = await createTrader(database, 'buyer')
    await fund(database, actor.accountId, 1_000)
    const { order } = await buy(server.services, actor, { name })
    return { ...actor, order: order.id }
  }
  const licenseOf = async ({ order }: { order: string }) => {
    const row = database.query
      .selectFrom('entitlements')
      .select(['used_at', 'revoked_at'])
      .where('order_id', '=', order)
    const { used_at: usedAt, revoked_at: revokedAt } = await row.executeTakeFirstOrThrow()
    return { used: usedAt !== null, held: revokedAt === null }
  }
  const download = async (actor: Actor, use = true) => {
    const { body } = await openTarball(server.services, actor, { name, version: '1.0.0', use })
    body.destroy()
  }
  const giveBack = ({ order: id, ...actor }: Actor & { order: string }) =>
    refundOrder(server.services, {
      ...{ actor, id, ip: null, idempotencyKey: crypto.randomUUID(), request: { reason: 'changed my mind' } },
    })
  const train = (actor: Actor) =>
    submitRun(server.services, {
      ...{ actor, traceparent: null, ip: null },
      request: startRunRequestSchema.parse({ scenario: name }),
    })

  it('begins with the first download, but not with a HEAD request', async () => {
    const somebody = await buyer()
    await download(somebody, false)
    expect(await licenseOf(somebody)).toEqual({ used: false, held: true })
    await download(somebody)
    expect(await licenseOf(somebody)).toEqual({ used: true, held: true })
    await download(somebody)
    expect(await codeOf(giveBack(somebody))).toBe('refund_refused')
  })

  it('begins with a run, too', async () => {
    const somebody = await buyer()
    await train(somebody)
    expect(await licenseOf(somebody)).toEqual({ used: true, held: true })
  })

  it('ends access to files and runs with a refund', async () => {
    const somebody = await buyer()
    await giveBack(somebody)
    expect(await codeOf(download(somebody))).toBe('payment_required')
    expect(await codeOf(train(somebody))).toBe('payment_required')
    const written = database.query.selectFrom('training_runs').select('id').where('owner_id', '=', somebody.accountId)
    expect(await written.execute()).toEqual([])
  })

  it('never grants both files and a refund, even for concurrent requests', async () => {
    for (let round = 0; round < 10; round++) {
      const somebody = await buyer()
      const requested = [download(somebody), giveBack(somebody), download(somebody), train(somebody)]
      const [first, refunded, second, trained] = await Promise.all(requested.map((work) => codeOf(work)))
      const { used, held } = await licenseOf(somebody)
      expect(held).toBe(refunded !== 'done')
      if (refunded === 'done') {
        expect([first, second, trained]).toEqual(['payment_required', 'payment_required', 'payment_required'])
        expect(used).toBe(false)
      } else {
        expect(refunded).toBe('refund_refused')
        expect(used).toBe(true)
      }
    }
  })

  it('remains valid when the package becomes per-run, while others get no files', async () => {
    const listed = await sell(server.services, cast.seller, 'changing', { kind: 'one_time', amount_minor: 100 })
    await buy(server.services, cast.buyer, { name: listed })
    await database.query
      .insertInto('prices')
      .values({
        package_id: database.query.selectFrom('packages').select('id').where('name', '=', listed) as never,
        ...{
          kind: 'per_run',
          amount_minor: 50,
          currency: 'USD',
          effective_at: new Date(),
          set_by: cast.seller.accountId,
        },
      })
      .execute()
    const open = (actor: Actor) =>
      openTarball(server.services, actor, { name: listed, version: '1.0.0', use: true }).then(({ body }) => {
        body.destroy()
      })
    expect(await codeOf(open(cast.buyer))).toBe('done')
    expect(await codeOf(open(cast.other))).toBe('hosted_only')
  })
})
