import type { Review } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember } from '../../core/access/memberships.store.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { distributeEvents } from '../events/index.ts'
import { notifyUsers } from '../notifications/index.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { organizationWith } from '../reviews/testing/licenses.ts'
import { reviewedPackages } from '../reviews/testing/reviewed-packages.ts'
import { moderationRoutes } from './moderation.routes.ts'

describeOnEngines('moderation on $kind', ({ open }) => {
  const market = reviewedPackages(open, (services) => [moderationRoutes(services)])
  const { at, ask, tokenOf, packageRow, buyerOf, review, list } = market
  let operator: Actor
  let operating: string

  beforeAll(async () => {
    operator = await createActor(market.database(), 'op')
    await market
      .database()
      .query.updateTable('accounts')
      .set({ operator: true })
      .where('id', '=', operator.accountId)
      .execute()
    operating = await tokenOf(operator, 'packages:manage')
  })

  const selling = () => tokenOf(market.seller(), 'packages:manage', 'packages:read')
  const reporters: Actor[] = []
  const reporter = async () => {
    const actor = await createActor(market.database(), 'reporter')
    reporters.push(actor)
    return tokenOf(actor, 'packages:read')
  }
  const report = (as: string | null, more: object = {}) =>
    ask(as, 'POST', '/v1/reports', { package: at.name, reason: 'misleading', text: 'It does nothing.', ...more })
  const decide = (as: string | null, id: unknown, decision: string, reason = 'So it is.') =>
    ask(as, 'POST', `/v1/reports/${id}/decision`, { decision, reason })
  const act = (as: string | null, what: string, body: object = { reason: 'It is not theirs.' }) =>
    ask(as, 'POST', `${at.path}/${what}`, body)
  const moderation = async (as: string | null) => ask(as, 'GET', `${at.path}/moderation`)
  const mailTo = async ({ username }: Pick<Actor, 'username'>) => {
    await backgroundSettled()
    return (await market.services().mail.sent()).filter(({ to }) => to === `${username}@example.org`)
  }
  const notified = async ({ accountId }: Pick<Actor, 'accountId'>) => {
    await distributeEvents(market.services(), [notifyUsers])
    return market
      .database()
      .query.selectFrom('notifications')
      .innerJoin('events', 'events.id', 'notifications.event_id')
      .select(['events.type', 'events.data', 'notifications.email'])
      .where('notifications.account_id', '=', accountId)
      .where(sql`events.data ->> 'package'`, '=', at.name)
      .orderBy('events.created_at')
      .execute()
  }

  it('a report goes to the operators, once per reporter', async () => {
    const token = await reporter()
    const made = await report(token)
    expect(made).toMatchObject({
      status: 201,
      body: { package: at.name, review: null, reason: 'misleading', state: 'open', decision: null },
    })
    expect(await report(token, { reason: 'spam', text: 'Again.' })).toMatchObject({
      status: 200,
      body: { id: made.body.id },
    })
    expect(await report(await reporter())).toMatchObject({ status: 201 })
    const reported = (await ask(operating, 'GET', '/v1/reports')).body.reports as { id: string }[]
    expect(reported.map(({ id }) => id)).toContain(made.body.id)
    expect((await mailTo(operator)).map(({ subject }) => subject)).toContain(`${at.name} was reported: misleading`)
  })

  it('the reported subject must exist and be visible to the reporter', async () => {
    const token = await reporter()
    expect(await report(null)).toMatchObject({ status: 401 })
    expect(await report(token, { package: '@nobody/nothing' })).toMatchObject({ code: 'package_not_found' })
    expect(await report(token, { review: crypto.randomUUID() })).toMatchObject({ code: 'review_not_found' })
    const { id } = (await review((await buyerOf()).token)).body as Review
    await market.publishAs(market.seller().username, `other-${id.slice(0, 8)}`)
    expect(await report(token, { review: id }), 'a review of another package').toMatchObject({
      code: 'review_not_found',
    })
    expect(await report(token, { reason: 'appeal' })).toMatchObject({ code: 'request_invalid' })
    await market
      .database()
      .query.updateTable('packages')
      .set({ visibility: 'private' })
      .where('id', '=', at.packageId)
      .execute()
    expect(await report(token)).toMatchObject({ code: 'package_not_found' })
  })

  it('only operators see and decide reports, take down and restore', async () => {
    const { id } = (await report(await reporter())).body
    const owner = await selling()
    for (const [as, status] of [
      [null, 401],
      [await reporter(), 403],
      [owner, 403],
      [await tokenOf(operator, 'packages:read'), 403],
    ] as const) {
      expect((await ask(as, 'GET', '/v1/reports')).status).toBe(status)
      expect((await decide(as, id, 'upheld')).status).toBe(status)
      expect((await act(as, 'take-down')).status).toBe(status)
      expect((await act(as, 'restore')).status).toBe(status)
    }
    expect(await packageRow()).toMatchObject({ taken_down_at: null })
    expect(await decide(operating, crypto.randomUUID(), 'upheld')).toMatchObject({ code: 'report_not_found' })
  })

  it('upheld, the package is taken down with the reason, and all reporters are answered', async () => {
    const [first, second] = [await report(await reporter()), await report(await reporter())]
    expect(await decide(operating, first.body.id, 'upheld', 'It does nothing indeed.')).toMatchObject({
      status: 200,
      body: { state: 'upheld', decision: { by: operator.username, reason: 'It does nothing indeed.' } },
    })
    expect(await packageRow()).toMatchObject({
      taken_down_at: expect.any(Date),
      taken_down_reason: 'It does nothing indeed.',
      taken_down_for_all: false,
    })
    expect(await decide(operating, second.body.id, 'upheld'), 'decided with the other').toMatchObject({
      status: 200,
      body: { decision: { reason: 'It does nothing indeed.' } },
    })
    expect(await decide(operating, second.body.id, 'dismissed')).toMatchObject({ code: 'moderation_state_conflict' })
    const reason = 'It does nothing indeed.'
    expect(await notified(market.seller())).toMatchObject([
      { type: 'package.taken_down', data: { reason, for_all: false }, email: 'pending' },
    ])
    for (const reporting of reporters.slice(-2))
      expect(await notified(reporting)).toMatchObject([
        { type: 'report.decided', data: { decision: 'upheld', reason }, email: 'pending' },
      ])
  })

  it('dismissed, the package stays, and other reports remain open', async () => {
    const [first, second] = [await report(await reporter()), await report(await reporter())]
    expect(await decide(operating, first.body.id, 'dismissed')).toMatchObject({ body: { state: 'dismissed' } })
    expect(await packageRow()).toMatchObject({ taken_down_at: null })
    const open = (await ask(operating, 'GET', '/v1/reports?limit=100')).body.reports as { id: unknown }[]
    expect(open.map(({ id }) => id)).toContain(second.body.id)
    expect(open.map(({ id }) => id)).not.toContain(first.body.id)
  })

  it('malicious: taken down for buyers too, and refunds are owed', async () => {
    const { id } = (await report(await reporter(), { reason: 'malicious' })).body
    await decide(operating, id, 'upheld')
    expect(await packageRow()).toMatchObject({ taken_down_for_all: true })
    const owed = await market
      .database()
      .query.selectFrom('owed_refunds')
      .selectAll()
      .where('package_id', '=', at.packageId)
      .execute()
    expect(owed).toMatchObject([{ version_id: null, reason: expect.stringContaining('It was taken down') }])
  })

  it('of a review: it is hidden, its vote is removed, and its author is notified', async () => {
    const { buyer, token } = await buyerOf()
    const { id } = (await review(token, 1, { text: 'A slander.' })).body as Review
    const made = await report(await selling(), { review: id, reason: 'abusive' })
    expect(await decide(operating, made.body.id, 'upheld', 'A slander it is.')).toMatchObject({ status: 200 })
    expect(await list()).toMatchObject({ rating: { votes: 0 }, reviews: [] })
    expect(await packageRow()).toMatchObject({ votes: 0, taken_down_at: null })
    expect(await review(token, 1)).toMatchObject({ code: 'review_not_allowed' })
    expect(await notified(buyer)).toMatchObject([{ type: 'review.hidden', data: { reason: 'A slander it is.' } }])
  })

  it('its author appeals once, and the operators answer; an upheld appeal shows it again', async () => {
    const { buyer, token } = await buyerOf()
    const { id } = (await review(token, 1, { text: 'Not good.' })).body as Review
    const appeals = `/v1/reviews/${id}/appeals`
    const appeal = (as: string | null) => ask(as, 'POST', appeals, { text: 'It is my opinion.' })
    expect(await appeal(token), 'not hidden').toMatchObject({ code: 'review_not_found' })
    const hide = async () => {
      const { body } = await report(await selling(), { review: id, reason: 'abusive' })
      await decide(operating, body.id, 'upheld', 'A slander.')
    }
    await hide()
    const hidden = async () => (await ask(token, 'GET', `${at.path}/reviews`)).body.own_hidden
    expect(await hidden()).toMatchObject([{ id, version: '1.0.0', decision: { reason: 'A slander.', appeal: null } }])
    expect((await ask(await reporter(), 'GET', `${at.path}/reviews`)).body.own_hidden).toEqual([])
    expect(await appeal((await buyerOf()).token), 'of another').toMatchObject({ code: 'review_not_found' })
    expect(await appeal(null)).toMatchObject({ status: 401 })
    const made = await appeal(token)
    expect(made).toMatchObject({ status: 201, body: { review: id, reason: 'appeal', appealed_reason: 'A slander.' } })
    expect(await appeal(token)).toMatchObject({ code: 'moderation_state_conflict' })
    await decide(operating, made.body.id, 'dismissed', 'It names a person.')
    expect(await hidden()).toMatchObject([{ decision: { appeal: 'dismissed' } }])
    expect(await appeal(token)).toMatchObject({ code: 'moderation_state_conflict' })
    expect(await list()).toMatchObject({ rating: { votes: 0 }, reviews: [] })
    // As if it had been hidden again.
    await sql`update reviews set hidden_at = now() + interval '1 second' where id = ${String(id)}`.execute(
      market.database().query,
    )
    const again = await appeal(token)
    expect(again, 'of the new decision').toMatchObject({ status: 201 })
    await decide(operating, again.body.id, 'upheld', 'An opinion.')
    expect(await hidden()).toEqual([])
    expect(await list()).toMatchObject({ rating: { votes: 1 }, reviews: [{ id }] })
    expect((await notified(buyer)).map(({ type }) => type)).toEqual([
      ...['review.hidden', 'appeal.dismissed', 'appeal.upheld'],
    ])
  })

  it('of a review withdrawn meanwhile: only that review is decided', async () => {
    const { token } = await buyerOf()
    const { id } = (await review(token, 1)).body as Review
    const made = await report(await selling(), { review: id, reason: 'abusive' })
    await ask(token, 'DELETE', `/v1/reviews/${id}`)
    expect(await decide(operating, made.body.id, 'upheld')).toMatchObject({ status: 200, body: { review: id } })
    expect(await packageRow()).toMatchObject({ taken_down_at: null })
    expect(await review(token, 1)).toMatchObject({ code: 'review_not_allowed' })
  })

  it('take-down, appeal and restoration appear in the history for the parties', async () => {
    const owner = await selling()
    expect(await act(owner, 'appeals', { text: 'Why?' })).toMatchObject({ code: 'moderation_state_conflict' })
    expect(await act(operating, 'take-down', { reason: 'Copied.' })).toMatchObject({
      status: 200,
      body: { package: at.name, taken_down: { reason: 'Copied.' } },
    })
    expect(await act(operating, 'take-down', { reason: 'Other words.' }), 'once').toMatchObject({
      body: { taken_down: { reason: 'Copied.' }, trail: [{ action: 'package.take_down' }] },
    })
    expect(await act(await reporter(), 'appeals', { text: 'It is mine!' })).toMatchObject({ status: 403 })
    expect(await act(owner, 'appeals', { text: 'It is mine.' })).toMatchObject({ status: 200 })
    expect(await act(owner, 'appeals', { text: 'And how.' })).toMatchObject({ code: 'moderation_state_conflict' })
    const queue = (await ask(operating, 'GET', '/v1/reports?limit=100')).body.reports as {
      package: string
      id: string
    }[]
    const appeal = queue.find((one) => one.package === at.name)
    expect(appeal).toMatchObject({
      ...{ reason: 'appeal', text: 'It is mine.', by: market.seller().username, appealed_reason: 'Copied.' },
    })
    expect((await moderation(owner)).body).toMatchObject({ taken_down: { appeal: 'open' } })
    expect(await decide(operating, appeal?.id, 'upheld', 'So it is.')).toMatchObject({ status: 200 })
    expect(await packageRow()).toMatchObject({ taken_down_at: null, taken_down_reason: null })
    const trail = [
      { action: 'package.take_down', by: operator.username, reason: 'Copied.' },
      { action: 'package.appeal', by: market.seller().username, reason: 'It is mine.' },
      { action: 'package.restore', by: operator.username, reason: 'So it is.' },
    ]
    for (const as of [owner, operating]) expect((await moderation(as)).body).toMatchObject({ taken_down: null, trail })
    expect(await moderation(await reporter())).toMatchObject({ status: 403 })
    expect(await moderation(null)).toMatchObject({ status: 401 })
    const [down, up, ...more] = await notified(market.seller())
    expect([down.type, up.type, more]).toEqual(['package.taken_down', 'package.restored', []])
  })

  it('after a dismissed appeal, the package stays down, and only another take-down can be appealed', async () => {
    const owner = await selling()
    await act(operating, 'take-down')
    await act(owner, 'appeals', { text: 'It is mine.' })
    const open = (await ask(operating, 'GET', '/v1/reports?limit=100')).body.reports as {
      package: string
      id: string
    }[]
    await decide(operating, open.find((one) => one.package === at.name)?.id, 'dismissed', 'It is not.')
    expect(await packageRow()).toMatchObject({ taken_down_at: expect.any(Date) })
    expect((await moderation(owner)).body.trail).toMatchObject([
      {},
      {},
      { action: 'package.appeal_dismiss', reason: 'It is not.' },
    ])
    expect((await moderation(owner)).body).toMatchObject({ taken_down: { appeal: 'dismissed' } })
    expect(await act(owner, 'appeals', { text: 'It is!' })).toMatchObject({ code: 'moderation_state_conflict' })
    await act(operating, 'restore', { reason: 'A mistake.' })
    await act(operating, 'take-down')
    expect((await moderation(owner)).body).toMatchObject({ taken_down: { appeal: null } })
    expect(await act(owner, 'appeals', { text: 'It is!' })).toMatchObject({ status: 200 })
    expect(await act(operating, 'restore', { reason: 'Well then.' })).toMatchObject({ body: { taken_down: null } })
    const left = (await ask(operating, 'GET', '/v1/reports?limit=100')).body.reports as { package: string }[]
    expect(
      left.filter((one) => one.package === at.name),
      'answered by it',
    ).toEqual([])
  })

  it('of an organization: owners and admins are notified and appeal', async () => {
    const [owner, admin, member] = await Promise.all([1, 2, 3].map(() => createActor(market.database())))
    const organisation = await organizationWith(market.database(), owner, 'owner')
    await putMember(market.database().query, organisation.id, market.seller().accountId, 'admin')
    await market.publishAs(organisation.username, 'maze')
    await putMember(market.database().query, organisation.id, admin.accountId, 'admin')
    await putMember(market.database().query, organisation.id, member.accountId, 'member')
    await act(operating, 'take-down')
    expect(await act(await tokenOf(member, 'packages:manage'), 'appeals', { text: 'Please.' })).toMatchObject({
      status: 403,
    })
    expect(await act(await tokenOf(admin, 'packages:manage'), 'appeals', { text: 'Please.' })).toMatchObject({
      status: 200,
    })
    // Those who can appeal.
    for (const manager of [owner, admin]) expect(await notified(manager)).toHaveLength(1)
  })

  it('operators see no private packages here either', async () => {
    await market
      .database()
      .query.updateTable('packages')
      .set({ visibility: 'private' })
      .where('id', '=', at.packageId)
      .execute()
    expect(await act(operating, 'take-down')).toMatchObject({ code: 'package_not_found' })
    expect(await moderation(await tokenOf(operator, 'packages:read'))).toMatchObject({ code: 'package_not_found' })
    const reported = await report(await selling(), { reason: 'infringing' })
    expect(await decide(operating, reported.body.id, 'upheld'), 'what one of its members reports').toMatchObject({
      status: 200,
    })
    expect(await packageRow()).toMatchObject({ taken_down_at: expect.any(Date) })
  })

  it('two concurrent decisions count as one', async () => {
    const { id } = (await report(await reporter())).body
    const answers = await Promise.all(
      ['upheld', 'dismissed', 'upheld', 'dismissed'].map((decision) => decide(operating, id, decision)),
    )
    const { state } = await market
      .database()
      .query.selectFrom('reports')
      .select('state')
      .where('id', '=', String(id))
      .executeTakeFirstOrThrow()
    for (const { status, code, body } of answers)
      expect(status === 200 ? body.state : code).toBe(status === 200 ? state : 'moderation_state_conflict')
    expect((await packageRow()).taken_down_at === null).toBe(state === 'dismissed')
    const entries = await market
      .database()
      .query.selectFrom('audit')
      .select('action')
      .where('subject', '=', `report:${id}`)
      .where('action', '<>', 'report.create')
      .execute()
    expect(entries).toEqual([{ action: `report.${state}` }])
  })
})
