import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApp } from '../../app/app.ts'
import { type HttpListener, listenHttp } from '../../app/http-listener.ts'
import { type OtlpCollector, startCollector } from '../../app/testing/otlp-collector.ts'
import { sampled, scrape } from '../../app/testing/scrape.ts'
import type { Database } from '../../core/database/database.ts'
import { openTracing } from '../../core/observability/open-tracing.ts'
import { jobRoutes } from '../jobs/jobs.routes.ts'
import { runRoutes } from './runs.routes.ts'
import { settleLostLeases } from './runs.tasks.ts'
import { tokenOf } from './test/run-server.ts'
import { cancel, mustTakeTurn, openTraining, runOf, silence, startRun, type Training } from './testing/train.ts'

const scrapedAgain = { timeout: 60_000 }

describeOnEngines('what an operator sees of runs on $kind', ({ open }) => {
  let database: Database
  let training: Training
  let listener: HttpListener
  let collector: OtlpCollector
  let url: string
  let traces: ReturnType<typeof openTracing>

  beforeAll(async () => {
    database = await open()
    listener = await listenHttp('127.0.0.1', 0)
    url = `http://localhost:${listener.port}`
    collector = await startCollector()
    training = await openTraining(database, { publicUrl: url })
    const { services, handlers } = training
    const sampler = { name: 'always_on', ratio: 1 } as const
    traces = openTracing({ url: `${collector.url}/v1/traces`, sampler }, services.log)
    const routes = [runRoutes(services), jobRoutes(services, handlers)]
    listener.answerWith(createApp(services, { routes, tracer: traces }).fetch)
  })
  afterAll(async () => {
    await listener.drain(0)
    await collector.close()
    await database.close()
    await training.services.remove()
  })

  it('each end of a run and each iteration counts once, even if repeated', async () => {
    await startRun(training)
    const first = await mustTakeTurn(training)
    await first.train(2)
    await first.save()
    await first.train(2)
    await silence(training, first.id)
    const second = await mustTakeTurn(training)
    // Iterations 3 and 4 again, then 5.
    await second.train(3)
    await second.complete()
    await startRun(training)
    const failing = await mustTakeTurn(training)
    await failing.end({ state: 'failed', error: { code: 'scenario_threw', message: 'It threw.' } })
    await cancel(training, await startRun(training))
    await startRun(training)
    const running = await mustTakeTurn(training)

    await expect
      .poll(async () => {
        const families = await scrape(url)
        return {
          active: sampled(families, 'training_jobs_active'),
          completed: sampled(families, 'training_jobs_completed_total'),
          failed: sampled(families, 'training_jobs_failed_total'),
          cancelled: sampled(families, 'training_jobs_cancelled_total'),
          durations: sampled(families, 'training_job_duration_seconds_count', { state: 'completed' }),
          iterations: sampled(families, 'training_iteration_duration_seconds_count'),
          seconds: sampled(families, 'training_iteration_duration_seconds_sum'),
          waiting: sampled(families, 'queue_length', { kind: 'train' }),
          leased: sampled(families, 'queue_leased', { kind: 'train' }),
          cpu: sampled(families, 'worker_cpu_usage', { worker: 'worker-1' }),
        }
      }, scrapedAgain)
      .toEqual({
        active: 1,
        completed: 1,
        failed: 1,
        cancelled: 1,
        durations: 1,
        iterations: 5,
        seconds: 5 * (0.125 + 0.0625),
        waiting: 0,
        leased: 1,
        cpu: 0.5,
      })
    await running.complete()
  })

  it('logs a run’s ID from its submission to its end', async () => {
    const { services } = training
    const lines = () => services.logged.map(({ message, data }) => ({ message, ...data }))
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    await silence(training, id)
    await settleLostLeases(services)
    expect(lines()).toContainEqual({
      message: 'the worker of a run stopped responding',
      run_id: id,
      worker: 'worker-1',
      state: 'queued',
    })
    await expect(turn.train()).rejects.toMatchObject({ code: 'lease_lost' })
    await (await mustTakeTurn(training)).end({
      state: 'failed',
      error: { code: 'scenario_threw', message: '\u001b[2J' },
    })
    const ended = lines().filter((line) => line.message === 'run ended' && 'run_id' in line && line.run_id === id)
    expect(ended).toEqual([
      { message: 'run ended', run_id: id, state: 'failed', code: 'scenario_threw', worker: 'worker-1' },
    ])
  })

  it('the trace of a submission is stored with the run, and passed to its worker', async () => {
    const { services, ada, scenario } = training
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await tokenOf(training, ada)}` }
    const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const submitted = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { ...headers, traceparent: caller },
      body: JSON.stringify({ scenario }),
    })
    expect(submitted.status).toBe(201)
    const { id } = (await submitted.json()) as { id: string }
    const turn = await mustTakeTurn(training)
    expect(turn.id).toBe(id)
    await turn.complete()
    await traces.close()
    const span = collector.spans.find(({ name }) => name === 'POST /v1/runs')
    expect(span).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      attributes: { 'agentgym.run_id': id },
    })
    const stored = `00-${span?.traceId}-${span?.spanId}-01`
    expect((await runOf(services, id)).traceparent).toBe(stored)
    expect(turn.job.traceparent).toBe(stored)
    const line = services.logged.find(({ message, data }) => message === 'request' && data?.run_id === id)
    expect(line?.data).toMatchObject({ path: '/v1/runs', status: 201, trace_id: span?.traceId })
  })
})
