// @module-tag full
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, publishPackage, versionPath } from '@agentgym/client'
import type { Run, StartRunRequest } from '@agentgym/contract'
import { runWorker, type WorkerEvent } from '@agentgym/runtime'
import { packScenario } from '@agentgym/testkit/packages'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { fullTier, isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../registry/src/core/database/database.ts'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'
import { auditRun } from './audit-run.ts'

const shortRuns = isLong ? 200 : 6
const settings = { environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 }

type People = { operator: string; author: Client }

/** On the author's balance, and the cap on the cost of a run, in minor units. */
const funds = 90_000_000
const budget = 8_000_000

async function people(server: TestServer): Promise<People> {
  // Who signs up first operates the installation.
  const operator = await server.signUp('operator', ['worker'])
  const author = await server.signUp('acme', [
    ...['packages:manage', 'training:start', 'training:view', 'training:cancel', 'training:evaluate', 'market:buy'],
  ])
  // Training is paid: play money.
  const body = JSON.stringify({ amount_minor: funds })
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  await author.client.send('/v1/top-ups', { method: 'POST', headers, body })
  return { operator: operator.token, author: author.client }
}

type Worker = { events: WorkerEvent[]; stop(): Promise<void> }

function startWorker(server: string, token: string): Worker {
  const events: WorkerEvent[] = []
  const stop = new AbortController()
  const ended = runWorker({
    server,
    token,
    slots: 2,
    // A minor unit a millisecond.
    priceMinorPerHour: 3_600_000,
    stop: stop.signal,
    pollMs: 100,
    onEvent: (event) => events.push(event),
  })
  return {
    events,
    stop: () => {
      stop.abort()
      return ended
    },
  }
}

async function startRun(client: Client, request: Partial<StartRunRequest>): Promise<Run> {
  const body = JSON.stringify({
    ...{ scenario: '@acme/cart-pole', steps: 1_024, settings, budget_minor: budget },
    ...request,
  })
  const headers = { 'content-type': 'application/json' }
  return (await (await client.send('/v1/runs', { method: 'POST', headers, body })).json()) as Run
}

async function look(client: Client, id: string): Promise<Run> {
  return (await (await client.send(`/v1/runs/${id}`)).json()) as Run
}

async function versionState(client: Client, name: string, version: string): Promise<string> {
  return ((await (await client.send(versionPath(name, version))).json()) as { state: string }).state
}

async function publishCartPole(client: Client): Promise<void> {
  await publishPackage(client, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
  await until(async () => (await versionState(client, '@acme/cart-pole', '1.0.0')) === 'published')
}

/** Waits for what takes as long as it takes; the test's own limit ends what never comes. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(100)
}

const isOver = ({ state }: Run) => !['queued', 'running'].includes(state)

describe('a server with its own database, and one worker', { timeout: 240_000 }, () => {
  let server: TestServer
  let worker: Worker
  let author: Client
  beforeAll(async () => {
    server = await startServer()
    const { operator, author: client } = await people(server)
    author = client
    worker = startWorker(server.url, operator)
    await publishCartPole(author)
  }, 240_000)
  afterAll(async () => {
    await worker.stop()
    await server.remove()
  })

  it('trains, publishes the agent, and verifies it', async () => {
    const { id } = await startRun(author, {
      publish: { name: '@acme/balancer', summary: 'Balances the pole.' },
      trajectories_every: 2,
      settings: { ...settings, evaluate_every: 512 },
    })
    await until(async () => isOver(await look(author, id)))
    const run = await look(author, id)
    expect(run, JSON.stringify(run.error)).toMatchObject({
      state: 'completed',
      attempt: 1,
      progress: { iteration: 4, steps: 1_024 },
      agent: { package: { name: '@acme/balancer', version: '0.1.0' } },
    })
    const { episodes } = (await author.GET('/v1/runs/{id}/episodes', { params: { path: { id } } })).data
    expect(episodes.map(({ steps }) => steps)).toEqual([512, 1_024])
    for (const { iteration, length } of episodes) {
      const path = { id, iteration }
      const { data } = await author.GET('/v1/runs/{id}/episodes/{iteration}', { params: { path } })
      expect(data).toMatchObject({ policy: 'agent', view: { kind: 'cart' }, steps: { length: Math.min(200, length) } })
    }
    await until(async () => (await versionState(author, '@acme/balancer', '0.1.0')) !== 'checking')
    expect(await versionState(author, '@acme/balancer', '0.1.0')).toBe('published')
    const reported = worker.events.find((event) => event.event === 'finished' && event.kind === 'evaluate')
    expect(reported).toMatchObject({ subject: '@acme/balancer@0.1.0', ok: true, failed: [] })
  })

  it('cancels a run with a checkpoint', async () => {
    const { id } = await startRun(author, { steps: 100_000_000 })
    await until(async () => (await look(author, id)).progress !== null)
    await author.send(`/v1/runs/${id}/cancel`, { method: 'POST' })
    await until(async () => isOver(await look(author, id)))
    const run = await look(author, id)
    expect(run.state).toBe('cancelled')
    expect(run.checkpoint?.iteration).toBe(run.progress?.iteration)
  })

  it('ends a run when its budget is used up, and resumes it with a higher one', async () => {
    const { id } = await startRun(author, { steps: 2_048, budget_minor: 1 })
    await until(async () => isOver(await look(author, id)))
    const spent = await look(author, id)
    expect(spent).toMatchObject({ state: 'budget_exceeded', cost: { budget_minor: 1 } })
    expect(spent.checkpoint?.iteration).toBe(spent.progress?.iteration)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ budget_minor: budget })
    await author.send(`/v1/runs/${id}/resume`, { method: 'POST', headers, body })
    await until(async () => isOver(await look(author, id)))
    const run = await look(author, id)
    expect(run, JSON.stringify(run.error)).toMatchObject({ state: 'completed', progress: { iteration: 8 }, attempt: 2 })
    expect(run.cost.spent_minor).toBeGreaterThan(spent.cost.spent_minor)
  })
})

describe('two workers on one queue', { timeout: 3_600_000, tags: fullTier }, () => {
  let server: TestServer
  let replica: TestServer
  let database: Database
  let author: Client
  let operator: string
  beforeAll(async () => {
    const url = await createPostgresqlDatabase()
    database = await openDatabase({ url })
    server = await startServer({ environment: { DATABASE_URL: url } })
    replica = await startServer({ data: server.data, environment: { DATABASE_URL: url } })
    const both = await people(server)
    author = both.author
    operator = both.operator
  })
  afterAll(async () => {
    await replica.remove()
    await server.remove()
    await database.close()
  })

  it('do every run once', async () => {
    const workers = [startWorker(server.url, operator), startWorker(replica.url, operator)]
    await publishCartPole(author)
    const ids: string[] = []
    for (let seed = 0; seed < shortRuns; seed++) {
      const publish = { name: '@acme/crowd', version: `1.0.${seed}`, summary: 'Balances the pole.' }
      ids.push((await startRun(author, { seed, publish })).id)
    }
    await until(async () => (await Promise.all(ids.map((id) => look(author, id)))).every(isOver))
    await Promise.all(workers.map((worker) => worker.stop()))
    for (const id of ids) {
      const audit = await auditRun(database, id)
      expect(audit).toMatchObject({ state: 'completed', iterations: [1, 2, 3, 4], attempts: 1, openJobs: 0 })
      expect(audit.ends).toEqual(['completed'])
      expect(audit.charges).toHaveLength(1)
      expect(audit.sequence).toEqual(audit.sequence.map((_, index) => index + 1))
    }
    const leased = workers.map(({ events }) =>
      events.filter(({ event }) => event === 'leased').flatMap((event) => ('run' in event && event.run) || []),
    )
    expect(leased.flat().sort()).toEqual([...ids].sort())
    expect(
      leased.every((runs) => runs.length > 0),
      'both had their share',
    ).toBe(true)
    const { published } = await auditRun(database, ids[0])
    expect(published.sort()).toEqual(ids.map((_, seed) => `1.0.${seed}`).sort())
  })
})
