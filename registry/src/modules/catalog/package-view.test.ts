import { type AgentGymError, packageViewSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { type Cast, openCast, sell } from '../entitlements/testing/market-server.ts'
import { buy } from '../orders/testing/marketplace.ts'
import { deprecateVersions, yankVersion } from '../packages/change-versions.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { keepSampleEpisode, readSampleEpisode } from '../packages/packages.store.ts'
import { checkAll } from '../packages/testing/publishing.ts'
import { makeOffer } from '../prices/offer.ts'
import { setPrice } from '../prices/set-price.ts'
import { finish, mustLease, resultOf, uploadAgent } from '../verification/testing/verifying.ts'
import { packagePage } from './package-page.ts'
import { packageView } from './package-view.ts'

describeOnEngines('a package in one answer on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let cast: Cast
  let actors: [string, Actor | null][]
  let names: Record<string, string>

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    cast = await openCast(database)
    const { seller, other, buyer, operator, colleague, orgOwner } = cast
    const price = { kind: 'one_time', amount_minor: 750, terms: 'No resale.' } as const
    // What agents in tests are trained on.
    const paid = await sell(services, seller, 'maze', price)
    await buy(services, buyer, { name: paid }, { expected_price: { amount_minor: 750 } })
    await buy(services, orgOwner, { name: paid }, { account: cast.org.username })
    // Announced, with terms: it holds after the notice period.
    await setPrice(services, { actor: seller, name: paid, ip: null }, { kind: 'one_time', amount_minor: 900 })
    const agent = await uploadAgent(services, seller)
    await checkAll(services)
    const job = await mustLease(services)
    await finish(services, job, resultOf(job, agent.evaluation, { return_mean: 0.93 }))
    names = {
      paid,
      agent: agent.name,
      free: await sell(services, seller, 'free', null),
      hosted: await sell(services, seller, 'hosted', { kind: 'per_run', amount_minor: 40 }),
      secret: await sell(services, seller, 'secret', null, 'private'),
      deprecated: await sell(services, seller, 'deprecated', null),
      yanked: await sell(services, seller, 'yanked', null),
      down: await sell(services, seller, 'down', price),
      downBought: await sell(services, seller, 'down-bought', price),
    }
    await buy(services, buyer, { name: names.downBought }, { expected_price: { amount_minor: 750 } })
    const change = (name: string) => ({ actor: seller, name, ip: null })
    await deprecateVersions(services, change(names.deprecated), new Map([['1.0.0', 'Use another.']]))
    await yankVersion(services, change(names.yanked), '1.0.0')
    await database.query
      .updateTable('packages')
      .set({ taken_down_at: new Date(), taken_down_reason: 'Because.' })
      .where('name', 'in', [names.down, names.downBought])
      .execute()
    for (const name of [names.paid, names.agent]) {
      const { id } = await database.query
        .selectFrom('versions')
        .innerJoin('packages', 'packages.id', 'versions.package_id')
        .select('versions.id')
        .where('packages.name', '=', name)
        .executeTakeFirstOrThrow()
      await keepSampleEpisode(database.query, id, sampleEpisode())
      const points = JSON.stringify([
        { steps: 10, return_mean: 1 },
        { steps: 20, return_mean: 2.5 },
      ])
      await database.query.insertInto('learning_curves').values({ version_id: id, points }).execute()
      await database.query
        .insertInto('version_changes')
        .values({ version_id: id, markdown: '- New', html: '<ul>\n<li>New</li>\n</ul>' })
        .execute()
    }
    const without = (actor: Actor, ...scopes: string[]) => ({
      ...actor,
      scopes: new Set([...actor.scopes].filter((scope) => !scopes.includes(scope))),
    })
    actors = [
      ['a stranger', null],
      ...Object.entries({ seller, other, buyer, operator, colleague, orgOwner }),
      ['a token that sees no balance', without(buyer, 'market:buy', 'market:sell')],
      ['a token that reads no packages', without(seller, 'packages:read', 'packages:publish', 'packages:manage')],
    ]
  }, 300_000)
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  const settled = (reading: Promise<unknown>) =>
    reading.catch((error: AgentGymError) => {
      if (error.code === undefined) throw error
      return error.code
    })
  /** What the four say, each asked for itself. */
  const readParts = async (actor: Actor | null, name: string) => {
    const page = await packagePage(services, actor, name)
    const offer = await settled(makeOffer(services, { actor, name }))
    if (page.latest === null) return { page, offer, details: null, episode: null }
    const { version } = page.latest
    const details = await settled(describeVersion(services, actor, name, version))
    return { page, offer, details, episode: await settled(readSampleEpisode(database.query, actor, name, version)) }
  }

  it('equals the separate responses for every caller', async () => {
    const kinds: string[] = []
    const curve = [
      { steps: 10, return_mean: 1 },
      { steps: 20, return_mean: 2.5 },
    ]
    const outcome = { ok: true, criteria: [{ metric: 'return_mean', target: 0.9, value: 0.95, ok: true }] }
    const best = { agent: names.agent, version: '0.1.0', return_mean: 0.93, outcome, recorded: true, curve }
    for (const [kind, name] of Object.entries(names)) {
      for (const [who, actor] of actors) {
        const expected = await settled(readParts(actor, name))
        const given = await settled(packageView(services, actor, name))
        kinds.push(typeof given)
        if (typeof expected === 'string') {
          expect(given, `${kind} for ${who}`).toBe(expected)
          continue
        }
        const { page, offer, details, episode } = expected as Awaited<ReturnType<typeof readParts>>
        const part = (value: unknown) => (typeof value === 'string' ? null : value)
        // The only scenario with a verified agent.
        const best_agent = kind === 'paid' ? best : null
        const latest = details === null ? null : { details, episode: part(episode), best_agent }
        expect(given, `${kind} for ${who}`).toEqual({ page, offer: part(offer), latest })
        expect(packageViewSchema.parse(given)).toEqual(given)
      }
    }
    // The private one is hidden from five of nine callers; everything else is visible.
    expect(kinds.filter((kind) => kind === 'string').length).toBeGreaterThan(0)
    expect(kinds.filter((kind) => kind === 'object').length).toBeGreaterThan(60)
  }, 300_000)

  it('is complete for a complete package', async () => {
    const { page, offer, latest } = await packageView(services, null, names.agent)
    expect(page.latest?.version).toBe('0.1.0')
    expect(offer).toMatchObject({ verification: { state: 'verified', return_mean: 0.93 } })
    expect(latest?.details).toMatchObject({ verification: { state: 'verified' }, changes: { markdown: '- New' } })
    expect(latest?.details.agent).not.toBeNull()
    expect(latest?.details.learning_curve).toHaveLength(2)
    expect(latest?.episode?.steps.length).toBeGreaterThan(0)
    expect((await packageView(services, null, names.paid)).offer).toMatchObject({
      ...{ price: { amount_minor: 750 }, upcoming: { amount_minor: 900 }, terms: 'No resale.', entitled: false },
    })
    expect((await packageView(services, cast.buyer, names.paid)).offer?.entitled).toBe(true)
    expect((await packageView(services, null, names.yanked)).latest).toBeNull()
    expect((await packageView(services, null, names.down)).latest).toBeNull()
    expect((await packageView(services, cast.buyer, names.downBought)).latest).not.toBeNull()
  })

  it('is found in any casing, and not for missing packages', async () => {
    expect((await packageView(services, null, names.free.toUpperCase())).page.name).toBe(names.free)
    for (const name of ['@nobody/none', 'none', '@/', "@a/b'; drop table packages"])
      expect(await settled(packageView(services, null, name))).toBe('package_not_found')
  })
})
