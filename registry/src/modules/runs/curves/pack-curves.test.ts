import type { Evaluation } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../../core/database/database.ts'
import { packedCurves } from '../../../core/database/migrations/0046-packed-curves.ts'
import { runMetricNames, runPoints } from '../exports/run-points.store.ts'
import { insertRun } from '../exports/testing/insert-run.ts'
import { gather, progressPoint } from '../exports/testing/progress-points.ts'
import { metricsPage } from '../run-data.ts'
import { insertEvents, insertPoints, readEvents } from '../run-events.store.ts'
import { readCurve } from './curves.store.ts'
import { dropOldCurves, packEndedCurves } from './pack-curves.ts'

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)

describeOnEngines('curves of ended runs on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
    await migratedDaysAgo(2)
  })
  afterAll(() => database.close())

  const migratedDaysAgo = (days: number) =>
    database.execute(
      `update migrations set applied_at = now() - interval '${days} days' where name = '${packedCurves.name}'`,
    )
  /** A run that ended then, with an event first, an evaluation after every 500th iteration, and one last. */
  const runOf = async (iterations: number, endedAt: Date | undefined) => {
    const id = await insertRun(database, { state: endedAt === undefined ? 'running' : 'completed', endedAt })
    await database.transaction(async (query) => {
      const evaluation = { steps: 1, evaluation: {} as Evaluation }
      let seq = 1
      await insertEvents(query, id, [{ type: 'queued', data: { reason: 'submitted', message: null }, seq }])
      const points = []
      const events = []
      for (let iteration = 1; iteration <= iterations; iteration++) {
        points.push({ seq: ++seq, data: progressPoint(iteration, { return_mean: Math.sin(iteration) }) })
        if (iteration % 500 === 0)
          events.push({ type: 'evaluation' as const, data: { ...evaluation, iteration }, seq: ++seq })
      }
      await insertPoints(query, id, points)
      await insertEvents(query, id, [...events, { type: 'cancel_requested', data: {}, seq: ++seq }])
      await sql`update training_runs set iteration = ${iterations}, last_seq = ${seq} where id = ${id}`.execute(query)
    })
    return { id, last: iterations + Math.floor(iterations / 500) + 2 }
  }
  const rowsOf = async (id: string) => {
    const count = (table: 'training_metrics' | 'packed_curves') =>
      database.query.selectFrom(table).select('run_id').where('run_id', '=', id).execute()
    return [(await count('training_metrics')).length, (await count('packed_curves')).length]
  }
  const everyEvent = async (id: string, limit: number) => {
    const events = []
    for (let after = 0; ; after = events[events.length - 1].seq) {
      const page = await readEvents(database.query, id, after, limit)
      events.push(...page)
      if (page.length < limit) return events
    }
  }

  it('are packed a day after the end, whole if they are short, and read as before', async () => {
    const { id } = await runOf(700, hoursAgo(25))
    const [points, events] = [await gather(runPoints(database.query, id)), await everyEvent(id, 250)]
    await packEndedCurves(database)
    expect(await rowsOf(id)).toEqual([0, 1])
    const near = (point: (typeof points)[number]) => ({
      ...point,
      steps_per_second: Number(point.steps_per_second.toPrecision(3)),
      update_seconds: Number(point.update_seconds.toPrecision(3)),
      return_mean: Number(point.return_mean?.toPrecision(6)),
      learner: { ...point.learner, policy_loss: -0.0156, entropy: 0.688 },
    })
    expect(await gather(runPoints(database.query, id))).toEqual(points.map(near))
    expect(await runMetricNames(database.query, id)).toEqual(['solved'])
    const packed = await everyEvent(id, 250)
    expect(packed.map(({ seq, at, type }) => ({ seq, at, type }))).toEqual(
      events.map(({ seq, at, type }) => ({ seq, at, type })),
    )
    const page = await metricsPage(database.query, id, { after_iteration: 100, limit: 50 })
    expect([page.points[0].iteration, page.points.length, page.next]).toEqual([101, 50, 150])
    expect(await metricsPage(database.query, id, { after_iteration: 650, limit: 50 })).toMatchObject({ next: null })
  })

  it('are thinned to 1,000 points if they are long, with the evaluations; the stream of events ends as before', async () => {
    const { id, last } = await runOf(2_600, hoursAgo(25))
    await packEndedCurves(database)
    const points = await gather(runPoints(database.query, id))
    expect(points.length).toBeGreaterThan(900)
    expect(points.length).toBeLessThanOrEqual(1_000)
    const iterations = points.map(({ iteration }) => iteration)
    expect(iterations).toEqual(expect.arrayContaining([1, 500, 1_000, 1_500, 2_000, 2_500, 2_600]))
    const events = await everyEvent(id, 100)
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).sort((a, b) => a - b))
    expect(events.at(-1)).toMatchObject({ seq: last, type: 'cancel_requested' })
    expect(events.filter(({ type }) => type === 'progress')).toHaveLength(points.length)
  })

  it('stay as they are before that, and on the day of the upgrade', async () => {
    const [recent, running] = [await runOf(30, hoursAgo(23)), await runOf(30, undefined)]
    await packEndedCurves(database)
    for (const { id } of [recent, running]) expect(await rowsOf(id)).toEqual([30, 0])
    const { id } = await runOf(30, hoursAgo(30))
    await migratedDaysAgo(0)
    await packEndedCurves(database)
    expect(await rowsOf(id)).toEqual([30, 0])
    await migratedDaysAgo(2)
    await packEndedCurves(database)
    expect(await rowsOf(id)).toEqual([0, 1])
  })

  it('of a run that was resumed are packed again with what it trained since', async () => {
    const { id, last } = await runOf(40, hoursAgo(24 * 40))
    await packEndedCurves(database)
    await insertPoints(database.query, id, [{ seq: last + 1, data: progressPoint(41) }])
    await sql`update training_runs set ended_at = ${hoursAgo(25)}, iteration = 41, last_seq = ${last + 1} where id = ${id}`.execute(
      database.query,
    )
    const iterations = async () =>
      (await readCurve(database.query, id, { after: 0, limit: 100 })).map(({ data }) => data.iteration)
    const all = Array.from({ length: 41 }, (_, index) => index + 1)
    expect(await iterations()).toEqual(all)
    await packEndedCurves(database)
    expect(await rowsOf(id)).toEqual([0, 1])
    expect(await iterations()).toEqual(all)
  })

  it('are dropped by the month, once all of it is too old', async () => {
    const [old, older] = [await runOf(5, hoursAgo(24 * 70)), await runOf(5, hoursAgo(24 * 140))]
    await packEndedCurves(database)
    await dropOldCurves(database, 105)
    expect(await rowsOf(old.id)).toEqual([0, 1])
    expect(await rowsOf(older.id)).toEqual([0, 0])
    await dropOldCurves(database, 30)
    expect(await rowsOf(old.id)).toEqual([0, 0])
  })
})
