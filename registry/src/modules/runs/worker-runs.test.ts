import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import type { Database } from '../../core/database/database.ts'
import { maxIdleAttempts } from './run-state.ts'
import { enqueueLostRuns, settleLostLeases } from './runs.tasks.ts'
import {
  chargesOf,
  completed,
  eventsOf,
  expectGapless,
  mustTakeTurn,
  openTraining,
  runOf,
  silence,
  startRun,
  type Training,
  takeTurn,
  typesOf,
} from './testing/train.ts'
import { openLeasedCheckpoint, openLeasedTarball } from './train-jobs.ts'

const lost = { code: 'lease_lost' }

describeOnEngines('runs and their workers on $kind', ({ open }) => {
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

  it('is leased with everything a worker needs, trained, and completed once', async () => {
    const id = await startRun(training, { steps: 4096, seed: 7, trajectories_every: 2 })
    const turn = await mustTakeTurn(training)
    expect(turn.id).toBe(id)
    expect(await takeTurn(training)).toBeUndefined()
    expect(turn.job).toMatchObject({
      kind: 'train',
      traceparent: null,
      run: {
        scenario: { name: training.scenario, version: '1.0.0' },
        algorithm: 'ppo',
        seed: 7,
        attempt: 1,
        checkpoint: null,
        trajectories_every: 2,
        publish: null,
        budget: { budget_minor: null, price_milliseconds: 0 },
      },
    })
    const { scenario } = turn.job.run
    const url = new URL(scenario.tarball_url)
    expect(url.pathname).toBe(`/v1/jobs/${id}/scenario`)
    const { body, size } = await openLeasedTarball(training.services, id, turn.job.lease, 'scenario')
    const tarball = await buffer(body)
    expect(tarball.length).toBe(size)
    expect(`sha512-${createHash('sha512').update(tarball).digest('base64')}`).toBe(scenario.integrity)

    expect(await turn.train(3, 200)).toBeNull()
    expect(await turn.save(300)).toBeNull()
    expect(await turn.beat()).toBeNull()
    await turn.sample()
    const { evaluation } = goodAgent
    await turn.train(1, 350, { evaluations: [{ iteration: 4, steps: 8192, evaluation }] })
    expect(await turn.complete(400)).toBe('completed')
    const run = await runOf(training.services, id)
    expect(run).toMatchObject({ state: 'completed', attempt: 1, iteration: 4, price_milliseconds: 400 * 3_600_000 })
    expect(run.agent_integrity).toMatch(/^sha512-/)
    expect(run.progress).toMatchObject({ iteration: 4, steps: 8192 })
    expect(await chargesOf(training.services, id)).toMatchObject([
      { resumption: 0, amount_minor: 400, currency: 'USD' },
    ])
    const types = await typesOf(training.services, id)
    expect(types.slice(0, 6)).toEqual(['queued', 'running', 'progress', 'progress', 'progress', 'checkpoint'])
    expect(types.slice(6)).toEqual(['progress', 'evaluation', 'completed'])
    await expectGapless(training.services, id)
    expect(await takeTurn(training)).toBeUndefined()
  })

  it('an outcome can be repeated after a lost response, without effect', async () => {
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    const outcome = completed(await turn.upload())
    expect(await Promise.all([turn.end(outcome, 10), turn.end(outcome, 10), turn.end(outcome, 10)])).toEqual(
      Array.from({ length: 3 }, () => 'completed'),
    )
    expect(await turn.end(outcome, 500)).toBe('completed')
    expect(await chargesOf(training.services, id)).toMatchObject([{ amount_minor: 10 }])
    expect(await typesOf(training.services, id)).toEqual(['queued', 'running', 'completed'])
    await expect(
      turn.end({ state: 'failed', error: { code: 'training_failed', message: 'No.' } }),
    ).rejects.toMatchObject(lost)
    await expect(turn.train()).rejects.toMatchObject(lost)
  })

  it('a worker that lost its lease cannot write on any route (B39)', async () => {
    const id = await startRun(training)
    const zombie = await mustTakeTurn(training)
    await zombie.train(2, 100)
    await zombie.save(120)
    await zombie.train(1, 130)
    await silence(training, id)
    const second = await mustTakeTurn(training)
    expect(second.job.lease).not.toBe(zombie.job.lease)
    expect(second.job.run).toMatchObject({ attempt: 2, checkpoint: { iteration: 2, steps: 4096 } })
    const before = { run: await runOf(training.services, id), events: await eventsOf(training.services, id) }

    expect(second.job.run.checkpoint?.url).toMatch(/\/checkpoint\?iteration=2$/)
    const writes = [
      () => zombie.train(1),
      () => zombie.save(),
      () => zombie.sample(),
      () => zombie.upload(),
      () => zombie.beat(),
      () => zombie.release(100),
      () => zombie.end(completed('sha512-none')),
      () => zombie.end({ state: 'failed', error: { code: 'training_failed', message: 'late' } }),
      () => zombie.end({ state: 'cancelled' }),
      () => openLeasedTarball(training.services, id, zombie.job.lease, 'scenario'),
      () => openLeasedCheckpoint(training.services, id, zombie.job.lease, 2),
    ]
    for (const write of writes) await expect(write()).rejects.toMatchObject(lost)
    expect({ run: await runOf(training.services, id), events: await eventsOf(training.services, id) }).toEqual(before)

    const { body } = await openLeasedCheckpoint(training.services, id, second.job.lease, 2)
    expect((await buffer(body)).toString()).toBe('weights after iteration 2')
    // It repeats iteration 3, which counts once, and goes on.
    await second.train(2, 50)
    await expect(zombie.train(1)).rejects.toMatchObject(lost)
    expect(await second.complete(60)).toBe('completed')
    for (const write of writes) await expect(write()).rejects.toMatchObject(lost)
    expect(await chargesOf(training.services, id)).toMatchObject([{ amount_minor: 180 }])
    await expectGapless(training.services, id)
  })

  it('a run whose worker is lost is requeued, and repeated training is not charged', async () => {
    const id = await startRun(training)
    const first = await mustTakeTurn(training)
    await first.train(4, 200)
    await first.save(250)
    await first.train(2, 400)
    expect((await runOf(training.services, id)).price_milliseconds).toBe(400 * 3_600_000)
    await settleLostLeases(training.services)
    expect((await runOf(training.services, id)).state).toBe('running')
    await silence(training, id)
    await settleLostLeases(training.services)
    const waiting = await runOf(training.services, id)
    expect(waiting).toMatchObject({
      state: 'queued',
      price_milliseconds: 250 * 3_600_000,
      iteration: 6,
      ended_at: null,
    })
    expect((await eventsOf(training.services, id)).at(-1)).toMatchObject({
      type: 'queued',
      data: { reason: 'lease_expired', message: 'The worker worker-1 stopped responding.' },
    })
    const second = await mustTakeTurn(training, 2 * 3_600_000, 'worker-2')
    expect(second.job.run.budget).toMatchObject({
      price_milliseconds: 250 * 3_600_000,
      price_minor_per_hour: 7_200_000,
    })
    await second.train(3, 100)
    await second.complete(150)
    expect(await chargesOf(training.services, id)).toMatchObject([{ amount_minor: 250 + 2 * 150 }])
    await expectGapless(training.services, id)
  })

  it('a released run is requeued immediately, and its training is charged', async () => {
    const id = await startRun(training)
    const first = await mustTakeTurn(training)
    await first.train(1, 100)
    await first.save(110)
    await first.release(130)
    expect(await runOf(training.services, id)).toMatchObject({ state: 'queued', price_milliseconds: 130 * 3_600_000 })
    expect((await eventsOf(training.services, id)).at(-1)).toMatchObject({
      type: 'queued',
      data: { reason: 'released', message: 'The worker stops.' },
    })
    await expect(first.release(130)).rejects.toMatchObject(lost)
    const second = await mustTakeTurn(training)
    expect(second.job.run).toMatchObject({ attempt: 2, checkpoint: { iteration: 1 } })
    await silence(training, id)
    await settleLostLeases(training.services)
    // Never less than the attempt began with.
    expect((await runOf(training.services, id)).price_milliseconds).toBe(130 * 3_600_000)
    await (await mustTakeTurn(training)).complete(5)
    expect(await chargesOf(training.services, id)).toMatchObject([{ amount_minor: 135 }])
  })

  it('a run without progress fails after several attempts, but not after releases', async () => {
    const id = await startRun(training)
    for (let attempt = 0; attempt < maxIdleAttempts + 2; attempt++) await (await mustTakeTurn(training)).release()
    for (let attempt = 0; attempt < maxIdleAttempts - 1; attempt++) {
      await mustTakeTurn(training)
      await silence(training, id)
    }
    // One iteration, and it is worth five more attempts.
    await (await mustTakeTurn(training)).train()
    await silence(training, id)
    for (let attempt = 0; attempt < maxIdleAttempts; attempt++) {
      expect((await mustTakeTurn(training)).id).toBe(id)
      await silence(training, id)
    }
    expect(await takeTurn(training)).toBeUndefined()
    const run = await runOf(training.services, id)
    expect(run).toMatchObject({ state: 'failed', error: { code: 'worker_failed' } })
    expect(await chargesOf(training.services, id)).toHaveLength(1)
    expect((await typesOf(training.services, id)).at(-1)).toBe('failed')
    await settleLostLeases(training.services)
    await enqueueLostRuns(training.services)
    expect(await takeTurn(training)).toBeUndefined()
    await expectGapless(training.services, id)
  })

  it('metered time is the worker’s report, within plausible limits', async () => {
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    await turn.train(1, 900)
    const metered = async () => (await runOf(training.services, id)).attempt_metered_ms
    expect(await metered()).toBe(900)
    await turn.train(1, 100)
    expect(await metered()).toBe(900)
    // A second and what has passed since the lease, whatever its clock says.
    await turn.train(1, 3_600_000)
    expect(await metered()).toBeLessThan(600_000)
    await sql`update jobs set leased_at = leased_at - interval '2 hours' where id = ${id}`.execute(database.query)
    await turn.train(1, 3_600_000)
    expect(await metered()).toBe(3_600_000)
    await turn.complete(3_600_000)
    expect(await chargesOf(training.services, id)).toMatchObject([{ amount_minor: 3_600_000 }])
  })

  it('a lost job of a queued or running run is recreated', async () => {
    const waiting = await startRun(training)
    const dropJob = (id: string) => sql`delete from jobs where id = ${id}`.execute(database.query)
    await dropJob(waiting)
    expect(await takeTurn(training)).toBeUndefined()
    await enqueueLostRuns(training.services)
    await enqueueLostRuns(training.services)
    const first = await mustTakeTurn(training)
    expect(first.id).toBe(waiting)
    expect(await takeTurn(training)).toBeUndefined()
    await dropJob(waiting)
    await settleLostLeases(training.services)
    const second = await mustTakeTurn(training)
    expect(second.job.run.attempt).toBe(2)
    expect(second.job.lease).not.toBe(first.job.lease)
    await expect(first.train()).rejects.toMatchObject(lost)
    await second.complete()
  })
})
