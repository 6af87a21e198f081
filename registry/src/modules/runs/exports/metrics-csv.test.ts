import { describeOnEngines } from '@agentgym/testkit/databases'
import { parse as parseCsv } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../core/database/database.ts'
import { MAX_METRICS, metricsCsv, metricsJsonLines } from './metrics-csv.ts'
import { runMetricNames, runPoints } from './run-points.store.ts'
import { insertRun } from './testing/insert-run.ts'
import { gather, progressPoint } from './testing/progress-points.ts'

describe('metrics csv', () => {
  const parse = (text: string): string[][] => parseCsv(text, { relax_column_count: true })

  async function table(...parameters: Parameters<typeof metricsCsv>): Promise<string[][]> {
    return parse((await gather(metricsCsv(...parameters))).join(''))
  }

  describe('metricsCsv', () => {
    it('has a line per iteration, and every metric under its name', async () => {
      const [header, first, second, ...rest] = await table([progressPoint(1), progressPoint(2)], ['solved'])
      expect(rest).toEqual([])
      const read = (line: string[]) => Object.fromEntries(header.map((name, index) => [name, line[index]]))
      expect(read(first)).toEqual({
        iteration: '1',
        steps: '2048',
        steps_total: '100000',
        steps_per_second: '12345.5',
        seconds: '0.25',
        collect_seconds: '0.125',
        update_seconds: '0.0625',
        episodes: '3',
        episodes_total: '3',
        return_mean: '1.5',
        length_mean: '20',
        'learner.policy_loss': '-0.015625',
        'learner.value_loss': '2.5',
        'learner.entropy': '0.6875',
        'learner.approximate_kl': '1e-7',
        'learner.clip_fraction': '0',
        'learner.explained_variance': '-0.25',
        'learner.kl_to_reference': '',
        'learner.zero_variance_groups': '',
        'learner.gradient_norm': '0.5',
        'learner.learning_rate': '0.0003',
        'learner.value_mean': '',
        'learner.exploration_rate': '',
        'learner.entropy_coefficient': '',
        'metrics.solved': '0.5',
      })
      expect(read(second)).toMatchObject({ iteration: '2', steps: '4096', return_mean: '3' })
    })

    it('leaves missing values empty, never NaN or 0', async () => {
      const early = progressPoint(1, { return_mean: null, length_mean: null, metrics: {} })
      const late = progressPoint(2, { metrics: { solved: 0, toString: 7 } })
      const [header, ...lines] = await table([early, late], ['solved', 'toString', 'constructor'])
      const column = (name: string) => lines.map((line) => line[header.indexOf(name)])
      expect(column('return_mean')).toEqual(['', '3'])
      expect(column('metrics.solved')).toEqual(['', '0'])
      expect(column('metrics.toString')).toEqual(['', '7'])
      expect(column('metrics.constructor')).toEqual(['', ''])
    })

    it('has only a header for a run without iterations', async () => {
      expect(await table([], [])).toHaveLength(1)
    })

    it('supports any metric name, without spreadsheet formulas', async () => {
      const names = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 5 })
      const hostile = [
        '=cmd|"/c calc"!A1',
        '+1',
        '-1',
        '@SUM(A1)',
        '\t=1',
        'a","b',
        'a\r\n=1',
        'a;=1+1',
        '__proto__',
        '',
      ]
      await fc.assert(
        fc.asyncProperty(names, async (given) => {
          const all = [...new Set([...hostile, ...given])]
          const metrics = Object.fromEntries(all.map((name, index) => [name, index]))
          Object.defineProperty(metrics, '__proto__', { value: 8, enumerable: true })
          const [header, line] = await table([progressPoint(1, { metrics })], all)
          const named = header.slice(-all.length).map((name) => name.replaceAll("'", ''))
          expect(named).toEqual(all.map((name) => `metrics.${name}`.replaceAll("'", '')))
          expect(line.slice(-all.length)).toEqual(all.map((_, index) => String(index)))
          for (const cell of header) expect(cell).toMatch(/^[a-z]/)
          for (const cell of line) expect(cell).toMatch(/^(-?\d[\d.e+-]*)?$/)
        }),
        { numRuns: 50 },
      )
    })

    it('has a limited number of columns, however many metrics there are', async () => {
      const names = Array.from({ length: 10_000 }, (_, index) => `m${index}`)
      const [header] = await table([], names)
      expect(header.filter((name) => name.startsWith('metrics.'))).toHaveLength(MAX_METRICS)
    })

    it('is streamed line by line', async () => {
      const endless = (async function* () {
        for (let iteration = 1; ; iteration++) yield progressPoint(iteration)
      })()
      const lines = metricsCsv(endless, [])
      await lines.next()
      expect((await lines.next()).value).toMatch(/^1,2048,/)
      expect((await lines.next()).value).toMatch(/^2,4096,/)
      await lines.return(undefined)
      expect(await endless.next()).toMatchObject({ done: true })
    })
  })
})

describe('metricsJsonLines', () => {
  it('is one progress event per line', async () => {
    const points = [progressPoint(1), progressPoint(2)]
    const text = (await gather(metricsJsonLines(points))).join('')
    expect(text.endsWith('\n')).toBe(true)
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(points)
  })
})

describe('run points.store', () => {
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

    it('is complete and in order over several pages, without other runs', async () => {
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

    it('ends after a full last page', async () => {
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
})
