import { describeOnEngines } from '@agentgym/testkit/databases'
import { testServices } from '@agentgym/testkit/services'
import { expect, it } from 'vitest'
import { createTrader } from '../orders/testing/marketplace.ts'
import { requireMoneyDatabase } from './payment-services.ts'

const stripe = { secretKey: 'sk_test_1234', webhookSecret: 'whsec_1234', apiAddress: null }

describeOnEngines('where money may lie: $kind', ({ kind, open }) => {
  it('refuses real money on PGlite unless allowed, and reports test money', async () => {
    const database = await open()
    const services = await testServices(database)
    const judge = async (change: Partial<typeof services.config.market>) => {
      services.logged.length = 0
      const config = { ...services.config, market: { ...services.config.market, ...change } }
      await requireMoneyDatabase({ ...services, config })
      return services.logged.map(({ level, message }) => `${level}: ${message}`)
    }
    if (kind === 'postgresql') {
      expect(await judge({})).toEqual([])
      expect(await judge({ stripe })).toEqual([])
    } else {
      expect(await judge({})).toEqual([expect.stringMatching(/^info: .*real money requires PostgreSQL/)])
      expect(await judge({ stripe, moneyOnPglite: true })).toEqual([expect.stringMatching(/^warn: real money/)])
      await expect(judge({ stripe })).rejects.toMatchObject({ code: 'money_needs_postgresql' })
    }
    await services.remove()
    await database.close()
  })

  it('never mixes test money and real money', async () => {
    const database = await open()
    const services = await testServices(database)
    const judge = (own: typeof stripe | null) => {
      const market = { ...services.config.market, stripe: own, moneyOnPglite: true }
      return requireMoneyDatabase({ ...services, config: { ...services.config, market } })
    }
    const { accountId } = await createTrader(database)
    const pay = (provider: string, state: 'succeeded' | 'failed') =>
      database.query
        .insertInto('payments')
        .values({
          ...{ purpose: 'top_up', provider, state, account_id: accountId, created_by: accountId },
          ...{ amount_minor: 100, currency: 'USD' },
        })
        .execute()
    await pay('test', 'failed')
    await judge(stripe)
    await pay('test', 'succeeded')
    await judge(null)
    await expect(judge(stripe)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/holds play money/),
    })
    await pay('stripe', 'succeeded')
    await expect(judge(null)).rejects.toMatchObject({ message: expect.stringMatching(/through stripe/) })
    await services.remove()
    await database.close()
  })
})
