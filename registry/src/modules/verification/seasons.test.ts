import { heldOutSeed, matchesCommitment } from '@agentgym/client'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { packageView } from '../catalog/package-view.ts'
import { listSeasons, turnSeason } from '../evaluations/index.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { readSampleEpisode } from '../packages/packages.store.ts'
import { publish } from '../packages/testing/publishing.ts'
import { findEvaluation } from '../runs/evaluations.ts'
import { leaderboard } from './leaderboard.ts'
import { requestVerification } from './request-verification.ts'
import {
  bundleHash,
  finish,
  leaseEvaluation,
  mustLease,
  openVerification,
  resultOf,
  uploadAgent,
  verifyAgent,
} from './testing/verifying.ts'
import { keepSeason } from './verification.tasks.ts'

describeOnEngines('seasons on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ database, services, ada, close } = await openVerification(open))
  })
  afterAll(() => close())

  const seasons = async () => (await listSeasons(services, { limit: 100 })).seasons
  /** As if the season's time were over. */
  const nextSeason = async () => {
    await sql`update seasons set started_at = started_at - interval '8 days' where ended_at is null`.execute(
      database.query,
    )
    expect(await turnSeason(services)).toBe(true)
  }
  const seedOf = async (base: string, options: Partial<Parameters<typeof uploadAgent>[2]> = {}) => {
    const agent = await uploadAgent(services, ada, { base, ...options })
    const job = await mustLease(services)
    await finish(services, job, resultOf(job, agent.evaluation))
    return job.evaluation.tasks[1].seed
  }

  it('a season has a commitment, and ends on time, once across replicas', async () => {
    await Promise.all([1, 2, 3].map(() => turnSeason(services)))
    const [running, ...others] = await seasons()
    expect([running, others]).toMatchObject([{ ended: false, secret: null }, []])
    expect(Date.parse(running.ends_at) - Date.parse(running.started_at)).toBe(7 * 86_400_000)
    expect(await turnSeason(services)).toBe(false)
    await sql`update seasons set started_at = started_at - interval '8 days' where ended_at is null`.execute(
      database.query,
    )
    await Promise.all([1, 2, 3].map(() => turnSeason(services)))
    const both = await seasons()
    expect(both).toMatchObject([
      { ended: false, secret: null },
      { id: running.id, ended: true },
    ])
    expect(await matchesCommitment(both[1].secret ?? '', running.commitment)).toBe(true)
    expect(await matchesCommitment('00'.repeat(32), running.commitment)).toBe(false)
  })

  it('the episodes do not depend on model, version or name; the revealed secret proves it', async () => {
    const draws = [
      await seedOf('draw'),
      await seedOf('draw', { version: '0.2.0' }),
      await seedOf('other', { claim: { return_mean: 0.5 } }),
    ]
    expect(new Set(draws).size).toBe(1)
    expect(draws[0]).toBeGreaterThan(2 ** 32)
    const [{ id }] = await seasons()
    await nextSeason()
    const ended = (await seasons()).find((season) => season.id === id)
    expect(await heldOutSeed(ended?.secret ?? '', bundleHash)).toBe(draws[0])
    expect(await seedOf('draw', { version: '0.3.0' }), 'the next season has other episodes').not.toBe(draws[0])
  })

  it('nothing published during the season contains the seed', async () => {
    const agent = await uploadAgent(services, ada, { base: 'leaky' })
    const job = await mustLease(services)
    const { seed } = job.evaluation.tasks[1]
    await finish(services, job, {
      ...resultOf(job, agent.evaluation),
      sample_episode: sampleEpisode({ policy: 'agent' }),
    })
    const asked = { actor: ada, name: agent.name, version: '0.1.0', traceparent: null, ip: null }
    const requested = await requestVerification(services, asked)
    const again = await mustLease(services)
    expect(again.evaluation.tasks[1].seed).toBe(seed)
    await finish(services, again, resultOf(again, agent.evaluation))
    const published = JSON.stringify([
      await describeVersion(services, null, agent.name, '0.1.0'),
      await packageView(services as never, null, agent.name),
      await leaderboard(database.query, { actor: null, name: `@${ada.username}/maze`, version: '1.0.0', limit: 25 }),
      requested,
      await findEvaluation(database.query, ada, requested.id),
      await findEvaluation(database.query, ada, job.id),
      await readSampleEpisode(database.query, null, agent.name, '0.1.0'),
      await seasons(),
      services.logged,
      await database.query.selectFrom('audit').selectAll().execute(),
    ])
    expect(published).toContain('agentgym-verification-2')
    expect(published).not.toContain(String(seed))
    expect(await findEvaluation(database.query, ada, requested.id)).toMatchObject({
      state: 'completed',
      seed: null,
      evaluation: { seed: null, episodes: 100 },
    })
  })

  it('a sample of a held-out episode is not stored', async () => {
    const agent = await uploadAgent(services, ada, { base: 'peek' })
    const job = await mustLease(services)
    const result = resultOf(job, agent.evaluation)
    const error = { code: 'worker_failed' as const, message: 'It died.' }
    result.results[0] = { id: 'claim', evaluation: null, error }
    await finish(services, job, { ...result, sample_episode: sampleEpisode({ policy: 'agent' }) })
    await expect(readSampleEpisode(database.query, null, agent.name, '0.1.0')).rejects.toMatchObject({
      code: 'sample_episode_not_found',
    })
  })

  it('each season re-verifies the latest version of every package on leaderboards in idle time', async () => {
    const scenario = { name: `@${ada.username}/pit` }
    await publish(services, ada, '1.0.0', { base: 'pit' })
    await verifyAgent(services, ada, { base: 'digger', scenario })
    const latest = await verifyAgent(services, ada, { base: 'digger', version: '0.2.0', scenario })
    await keepSeason(services)
    const drained = async () => {
      const names: string[] = []
      for (let job = await leaseEvaluation(services); job !== undefined; job = await leaseEvaluation(services)) {
        names.push(`${job.evaluation.agent.name}@${job.evaluation.agent.version}`)
        await finish(services, job, resultOf(job, latest.evaluation, { return_mean: 0.25 }))
      }
      return names
    }
    expect(await drained(), 'those of earlier seasons').not.toContain(`${latest.name}@0.2.0`)
    await sql`update seasons set started_at = started_at - interval '8 days' where ended_at is null`.execute(
      database.query,
    )
    await keepSeason(services)
    await keepSeason(services)
    const urgent = await uploadAgent(services, ada, { base: 'urgent', scenario })
    const first = await mustLease(services)
    expect(first.evaluation.agent.name, 'people come first').toBe(urgent.name)
    await finish(services, first, resultOf(first, urgent.evaluation))
    const names = await drained()
    expect(names.filter((name) => name.startsWith(latest.name))).toEqual([`${latest.name}@0.2.0`])
    const asked = { actor: null, name: scenario.name, version: '1.0.0', limit: 25 }
    const [{ id }] = await seasons()
    const board = await leaderboard(database.query, asked)
    expect(board.entries.find(({ agent }) => agent.name === latest.name)).toMatchObject({
      return_mean: 0.25,
      season: id,
      agent: { version: '0.2.0' },
    })
    await keepSeason(services)
    expect(await drained(), 'once a season').toEqual([])
  })

  it('a season with a lost secret ends without revealing it, and evaluations continue', async () => {
    const other = await testServices(database)
    await turnSeason(services)
    const [before] = await seasons()
    await uploadAgent(other, ada, { base: 'lost' })
    expect(await seasons()).toMatchObject([
      { ended: false },
      { id: before.id, ended: true, secret: null },
      ...new Array((await seasons()).length - 2).fill({}),
    ])
    expect(other.logged).toContainEqual(expect.objectContaining({ level: 'error' }))
    await other.remove()
  })
})
