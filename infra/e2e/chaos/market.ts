import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { expect } from 'vitest'
import type { Database } from '../../../registry/src/core/database/database.ts'
import { createToken } from '../../../registry/src/modules/accounts/tokens.store.ts'
import { auditLedger } from '../../../registry/src/modules/ledger/audit-ledger.ts'
import { auditMarket } from '../../../registry/src/modules/orders/audit-market.ts'
import { createTrader, fund, listPackage } from '../../../registry/src/modules/orders/testing/marketplace.ts'
import { auditRun } from '../audit-run.ts'
import type { Installation } from './installation.ts'
import { insist, isIntact, type Load, training } from './load.ts'

/** What the load works on. */
export type Market = {
  /** Of an author with a scenario, and an agent that is called. */
  token: string
  scenario: string
  agent: string
  buyers: { buyer: string; token: string; names: string[] }[]
}

const scopes = ['packages:manage', 'training:start', 'training:view', 'agents:call']
const forSale = 100

/** Made in peace. `load` must not end meanwhile. */
export async function openMarket(
  load: Load,
  { installation, database, buyers: count }: { installation: Installation; database: Database; buyers: number },
): Promise<Market> {
  const operator = await signUpAt(load.url, 'operator', ['worker'])
  installation.startWorkers(operator.token)
  const { token } = await signUpAt(load.url, 'acme', scopes)
  const [scenario, agent] = ['@acme/cart-pole', '@acme/balancer']
  const { tarball } = await packScenario('cart-pole', { name: scenario })
  const version = `/v1/packages/${scenario}/versions/1.0.0`
  const headers = { 'content-type': 'application/octet-stream' }
  await insist(load, version, { token, method: 'PUT', body: Buffer.from(tarball), headers })
  expect(await stateAfter(load, version, token, ['checking'])).toBe('published')
  const body = JSON.stringify({ ...training(1_024), publish: { name: agent, summary: 'Balances the pole.' } })
  const answer = await insist(load, '/v1/runs', { token, key: randomUUID(), method: 'POST', body })
  if (answer === undefined) throw new Error('the load ended before it began')
  const { id } = (await answer.json()) as { id: string }
  expect(await stateAfter(load, `/v1/runs/${id}`, token, ['queued', 'running'])).toBe('completed')
  const published = `/v1/packages/${agent}/versions/0.1.0`
  expect(await stateAfter(load, published, token, ['checking'])).toBe('published')
  const seller = await createTrader(database, 'seller')
  const price = { kind: 'one_time', amountMinor: 250 } as const
  const names: string[] = []
  for (let index = 0; index < forSale; index++)
    names.push((await listPackage(database, { ownerId: seller.accountId, owner: seller.username, price })).name)
  const buyers: Market['buyers'] = []
  for (let index = 0; index < count; index++) {
    const { accountId } = await createTrader(database, 'buyer')
    await fund(database, accountId, forSale * price.amountMinor)
    const made = { accountId, name: 'test', scopes: ['market:buy' as const], expiresAt: null }
    buyers.push({ buyer: accountId, token: (await createToken(database.query, made)).token, names })
  }
  return { token, scenario, agent, buyers }
}

/** The state of a version or a run once it is none of `open`. */
async function stateAfter(load: Load, path: string, token: string, open: string[]): Promise<string> {
  for (;;) {
    const found = (await (await insist(load, path, { token }))?.json()) as { state: string } | undefined
    if (found !== undefined && !open.includes(found.state)) return found.state
    await delay(500)
  }
}

/** All that was acknowledged comes to its end, is whole, and is there once. `load` must not end meanwhile. */
export async function expectKept(load: Load, database: Database, { token, buyers }: Market): Promise<void> {
  const { acknowledged } = load
  for (const name of acknowledged.published) {
    const version = `/v1/packages/${name}/versions/1.0.0`
    expect(await stateAfter(load, version, token, ['checking']), name).toBe('published')
    expect(await isIntact(load, name, token), name).toBe(true)
  }
  for (const id of acknowledged.runs) {
    expect(await stateAfter(load, `/v1/runs/${id}`, token, ['queued', 'running']), id).toBe('completed')
    const audit = await auditRun(database, id)
    expect(audit.sequence).toEqual(audit.sequence.map((_, index) => index + 1))
    expect(audit).toMatchObject({ ends: ['completed'], openJobs: 0 })
  }
  const orders = await database.query.selectFrom('orders').select(['id', 'state', 'buyer_id']).execute()
  const paid = new Set(orders.filter(({ state }) => state === 'paid').map(({ id }) => id))
  expect(acknowledged.orders.filter((id) => !paid.has(id))).toEqual([])
  expect(new Set(acknowledged.orders).size).toBe(acknowledged.orders.length)
  const isBuyer = new Set(buyers.map(({ buyer }) => buyer))
  const made = orders.filter(({ buyer_id }) => isBuyer.has(buyer_id)).length
  expect(made - acknowledged.orders.length, 'orders whose answer was not awaited: at most the last').toBeOneOf([0, 1])
  expect(new Set(acknowledged.actions).size, 'the agent acts as before').toBe(1)
  expect(await auditLedger(database)).toEqual([])
  expect(await auditMarket(database)).toEqual([])
}
