import { randomInt, randomUUID } from 'node:crypto'
import { type Actor, scopes } from '../../../auth/actor.ts'
import type { Database } from '../../../database/database.ts'
import type { ServerConfig } from '../../../server/services.ts'
import { openAccounts } from '../../ledger/accounts.store.ts'
import { applyTransfers } from '../../ledger/apply-transfers.ts'
import { insertOwners } from '../../ledger/testing/insert-owners.ts'
import { placeOrder } from '../place-order.ts'
import { createTrader, type Listed, listPackage } from './marketplace.ts'

const currency = 'USD'
/** Enough for all that one of them buys in a benchmark. */
const fundsMinor = 100_000_000n
const batch = 500

/** Of the server's settings what an order depends on. */
const config = {
  training: { currency },
  market: { feeBasisPoints: 1_000, royaltyCapBasisPoints: 2_000 },
} as ServerConfig

/** A market in which `buy` buys one more licence: a random buyer's of a random agent, with fee and royalty, all of the order. */
export async function openBenchMarket(
  database: Database,
  { buyers, sellers, authors }: { buyers: number; sellers: number; authors: number },
): Promise<{ buy(): Promise<void> }> {
  const actors = await fundedBuyers(database, buyers)
  const scenarios = await Promise.all(
    Array.from({ length: authors }, async () => {
      const { accountId: ownerId, username: owner } = await createTrader(database, 'author')
      return listPackage(database, { ownerId, owner, royaltyBasisPoints: 500 })
    }),
  )
  const agents: Listed[] = await Promise.all(
    Array.from({ length: sellers }, async (_, index) => {
      const { accountId: ownerId, username: owner } = await createTrader(database, 'seller')
      const price = { kind: 'one_time' as const, amountMinor: randomInt(100, 10_000) }
      return listPackage(database, { ownerId, owner, kind: 'agent', scenario: scenarios[index % authors], price })
    }),
  )
  const services = { database, config } as Parameters<typeof placeOrder>[0]
  return {
    buy: async () => {
      const { name } = agents[randomInt(agents.length)]
      await placeOrder(services, {
        ...{ actor: actors[randomInt(actors.length)], idempotencyKey: randomUUID(), ip: '127.0.0.1' },
        request: { package: name, range: '^1.0.0', pay_with: 'balance' },
      })
    },
  }
}

async function fundedBuyers(database: Database, count: number): Promise<Actor[]> {
  const ids = await insertOwners(database, count)
  for (let from = 0; from < count; from += batch)
    await database.transaction(async (query) => {
      const some = ids.slice(from, from + batch)
      const [provider, ...balances] = await openAccounts(query, [
        { owner: null, code: 'provider', currency },
        ...some.map((owner) => ({ owner, code: 'balance' as const, currency })),
      ])
      await applyTransfers(
        query,
        balances.map((creditAccountId) => ({
          ...{ id: randomUUID(), kind: 'posted', code: 'top_up', amountMinor: fundsMinor, currency },
          ...{ debitAccountId: provider, creditAccountId },
        })),
      )
    })
  return ids.map((accountId) => ({
    ...{ accountId, username: `buyer-${accountId}`, emailVerified: true, operator: false, tokenId: null },
    scopes: new Set(scopes),
  }))
}
