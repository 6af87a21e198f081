import type { TestServices } from '@agentgym/testkit/services'
import { setCallTerms } from '../../src/modules/metering/testing/metered-agents.ts'
import {
  createTokenActor,
  createTrader,
  listPackage,
  setListPrice,
} from '../../src/modules/orders/testing/marketplace.ts'
import { createActor, publish } from '../../src/modules/packages/testing/publishing.ts'
import { perRunMinor, type SpendingMarket } from './spending.ts'

export const licensePrices = [40, 75, 120]
/** Of 1,000 calls. */
const callPrices = [7_001, 333]
export const trialCalls = 2

/** A seller with agents and licenses, two scenarios, an operator who is paid for training, and `count` buyers without money. */
export async function openSpendingMarket(services: TestServices, count: number): Promise<SpendingMarket> {
  const { database } = services
  const [operator, seller, author] = [await trader(services), await trader(services), await trader(services)]
  await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
  for (const { accountId } of [operator, seller])
    await database.query
      .insertInto('payout_destinations')
      .values({ account_id: accountId, provider: 'test', provider_account: `test_${accountId}`, ready: true })
      .execute()
  const own = { ownerId: seller.accountId, owner: seller.username, kind: 'agent' as const }
  const authors = { ownerId: author.accountId, owner: author.username }
  const scenario = await listPackage(database, { ...authors, royaltyBasisPoints: 1_500 })
  const agents = []
  for (const [index, callsPriceMinor] of callPrices.entries()) {
    const agent = await listPackage(database, { ...own, scenario })
    await setCallTerms(database, agent, { trialCalls: index === 1 ? trialCalls : 0, callsPriceMinor })
    agents.push({ id: agent.id, name: agent.name })
  }
  const licenses = []
  for (const amountMinor of licensePrices) {
    const { id, name } = await listPackage(database, { ...own, scenario, price: { kind: 'one_time', amountMinor } })
    licenses.push({ id, name, ownerId: seller.accountId })
  }
  return {
    ...{ operator, seller, agents, licenses, scenarios: await publishScenarios(services) },
    buyers: await createBuyers(services, count),
  }
}

/** Buyers of their own, who share nothing with those before. */
export async function createBuyers({ database }: Pick<TestServices, 'database'>, count: number) {
  const buyers: SpendingMarket['buyers'] = []
  for (let index = 0; index < count; index++) {
    const actor = await createTrader(database, 'buyer')
    const { tokenId } = await createTokenActor(database, actor)
    buyers.push({ accountId: actor.accountId, username: actor.username, tokenId })
  }
  return buyers
}

async function trader({ database }: TestServices) {
  const { accountId, username } = await createTrader(database)
  return { accountId, username }
}

/** Two that can be trained on; a run on the second one has a price. */
async function publishScenarios(services: TestServices): Promise<SpendingMarket['scenarios']> {
  const scenarios: SpendingMarket['scenarios'] = []
  for (const isPaid of [false, true]) {
    const author = await createActor(services.database)
    await publish(services, author, '1.0.0')
    const name = `@${author.username}/maze`
    const { query } = services.database
    const { id } = await query.selectFrom('packages').select('id').where('name', '=', name).executeTakeFirstOrThrow()
    const price = { kind: 'per_run' as const, amountMinor: perRunMinor }
    if (isPaid) await setListPrice(services.database, { id, ownerId: author.accountId }, price)
    scenarios.push({ id, name })
  }
  return scenarios
}
