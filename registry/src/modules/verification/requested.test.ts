import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import type { Database } from '../../core/database/database.ts'
import { evaluateRun, findEvaluation } from '../runs/evaluations.ts'
import { mustTakeTurn, openTraining, runOf, startRun, type Training } from '../runs/testing/train.ts'
import { failExhausted, openEvaluationTarball } from './evaluate-jobs.ts'
import { finish, mustLease, resultOf } from './testing/verifying.ts'

describeOnEngines('requested evaluations on $kind', ({ open }) => {
  let database: Database
  let training: Training
  let runId: string

  beforeAll(async () => {
    database = await open()
    training = await openTraining(database)
    runId = await startRun(training)
    await (await mustTakeTurn(training)).complete()
  })
  afterAll(async () => {
    await database.close()
    await training.services.remove()
  })

  const request = async (episodes = 50, seed = 7) => {
    const { services, ada } = training
    const requested = { actor: ada, runId, episodes, seed, traceparent: null, ip: null }
    return evaluateRun(services, requested)
  }
  const found = (id: string) => findEvaluation(database.query, training.ada, id)

  it('evaluates a run’s agent on the run’s scenario, and stores the metrics', async () => {
    const { services } = training
    const { id } = await request()
    const job = await mustLease(services)
    const run = await runOf(services, runId)
    expect(job.evaluation).toMatchObject({
      purpose: 'requested',
      agent: { integrity: run.agent_integrity },
      scenario: { name: training.scenario },
      tasks: [{ id: 'requested', episodes: 50, seed: 7 }],
    })
    expect((await found(id)).state).toBe('running')
    const { body, size } = await openEvaluationTarball(services, job.id, job.lease, 'agent')
    expect((await body.toArray()).reduce((sum, bytes) => sum + bytes.length, 0)).toBe(size)
    await finish(services, job, resultOf(job, goodAgent.evaluation, { return_mean: 0.4 }))
    expect(await found(id)).toMatchObject({
      state: 'completed',
      evaluation: { return_mean: 0.4, episodes: 50, seed: 7 },
      error: null,
    })
    expect(await database.query.selectFrom('verifications').selectAll().execute(), 'nothing is signed').toEqual([])
  })

  it('stores the error of the model or the run, if there are no metrics', async () => {
    const { services } = training
    const first = await request()
    const job = await mustLease(services)
    const checks = [{ id: 'golden_batch', ok: false, message: 'model_timeout: it did not answer.' }]
    await finish(services, job, { checks, output_hash: null, results: [], runtime: {} })
    expect(await found(first.id)).toMatchObject({
      state: 'failed',
      evaluation: null,
      error: { message: checks[0].message },
    })

    const second = await request()
    const other = await mustLease(services)
    const result = resultOf(other, goodAgent.evaluation)
    const error = { code: 'scenario_threw' as const, message: 'step threw.' }
    await finish(services, other, { ...result, results: [{ id: 'requested', evaluation: null, error }] })
    expect(await found(second.id)).toMatchObject({ state: 'failed', error })
  })

  it('fails once its attempts are exhausted', async () => {
    const { services } = training
    const { id } = await request()
    const job = await mustLease(services)
    await database.transaction((query) => failExhausted(services, query, job.id))
    expect(await found(id)).toMatchObject({ state: 'failed', error: { code: 'worker_failed' } })
    const { queue } = services
    await database.transaction((query) => queue.end(query, 'evaluate', job.id))
  })
})
