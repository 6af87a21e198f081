import type { LeasedReplay } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type Asking, serveRoutes } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { leaseJob } from '../jobs/lease-jobs.ts'
import { moderationRoutes } from '../moderation/moderation.routes.ts'
import { createActor, publish } from '../packages/testing/publishing.ts'
import { insertLicense, insertPrice } from '../reviews/testing/licenses.ts'
import { bundleHash } from '../verification/testing/verifying.ts'
import { demonstrationRoutes } from './demonstrations.routes.ts'
import { peopleBaseline } from './people-baseline.ts'
import { replayJobRoutes } from './replay-jobs.routes.ts'
import { finishReplay, replayJobs } from './replay-jobs.ts'

describeOnEngines('kept episodes on $kind', ({ open }) => {
  let database: Database
  let server: Asking
  let author: Actor
  let path: string
  beforeAll(async () => {
    database = await open()
    server = await serveRoutes(database, (services) => [
      ...[demonstrationRoutes(services), replayJobRoutes(services), moderationRoutes(services)],
    ])
    author = await createActor(database)
    for (const version of ['1.0.0', '2.0.0']) await publish(server.services, author, version)
    path = `/v1/packages/@${author.username}/maze/versions/1.0.0/demonstrations`
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const played = (change: object = {}) => ({ hash: bundleHash, seed: 0, episode: 0, actions: [[1], [0]], ...change })
  const personOf = async () => {
    const actor = await createActor(database)
    return { actor, token: await server.tokenOf(actor, 'training:evaluate', 'packages:read') }
  }
  const keep = (token: string | null, change: object = {}) => server.ask(token, 'POST', path, played(change))
  const list = async (token: string | null) => (await server.ask(token, 'GET', path)).body
  const lease = async (): Promise<LeasedReplay> => {
    const job = await leaseJob(server.services, [replayJobs(server.services)], { kinds: ['replay'] })
    if (job?.kind !== 'replay') throw new Error('there is no replay')
    return job
  }
  const fields = { end: 'terminated' as const, metrics: {}, trajectory_hash: 'a'.repeat(64) }
  /** What a worker sends if each step gave those rewards. */
  const replay = async (rewards: number[], episode = 0) => {
    const { id, lease: held } = await lease()
    const replayed = { ...fields, episode, rewards, tasks: { train: 0, eval: 0 } }
    const attempt = server.services.queue.attemptOf('replay', id, held)
    await finishReplay(server.services, attempt, { episode: replayed, error: null })
  }

  it('are scored by a worker’s replay, and an account counts once, by its mean', async () => {
    const [one, two] = [await personOf(), await personOf()]
    const kept = await keep(one.token)
    expect(kept).toMatchObject({ status: 201, body: { state: 'checking', return: null, steps: 2, episode: 0 } })
    const { replay: asked } = await lease()
    expect(asked).toMatchObject({ seed: 0, episode: 0, actions: [[1], [0]], scenario: { hash: bundleHash } })
    await database.query
      .updateTable('jobs')
      .set({ leased_until: new Date(0) })
      .where('kind', '=', 'replay')
      .execute()
    await replay([1, 2])
    await keep(one.token, { episode: 1 })
    await replay([4, 1], 1)
    await keep(two.token)
    await replay([9, 1])
    expect(await list(one.token)).toMatchObject({
      people: { return_mean: 7, people: 2, episodes: 3 },
      episodes: [
        { episode: 1, return: 5, state: 'kept' },
        { episode: 0, return: 3, state: 'kept' },
      ],
    })
    expect(await list(null)).toMatchObject({ people: { people: 2 }, episodes: [] })
    const file = await server.call('GET', `${path}.jsonl`)
    const [head, ...lines] = file.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(head).toMatchObject({
      format: 'agentgym-demonstrations',
      seed: 0,
      tasks: null,
      scenario: { hash: bundleHash },
    })
    expect(lines.map((line) => line.return)).toEqual([3, 5, 10])
    expect(file.text).not.toContain(one.actor.username)
    const own = `/v1/demonstrations/${kept.body.id}`
    expect((await server.call('GET', `${own}/episode.jsonl`, { token: one.token })).text.split('\n')).toHaveLength(3)
    expect(await server.ask(two.token, 'GET', `${own}/episode.jsonl`)).toMatchObject({
      code: 'demonstration_not_found',
    })
    expect(await server.ask(two.token, 'DELETE', own)).toMatchObject({ code: 'demonstration_not_found' })
    expect(await server.ask(one.token, 'DELETE', own)).toMatchObject({ status: 204 })
    expect((await list(null)).people).toEqual({ return_mean: 7.5, people: 2, episodes: 2 })
    await database.query
      .updateTable('accounts')
      .set({ disabled_at: new Date() })
      .where('id', '=', two.actor.accountId)
      .execute()
    expect((await list(null)).people).toEqual({ return_mean: 5, people: 1, episodes: 1 })
  })

  it('are refused with a claimed score, too many or other actions, another seed or version', async () => {
    const { token } = await personOf()
    const nothing = { status: 422, code: 'request_invalid' }
    for (const change of [
      { return: 500 },
      { rewards: [500] },
      { seed: 1 },
      { episode: 1_000 },
      { episode: -1 },
      { actions: [] },
      { actions: [[1], [0, 1]] },
      { actions: [[1e39]] },
      { actions: [['1']] },
      { actions: Array.from({ length: 10_001 }, () => [0]) },
      { actions: Array.from({ length: 300 }, () => new Array(100).fill(0)) },
    ])
      expect([change, await keep(token, change)]).toMatchObject([change, nothing])
    expect(await keep(token, { hash: 'b'.repeat(64) })).toMatchObject({ status: 409, code: 'scenario_mismatch' })
    expect(await keep(token, { actions: [new Array(200_000).fill(0.12345678)] })).toMatchObject({ status: 413 })
    expect(await keep(null)).toMatchObject({ status: 401 })
    expect((await list(token)).episodes).toEqual([])
  })

  it('that a replay refuses count nothing and can be tried again; a result counts for its own job only', async () => {
    const { token } = await personOf()
    const before = (await list(null)).people
    const { body } = await keep(token, { episode: 7 })
    const { id, lease: held } = await lease()
    const attempt = server.services.queue.attemptOf('replay', id, held)
    const other = { ...fields, episode: 8, rewards: [1, 1], tasks: { train: 0, eval: 0 } }
    for (const wrong of [other, { ...other, episode: 7, rewards: [1] }])
      await expect(finishReplay(server.services, attempt, { episode: wrong, error: null })).rejects.toMatchObject({
        code: 'request_invalid',
      })
    const error = { code: 'action_invalid' as const, message: 'Action 2 chooses 9 of 2 choices.' }
    await finishReplay(server.services, attempt, { episode: null, error })
    await expect(finishReplay(server.services, attempt, { episode: null, error })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect(await list(token)).toMatchObject({
      people: before,
      episodes: [{ id: body.id, state: 'refused', message: error.message }],
    })
    expect(await keep(token, { episode: 7 })).toMatchObject({ status: 201 })
    expect(await keep(token, { episode: 7 })).toMatchObject({ status: 409, code: 'demonstration_exists' })
    const old = await server.call('GET', `/v1/jobs/${id}/replay/tarball`, { headers: { 'agentgym-lease': held } })
    expect(old.code).toBe('lease_lost')
    const again = await lease()
    expect((await server.ask(token, 'DELETE', `/v1/demonstrations/${again.id}`)).status).toBe(204)
    await expect(
      finishReplay(server.services, server.services.queue.attemptOf('replay', again.id, again.lease), {
        episode: null,
        error,
      }),
    ).rejects.toMatchObject({ code: 'lease_lost' })
  })

  it('flood nothing: an account has ten that wait', async () => {
    const { token } = await personOf()
    const answers = []
    for (let episode = 0; episode < 11; episode++) answers.push((await keep(token, { episode })).code ?? 'kept')
    expect(answers).toEqual([...new Array(10).fill('kept'), 'rate_limited'])
  })

  it('of a paid or private scenario are for those who may have it', async () => {
    const { id } = await database.query
      .selectFrom('packages')
      .select('id')
      .where('name', '=', `@${author.username}/maze`)
      .executeTakeFirstOrThrow()
    const [buyer, stranger] = [await personOf(), await personOf()]
    await insertPrice(database, { seller: author, packageId: id, amountMinor: 500 })
    await insertLicense(database, { buyer: buyer.actor.accountId, name: `@${author.username}/maze`, version: '1.0.0' })
    expect(await keep(stranger.token)).toMatchObject({ status: 402, code: 'payment_required' })
    expect((await server.call('GET', `${path}.jsonl`, { token: stranger.token })).code).toBe('payment_required')
    expect(await keep(buyer.token)).toMatchObject({ status: 201 })
    await database.query.updateTable('packages').set({ visibility: 'private' }).where('id', '=', id).execute()
    expect(await keep(stranger.token)).toMatchObject({ status: 404, code: 'package_not_found' })
    await database.query.updateTable('packages').set({ visibility: 'public' }).where('id', '=', id).execute()
  })

  it('are listed and removed by operators, with a reason', async () => {
    const { actor, token } = await personOf()
    await publish(server.services, actor, '1.0.0')
    path = `/v1/packages/@${actor.username}/maze/versions/1.0.0/demonstrations`
    const { body } = await keep(token)
    const operator = { ...(await createActor(database)), operator: true }
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
    const moderator = await server.tokenOf(operator, 'packages:manage', 'packages:read')
    expect(await server.ask(token, 'GET', `${path}?of=everyone`)).toMatchObject({ status: 403 })
    expect((await server.ask(moderator, 'GET', `${path}?of=everyone`)).body.episodes).toMatchObject([
      { by: actor.username },
    ])
    const removal = `/v1/demonstrations/${body.id}/removal`
    expect(await server.ask(token, 'POST', removal, { reason: 'A bot.' })).toMatchObject({ status: 403 })
    expect(await server.ask(moderator, 'POST', removal, { reason: 'A bot.' })).toMatchObject({ status: 204 })
    expect(await server.ask(moderator, 'POST', removal, { reason: 'Twice.' })).toMatchObject({ status: 404 })
    expect((await server.ask(moderator, 'GET', `${path}?of=everyone`)).body.episodes).toEqual([])
    expect((await list(token)).episodes).toMatchObject([{ removed: { reason: 'A bot.', appeal: null } }])
    expect(await keep(token), 'is not kept again').toMatchObject({ code: 'demonstration_exists' })
    const appeal = (as: string) =>
      server.ask(as, 'POST', `/v1/demonstrations/${body.id}/appeals`, { text: 'It was me.' })
    expect(await appeal((await personOf()).token), 'of another').toMatchObject({ code: 'demonstration_not_found' })
    const appealed = await appeal(token)
    expect(appealed).toMatchObject({ status: 201, body: { demonstration: body.id, appealed_reason: 'A bot.' } })
    expect(await appeal(token)).toMatchObject({ code: 'moderation_state_conflict' })
    const answer = { decision: 'upheld', reason: 'No bot.' }
    const decided = await server.ask(moderator, 'POST', `/v1/reports/${appealed.body.id}/decision`, answer)
    expect(decided).toMatchObject({ status: 200 })
    expect((await list(token)).episodes).toMatchObject([{ state: 'checking', removed: null }])
    expect(await appeal(token), 'is not removed').toMatchObject({ code: 'demonstration_not_found' })
    const { data } = await database.query
      .selectFrom('audit')
      .select('data')
      .where('action', '=', 'demonstration.take_down')
      .executeTakeFirstOrThrow()
    expect(data).toMatchObject({ by: actor.username, reason: 'A bot.' })
    const told = await database.query
      .selectFrom('events')
      .select(['type', 'data'])
      .where('account_id', '=', actor.accountId)
      .where('type', '=', 'demonstration.removed')
      .execute()
    expect(told).toMatchObject([{ data: { version: '1.0.0', reason: 'A bot.' } }])
    expect(await peopleBaseline(database.query, crypto.randomUUID())).toBeNull()
  })
})
