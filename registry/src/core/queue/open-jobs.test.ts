import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../database/database.ts'
import { OpenJobs } from './open-jobs.ts'

describeOnEngines('limits of open jobs on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  beforeAll(async () => {
    database = await open()
    const queue = { openChecks: 3, openEvaluations: 4, openEpisodes: 1_000, weights: {} }
    services = await testServices(database, { queue })
    services.config.training.openRuns = 2
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const enqueue = (kind: 'check' | 'evaluate' | 'train', account: string, episodes = 0) =>
    database.transaction((query) => services.queue.enqueue(query, kind, randomUUID(), { account, episodes }))

  it('refuses jobs over the limit of their kind, with a hint, and accepts them again later', async () => {
    for (const [kind, limit] of [
      ['check', 3],
      ['evaluate', 4],
      ['train', 2],
    ] as const) {
      const account = randomUUID()
      for (let count = 0; count < limit; count++) {
        await services.openJobs.requireRoom(kind, { accountId: account })
        await enqueue(kind, account)
      }
      const refused = services.openJobs.requireRoom(kind, { accountId: account })
      await expect(refused).rejects.toMatchObject({
        code: 'rate_limited',
        message: expect.stringContaining(String(limit)),
        hint: expect.stringMatching(/^Wait/),
        data: { kind, open_jobs: limit, retry_after_seconds: 30 },
      })
      await services.openJobs.requireRoom(kind, { accountId: randomUUID() })
      await sql`update jobs set state = 'over', ended_at = now() where account_id = ${account}`.execute(database.query)
      await services.openJobs.requireRoom(kind, { accountId: account })
    }
  })

  it('limits an organization’s jobs over all members, and a user’s over all organizations', async () => {
    const submit = async (accountId: string, ownerId: string) => {
      await services.openJobs.requireRoom('check', { accountId, ownerId })
      await database.transaction((query) =>
        services.queue.enqueue(query, 'check', randomUUID(), { account: accountId, owner: ownerId }),
      )
    }
    const [guild, other] = [randomUUID(), randomUUID()]
    const [ann, bob] = [randomUUID(), randomUUID()]
    await submit(ann, guild)
    await submit(bob, guild)
    await submit(randomUUID(), guild)
    const message = expect.stringContaining('The organization has 3 checks')
    await expect(submit(ann, guild)).rejects.toMatchObject({ code: 'rate_limited', message })
    // Refused jobs do not count, and members have their own limits.
    await submit(ann, ann)
    await submit(ann, other)
    await expect(submit(ann, randomUUID())).rejects.toMatchObject({ message: expect.stringContaining('You have 3') })
    await submit(bob, other)
    await sql`update jobs set state = 'over', ended_at = now() where owner_id = ${guild}`.execute(database.query)
    await submit(bob, guild)
  })

  it('never exceeds an account’s limits of jobs and episodes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 12 }), async (sizes) => {
        const account = randomUUID()
        const openJobs = new OpenJobs(services)
        let [jobs, episodes] = [0, 0]
        for (const size of sizes) {
          try {
            await openJobs.requireRoom('evaluate', { accountId: account }, size)
          } catch {
            expect(jobs === 4 || episodes + size > 1_000).toBe(true)
            continue
          }
          await enqueue('evaluate', account, size)
          jobs++
          episodes += size
        }
        expect(jobs).toBeLessThanOrEqual(4)
        expect(episodes).toBeLessThanOrEqual(1_000)
      }),
      { numRuns: 20 },
    )
  })
})
