import { randomUUID } from 'node:crypto'
import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertAccount } from '../../modules/accounts/accounts.store.ts'
import { leaseJob } from '../../modules/jobs/lease-jobs.ts'
import type { Database } from '../database/database.ts'
import { countedRunning, jobsAhead, mostPassed } from './fair-order.ts'
import type { JobHandler, LeasedAttempt } from './job-handler.ts'
import { type JobOptions, JobQueue } from './job-queue.ts'

describeOnBothEngines('the fair order of jobs on $kind', ({ open, kind: engine }) => {
  let database: Database
  let services: TestServices
  let queue: JobQueue
  const accounts = Array.from({ length: 4 }, (): string => randomUUID())
  const [flooder, visitor] = accounts

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    queue = services.queue
  })
  beforeEach(async () => {
    for (const table of ['jobs', 'queue_turns', 'queue_passes'])
      await sql`delete from ${sql.table(table)}`.execute(database.query)
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const submit = async (kind: 'check' | 'evaluate' | 'train', account: string, options: JobOptions = {}) => {
    const id = randomUUID()
    await database.transaction((query) => queue.enqueue(query, kind, id, { account, ...options }))
    return id
  }
  const flood = async (kind: 'check' | 'train', jobs: number) => {
    for (let count = 0; count < jobs; count++) await submit(kind, flooder)
  }
  const end = (attempt: LeasedAttempt) => database.transaction((query) => queue.complete(query, attempt))
  const accountOf = async ({ id }: { id: string }) => {
    const { rows } = await sql<{ account_id: string }>`select account_id from jobs where id = ${id}`.execute(
      database.query,
    )
    return rows[0].account_id
  }
  const handlers = (['check', 'evaluate', 'train'] as const).map(
    (kind): JobHandler => ({
      kind,
      describe: async () => ({
        kind: 'check',
        traceparent: null,
        package: { name: '@a/b', version: '1.0.0', integrity: 'sha512-', tarball_url: 'http://localhost/' },
      }),
      exhausted: async () => {},
    }),
  )

  it('leases an account’s single run next, however many another account submitted before', async () => {
    await flood('train', 300)
    for (let count = 0; count < 10; count++) await queue.next('train', null)
    const id = await submit('train', visitor)
    expect((await queue.next('train', null))?.id).toBe(id)
  })

  it('alternates between accounts on a single worker, without credit for idle time', async () => {
    await flood('train', 20)
    for (let count = 0; count < 8; count++) {
      const attempt = await queue.next('train', null)
      if (attempt !== undefined) await end(attempt)
    }
    for (let count = 0; count < 5; count++) await submit('train', visitor)
    const order: string[] = []
    for (let count = 0; count < 10; count++) {
      const attempt = await queue.next('train', null)
      if (attempt === undefined) throw new Error('no job')
      order.push(await accountOf(attempt))
      await end(attempt)
    }
    expect(order.filter((account) => account === visitor)).toHaveLength(5)
    expect(order.slice(0, 4)).not.toEqual([visitor, visitor, visitor, visitor])
    expect(order.slice(0, 2)).toContain(visitor)
  })

  it('lets only a bounded number of short jobs pass a long one', async () => {
    await flood('check', 40)
    const id = await submit('train', visitor)
    const leased: string[] = []
    for (let count = 0; count <= mostPassed; count++)
      leased.push((await leaseJob(services, handlers, { kinds: ['check', 'train'] }))?.id ?? '')
    expect(leased.indexOf(id)).toBe(mostPassed)
  })

  it('charges evaluations by their episodes', async () => {
    for (let count = 0; count < 10; count++) await submit('evaluate', flooder, { episodes: 2_000 })
    for (let count = 0; count < 10; count++) await submit('evaluate', visitor, { episodes: 200 })
    const order: string[] = []
    for (let count = 0; count < 9; count++) {
      const attempt = await queue.next('evaluate', null)
      if (attempt === undefined) throw new Error('no job')
      order.push(await accountOf(attempt))
      await end(attempt)
    }
    expect(order.filter((account) => account === flooder)).toHaveLength(1)
  })

  it('counts an account’s earlier jobs and other accounts’ turns ahead of a job', async () => {
    await flood('train', 30)
    for (let count = 0; count < 2; count++) await submit('train', visitor)
    const ahead = async (account: string) => {
      const value = jobsAhead('train', {
        id: sql`${randomUUID()}::uuid`,
        account: sql`${account}::uuid`,
        moment: sql`clock_timestamp() + interval '1 second'`,
      })
      return (await sql<{ jobs: number }>`select ${value} as jobs`.execute(database.query)).rows[0].jobs
    }
    expect(await ahead(randomUUID())).toBe(2)
    expect(await ahead(visitor)).toBe(2 + 3)
    expect(await ahead(flooder)).toBe(30 + 2)
  })

  it('shares by account weights', async () => {
    const { id: heavy } = await database.transaction((query) =>
      insertAccount(query, {
        kind: 'user',
        username: `heavy-${engine}`,
        email: null,
      }),
    )
    const weighted = new JobQueue(database, services.config.secret, { [`heavy-${engine}`]: 3 })
    for (let count = 0; count < 40; count++) for (const account of [heavy, visitor]) await submit('check', account)
    let jobs = 0
    for (let count = 0; count < 40; count++) {
      const attempt = await weighted.next('check', null)
      if (attempt === undefined) throw new Error('no job')
      if ((await accountOf(attempt)) === heavy) jobs++
      await end(attempt)
    }
    expect(jobs).toBeGreaterThanOrEqual(29)
    expect(jobs).toBeLessThanOrEqual(31)
  })

  it('leases every job once to concurrent workers, equally over accounts', async () => {
    for (const account of [flooder, visitor]) for (let count = 0; count < 12; count++) await submit('check', account)
    const leased = await Promise.all(Array.from({ length: 12 }, () => queue.next('check', null)))
    const ids = leased.map((attempt) => attempt?.id)
    expect(new Set(ids).size).toBe(12)
    const owners = await Promise.all(leased.map((attempt) => accountOf(attempt ?? { id: '' })))
    expect(owners.filter((account) => account === visitor)).toHaveLength(6)
  })

  it('deletes account positions once they no longer matter', async () => {
    await submit('check', flooder)
    await submit('check', visitor)
    for (let attempt = await queue.next('check', null); attempt; attempt = await queue.next('check', null))
      await end(attempt)
    await flood('check', 3)
    for (let attempt = await queue.next('check', null); attempt; attempt = await queue.next('check', null))
      await end(attempt)
    await queue.forgetEnded()
    const { rows } = await sql<{ account_id: string }>`select account_id from queue_turns`.execute(database.query)
    expect(rows).toEqual([{ account_id: flooder }])
  })

  /*
   * The property: a job that is its account's only waiting one sees a bounded number of jobs of any other account leased
   * before it, whatever is submitted, leased, ended, released and lost in between.
   */
  describe('for any sequence of events', () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('submit' as const),
          account: fc.nat(3),
          jobs: fc.integer({ min: 1, max: 6 }),
        }),
      },
      { weight: 5, arbitrary: fc.record({ do: fc.constant('lease' as const), times: fc.integer({ min: 1, max: 6 }) }) },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constantFrom('end' as const, 'release' as const), which: fc.nat(20) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('lose' as const) }) },
    )
    /** From the tag of a held-back account, over that of the job's own, to the end of its delay. */
    const bound = 2 * countedRunning + 2

    it('an account waits behind a bounded number of another account’s jobs', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          for (const table of ['jobs', 'queue_turns'])
            await sql`delete from ${sql.table(table)}`.execute(database.query)
          const waiting = new Map<string, { account: number; passed: number[] }>()
          let submitted = 0
          let running: LeasedAttempt[] = []
          const alone = new Set<string>()
          const note = (id: string, account: number) => {
            const own = [...waiting].filter(([, job]) => job.account === account)
            if (own.length === 0) alone.add(id)
            return own
          }
          const noteSubmitted = async (id: string, account: number) => {
            note(id, account)
            // PGlite's clock is coarse: consecutive rows may have the same time.
            await sql`update jobs set created_at = now() + ${submitted++} * interval '1 second' where id = ${id}`.execute(
              database.query,
            )
            waiting.set(id, { account, passed: [0, 0, 0, 0] })
          }
          /** A requeued job is older than the waiting ones, and goes first. */
          const noteReturned = async ({ id }: { id: string }) => {
            const account = accounts.indexOf(await accountOf({ id }))
            for (const [other] of note(id, account)) alone.delete(other)
            waiting.set(id, { account, passed: [0, 0, 0, 0] })
          }
          for (const step of steps) {
            if (step.do === 'submit')
              for (let count = 0; count < step.jobs; count++)
                await noteSubmitted(await submit('check', accounts[step.account]), step.account)
            if (step.do === 'lease')
              for (let count = 0; count < step.times; count++) {
                const attempt = await queue.next('check', null)
                expect(attempt === undefined).toBe(waiting.size === 0)
                if (attempt === undefined) break
                const job = waiting.get(attempt.id)
                if (job === undefined) throw new Error('leased twice')
                if (alone.has(attempt.id)) for (const passed of job.passed) expect(passed).toBeLessThanOrEqual(bound)
                waiting.delete(attempt.id)
                for (const other of waiting.values()) if (other.account !== job.account) other.passed[job.account]++
                running.push(attempt)
              }
            const attempt = 'which' in step ? running[step.which % running.length] : undefined
            if (attempt !== undefined) {
              running = running.filter((other) => other !== attempt)
              if (step.do === 'end') await end(attempt)
              else {
                await database.transaction((query) => queue.release(query, attempt))
                await noteReturned(attempt)
              }
            }
            if (step.do === 'lose') {
              // Attempts are not what this is about.
              await sql`update jobs set leased_until = now() - interval '1 minute', attempts = 0 where state = 'leased'`.execute(
                database.query,
              )
              for (const lost of running) await noteReturned(lost)
              running = []
            }
          }
        }),
        { numRuns: engine === 'pglite' ? 25 : 10 },
      )
    })
  })
})
