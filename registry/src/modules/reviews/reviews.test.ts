import type { Review } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { expect, it } from 'vitest'
import { createActor } from '../packages/testing/publishing.ts'
import { refreshRating } from './ratings.ts'
import { insertLicense, insertPrice, revokeLicense } from './testing/licenses.ts'
import { reviewedPackages } from './testing/reviewed-packages.ts'

describeOnEngines('reviews on $kind', ({ open }) => {
  const { at, ask, tokenOf, review, list, buyerOf, packageRow, publishVersion, ...market } = reviewedPackages(open)

  it('by a buyer appear immediately with the rating; rewriting replaces them', async () => {
    expect(await list()).toEqual({
      rating: { mean: null, score: null, votes: 0, by_stars: [0, 0, 0, 0, 0] },
      reviews: [],
      own_hidden: [],
      next_cursor: null,
    })
    const { buyer, token } = await buyerOf()
    const first = await review(token, 4)
    expect(first).toMatchObject({
      status: 200,
      body: { version: '1.0.0', author: buyer.username, stars: 4, text: 'It does what it says.', reply: null },
    })
    expect(await packageRow()).toMatchObject({ rating: 3.56, star_mean: 4, votes: 1 })
    const again = await review(token, 1, { text: 'It did, until it did not.\n\nA pity.' })
    expect(again.body).toMatchObject({ id: first.body.id, stars: 1, created_at: first.body.created_at })
    expect(await list()).toMatchObject({
      rating: { mean: 1, score: 3.22, votes: 1, by_stars: [1, 0, 0, 0, 0] },
      reviews: [{ id: first.body.id, stars: 1, text: 'It did, until it did not.\n\nA pity.' }],
    })
    expect(await packageRow()).toMatchObject({ rating: 3.22, votes: 1 })
  })

  it('are for users of the package, not for its seller', async () => {
    await insertPrice(market.database(), { seller: market.seller(), packageId: at.packageId, amountMinor: 500 })
    const stranger = await createActor(market.database())
    const strange = await tokenOf(stranger, 'market:buy')
    expect(await review(strange)).toMatchObject({ status: 403, code: 'review_not_allowed' })
    expect(await review(null)).toMatchObject({ status: 401 })
    expect(await review(await tokenOf(stranger, 'packages:read'))).toMatchObject({ code: 'forbidden' })
    const own = await tokenOf(market.seller(), 'market:buy')
    market.services().downloads.record({
      versionId: at.versionId,
      ip: '192.0.2.1',
      userAgent: 'npm',
      accountId: market.seller().accountId,
    })
    expect(await review(own)).toMatchObject({ code: 'review_not_allowed' })
    // Downloaded, but not while it was free.
    market.services().downloads.record({
      versionId: at.versionId,
      ip: '192.0.2.1',
      userAgent: 'npm',
      accountId: stranger.accountId,
    })
    expect(await review(strange)).toMatchObject({ code: 'review_not_allowed' })
    expect(await packageRow()).toMatchObject({ rating: null, votes: 0 })
  })

  it('of a free package are for users who downloaded it, just now or while it was free', async () => {
    const user = await createActor(market.database())
    const token = await tokenOf(user, 'market:buy')
    expect(await review(token)).toMatchObject({ code: 'review_not_allowed' })
    market.services().downloads.record({
      versionId: at.versionId,
      ip: '192.0.2.1',
      userAgent: 'npm',
      accountId: user.accountId,
    })
    expect(await review(token, 2)).toMatchObject({ status: 200 })
    await insertPrice(market.database(), {
      seller: market.seller(),
      packageId: at.packageId,
      amountMinor: 500,
      at: new Date(Date.now() + 1_000),
    })
    await market.database().transaction((query) => refreshRating(query, at.packageId))
    expect(await packageRow(), 'a price does not remove a bad review').toMatchObject({ votes: 1 })
    expect(await review(token, 3)).toMatchObject({ status: 200 })
  })

  it('of a free scenario are for users who trained on it, once the run has started', async () => {
    const user = await createActor(market.database())
    const token = await tokenOf(user, 'market:buy')
    const run = await market
      .database()
      .query.insertInto('training_runs')
      .values({
        ...{ owner_id: user.accountId, created_by: user.accountId, scenario_version_id: at.versionId },
        ...{ algorithm: 'ppo', settings: '{}', seed: 1, note: null, trajectories_every: 0, publish_name: null },
        ...{
          publish_version: null,
          publish_visibility: null,
          idempotency_key: null,
          request_hash: '',
          traceparent: null,
        },
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    expect(await review(token)).toMatchObject({ code: 'review_not_allowed' })
    await market
      .database()
      .query.updateTable('training_runs')
      .set({ started_at: new Date() })
      .where('id', '=', run.id)
      .execute()
    expect(await review(token)).toMatchObject({ status: 200 })
  })

  it('of a hosted scenario are for users who paid for runs', async () => {
    const buyer = await createActor(market.database())
    await insertLicense(market.database(), { buyer: buyer.accountId, name: at.name, priceKind: 'per_run' })
    expect(await review(await tokenOf(buyer, 'market:buy'))).toMatchObject({ status: 200 })
  })

  it('need a license for the major version, and refunded licenses do not count', async () => {
    await publishVersion('2.0.0')
    const { token, order } = await buyerOf()
    expect(await review(token, 5, { version: '2.0.0' })).toMatchObject({ code: 'review_not_allowed' })
    expect(await review(token)).toMatchObject({ status: 200 })
    await revokeLicense(market.database(), order)
    await market.database().transaction((query) => refreshRating(query, at.packageId))
    expect(await packageRow()).toMatchObject({ rating: null, votes: 0 })
    expect(await review(token)).toMatchObject({ code: 'review_not_allowed' })
  })

  it('can be withdrawn only by their author, and rewritten', async () => {
    const { token } = await buyerOf()
    const other = await buyerOf()
    const { id } = (await review(token, 1, { text: 'Private words.' })).body as Review
    for (const as of [other.token, await tokenOf(market.seller(), 'market:buy', 'market:sell')])
      expect(await ask(as, 'DELETE', `/v1/reviews/${id}`)).toMatchObject({
        status: 404,
        code: 'review_not_found',
      })
    expect((await ask(token, 'DELETE', `/v1/reviews/${id}`)).status).toBe(204)
    expect((await ask(token, 'DELETE', `/v1/reviews/${id}`)).code).toBe('review_not_found')
    expect(await list()).toMatchObject({ rating: { votes: 0 }, reviews: [] })
    const kept = await market
      .database()
      .query.selectFrom('reviews')
      .select('text')
      .where('id', '=', id)
      .executeTakeFirst()
    expect(kept?.text).toBe('')
    expect((await review(token, 3)).body).toMatchObject({ id, stars: 3 })
  })

  it('cannot be rewritten once hidden, even after a withdrawal', async () => {
    const { token } = await buyerOf()
    const { id } = (await review(token)).body as Review
    await market.database().query.updateTable('reviews').set({ hidden_at: new Date() }).where('id', '=', id).execute()
    expect(await review(token, 1)).toMatchObject({ code: 'review_not_allowed' })
    expect((await ask(token, 'DELETE', `/v1/reviews/${id}`)).status).toBe(204)
    expect(await review(token, 1)).toMatchObject({ code: 'review_not_allowed' })
    expect(await list()).toMatchObject({ rating: { votes: 0 }, reviews: [] })
  })

  it('only the seller can reply, edit and delete the reply', async () => {
    const { token } = await buyerOf()
    const { id } = (await review(token)).body as Review
    const reply = (as: string | null, text = 'Thank you.') => ask(as, 'PUT', `/v1/reviews/${id}/reply`, { text })
    expect(await reply(null)).toMatchObject({ status: 401 })
    expect(await reply(token)).toMatchObject({ status: 403 })
    const { buyer } = await buyerOf()
    expect(await reply(await tokenOf(buyer, 'market:sell'))).toMatchObject({ code: 'forbidden' })
    expect(await reply(await tokenOf(market.seller(), 'packages:manage'))).toMatchObject({ code: 'forbidden' })
    const selling = await tokenOf(market.seller(), 'market:sell')
    expect(await reply(selling)).toMatchObject({
      status: 200,
      body: { reply: { by: market.seller().username, text: 'Thank you.' } },
    })
    expect((await reply(selling, 'Mended.')).body).toMatchObject({ reply: { text: 'Mended.' } })
    expect((await ask(selling, 'DELETE', `/v1/reviews/${id}/reply`)).status).toBe(204)
    expect(await list()).toMatchObject({ reviews: [{ reply: null }] })
    expect(await ask(selling, 'PUT', `/v1/reviews/${crypto.randomUUID()}/reply`, { text: 'x' })).toMatchObject({
      code: 'review_not_found',
    })
  })

  it('of a private package are visible to members only', async () => {
    const { token } = await buyerOf()
    const { id } = (await review(token)).body as Review
    await market
      .database()
      .query.updateTable('packages')
      .set({ visibility: 'private' })
      .where('id', '=', at.packageId)
      .execute()
    const stranger = await tokenOf(await createActor(market.database()), 'packages:read', 'market:sell', 'market:buy')
    for (const as of [token, stranger]) {
      expect(await ask(as, 'GET', `${at.path}/reviews`)).toMatchObject({ code: 'package_not_found' })
      expect(await review(as)).toMatchObject({ code: 'package_not_found' })
    }
    const reply = (as: string) => ask(as, 'PUT', `/v1/reviews/${id}/reply`, { text: 'x' })
    expect(await reply(stranger), 'the same as for one that is not there').toMatchObject({ code: 'review_not_found' })
    expect(await ask(await tokenOf(market.seller(), 'packages:read'), 'GET', `${at.path}/reviews`)).toMatchObject({
      status: 200,
    })
  })

  it('are paginated, and forged cursors are refused', async () => {
    for (let stars = 1; stars <= 5; stars++) await review((await buyerOf()).token, stars)
    const seen: string[] = []
    let cursor: unknown = ''
    while (cursor !== null) {
      const page = await ask(null, 'GET', `${at.path}/reviews?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...(page.body.reviews as Review[]).map(({ id }) => id))
      cursor = page.body.next_cursor
    }
    expect(new Set(seen).size).toBe(5)
    expect(seen).toHaveLength(5)
    expect(await ask(null, 'GET', `${at.path}/reviews?cursor=abc.def`)).toMatchObject({ code: 'request_invalid' })
  })

  it.each([
    ['no stars', { stars: 0 }],
    ['six stars', { stars: 6 }],
    ['half a star', { stars: 2.5 }],
    ['nothing said', { text: '  \n ' }],
    ['too much', { text: 'x'.repeat(5_001) }],
    ['a NUL', { text: 'a\0b' }],
    ['half a letter', { text: 'a\ud800b' }],
    ['a text that turns the page around', { text: 'a\u202eb' }],
    ['a version with a NUL', { version: '1.0.0\0' }],
    ['a field that is not there', { author: 'somebody' }],
  ])('are refused if invalid: %s', async (_, more) => {
    expect(await review((await buyerOf()).token, 5, more)).toMatchObject({ status: 422, code: 'request_invalid' })
  })

  it('of missing versions are refused', async () => {
    expect(await review((await buyerOf()).token, 5, { version: '9.0.0' })).toMatchObject({ code: 'version_not_found' })
  })

  it('are in the audit log', async () => {
    const { buyer, token } = await buyerOf()
    const { id } = (await review(token, 4)).body as Review
    await ask(await tokenOf(market.seller(), 'market:sell'), 'PUT', `/v1/reviews/${id}/reply`, { text: 'Thanks.' })
    await ask(token, 'DELETE', `/v1/reviews/${id}`)
    const entries = await market
      .database()
      .query.selectFrom('audit')
      .select(['action', 'actor_id', 'data'])
      .where('subject', '=', `${at.name}@1.0.0`)
      .where('action', 'like', 'review.%')
      .orderBy('id')
      .execute()
    expect(entries).toEqual([
      { action: 'review.put', actor_id: buyer.accountId, data: { review: id, stars: 4 } },
      { action: 'review.reply', actor_id: market.seller().accountId, data: { review: id } },
      { action: 'review.delete', actor_id: buyer.accountId, data: { review: id } },
    ])
  })
})
