// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sha256 } from '@agentgym/agent/engine'
import { type Client, publishPackage } from '@agentgym/client'
import { type Run, resolveTrainingPlan, type StartRunRequest } from '@agentgym/contract'
import { loadScenario } from '@agentgym/runtime'
import { packScenario } from '@agentgym/testkit/packages'
import { freePort } from '@agentgym/testkit/ports'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../registry/src/core/database/database.ts'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'
import { recordedTraining } from '../../runtime/src/training/testing/recorded-training.ts'
import { agentOf } from '../../runtime/src/worker/testing/fixture-job.ts'
import { auditRun } from './audit-run.ts'

const settings = {
  ...{ environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0, checkpoint_every: 2_048 },
  ...{ stop_at_success: false, rollout_workers: 1, learner_threads: 1 },
}
const seed = 7

describe('runs of several workers', { timeout: 240_000 }, () => {
  let server: TestServer
  let database: Database
  let author: Client
  let token: string
  const workers: ChildProcess[] = []

  const startWorker = async (host = '127.0.0.1'): Promise<ChildProcess> => {
    const entry = path.join(import.meta.dirname, '../../testkit/src/worker.process.ts')
    const address = `${host}:${await freePort()}`
    const given = ['--no-node-snapshot', entry, server.url, token, address]
    const worker = spawn(process.execPath, given, { stdio: ['ignore', 'ignore', 'inherit'] })
    workers.push(worker)
    return worker
  }
  const kill = async (worker: ChildProcess) => {
    if (worker.exitCode !== null || worker.signalCode !== null) return
    worker.kill('SIGKILL')
    await once(worker, 'exit')
  }
  /** As if two minutes had passed since a worker was killed. */
  const forgetSilent = () => database.execute(`delete from workers where seen_at < now() - interval '4 seconds'`)

  beforeAll(async () => {
    const url = await createPostgresqlDatabase()
    server = await startServer({ environment: { DATABASE_URL: url } })
    database = await openDatabase({ url })
    token = (await server.signUp('operator', ['worker'])).token
    author = (await server.signUp('acme')).client
    await startWorker()
    await publishPackage(author, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
    await until(async () => {
      const answer = await author.send('/v1/packages/@acme/cart-pole/versions/1.0.0')
      return ((await answer.json()) as { state: string }).state === 'published'
    })
  }, 120_000)
  afterAll(async () => {
    await Promise.all(workers.map(kill))
    await database?.close()
    await server?.remove()
  })

  const start = async (request: Partial<StartRunRequest>): Promise<Run> => {
    const body = JSON.stringify({ scenario: '@acme/cart-pole', steps: 4_096, seed, settings, ...request })
    const headers = { 'content-type': 'application/json' }
    return (await (await author.send('/v1/runs', { method: 'POST', headers, body })).json()) as Run
  }
  const look = async (id: string) => (await (await author.send(`/v1/runs/${id}`)).json()) as Run
  const ended = async (id: string): Promise<Run> => {
    await until(async () => !['queued', 'running'].includes((await look(id)).state))
    const run = await look(id)
    expect(run.state, JSON.stringify(run.error)).toBe('completed')
    return run
  }
  /** SHA-256 of the model that a run came to. */
  const modelOf = async (id: string): Promise<string> => {
    const agent = new Uint8Array(await (await author.send(`/v1/runs/${id}/agent`)).arrayBuffer())
    return (await agentOf({ agent })).model_hash
  }
  /** Of the same run in two processes here. */
  const modelHere = async (steps: number, chosen = settings): Promise<string> => {
    const scenario = await loadScenario(path.join(import.meta.dirname, '../../plugins/cart-pole'))
    const { training, success } = scenario.package.agentgym
    const plan = resolveTrainingPlan(training ?? {}, { steps, settings: chosen })
    const { outcome } = await recordedTraining(scenario, { plan, success, seed, together: { processes: 2 } })
    return sha256(outcome?.model ?? new Uint8Array())
  }

  it('wait for enough workers and say so, and then come to the weights of as many processes here', async () => {
    const run = await start({ workers: 2 })
    expect(run).toMatchObject({
      workers: 2,
      state: 'queued',
      unserved: expect.stringContaining('needs 2 workers at once'),
    })
    const single = await start({ steps: 256 })
    await ended(single.id)
    expect(await look(run.id)).toMatchObject({ state: 'queued', attempt: 0, cost: { spent_minor: 0 } })
    await startWorker()
    const done = await ended(run.id)
    expect(done).toMatchObject({ attempt: 1, unserved: null, worker: expect.stringMatching(/ and /) })
    expect(await modelOf(run.id)).toBe(await modelHere(4_096))
  })

  it('end on all workers when one is killed, and continue when there are enough again, with the same result', async () => {
    const steps = 16_384
    const often = { ...settings, checkpoint_every: 512 }
    const { id } = await start({ workers: 2, steps, settings: often })
    await until(async () => ((await look(id)).checkpoint?.iteration ?? 0) > 0)
    await kill(workers[0])
    await until(async () => (await look(id)).state === 'queued')
    await until(async () => {
      await forgetSilent()
      return (await look(id)).unserved !== null
    })
    // The one that is left serves others.
    await ended((await start({ steps: 256 })).id)
    await startWorker()
    await ended(id)
    expect(await modelOf(id)).toBe(await modelHere(steps, often))
    const audit = await auditRun(database, id)
    expect(audit.attempts).toBe(2)
    expect(audit.ends).toEqual(['completed'])
    expect(audit.iterations).toEqual(audit.iterations.map((_, index) => index + 1))
    expect(audit.openJobs).toBe(0)
  })

  if (isLong)
    it('do not wait for each other’s workers', async () => {
      await startWorker()
      const runs = await Promise.all([start({ workers: 2 }), start({ workers: 2, seed: 8 }), start({ steps: 256 })])
      await Promise.all(runs.map(({ id }) => ended(id)))
    })

  it('are refused where one worker must train them', async () => {
    await expect(start({ workers: 2, algorithm: 'dqn', settings: {} })).rejects.toMatchObject({
      ...{ code: 'config_invalid', message: 'dqn learns on one worker', data: { field: 'workers' } },
    })
    await expect(start({ workers: 9 })).rejects.toMatchObject({
      message: '8 environments cannot be shared by 9 workers',
    })
  })

  if (isLong)
    it('fail and say which address was not reached if their workers cannot reach each other', async () => {
      await Promise.all(workers.map(kill))
      // An address for documentation, which no machine has.
      for (let i = 0; i < 2; i += 1) await startWorker('192.0.2.1')
      const { id } = await start({ workers: 2 })
      await until(async () => !['queued', 'running'].includes((await look(id)).state))
      const { state, error } = await look(id)
      expect([state, JSON.stringify(error)]).toEqual(['failed', expect.stringContaining('192.0.2.1')])
    }, 1_800_000)
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(50)
}
