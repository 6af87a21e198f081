import { describe, expect, it } from 'vitest'
import { testDatabases } from '../../testing/test-databases.ts'
import { testServices } from '../../testing/test-services.ts'
import { judgeMoneyPlace } from './judge-money-place.ts'

const stripe = { secretKey: 'sk_test_1234', webhookSecret: 'whsec_1234', apiAddress: null }

describe.each(await testDatabases())('where money may lie: $kind', ({ kind, open }) => {
  it('real money is refused on PGlite unless it is allowed, and play money is told to be play', async () => {
    const database = await open()
    const services = await testServices(database)
    const judge = (change: Partial<typeof services.config.market>) => {
      services.logged.length = 0
      const config = { ...services.config, market: { ...services.config.market, ...change } }
      judgeMoneyPlace({ ...services, config })
      return services.logged.map(({ level, message }) => `${level}: ${message}`)
    }
    if (kind === 'postgresql') {
      expect(judge({})).toEqual([])
      expect(judge({ stripe })).toEqual([])
    } else {
      expect(judge({})).toEqual([expect.stringMatching(/^info: .*real money belongs on PostgreSQL/)])
      expect(judge({ stripe, moneyOnPglite: true })).toEqual([expect.stringMatching(/^warn: real money/)])
      expect(() => judge({ stripe })).toThrow(expect.objectContaining({ code: 'money_needs_postgresql' }))
    }
    await services.remove()
    await database.close()
  })
})
