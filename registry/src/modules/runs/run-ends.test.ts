import { learningCurveSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentTarball } from '../../../../testdata/tarballs/good-agent.ts'
import type { Database } from '../../core/database/database.ts'
import { learningCurveOf } from '../packages/packages.store.ts'
import { publishVersion } from '../packages/publish-version.ts'
import { progressPoint } from './exports/testing/progress-points.ts'
import { settleLostLeases } from './runs.tasks.ts'
import {
  cancel,
  chargesOf,
  completed,
  eventsOf,
  expectGapless,
  mustTakeTurn,
  openTraining,
  resume,
  runOf,
  silence,
  startRun,
  type Training,
  takeTurn,
  typesOf,
} from './testing/train.ts'
import { recordProgress } from './worker-reports.ts'

const lost = { code: 'lease_lost' }

describeOnEngines('ends of runs on $kind', ({ open }) => {
  let database: Database
  let training: Training

  beforeAll(async () => {
    database = await open()
    training = await openTraining(database)
  })
  afterAll(async () => {
    await database.close()
    await training.services.remove()
  })

  it('a budget warns once, stops the run at its end, and can be raised', async () => {
    const id = await startRun(training, { budget_minor: 400 })
    const turn = await mustTakeTurn(training)
    expect(turn.job.run.budget.budget_minor).toBe(400)
    expect(await turn.train(1, 299)).toBeNull()
    expect(await typesOf(training.services, id)).not.toContain('budget_warning')
    expect(await turn.train(1, 300)).toBeNull()
    expect(await turn.train(1, 350)).toBeNull()
    expect(await turn.train(1, 401)).toBe('budget')
    expect(await turn.beat()).toBe('budget')
    expect(await turn.save(402)).toBe('budget')
    expect(await turn.end({ state: 'budget_exceeded' }, 405)).toBe('budget_exceeded')
    const warnings = (await eventsOf(training.services, id)).filter(({ type }) => type === 'budget_warning')
    expect(warnings).toMatchObject([{ data: { spent_minor: 300, budget_minor: 400 } }])
    // Whatever the last iteration took: a budget is the most that a run costs.
    expect(await chargesOf(training.services, id)).toMatchObject([{ amount_minor: 400 }])
    expect(await takeTurn(training)).toBeUndefined()

    await expect(cancel(training, id)).rejects.toMatchObject({ code: 'run_state_conflict' })
    await expect(resume(training, id, 405)).rejects.toMatchObject({
      code: 'request_invalid',
      data: { field: 'budget_minor' },
    })
    expect((await runOf(training.services, id)).state).toBe('budget_exceeded')
    expect(await resume(training, id, 1000)).toMatchObject({
      state: 'queued',
      resumptions: 1,
      budget_minor: 1000,
      ended_at: null,
    })
    await expect(resume(training, id, 2000)).rejects.toMatchObject({ code: 'run_state_conflict' })
    const second = await mustTakeTurn(training)
    expect(second.job.run).toMatchObject({ attempt: 2, checkpoint: { iteration: 4 }, budget: { budget_minor: 1000 } })
    await expect(turn.train()).rejects.toMatchObject(lost)
    await expect(turn.end({ state: 'budget_exceeded' })).rejects.toMatchObject(lost)
    expect(await second.train(1, 400)).toBeNull()
    expect((await typesOf(training.services, id)).filter((type) => type === 'budget_warning')).toHaveLength(2)
    await second.complete(500)
    expect(await chargesOf(training.services, id)).toMatchObject([
      { resumption: 0, amount_minor: 400 },
      { resumption: 1, amount_minor: 505 },
    ])
    await expectGapless(training.services, id)
  })

  it('a run with a used-up budget ends when it loses its worker', async () => {
    const id = await startRun(training, { budget_minor: 100 })
    const turn = await mustTakeTurn(training)
    expect(await turn.train(1, 120)).toBe('budget')
    expect(await turn.save(120)).toBe('budget')
    await silence(training, id)
    await settleLostLeases(training.services)
    expect((await runOf(training.services, id)).state).toBe('budget_exceeded')
    expect(await takeTurn(training)).toBeUndefined()
    await resume(training, id, 1_000)
    expect((await mustTakeTurn(training)).job.run).toMatchObject({ attempt: 2, checkpoint: { iteration: 1 } })
    await cancel(training, id)
    await silence(training, id)
    await settleLostLeases(training.services)
    expect((await runOf(training.services, id)).state).toBe('cancelled')
  })

  it('a canceled run ends immediately if queued, or after its worker has saved a checkpoint', async () => {
    const waiting = await startRun(training)
    expect((await cancel(training, waiting)).state).toBe('cancelled')
    expect((await cancel(training, waiting)).state).toBe('cancelled')
    expect(await takeTurn(training)).toBeUndefined()
    expect(await typesOf(training.services, waiting)).toEqual(['queued', 'cancel_requested', 'cancelled'])
    expect(await chargesOf(training.services, waiting)).toMatchObject([{ amount_minor: 0 }])

    const running = await startRun(training)
    const turn = await mustTakeTurn(training)
    await expect(turn.end({ state: 'cancelled' })).rejects.toMatchObject({ code: 'request_invalid' })
    expect((await cancel(training, running)).state).toBe('running')
    expect((await cancel(training, running)).state).toBe('running')
    expect(await turn.beat()).toBe('cancel')
    expect(await turn.train(1, 50)).toBe('cancel')
    expect(await turn.save(60)).toBe('cancel')
    expect(await turn.end({ state: 'cancelled' }, 70)).toBe('cancelled')
    expect(await typesOf(training.services, running)).toEqual([
      'queued',
      'running',
      'cancel_requested',
      'progress',
      'checkpoint',
      'cancelled',
    ])
    expect(await chargesOf(training.services, running)).toMatchObject([{ amount_minor: 70 }])
    await expect(
      database.transaction((query) =>
        sql`update training_runs set state = 'queued' where id = ${running}`.execute(query),
      ),
    ).rejects.toThrow(/ends once/)
  })

  it('a canceled run ends when its worker is lost or releases it', async () => {
    const gone = await startRun(training)
    await mustTakeTurn(training)
    await cancel(training, gone)
    await silence(training, gone)
    expect(await takeTurn(training)).toBeUndefined()
    expect((await runOf(training.services, gone)).state).toBe('cancelled')

    const givenBack = await startRun(training)
    const turn = await mustTakeTurn(training)
    await cancel(training, givenBack)
    await turn.release(10)
    expect((await runOf(training.services, givenBack)).state).toBe('cancelled')
    expect(await takeTurn(training)).toBeUndefined()
    expect(await chargesOf(training.services, givenBack)).toMatchObject([{ amount_minor: 10 }])

    const over = await startRun(training)
    await (await mustTakeTurn(training)).complete()
    await expect(cancel(training, over)).rejects.toMatchObject({
      code: 'run_state_conflict',
      data: { state: 'completed' },
    })
    await expect(cancel(training, crypto.randomUUID())).rejects.toMatchObject({ code: 'run_not_found' })
  })

  it('an agent is published once, as requested by its run, by the outcome', async () => {
    const name = `${training.scenario}-agent`
    const id = await startRun(training, { publish: { name, version: '2.0.0', summary: 'Finds the way out.' } })
    const turn = await mustTakeTurn(training)
    expect(turn.job.run.publish).toEqual({ name, version: '2.0.0' })
    await turn.complete()
    const run = await runOf(training.services, id)
    const { query } = database
    const version = await query
      .selectFrom('versions')
      .select(['version', 'integrity', 'published_by'])
      .where('id', '=', run.published_version_id ?? '')
      .executeTakeFirstOrThrow()
    expect(version).toMatchObject({ version: '2.0.0', published_by: training.ada.accountId })
    // The registry has written it again in its own form; the run keeps the worker's tarball.
    expect(version.integrity).not.toBe(run.agent_integrity)
    expect((await eventsOf(training.services, id)).slice(-2)).toMatchObject([
      { type: 'published', data: { name, version: '2.0.0' } },
      { type: 'completed' },
    ])
  })

  it('a published agent keeps a learning curve of at most 200 points after its run’s metrics are deleted', async () => {
    const { query } = database
    const curveOf = async (iterations: number, ended: (iteration: number) => boolean) => {
      const id = await startRun(training, {
        publish: { name: `${training.scenario}-curve`, summary: 'Finds the way out.' },
      })
      const turn = await mustTakeTurn(training)
      const points = Array.from({ length: iterations }, (_, index) =>
        progressPoint(index + 1, ended(index + 1) ? { return_mean: -index / 3 } : { return_mean: null }),
      )
      await recordProgress(training.services, turn.attempt(), { points, evaluations: [], metered_ms: 0 })
      await turn.complete()
      const { published_version_id: version } = await runOf(training.services, id)
      if (version === null) throw new Error('not published')
      await query.deleteFrom('training_metrics').where('run_id', '=', id).execute()
      return learningCurveOf(query, version)
    }
    const short = await curveOf(30, (iteration) => iteration > 7)
    expect(short).toEqual(
      Array.from({ length: 23 }, (_, index) => ({ steps: (index + 8) * 2048, return_mean: -(index + 7) / 3 })),
    )
    const long = (await curveOf(1_234, () => true)) ?? []
    expect(learningCurveSchema.parse(long)).toHaveLength(200)
    expect(long.at(-1)).toEqual({ steps: 1_234 * 2048, return_mean: -1_233 / 3 })
    const strides = long.slice(1).map(({ steps }, index) => (steps - long[index].steps) / 2048)
    expect(new Set(strides)).toEqual(new Set([6, 7]))
    expect(await curveOf(4, () => false)).toBeNull()
  })

  it('a run completes even if its agent cannot be published, with the reason', async () => {
    const name = `${training.scenario}-taken`
    const id = await startRun(training, { publish: { name, version: '1.0.0', summary: 'Finds the way out.' } })
    const byHand = { actor: training.ada, name, version: '1.0.0', ip: null }
    const turn = await mustTakeTurn(training)
    await publishVersion(training.services, {
      ...byHand,
      tarball: agentTarball({ name, version: '1.0.0', description: 'by hand' }),
    })
    expect(await turn.complete()).toBe('completed')
    expect((await eventsOf(training.services, id)).slice(-2)).toMatchObject([
      { type: 'publish_failed', data: { error: { code: 'version_exists' } } },
      { type: 'completed' },
    ])
    expect((await runOf(training.services, id)).published_version_id).toBeNull()

    // The package came into being meanwhile under a name that looks the same: the database refuses, and the run goes on.
    const alike = `${training.scenario}-a1ike`
    const second = await startRun(training, { publish: { name: alike, summary: 'Finds the way out.' } })
    const third = await mustTakeTurn(training)
    const other = `${training.scenario}-alike`
    await publishVersion(training.services, {
      ...byHand,
      name: other,
      tarball: agentTarball({ name: other, version: '1.0.0' }),
    })
    expect(await third.complete()).toBe('completed')
    expect(await typesOf(training.services, second)).toEqual(['queued', 'running', 'publish_failed', 'completed'])

    const wrong = await startRun(training, {
      publish: { name: `${training.scenario}-wrong`, summary: 'Finds the way out.' },
    })
    const fourth = await mustTakeTurn(training)
    const integrity = await fourth.upload(agentTarball({ name: '@someone/else', version: '9.9.9' }))
    expect(await fourth.end(completed(integrity))).toBe('completed')
    expect((await eventsOf(training.services, wrong)).at(-2)).toMatchObject({
      type: 'publish_failed',
      data: { error: { code: 'package_name_mismatch' } },
    })
  })
})
