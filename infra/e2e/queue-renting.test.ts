import { randomUUID } from 'node:crypto'
import type { RentalList } from '@agentgym/contract'
import { type CloudServer, type FakeRunpod, type Rented, startDstack, startRunpod } from '@agentgym/testkit/clouds'
import { runCli } from '@agentgym/testkit/command-line'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { fullTier, isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Database } from '../../registry/src/core/database/database.ts'
import { noGpus } from '../../registry/src/core/queue/gpu-matching.ts'
import { createActor } from '../../registry/src/modules/packages/testing/publishing.ts'
import { rentalsModule } from '../../registry/src/modules/rentals/index.ts'
import { type QueueRenting, rentForQueue } from '../../sdk/cli/src/renting/rent-for-queue.ts'
import { type RentalRecords, rentalRecords } from '../../sdk/cli/src/renting/rental-api.ts'
import { type ComputeProvider, requireProvider, workerNameOf } from '../../sdk/compute/src/index.ts'
import { RentedMoney } from './rented-money.ts'

type Cloud = CloudServer & { rented(): Rented[]; made: Rented[] }
type Open = { cloud: Cloud; provider: ComputeProvider }

const openRunpod = async () => {
  const cloud = await startRunpod()
  const environment = { RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url }
  return { cloud, provider: await requireProvider('runpod', environment) }
}
const openDstack = async () => {
  const cloud = await startDstack()
  const environment = { DSTACK_SERVER_URL: cloud.url, DSTACK_TOKEN: cloud.token, DSTACK_PROJECT: cloud.project }
  return { cloud, provider: await requireProvider('dstack', environment) }
}
const openClouds: Record<string, () => Promise<Open>> = { runpod: openRunpod, dstack: openDstack }

/** Does `work` with a cloud, and closes the cloud. */
async function closing<Opened extends Open>(opening: Promise<Opened>, work: (opened: Opened) => Promise<void>) {
  const opened = await opening
  try {
    await work(opened)
  } finally {
    await opened.cloud.close()
  }
}

class Kill extends Error {}

/** Dies at its `at`th request to server or provider, before or after the other side has it. */
function dying({ records, providers, ...renting }: QueueRenting, at: number, after: boolean): QueueRenting {
  let count = 0
  const ask = async <Value>(request: () => Promise<Value>): Promise<Value> => {
    const last = ++count === at
    if (last && !after) throw new Kill()
    const answer = await request()
    if (last) throw new Kill()
    return answer
  }
  const mortal = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (...words: unknown[]) => ask(() => value.apply(target, words)) : value
      },
    })
  return { ...renting, records: mortal(records), providers: providers.map(mortal) }
}

function expectKill(error: unknown): void {
  if (!(error instanceof Kill)) throw error
}

describeOnEngines('machines for the queue on $kind', ({ open }) => {
  let database: Database
  let app: ServedApp
  let records: RentalRecords
  let token: string
  beforeAll(async () => {
    database = await open()
    app = await serveApp(database, (services) => rentalsModule(services).routes)
    const operator = await createActor(database)
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
    token = await app.tokenOf(operator, ['worker'])
    records = rentalRecords({ server: app.url, token, tokenSource: 'environment' })
  })
  beforeEach(async () => {
    for (const table of ['rentals', 'jobs', 'workers']) await database.execute(`delete from ${table}`)
  })
  afterAll(async () => {
    await app?.close()
    await database?.close()
  })

  const limits = { machines: 2, cents_per_hour: 1_000, cents_per_day: 5_000 }
  const rentingAt = (provider: ComputeProvider, more: Partial<QueueRenting> = {}): QueueRenting => ({
    ...{ records, providers: [provider], limits, need: {}, waitSeconds: 600, idleSeconds: 300, maxSeconds: 7_200 },
    order: { owner: app.url, server: app.url, image: 'worker' },
    times: { unlistedMs: 600_000, startSeconds: 900, againMs: 1 },
    ...more,
  })
  const submit = async (gigabytes = 0, gpus = 1) => {
    const id = randomUUID()
    const gpu = gpus === 0 ? noGpus : { gpus, gpu_memory: gigabytes * 1e9, gpu_uses: ['learner'] }
    await database.transaction((query) => app.services.queue.enqueue(query, 'train', id, { gpu }))
    return id
  }
  const finishAll = () => database.execute('delete from jobs')
  /** As if this long had passed. */
  const pass = (seconds: number) =>
    database.execute(
      `update rentals set created_at = created_at - gone, busy_at = busy_at - gone, ends_at = ends_at - gone,
        closed_at = closed_at - gone, ended_at = ended_at - gone
      from (select $1::int * interval '1 second' as gone) passed`,
      [seconds],
    )
  /** The same, and workers end themselves at their time. */
  const passAt = async (cloud: FakeRunpod, money: RentedMoney, seconds: number) => {
    await pass(seconds)
    for (const id of money.pass(seconds)) cloud.exit(id)
  }
  const withRunpod = (work: (opened: Awaited<ReturnType<typeof openRunpod>>) => Promise<void>) =>
    closing(openRunpod(), work)
  const live = (rentals: RentalList['rentals']) => rentals.filter(({ closed_at }) => closed_at === null)

  it.each(Object.keys(openClouds))('are rented at %s for runs that no worker serves, once, and end when idle', (name) =>
    closing(openClouds[name](), async ({ cloud, provider }) => {
      await submit(0, 0)
      await rentForQueue(rentingAt(provider))
      expect(cloud.made).toEqual([])
      await submit(20)
      const renting = rentingAt(provider)
      // Two processes at once.
      await Promise.all([rentForQueue(renting), rentForQueue(renting)])
      await rentForQueue(renting)
      expect(cloud.made).toHaveLength(1)
      const [rental] = (await records.list(600)).rentals
      expect(cloud.made[0]).toMatchObject({
        name: workerNameOf(rental.id),
        env: { AGENTGYM_RENTED_FOR: app.url, AGENTGYM_TOKEN: expect.stringMatching(/^agt_/) },
      })
      expect(rental.memory_bytes).toBeGreaterThanOrEqual(20e9)
      await pass(1_300)
      expect(await rentForQueue(rentingAt(provider))).toMatchObject([
        { event: 'closed', reason: 'its worker has not connected' },
      ])
      // The run still waits.
      expect(await rentForQueue(rentingAt(provider))).toContainEqual(expect.objectContaining({ event: 'rented' }))
      await finishAll()
      await pass(1_300)
      for (let round = 0; round < 3; round++) await rentForQueue(rentingAt(provider))
      expect(cloud.rented()).toEqual([])
      expect((await records.list(600)).rentals).toEqual([])
    }),
  )

  it('keep to the limits of machines, of an hour and of a day', () =>
    withRunpod(async ({ cloud, provider }) => {
      for (let run = 0; run < 4; run++) await submit()
      const rent = (more: Partial<typeof limits>) =>
        rentForQueue(rentingAt(provider, { limits: { ...limits, ...more } }))
      // 17 cents an hour, for two hours.
      expect(await rent({ cents_per_hour: 16 })).toMatchObject([
        { event: 'refused', reason: 'cents_per_hour', waiting: 4 },
      ])
      expect(await rent({ cents_per_day: 2 })).toMatchObject([{ event: 'refused', reason: 'cents_per_day' }])
      const some = await rent({ cents_per_day: 17 + 34 })
      expect(some).toMatchObject([
        { event: 'rented', max_seconds: 7_200 },
        { event: 'rented', max_seconds: 3_600 },
        { event: 'refused', reason: 'machines', waiting: 2 },
      ])
      expect(cloud.rented()).toHaveLength(2)
      const { spent } = await records.list(600)
      expect(spent).toEqual({ cents_per_hour: 34, cents_per_day: 51 })
      // Less than reserved was used, and counts for a day.
      await finishAll()
      await pass(1_800)
      for (let round = 0; round < 3; round++) await rent({})
      expect((await records.list(600)).spent).toEqual({ cents_per_hour: 0, cents_per_day: 18 })
      await pass(86_400)
      expect((await records.list(600)).spent.cents_per_day).toBe(0)
    }))

  it('cost in no 24 hours more than a day may, for three days of a queue that is never empty', { tags: fullTier }, () =>
    withRunpod(async ({ cloud, provider }) => {
      const money = new RentedMoney(cloud)
      const renting = rentingAt(provider, { limits: { machines: 3, cents_per_hour: 1_000, cents_per_day: 200 } })
      for (let run = 0; run < 3; run++) await submit()
      for (let day = 0; day < 3; day++) {
        const before = cloud.made.length
        for (let hour = 0; hour < 24; hour += 3) {
          // Close what has ended, record it, rent.
          for (let round = 0; round < 3; round++) await rentForQueue(renting)
          await passAt(cloud, money, 3 * 3_600)
        }
        // 34 cents each, and 51 at most until their end is recorded: the money of each day is used.
        expect(cloud.made.length - before).toBeGreaterThanOrEqual(3)
      }
      expect(money.mostCentsADay()).toBeLessThanOrEqual(200)
    }),
  )

  it('are rented by the command, within the limits that it is given', () =>
    withRunpod(async ({ cloud }) => {
      await submit()
      const environment = {
        ...{ HOME: '/nonexistent', AGENTGYM_SERVER: app.url, AGENTGYM_TOKEN: token, AGENTGYM_WORKER_IMAGE: 'worker' },
        ...{ RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url, AGENTGYM_RENT_PER_DAY: '2' },
      }
      const serve = (...words: string[]) =>
        runCli(['gpus', 'serve', '--once', '--gpu-server', app.url, ...words], { cwd: '/', environment })
      expect((await serve('--json')).stdout).toContain('Neither --max-per-hour nor AGENTGYM_RENT_PER_HOUR is set')
      expect(cloud.made).toEqual([])
      const { stdout } = await serve('--max-per-hour', '0.20')
      expect(stdout).toContain('at most 1 machines, $0.20 an hour, $2.00 a day')
      expect(stdout).toMatch(/Rented RTX A4000 at runpod \([0-9a-f]{8}\), \$0\.17 an hour, for at most 11 h/)
      expect(cloud.made).toHaveLength(1)
      await submit()
      const [refused] = (await serve('--max-per-hour', '0.20', '--json')).lines
      expect(refused).toEqual({ event: 'refused', reason: 'machines', waiting: 1 })
    }))

  it('serve no run of a token that is limited to a worker, and their own token ends with them', () =>
    withRunpod(async ({ cloud, provider }) => {
      await submit()
      await rentForQueue(rentingAt(provider))
      const rented = cloud.made[0].env.AGENTGYM_TOKEN
      expect((await app.call('GET', '/v1/rentals', { token: rented })).code).toBe('forbidden')
      const [{ id }] = (await records.list(600)).rentals
      await records.end(id, 'closed', 'test')
      expect((await app.call('GET', '/v1/rentals', { token: rented })).code).toBe('unauthenticated')
      expect(await records.find(randomUUID())).toBeUndefined()
      await expect(records.end(randomUUID(), 'ended', 'test')).rejects.toMatchObject({ code: 'rental_not_found' })
      const { rows } = await database.execute('select action from audit where subject = $1 order by id', [
        `rental:${id}`,
      ])
      expect(rows.map(({ action }) => action)).toEqual(['rental.reserve', 'rental.close'])
    }))

  // The list, the reservation, the search for the name, the order, its check.
  const killedAt = isLong ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [2, 5, 6, 7, 8]
  it('are one at most, and owned, when the process dies at any request', { tags: fullTier, timeout: 60_000 }, () =>
    withRunpod(async ({ cloud, provider }) => {
      for (const after of [false, true])
        for (const at of killedAt) {
          const before = cloud.made.length
          await submit()
          await rentForQueue(dying(rentingAt(provider), at, after)).catch(expectKill)
          await rentForQueue(rentingAt(provider))
          expect([at, after, cloud.made.length - before, cloud.rented().length > 1]).toEqual([
            at,
            after,
            expect.any(Number),
            false,
          ])
          expect(cloud.made.length - before).toBeLessThanOrEqual(1)
          await finishAll()
          await pass(1_300)
          for (let round = 0; round < 3; round++) await rentForQueue(rentingAt(provider))
          expect([at, after, cloud.rented(), (await records.list(600)).rentals]).toEqual([at, after, [], []])
        }
    }),
  )

  it('never exceed a limit, whatever dies or is lost, and all end', { tags: fullTier, timeout: 120_000 }, () =>
    withRunpod(async ({ cloud, provider }) => {
      const step = fc.oneof(
        {
          weight: 3,
          arbitrary: fc.record({ do: fc.constant('submit' as const), gigabytes: fc.constantFrom(0, 0, 16, 24, 80) }),
        },
        { weight: 4, arbitrary: fc.record({ do: fc.constant('round' as const), at: fc.nat(30), after: fc.boolean() }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('race' as const) }) },
        {
          weight: 3,
          arbitrary: fc.record({
            do: fc.constant('pass' as const),
            seconds: fc.constantFrom(60, 1_300, 7_300, 40_000, 80_000),
          }),
        },
        { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('finish' as const, 'exit' as const) }) },
        {
          weight: 1,
          arbitrary: fc.record({
            do: fc.constant('lose' as const),
            fault: fc.constantFrom('answer_lost' as const, 'request_lost' as const, 500 as const),
          }),
        },
      )
      const tight = { machines: 2, cents_per_hour: 300, cents_per_day: 60 }
      let money = new RentedMoney(cloud)
      const renting = () => rentingAt(provider, { limits: tight })
      const holds = async () => {
        const { rentals, spent } = await records.list(600)
        const names = rentals.map(({ id }) => workerNameOf(id))
        expect(cloud.rented().length).toBeLessThanOrEqual(tight.machines)
        expect(cloud.rented().filter(({ name }) => !names.includes(name))).toEqual([])
        expect(new Set(cloud.made.map(({ name }) => name)).size).toBe(cloud.made.length)
        expect(spent.cents_per_hour).toBeLessThanOrEqual(tight.cents_per_hour)
        expect(live(rentals).length).toBeLessThanOrEqual(tight.machines)
        expect(money.mostCentsADay()).toBeLessThanOrEqual(tight.cents_per_day)
      }
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
          for (const one of steps) {
            if (one.do === 'submit') await submit(one.gigabytes)
            else if (one.do === 'finish') await finishAll()
            else if (one.do === 'pass') await passAt(cloud, money, one.seconds)
            else if (one.do === 'exit') for (const { id } of cloud.rented()) cloud.exit(id)
            else if (one.do === 'race') await Promise.allSettled([rentForQueue(renting()), rentForQueue(renting())])
            else if (one.do === 'lose') {
              let faults = 1
              cloud.fault = () => (faults-- > 0 ? one.fault : undefined)
            } else if (one.do === 'round') await rentForQueue(dying(renting(), one.at + 1, one.after)).catch(expectKill)
            await holds()
          }
          cloud.fault = undefined
          await finishAll()
          await pass(8_000)
          for (let round = 0; round < 4; round++) await rentForQueue(renting())
          expect([cloud.rented(), (await records.list(600)).rentals]).toEqual([[], []])
          await database.execute('delete from rentals')
          money = new RentedMoney(cloud)
        }),
        { numRuns: isLong ? 200 : 10 },
      )
    }),
  )
})
