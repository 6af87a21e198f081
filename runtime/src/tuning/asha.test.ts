import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Asha, type AshaOptions, rungsOf, runStudy, type TuningJob } from './asha.ts'

const options = fc
  .record({
    reduction: fc.integer({ min: 2, max: 4 }),
    least: fc.integer({ min: 1, max: 20 }),
    rungCount: fc.integer({ min: 1, max: 4 }),
    budget: fc.integer({ min: 0, max: 400 }),
  })
  .map(({ reduction, least, rungCount, budget }): AshaOptions => {
    return { reduction, rungs: Array.from({ length: rungCount }, (_, k) => least * reduction ** k), budget }
  })
/** A quality for each candidate, repeating; nulls fail. */
const qualities = fc.array(fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { freq: 8 }), {
  minLength: 5,
})

/** Runs a study with `workers` at once; of those that run, the one that ends next is chosen by `pick`. */
async function simulate(
  given: AshaOptions,
  quality: (number | null)[],
  workers: number,
  pick: (among: number) => number,
) {
  const asha = new Asha(given)
  const jobs: TuningJob[] = []
  const rankings: number[][][] = []
  const running: (() => void)[] = []
  let most = 0
  const study = runStudy(asha, workers, (job) => {
    jobs.push(job)
    rankings.push(given.rungs.map((_, rung) => asha.ranking(rung)))
    return new Promise((resolve) => {
      running.push(() => resolve({ score: quality[job.candidate % quality.length], tie: 0 }))
      most = Math.max(most, running.length)
    })
  })
  let ended = false
  study.then(() => {
    ended = true
  })
  while (!ended) {
    await new Promise((resolve) => setImmediate(resolve))
    if (running.length > 0) running.splice(pick(running.length), 1)[0]()
  }
  expect(most).toBeLessThanOrEqual(workers)
  return { asha, jobs, rankings }
}

const first = () => 0
const last = (among: number) => among - 1

describe('successive halving', () => {
  it('promotes only from the best of a rung, each candidate once, within the budget', async () => {
    await fc.assert(
      fc.asyncProperty(options, qualities, fc.integer({ min: 1, max: 5 }), async (given, quality, workers) => {
        const { asha, jobs, rankings } = await simulate(given, quality, workers, last)
        jobs.forEach(({ candidate, rung }, i) => {
          if (rung === 0) return
          const below = jobs.slice(0, i).filter((job) => job.rung === rung - 1).length
          expect(rankings[i][rung - 1].slice(0, Math.floor(below / given.reduction))).toContain(candidate)
        })
        const places = jobs.map(({ candidate, rung }) => `${candidate} ${rung}`)
        expect(new Set(places).size).toBe(places.length)
        const spent = jobs.reduce((sum, { from, steps }) => sum + steps - from, 0)
        expect(spent).toBe(asha.spent)
        expect(spent).toBeLessThanOrEqual(given.budget)
      }),
      { numRuns: 60 },
    )
  })

  it('chooses the same jobs whichever of them ends first', async () => {
    await fc.assert(
      fc.asyncProperty(options, qualities, fc.integer({ min: 1, max: 5 }), async (given, quality, workers) => {
        const { jobs } = await simulate(given, quality, workers, last)
        expect((await simulate(given, quality, workers, first)).jobs).toEqual(jobs)
      }),
      { numRuns: 60 },
    )
  })

  it('brings the best candidate of a noiseless objective to the top, whenever it came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 26 }), fc.integer({ min: 1, max: 3 }), async (best, workers) => {
        const given = { reduction: 3, rungs: [1, 3, 9, 27], budget: 200 }
        const quality = Array.from({ length: 200 }, (_, i) => (i === best ? 1_000 : -i))
        const { asha } = await simulate(given, quality, workers, first)
        expect(asha.best()).toEqual({ candidate: best, rung: 3 })
      }),
      { numRuns: 30 },
    )
  })

  it('ranks equal scores by the tie, then by age, and never one that failed', () => {
    const asha = new Asha({ reduction: 3, rungs: [1], budget: 10 })
    const scores = [
      { score: 5, tie: 1 },
      { score: null, tie: 9 },
      { score: 5, tie: 2 },
      { score: 5, tie: 1 },
      { score: 6, tie: 0 },
    ]
    for (const score of scores) asha.report(asha.next() as TuningJob, score)
    expect(asha.ranking(0)).toEqual([4, 2, 0, 3])
  })

  it('divides the steps by the reduction down to the least', () => {
    expect(rungsOf({ most: 100_000, least: 3_000, reduction: 3 })).toEqual([3_704, 11_111, 33_333, 100_000])
    expect(rungsOf({ most: 2_000, least: 3_000, reduction: 3 })).toEqual([2_000])
  })
})
