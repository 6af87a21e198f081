import { randomUUID } from 'node:crypto'
import { startRunpod } from '@agentgym/testkit/clouds'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { openClouds, type TestCloud, testOrder, testRun, testServer } from '../test/clouds.ts'
import { type ComputeProvider, cheapestFirst, providerNames, runOf, workerNameOf } from './compute-provider.ts'
import { endWorkerOf, rentWorker } from './rent-worker.ts'
import { Runpod } from './runpod.ts'
import { type RunFate, sweepWorkers } from './sweep-workers.ts'

const soon = { againMs: 1 }
const open: TestCloud[] = []

async function openCloud(name: (typeof providerNames)[number]): Promise<TestCloud> {
  const opened = await openClouds[name]()
  open.push(opened)
  return opened
}

async function rent(provider: ComputeProvider, run = testRun) {
  return rentWorker(provider, { ...testOrder, run }, cheapestFirst(await provider.offers({})), soon)
}

const sweepAs = (provider: ComputeProvider, fate: RunFate | ((run: string) => RunFate)) =>
  sweepWorkers(provider, {
    owner: testServer,
    fateOf: async (run) => (typeof fate === 'function' ? fate(run) : fate),
  })

afterEach(async () => {
  for (const { cloud } of open.splice(0)) await cloud.close()
})

it('names a worker after its run, in at most 41 characters, and reads the run back', () => {
  const name = workerNameOf(testRun)
  expect(name).toMatch(/^[a-z][a-z0-9-]{1,40}$/)
  expect(runOf(name)).toBe(testRun)
  expect(runOf('agentgym-something')).toBeUndefined()
})

describe.each(providerNames)('a worker of %s', (name) => {
  it('is started once, however often it is asked for, and ends', async () => {
    const { provider, cloud } = await openCloud(name)
    const first = await rent(provider)
    const second = await rent(provider)
    expect(second.id).toBe(first.id)
    expect(first).toMatchObject({ name: workerNameOf(testRun), owner: testServer })
    expect(first.endsAt?.getTime()).toBeGreaterThan(Date.now())
    expect(cloud.made).toHaveLength(1)
    await endWorkerOf(provider, testRun, soon)
    expect(cloud.rented()).toEqual([])
    // A second time is no error.
    await endWorkerOf(provider, testRun, soon)
  })

  it('gets the server, the token and the run, and nothing else of this machine', async () => {
    const { provider, cloud } = await openCloud(name)
    await rent(provider)
    expect(Object.keys(cloud.made[0].env).sort()).toEqual([
      'AGENTGYM_ENDS_AT',
      'AGENTGYM_RENTED_FOR',
      'AGENTGYM_SERVER',
      'AGENTGYM_TOKEN',
    ])
  })

  it('is found again when the answer is lost, and asked for again when the request is', async () => {
    for (const lost of ['answer_lost', 'request_lost', 503] as const) {
      const { provider, cloud } = await openCloud(name)
      const offers = cheapestFirst(await provider.offers({}))
      let creations = 0
      cloud.fault = ({ method, path }) =>
        method === 'POST' && /pods|apply|jobs/.test(path) && ++creations === 1 ? lost : undefined
      await rentWorker(provider, testOrder, offers, soon)
      expect([lost, cloud.made.length, cloud.rented().length]).toEqual([lost, 1, 1])
    }
  })

  it('is not asked for twice while the provider does not answer, and none is left after a sweep', async () => {
    const { provider, cloud } = await openCloud(name)
    const offers = cheapestFirst(await provider.offers({}))
    let created = false
    // It starts the worker, and then is not heard of again.
    cloud.fault = ({ method, path }) => {
      if (created) return 'request_lost'
      created = method === 'POST' && /pods|apply|jobs/.test(path)
      return created ? 'answer_lost' : undefined
    }
    await expect(rentWorker(provider, testOrder, offers, soon)).rejects.toMatchObject({ code: 'compute_unreachable' })
    expect(cloud.made).toHaveLength(1)
    cloud.fault = undefined
    expect(await sweepAs(provider, 'ended')).toMatchObject([{ outcome: 'ended', reason: 'run_ended' }])
    await endWorkerOf(provider, testRun, soon)
    expect(cloud.rented()).toEqual([])
  })

  it('that has ended by itself can be started again', async () => {
    const { provider, cloud, finish } = await openCloud(name)
    await rent(provider)
    finish()
    await rent(provider)
    expect(cloud.made).toHaveLength(2)
    expect(cloud.rented()).toHaveLength(1)
  })

  it('is refused with the words of the provider for credentials that it does not know', async () => {
    const { provider, cloud } = await openCloud(name)
    cloud.fault = () => 401
    await expect(provider.list()).rejects.toMatchObject({ code: 'compute_refused', data: { provider: name } })
  })

  it('of a run that is open, or of another server, is not swept', async () => {
    const { provider, cloud } = await openCloud(name)
    await rent(provider)
    expect(await sweepAs(provider, 'open')).toMatchObject([{ outcome: 'kept' }])
    const elsewhere = { owner: 'https://other.example.com', fateOf: async () => 'ended' as const }
    expect(await sweepWorkers(provider, elsewhere)).toMatchObject([{ outcome: 'foreign' }])
    expect(await sweepAs(provider, 'unknown')).toMatchObject([{ outcome: 'foreign', reason: 'run_unknown' }])
    expect(cloud.rented()).toHaveLength(1)
    // Past its time it is, whosever it is.
    const late = await sweepWorkers(provider, { ...elsewhere, now: new Date(Date.now() + 2 * 3_600_000) })
    expect(late).toMatchObject([{ outcome: 'ended', reason: 'too_old' }])
  })

  // Requests of `rentWorker` in order, before and after each of which the process is killed.
  it('is left by a process that is killed at any request, once at most, and swept', async () => {
    for (const when of ['before', 'after'] as const)
      for (let at = 1; at <= 6; at++) {
        const { provider, cloud } = await openCloud(name)
        const offers = cheapestFirst(await provider.offers({}))
        await rentWorker(killed(provider, at, when), testOrder, offers, soon).catch(expectKill)
        expect(cloud.rented().length).toBeLessThanOrEqual(1)
        // The next process finds it, or starts it.
        await rent(provider)
        expect([cloud.made.length, cloud.rented().length]).toEqual([1, 1])
        await endWorkerOf(killed(provider, at, when), testRun, soon).catch(expectKill)
        await sweepAs(provider, 'ended')
        await endWorkerOf(provider, testRun, soon)
        expect(cloud.rented()).toEqual([])
      }
  })

  it('survives any order of starts, kills, lost answers, ends and sweeps', { timeout: 60_000 }, async () => {
    const { provider, cloud, finish } = await openCloud(name)
    const offers = cheapestFirst(await provider.offers({}))
    const step = fc.oneof(
      fc.record({ do: fc.constant('rent' as const), run: fc.nat(1), at: fc.nat(6), after: fc.boolean() }),
      fc.record({ do: fc.constant('race' as const), run: fc.nat(1) }),
      fc.record({
        do: fc.constant('lose' as const),
        fault: fc.constantFrom('answer_lost' as const, 'request_lost' as const, 500 as const),
      }),
      fc.record({ do: fc.constantFrom('endRun' as const, 'sweep' as const), run: fc.nat(1) }),
      fc.record({ do: fc.constant('finish' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const runs = [randomUUID(), randomUUID()]
        const fates = new Map<string, RunFate>(runs.map((run) => [run, 'open']))
        const fateOf = (run: string) => fates.get(run) ?? 'unknown'
        const live = (run: string) => cloud.rented().filter((one) => runOf(one.name) === run).length
        for (const one of steps) {
          if (one.do === 'lose') {
            let faults = 1
            cloud.fault = () => (faults-- > 0 ? one.fault : undefined)
            continue
          }
          const rentNow = (as: ComputeProvider, run: string) => rentWorker(as, { ...testOrder, run }, offers, soon)
          if (one.do === 'rent') {
            const dying = killed(provider, one.at, one.after ? 'after' : 'before')
            if (fateOf(runs[one.run]) === 'open') await rentNow(dying, runs[one.run]).catch(expectKill)
          } else if (one.do === 'race') {
            const run = runs[one.run]
            if (fateOf(run) === 'open') await Promise.allSettled([rentNow(provider, run), rentNow(provider, run)])
          } else if (one.do === 'endRun') fates.set(runs[one.run], 'ended')
          else if (one.do === 'finish') finish()
          else await sweepAs(provider, fateOf).catch(() => {})
        }
        cloud.fault = undefined
        for (const run of runs) if (fateOf(run) === 'open') await rent(provider, run)
        await sweepAs(provider, fateOf)
        await sweepAs(provider, fateOf)
        for (const run of runs) expect(live(run)).toBe(fateOf(run) === 'open' ? 1 : 0)
        await sweepAs(provider, 'ended')
        await sweepAs(provider, 'ended')
        expect(cloud.rented()).toEqual([])
      }),
      { numRuns: 25 },
    )
  })
})

describe('RunPod', () => {
  it('lists pods late: a second one that this causes is ended by whoever sees both', async () => {
    const cloud = await startRunpod()
    const provider = new Runpod({ key: cloud.key, url: cloud.url })
    open.push({ provider, cloud, finish: () => {} })
    cloud.lag = 3
    const offers = cheapestFirst(await provider.offers({}))
    await rentWorker(killed(provider, 2, 'after'), testOrder, offers, soon).catch(expectKill)
    await rentWorker(provider, testOrder, offers, soon)
    expect(cloud.made).toHaveLength(2)
    await sweepAs(provider, 'open')
    expect(cloud.rented().map(({ id }) => id)).toEqual([cloud.made[0].id])
  })

  it('takes the next offer where the first is sold out, and says so where all are', async () => {
    const cloud = await startRunpod()
    const provider = new Runpod({ key: cloud.key, url: cloud.url })
    open.push({ provider, cloud, finish: () => {} })
    cloud.soldOut.add('NVIDIA RTX A4000')
    await rent(provider)
    expect(cloud.requests.filter((line) => line === 'POST /v2/pods')).toHaveLength(2)
    await endWorkerOf(provider, testRun, soon)
    for (const { id } of await provider.offers({})) cloud.soldOut.add(id)
    await expect(rent(provider)).rejects.toMatchObject({
      code: 'gpu_unavailable',
      message: expect.stringContaining('no longer any instances'),
    })
  })
})

class Kill extends Error {}

function expectKill(error: unknown): void {
  if (!(error instanceof Kill)) throw error
}

/** The provider as a process sees it that is killed at its `at`th request, before or after the provider has it. */
function killed(provider: ComputeProvider, at: number, when: 'before' | 'after'): ComputeProvider {
  let count = 0
  const dying = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    const last = ++count === at
    if (last && when === 'before') throw new Kill()
    const answer = await ask()
    if (last) throw new Kill()
    return answer
  }
  return {
    name: provider.name,
    endsOnTime: provider.endsOnTime,
    offers: (need) => provider.offers(need),
    create: (...order) => dying(() => provider.create(...order)),
    list: () => dying(() => provider.list()),
    end: (worker) => dying(() => provider.end(worker)),
  }
}
