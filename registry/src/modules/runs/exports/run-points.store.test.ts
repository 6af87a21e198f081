import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../../core/database/database.ts'
import { metricsCsv } from './metrics-csv.ts'
import { runMetricNames, runPoints } from './run-points.store.ts'
import { insertRun } from './testing/insert-run.ts'
import { gather, progressPoint } from './testing/progress-points.ts'

describeOnEngines('the curve of a run on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  const insertPoints = async (runId: string, iterations: number[]) => {
    const rows = iterations.map((iteration) => ({
      run_id: runId,
      iteration,
      seq: iteration + 1,
      data: JSON.stringify(
        progressPoint(iteration, { metrics: iteration < 3 ? {} : { [`b${iteration % 3}`]: 1, a: iteration } }),
      ),
    }))
    await database.query.insertInto('training_metrics').values(rows).execute()
  }

  it('comes in order and whole, over several pages, and no other run with it', async () => {
    const run = await insertRun(database)
    const other = await insertRun(database)
    const iterations = Array.from({ length: 2_500 }, (_, index) => index + 1)
    await insertPoints(run, [...iterations].reverse())
    await insertPoints(other, [7])
    const points = await gather(runPoints(database.query, run))
    expect(points.map(({ iteration }) => iteration)).toEqual(iterations)
    expect(points[6]).toEqual(progressPoint(7, { metrics: { b1: 1, a: 7 } }))
    expect(await gather(runPoints(database.query, other))).toHaveLength(1)
  })

  it('ends at a page that is full to the last row', async () => {
    const run = await insertRun(database)
    await insertPoints(
      run,
      Array.from({ length: 1_000 }, (_, index) => index + 1),
    )
    expect(await gather(runPoints(database.query, run))).toHaveLength(1_000)
  })

  it('names every metric that occurs, in one order', async () => {
    const run = await insertRun(database)
    await insertPoints(run, [1, 2, 3, 4, 5, 6])
    expect(await runMetricNames(database.query, run)).toEqual(['a', 'b0', 'b1', 'b2'])
    expect(await runMetricNames(database.query, await insertRun(database))).toEqual([])
    const csv = await gather(metricsCsv(runPoints(database.query, run), await runMetricNames(database.query, run)))
    expect(csv[0]).toMatch(/,metrics\.a,metrics\.b0,metrics\.b1,metrics\.b2\r\n$/)
    expect(csv.map((line) => line.split(',').slice(-4).join().trim()).slice(1)).toEqual([
      ',,,',
      ',,,',
      '3,1,,',
      '4,,1,',
      '5,,,1',
      '6,1,,',
    ])
  })
})
