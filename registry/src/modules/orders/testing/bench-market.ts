import { randomInt, randomUUID } from 'node:crypto'
import { createApp } from '../../../app/app.ts'
import type { Database } from '../../../core/database/database.ts'
import { createProcessMetrics } from '../../../core/observability/process-metrics.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { createToken } from '../../accounts/tokens.store.ts'
import { openAccounts } from '../../ledger/accounts.ts'
import { applyTransfers } from '../../ledger/apply-transfers.ts'
import { insertOwners } from '../../ledger/testing/insert-owners.ts'
import { orderRoutes } from '../orders.routes.ts'
import type { OrderServices } from '../place-order.ts'
import { createTrader, type Listed, listPackage } from './marketplace.ts'

const currency = 'USD'
/** Enough for all that one of them buys in a benchmark. */
const fundsMinor = 100_000_000n
const batch = 500

/** Of the server's settings what an order depends on. */
const config = {
  ...{ publicUrl: 'http://localhost', secure: false, trustedProxies: 0, secret: new Uint8Array(32) },
  limits: { tarballBytes: 1_000_000, unpackedBytes: 1_000_000, files: 1, ratio: 1 },
  training: { currency },
  market: { feeBasisPoints: 1_000, royaltyCapBasisPoints: 2_000 },
} as ServerConfig

/**
 * A market in which `buy` buys one more license: a random buyer's of a random agent, with fee and royalty, by `POST /v1/orders`
 * with the buyer's token, through all that a request passes, but without a socket.
 */
export async function openBenchMarket(
  database: Database,
  { buyers, sellers, authors }: { buyers: number; sellers: number; authors: number },
): Promise<{ buy(): Promise<void> }> {
  const tokens = await fundedBuyers(database, buyers)
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
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const services = { database, config, log, metrics: createProcessMetrics() } as unknown as OrderServices
  const app = createApp(services, { routes: [orderRoutes(services)] })
  return {
    buy: async () => {
      const { name } = agents[randomInt(agents.length)]
      const response = await app.request('/v1/orders', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokens[randomInt(tokens.length)]}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify({ package: name, range: '^1.0.0', pay_with: 'balance' }),
      })
      const answer = await response.text()
      if (!response.ok) throw new Error(`the order was answered ${response.status}: ${answer}`)
    },
  }
}

async function fundedBuyers(database: Database, count: number): Promise<string[]> {
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
  const tokens: string[] = []
  for (const accountId of ids) {
    const token = { accountId, name: 'bench', scopes: ['market:buy'] as const, expiresAt: null }
    tokens.push((await createToken(database.query, token)).token)
  }
  return tokens
}
