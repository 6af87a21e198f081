import { randomUUID } from 'node:crypto'
import type { WorkerDescription } from '@agentgym/contract'
import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { fullTier, isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { leaseJob, releaseJob } from '../../modules/jobs/lease-jobs.ts'
import type { Database } from '../database/database.ts'
import type { Seat } from './gang-seats.ts'
import type { Attempt, Gang, JobHandler } from './job-handler.ts'

const lost = { code: 'lease_lost' }

/** One slot of a worker, as the worker sees it. */
type Slot = WorkerDescription & {
  seat?: Seat | undefined
  job?: { attempt: Attempt; lease: string; rank: number } | undefined
}

describeOnBothEngines('seats of a run of several workers on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  /** Of the leases given, by lease. */
  let gangs: Map<string, Gang>

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  const empty = async () => {
    gangs = new Map()
    for (const table of ['jobs', 'workers', 'queue_turns'])
      await sql`delete from ${sql.table(table)}`.execute(database.query)
  }
  beforeEach(empty)
  afterAll(async () => {
    await database?.close()
    await services?.remove()
  })

  const handler: JobHandler = {
    kind: 'train',
    describe: async (_query, { lease, gang }) => {
      if (gang !== undefined) gangs.set(lease, gang)
      const tarball = { name: '@a/b', version: '1.0.0', integrity: 'sha512-', tarball_url: 'http://localhost/' }
      return { kind: 'check', traceparent: null, package: tarball }
    },
    exhausted: async () => {},
  }
  const submit = async (workers = 1) => {
    const id = randomUUID()
    await database.transaction((query) => services.queue.enqueue(query, 'train', id, { workers }))
    return id
  }
  let named = 0
  const worker = (permits = true): Slot => ({
    ...{ id: randomUUID(), name: `box-${named++}`, cores: 2, memory_bytes: 1, gpus: [], slots: 1 },
    ...{ price_minor_per_hour: 5, usage: { cpu: null, memory: null, gpu: null } },
    ...(permits ? { gang: { address: `10.0.0.1:${29_500 + named}` } } : {}),
  })
  const takenOf = ({ seat }: Slot) => seat?.taken
  /** As the worker's slot polls. Its job's ID, the seats taken so far, or undefined. */
  const poll = async (slot: Slot): Promise<string | number | undefined> => {
    const { seat, job: _, ...description } = slot
    slot.seat = undefined
    const onSeat = (given: Seat) => {
      slot.seat = given
    }
    const asked = { kinds: ['train' as const], worker: description, run: seat?.id, onSeat }
    const leased = await leaseJob(services, [handler], asked)
    if (leased === undefined) return takenOf(slot)
    const attempt = services.queue.attemptOf('train', leased.id, leased.lease)
    slot.job = { attempt, lease: leased.lease, rank: gangs.get(leased.lease)?.rank ?? 0 }
    return leased.id
  }
  const hold = ({ job }: Slot) =>
    database.transaction(async (query) => {
      if (job !== undefined) await services.queue.hold(query, job.attempt)
    })
  const complete = ({ job }: Slot) =>
    database.transaction(async (query) => {
      if (job !== undefined) await services.queue.complete(query, job.attempt)
    })
  const release = ({ job }: Slot, more: { failed?: true; finished?: true } = {}) =>
    releaseJob(services, [handler], { id: job?.attempt.id ?? '', lease: job?.lease ?? '', reason: '', ...more })
  /** As if the worker had said nothing for as long as matters. */
  const silence = async ({ id }: Slot) => {
    const past = sql`now() - interval '1 second'`
    await sql`update gang_seats set held_until = ${past} where worker_id = ${id} and held_until <> 'infinity'`.execute(
      database.query,
    )
    await sql`update jobs set leased_until = ${past} where worker_id = ${id} and state = 'leased'`.execute(
      database.query,
    )
  }

  it('are taken one by one, and begin the run together under one lease', async () => {
    const id = await submit(3)
    const slots = [worker(), worker(), worker()]
    for (const slot of slots) await poll(slot)
    // Fewer than three were connected until the last came.
    expect(slots.map(({ seat }) => seat)).toEqual([undefined, undefined, { id, taken: 1, workers: 3 }])
    expect(await poll(slots[0])).toBe(2)
    expect(await poll(slots[2])).toBe(2)
    expect(await poll(slots[1])).toBe(id)
    expect(await poll(slots[0])).toBe(id)
    expect(await poll(slots[2])).toBe(id)
    expect(slots.map(({ job }) => job?.rank)).toEqual([2, 0, 1])
    expect(new Set(slots.map(({ job }) => job?.attempt.attempt))).toEqual(new Set([0]))
    const told = slots.map(({ job }) => gangs.get(job?.lease ?? ''))
    expect(told[0]).toMatchObject({ workers: 3, address: slots[1].gang?.address, priceMinorPerHour: 15 })
    expect(new Set(told.map((gang) => gang?.secret)).size).toBe(1)
    expect(told[0]?.names).toEqual([slots[1].name, slots[2].name, slots[0].name])
  })

  it('are for workers that permit it, and single runs go on meanwhile', async () => {
    const id = await submit(2)
    const single = await submit()
    const [alone, other] = [worker(), worker(false)]
    expect(await poll(other)).toBe(single)
    // One worker that permits it is connected, and two are needed: it gets no seat.
    const second = await submit()
    expect(await poll(alone)).toBe(second)
    expect(await poll(worker(false))).toBeUndefined()
    const [a, b] = [worker(), worker()]
    expect(await poll(a)).toBe(1)
    expect(await poll(b)).toBe(id)
    expect(await poll(worker())).toBeUndefined()
  })

  it('of two runs over three workers: one begins, the other waits for it, and a single run for neither', async () => {
    const [first, second] = [await submit(2), await submit(2)]
    const slots = [worker(), worker(), worker()]
    for (const slot of slots) await poll(slot)
    for (const slot of slots) await poll(slot)
    const begun = slots.filter(({ job }) => job !== undefined)
    expect(begun).toHaveLength(2)
    expect(new Set(begun.map(({ job }) => job?.attempt.id))).toEqual(new Set([first]))
    const waiting = slots.find(({ job }) => job === undefined) as Slot
    expect(waiting.seat).toEqual({ id: second, taken: 1, workers: 2 })
    const single = await submit()
    const fresh = worker(false)
    expect(await poll(fresh)).toBe(single)
    await complete(begun[0])
    begun[0].job = undefined
    expect(await poll(begun[0])).toBe(second)
    expect(await poll(waiting)).toBe(second)
  })

  it('hold the lease only all together', async () => {
    const id = await submit(2)
    const [a, b, c] = [worker(), worker(), worker()]
    const start = async () => {
      for (const slot of [a, b, c]) slot.job = undefined
      for (const slot of [c, a, b, a, b]) if (slot.job === undefined && slot !== c) await poll(slot)
    }
    await poll(worker())
    await start()
    expect([a.job?.attempt.attempt, b.job?.attempt.attempt]).toEqual([0, 0])
    await hold(a)
    await hold(b)
    const owner = a.job?.rank === 0 ? a : b
    const member = owner === a ? b : a
    // The other's heartbeat does not keep a lease whose owner is silent.
    await silence(owner)
    await hold(member)
    await services.queue.expireLeases()
    await expect(hold(member)).rejects.toMatchObject(lost)
    await start()
    await silence(member)
    await expect(hold(owner)).rejects.toMatchObject(lost)
    await services.queue.expireLeases()
    for (const slot of [a, b]) await expect(complete(slot)).rejects.toMatchObject(lost)
    await start()
    // A worker that has done its part may leave.
    const [first, last] = a.job?.rank === 0 ? [a, b] : [b, a]
    await release(last, { finished: true })
    await silence(last)
    await hold(first)
    await release(first, { failed: true })
    await expect(hold(last)).rejects.toMatchObject(lost)
    await start()
    expect(a.job?.attempt).toMatchObject({ id, attempt: 3 })
    await complete(a.job?.rank === 0 ? a : b)
    expect(await poll(worker())).toBeUndefined()
  })

  it('begin no run with more or fewer workers, whatever happens, and every run ends', {
    tags: fullTier,
    timeout: 400_000,
  }, async () => {
    const action = fc.record({
      what: fc.constantFrom(
        'poll',
        'poll',
        'poll',
        'hold',
        'silence',
        'expire',
        'fail',
        'finish',
        'complete',
        'forget',
      ),
      who: fc.nat(3),
    })
    const sizes = fc.array(fc.constantFrom(1, 2, 2, 3, 4), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(action, { maxLength: 30 }), async (wanted, actions) => {
        await empty()
        for (const workers of wanted) await submit(workers)
        const slots = Array.from({ length: 4 }, () => worker())
        for (const { what, who } of actions) {
          await act(slots[who], what)
          await expectSound()
        }
        // Workers that do as they should end everything: nothing waits for what never comes.
        for (let round = 0; round < 40 && (await unended()) > 0; round++) {
          for (const slot of slots) if (slot.job === undefined) await poll(slot)
          for (const slot of slots) {
            const { job } = slot
            if (job?.rank !== 0) continue
            const all = slots.filter((other) => other.job?.attempt.id === job.attempt.id)
            if (all.length < (gangs.get(job.lease)?.workers ?? 1) && !(await isLost(slot))) continue
            await complete(slot).catch(() => {})
            for (const other of all) other.job = undefined
          }
          for (const slot of slots) if (slot.job !== undefined && (await isLost(slot))) slot.job = undefined
          // A worker that was silent before has forgotten its job.
          if (round % 5 === 4) await forgetUnheld(slots)
          await services.queue.expireLeases()
          await expectSound()
        }
        expect(await unended()).toBe(0)
      }),
      { numRuns: isLong ? 60 : 6 },
    )
  })

  const act = async (slot: Slot, what: string): Promise<void> => {
    if (what === 'poll') return void (slot.job === undefined && (await poll(slot)))
    if (what === 'silence') return silence(slot)
    if (what === 'expire') return services.queue.expireLeases()
    if (what === 'forget') {
      slot.seat = undefined
      slot.job = undefined
    }
    if (slot.job === undefined) return
    const isRefused = async (write: Promise<unknown>) => {
      await write.catch((error) => expect(error).toMatchObject(lost))
    }
    if (what === 'hold') return isRefused(hold(slot))
    if (what === 'fail') await isRefused(release(slot, { failed: true }))
    if (what === 'finish') await isRefused(slot.job.rank > 0 ? release(slot, { finished: true }) : hold(slot))
    if (what === 'complete' && slot.job.rank === 0) await isRefused(complete(slot))
    if (what !== 'finish' || slot.job.rank > 0) slot.job = undefined
  }
  const isLost = (slot: Slot) =>
    hold(slot).then(
      () => false,
      () => true,
    )
  const unended = async () => {
    const { rows } = await sql<{ jobs: number }>`
      select count(*)::int as jobs from jobs where state <> 'over'`.execute(database.query)
    return rows[0].jobs
  }
  /** Leases and seats that no slot knows of are silent. */
  const forgetUnheld = async (slots: Slot[]) => {
    const idle = slots.filter(({ job }) => job === undefined)
    for (const slot of idle) if (slot.seat === undefined) await silence(slot)
  }
  const expectSound = async () => {
    const { rows } = await sql<{ workers: number; ranks: number[]; holders: number }>`
      select jobs.workers, array_agg(seat.rank order by seat.rank) as ranks, count(distinct seat.worker_id)::int as holders
      from jobs join gang_seats seat on seat.job_id = jobs.id and seat.leases = jobs.leases
      where jobs.state = 'leased' group by jobs.id, jobs.workers`.execute(database.query)
    for (const { workers, ranks, holders } of rows) {
      expect(ranks).toEqual(Array.from({ length: workers }, (_, rank) => rank))
      expect(holders).toBe(workers)
    }
    const { rows: leased } = await sql<{ jobs: number }>`
      select count(*)::int as jobs from jobs where state = 'leased' and workers > 1`.execute(database.query)
    expect(rows).toHaveLength(leased[0].jobs)
    const { rows: forming } = await sql<{ jobs: number; seats: number; workers: number }>`
      select count(distinct job_id)::int as jobs, count(*)::int as seats, count(distinct worker_id)::int as workers
      from gang_seats where leases is null and held_until > now()`.execute(database.query)
    expect(forming[0].jobs).toBeLessThanOrEqual(1)
    expect(forming[0].workers).toBe(forming[0].seats)
  }
})
