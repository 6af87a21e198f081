import { offerSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { type Cast, openCast, sell } from '../entitlements/testing/market-server.ts'
import { buy, codeOf } from '../orders/testing/marketplace.ts'
import { checkAll } from '../packages/testing/publishing.ts'
import { finish, mustLease, resultOf, uploadAgent } from '../verification/testing/verifying.ts'
import { makeOffer } from './offer.ts'

describeOnEngines('the offer on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let cast: Cast
  let name: string

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    cast = await openCast(database)
    name = await sell(services, cast.seller, 'maze', { kind: 'one_time', amount_minor: 750, terms: 'No resale.' })
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  const offer = (actor: Actor | null, more: { range?: string; account?: string; name?: string } = {}) =>
    makeOffer(services, { actor, name, ...more }).then((made) => offerSchema.parse(made))

  it('contains everything needed before an order', async () => {
    expect(await offer(null)).toMatchObject({
      ...{ package: name, kind: 'scenario', seller: cast.seller.username, version: '1.0.0', covers: '1.x' },
      ...{ price: { kind: 'one_time', amount_minor: 750, currency: 'USD' }, upcoming: null, total_minor: 750 },
      ...{ license: 'MIT', terms: 'No resale.', entitled: false, balance_minor: null, verification: null },
      page: `http://localhost:4477/packages/${name}`,
    })
    expect(await offer(cast.buyer)).toMatchObject({ entitled: false, balance_minor: 100_000 })
    expect(await offer(cast.seller)).toMatchObject({ entitled: true, balance_minor: 0 })
  })

  it('reports ownership; for an organization only its own licenses', async () => {
    const { buyer, org, orgOwner, colleague } = cast
    const { order } = await buy(services, buyer, { name }, { expected_price: { amount_minor: 750 } })
    expect(order.state).toBe('paid')
    expect(await offer(buyer)).toMatchObject({ entitled: true, balance_minor: 99_250 })
    const forOrg = { account: org.username }
    expect(await offer(orgOwner, forOrg)).toMatchObject({ entitled: false, balance_minor: 100_000 })
    await buy(services, orgOwner, { name }, forOrg)
    for (const member of [orgOwner, colleague]) {
      expect(await offer(member, forOrg)).toMatchObject({ entitled: true, balance_minor: 99_250 })
      expect(await offer(member)).toMatchObject({ entitled: true, balance_minor: 0 })
    }
    expect(await codeOf(offer(cast.other, forOrg))).toBe('forbidden')
    expect(await codeOf(offer(null, forOrg))).toBe('unauthenticated')
    expect(await codeOf(offer(cast.other, { account: 'nobody-has-that' }))).toBe('account_not_found')
  })

  it('shows the balance only to authorized callers', async () => {
    const without = (...scopes: string[]) => ({
      ...cast.other,
      scopes: new Set([...cast.other.scopes].filter((scope) => !scopes.includes(scope))),
    })
    expect(await offer(without('market:buy', 'market:sell'))).toMatchObject({ balance_minor: null })
    expect(await offer(without('market:buy'))).toMatchObject({ balance_minor: 100_000 })
    expect(await offer(without('packages:read', 'packages:publish'))).toMatchObject({ entitled: false })
  })

  it('reports packages that cannot be bought', async () => {
    expect(await codeOf(offer(cast.other, { range: '^2.0.0' }))).toBe('version_not_found')
    expect(await codeOf(offer(cast.other, { name: '@nobody/maze' }))).toBe('package_not_found')
    const secret = await sell(services, cast.seller, 'secret', null, 'private')
    expect(await codeOf(offer(cast.other, { name: secret }))).toBe('package_not_found')
    expect(await offer(cast.seller, { name: secret })).toMatchObject({ entitled: true, price: { kind: 'free' } })
  })

  it('an order accepts the offer’s price, also for packages that never had one', async () => {
    const free = await sell(services, cast.seller, 'free', null)
    const { price } = await offer(cast.other, { name: free })
    const expected = { id: price.id, amount_minor: price.amount_minor }
    const { order } = await buy(services, cast.other, { name: free }, { expected_price: expected })
    expect(order).toMatchObject({ state: 'paid', total_minor: 0 })
  })

  it('of an agent shows its verification, and how to repeat it', async () => {
    const agent = await uploadAgent(services, cast.seller)
    await checkAll(services)
    expect(await offer(cast.seller, { name: agent.name, range: agent.version })).toMatchObject({
      verification: {
        state: 'pending',
        return_mean: null,
        outcome: null,
        command: `agentgym agent verify ${agent.name}@0.1.0`,
      },
    })
    const job = await mustLease(services)
    await finish(services, job, resultOf(job, agent.evaluation, { return_mean: 0.93 }))
    expect(await offer(cast.other, { name: agent.name })).toMatchObject({
      verification: { state: 'verified', return_mean: 0.93, outcome: agent.evaluation.success },
    })
  })
})
