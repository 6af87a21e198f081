import assert from 'node:assert'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import type { Actor } from '../../../core/access/authorise.ts'
import type { Database } from '../../../core/database/database.ts'
import { auditLedger } from '../../ledger/audit-ledger.ts'
import { auditMarket } from '../audit-market.ts'
import { createTrader, fund, type Listed, type Listing, listPackage } from './marketplace.ts'

export type Shop = {
  services: TestServices
  seller: Actor
  /** Of the scenario that the seller's agents are trained on; asks for 15 % of what they are sold for. */
  author: Actor
  scenario: Listed
  /** One more package of the seller's; free unless told. */
  list(price?: Listing['price'], more?: Partial<Listing>): Promise<Listed>
  /** Somebody new, with so much on their balance. */
  buyer(fundsMinor: number): Promise<Actor>
  /** Holds the books to the rules, and closes the database. */
  close(): Promise<void>
}

export async function openShop(database: Database): Promise<Shop> {
  const services = await testServices(database)
  const seller = await createTrader(database, 'seller')
  const author = await createTrader(database, 'author')
  const authors = { ownerId: author.accountId, owner: author.username }
  const scenario = await listPackage(database, { ...authors, royaltyBasisPoints: 1_500 })
  return {
    ...{ services, seller, author, scenario },
    list: (price, more) => listPackage(database, { ownerId: seller.accountId, owner: seller.username, price, ...more }),
    buyer: async (fundsMinor) => {
      const actor = await createTrader(database, 'buyer')
      if (fundsMinor > 0) await fund(database, actor.accountId, fundsMinor)
      return actor
    },
    close: async () => {
      const findings = [...(await auditLedger(database)), ...(await auditMarket(database))]
      await services.remove()
      await database.close()
      assert.deepEqual(findings, [])
    },
  }
}
