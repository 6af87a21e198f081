import { describeOnEngines } from '@agentgym/testkit/databases'
import { expect, it } from 'vitest'
import { putMember, removeMember } from '../../core/access/memberships.store.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { readRating, refreshRatings } from './ratings.ts'
import { insertLicense, organizationWith } from './testing/licenses.ts'
import { reviewedPackages } from './testing/reviewed-packages.ts'

describeOnEngines('ratings on $kind', ({ open }) => {
  const { at, review, list, buyerOf, packageRow, ...market } = reviewedPackages(open)
  const votes = async () => {
    const { rating, votes: count } = await packageRow()
    return { rating, votes: count }
  }

  it('one vote per user over all versions: the newest', async () => {
    await market.publishVersion('1.1.0')
    await market.publishVersion('1.2.0')
    const { token } = await buyerOf()
    for (const [version, stars] of [
      ['1.0.0', 5],
      ['1.1.0', 5],
      ['1.2.0', 2],
    ] as const)
      expect((await review(token, stars, { version })).status).toBe(200)
    expect(await list()).toMatchObject({ rating: { votes: 1, by_stars: [0, 1, 0, 0, 0] }, reviews: [{}, {}, {}] })
    await review(token, 4, { version: '1.0.0' })
    expect(await list()).toMatchObject({ rating: { votes: 1, by_stars: [0, 0, 0, 1, 0] } })
  })

  it('users who join the seller keep their vote, disabled users do not', async () => {
    const { query } = market.database()
    const organisation = await organizationWith(market.database(), market.seller(), 'owner')
    await market.publishAs(organisation.username, 'maze')
    const [one, other] = [await buyerOf(), await buyerOf()]
    for (const { token } of [one, other]) expect(await review(token)).toMatchObject({ status: 200 })
    expect(await votes()).toMatchObject({ votes: 2 })
    await putMember(query, organisation.id, one.buyer.accountId, 'viewer')
    await refreshRatings(market.database())
    expect(await votes()).toMatchObject({ votes: 2 })
    expect(await review(one.token, 5)).toMatchObject({ code: 'review_not_allowed' })
    const disabled = { disabled_at: new Date() }
    await query.updateTable('accounts').set(disabled).where('id', '=', other.buyer.accountId).execute()
    await refreshRatings(market.database())
    expect(await votes()).toMatchObject({ votes: 1 })
  })

  it('members of a buying organization vote while they are members', async () => {
    const member = await createActor(market.database())
    const organisation = await organizationWith(market.database(), member)
    await insertLicense(market.database(), { buyer: organisation.id, name: at.name })
    const token = await market.tokenOf(member, 'market:buy')
    expect(await review(token)).toMatchObject({ status: 200 })
    await removeMember(market.database().query, organisation.id, member.accountId)
    expect(await review(token, 1)).toMatchObject({ code: 'review_not_allowed' })
    await refreshRatings(market.database())
    expect(await votes()).toEqual({ rating: null, votes: 0 })
    expect((await list()).reviews, 'it can still be read').toHaveLength(1)
  })

  it('concurrent votes all count', async () => {
    const buyers = await Promise.all(Array.from({ length: 12 }, () => buyerOf()))
    const answers = await Promise.all(buyers.flatMap(({ token }, i) => [review(token, (i % 5) + 1), review(token, 3)]))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { score } = await readRating(market.database().query, at.packageId)
    expect(await votes()).toEqual({ rating: score, votes: 12 })
  })

  it('a new overall mean updates every rating', async () => {
    const { query } = market.database()
    await review((await buyerOf()).token, 5)
    const before = (await votes()).rating
    await query.updateTable('rating_prior').set({ mean: 1 }).execute()
    await refreshRatings(market.database())
    const { mean } = await query.selectFrom('rating_prior').select('mean').executeTakeFirstOrThrow()
    expect(mean).toBeGreaterThan(2)
    const { rating, votes: count } = await votes()
    expect(await readRating(query, at.packageId)).toMatchObject({ score: rating, votes: count })
    expect(Math.abs((rating ?? 0) - (before ?? 0))).toBeLessThan(1)
  })
})
