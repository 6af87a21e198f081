// @module-tag full
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Actor, Scope } from '../../src/core/access/authorize.ts'
import { openDatabase } from '../../src/core/database/open-database.ts'
import type { ServerConfig } from '../../src/core/services.ts'
import { sendPayouts } from '../../src/modules/payments/payments.tasks.ts'
import { requestPayout } from '../../src/modules/payments/payouts.ts'
import { openStripeMarket, type StripeMarket, type Trader } from '../../src/modules/payments/testing/payments-server.ts'

export type PayoutSender = {
  config: Pick<ServerConfig, 'training' | 'market' | 'publicUrl'>
  actor: Omit<Actor, 'scopes'> & { scopes: Scope[] }
  idempotencyKey: string
}

const sender = fileURLToPath(new URL('./payout-sender.ts', import.meta.url))
const rounds = isLong ? 40 : 2

describe('kill -9 during payouts, on PostgreSQL', () => {
  let url: string
  let market: StripeMarket
  let seller: Trader
  let running: ChildProcess

  beforeAll(async () => {
    url = await createPostgresqlDatabase()
    market = await openStripeMarket(await openDatabase({ url }), { payoutHoldDays: 0 })
  })
  const earn = async () => {
    seller = await market.trader()
    const buyer = await market.trader()
    await market.paid(buyer, 1_000)
    await market.buy(buyer, await market.listing(seller, 1_000), 'balance')
    await market.server.call('PUT', '/v1/payout-destination', seller.token, { json: {} })
    const account = String(market.stripe.books.all('account').at(-1)?.id)
    await market.tell(market.stripe.books.completeOnboarding(account, `bank-${account}`))
  }
  beforeEach(earn, 120_000)
  afterAll(async () => {
    await market.audit()
    await market.close()
  })

  const start = (idempotencyKey: string) => {
    const { training, market: settings, publicUrl } = market.server.services.config
    const config = { training, market: settings, publicUrl }
    const actor = { ...seller.actor, scopes: [...seller.actor.scopes] }
    const parameters = [
      JSON.stringify({ url }),
      JSON.stringify({ config, actor, idempotencyKey } satisfies PayoutSender),
    ]
    running = fork(sender, parameters, { execArgv: [], stdio: 'inherit' })
    return once(running, 'exit')
  }

  /** Whatever was done: after a repeated request and the scheduled task, 9.00 have been paid once. */
  const expectPaidOnce = async (idempotencyKey: string) => {
    const { services } = market.server
    const requested = { actor: seller.actor, request: {}, idempotencyKey, ip: '127.0.0.1' }
    const payout = await requestPayout(services, requested)
    await sendPayouts(services, { olderThanMs: 0 })
    expect((await market.server.call('GET', '/v1/payouts', seller.token)).body.payouts).toMatchObject([
      { id: payout.id, state: 'paid', amount_minor: 900 },
    ])
    const made = market.stripe.books.all('transfer').filter(({ transfer_group }) => transfer_group === payout.id)
    expect(made).toMatchObject([{ amount: 900 }])
    expect(await seller.has()).toMatchObject({ earnings: 0 })
    await market.audit()
  }

  it.each([
    ['it is written down, and the provider was not asked', 'GET /v1/transfers'],
    ['the provider has made it, but no response arrived', 'POST /v1/transfers'],
  ])(
    'when %s',
    async (_, request) => {
      const key = randomUUID()
      market.stripe.beforeAnswer = async (requested) => {
        if (!requested.startsWith(request)) return
        market.stripe.beforeAnswer = () => {}
        running.kill('SIGKILL')
        await once(running, 'exit')
      }
      await start(key)
      expect(running.signalCode).toBe('SIGKILL')
      await expectPaidOnce(key)
    },
    120_000,
  )

  it(
    'at any other moment',
    async () => {
      for (let round = 0; round < rounds; round++) {
        const key = randomUUID()
        const ended = start(key)
        await once(running, 'message')
        await delay(Math.random() * 120)
        running.kill('SIGKILL')
        await ended
        await expectPaidOnce(key)
        await earn()
      }
    },
    120_000 + rounds * 30_000,
  )
})
