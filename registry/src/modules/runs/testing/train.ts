import { createHash, randomUUID } from 'node:crypto'
import {
  type Heartbeat,
  type LeasedTraining,
  type Outcome,
  type SampleEpisode,
  startRunRequestSchema,
} from '@agentgym/contract'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { sampleEpisode } from '../../../../../testdata/episodes/sample-episode.ts'
import { agentTarball, goodAgent } from '../../../../../testdata/tarballs/good-agent.ts'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { Attempt, JobHandler } from '../../../core/queue/job-handler.ts'
import type { JobQueue } from '../../../core/queue/job-queue.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { leaseJob, releaseJob } from '../../jobs/lease-jobs.ts'
import { createActor, publish } from '../../packages/testing/publishing.ts'
import { progressPoint } from '../exports/testing/progress-points.ts'
import { finishRun } from '../finish-run.ts'
import { storeEpisode } from '../run-episodes.ts'
import { readEvents } from '../run-events.store.ts'
import { type RunRow, requestCancel, resumeRun, runContext } from '../run-state.ts'
import { submitRun } from '../submit-run.ts'
import { trainJobs } from '../train-jobs.ts'
import { recordProgress, storeAgent, storeCheckpoint, storeTrajectories } from '../worker-reports.ts'

/** A price per hour at which a millisecond costs one minor unit. */
export const pricePerHour = 3_600_000

/** A user with a scenario to train on, and the queue that workers poll. */
export type Training = {
  services: TestServices
  queue: JobQueue
  handlers: JobHandler[]
  ada: Actor
  /** `@ada/maze`. */
  scenario: string
}

export async function openTraining(database: Database, config: Partial<ServerConfig> = {}): Promise<Training> {
  const services = await testServices(database, config)
  const { queue } = services
  const handlers = [trainJobs(services)]
  const ada = await createActor(database)
  await publish(services, ada, '1.0.0')
  return { services, queue, handlers, ada, scenario: `@${ada.username}/maze` }
}

/** Gives the run's id. */
export async function startRun({ services, ada, scenario }: Training, more: Record<string, unknown> = {}) {
  const request = startRunRequestSchema.parse({ scenario, ...more })
  const { id } = await submitRun(services, { actor: ada, request, traceparent: null, ip: null })
  return id
}

export async function runOf({ database }: Pick<TestServices, 'database'>, id: string): Promise<RunRow> {
  return database.query.selectFrom('training_runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

export async function eventsOf({ database }: Pick<TestServices, 'database'>, id: string) {
  return readEvents(database.query, id, 0, 100_000)
}

export async function chargesOf({ database }: Pick<TestServices, 'database'>, id: string) {
  const charges = database.query.selectFrom('training_charges').selectAll().where('run_id', '=', id)
  return charges.orderBy('resumption').execute()
}

export async function typesOf(services: Pick<TestServices, 'database'>, id: string): Promise<string[]> {
  return (await eventsOf(services, id)).map(({ type }) => type)
}

/** The curve's iterations and the places of all events: both without gap or double. */
export async function expectGapless(services: Pick<TestServices, 'database'>, id: string): Promise<void> {
  const events = await eventsOf(services, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  const iterations = events.flatMap(({ type, data }) => (type === 'progress' ? [data.iteration] : []))
  expect(iterations).toEqual(iterations.map((_, index) => index + 1))
  expect(await runOf(services, id)).toMatchObject({ last_seq: events.length, iteration: iterations.length })
}

export async function cancel({ services }: Training, id: string): Promise<RunRow> {
  const context = runContext(services)
  return services.database.transaction((query) => requestCancel(query, context, id))
}

export async function resume({ services }: Training, id: string, budgetMinor: number): Promise<RunRow> {
  const context = runContext(services)
  return services.database.transaction((query) => resumeRun(query, context, id, { budgetMinor, tokenId: null }))
}

/** As if the run's worker had not responded for two minutes. */
export async function silence({ services, queue }: Training, id: string): Promise<void> {
  const { query } = services.database
  await sql`update jobs set leased_until = now() - interval '1 minute' where id = ${id} and state = 'leased'`.execute(
    query,
  )
  await queue.expireLeases()
}

/** A worker's turn at a run, as the worker sees it: it only knows its job. */
export class Turn {
  readonly job: LeasedTraining
  readonly #training: Training
  /** Iterations that the trainer has done. */
  iteration: number

  constructor(training: Training, job: LeasedTraining) {
    this.#training = training
    this.job = job
    this.iteration = job.run.checkpoint?.iteration ?? 0
  }

  get id(): string {
    return this.job.id
  }

  attempt(): Attempt {
    return this.#training.queue.attemptOf('train', this.id, this.job.lease)
  }

  /** Trains that many iterations and reports them. */
  async train(iterations = 1, meteredMs = 0, more: Record<string, unknown> = {}): Promise<Heartbeat['stop']> {
    const points = Array.from({ length: iterations }, (_, index) => progressPoint(this.iteration + index + 1))
    const stop = await recordProgress(this.#training.services, this.attempt(), {
      points,
      evaluations: [],
      metered_ms: meteredMs,
      ...more,
    })
    this.iteration += iterations
    return stop
  }

  async save(meteredMs = 0, bytes = checkpointBytes(this.iteration)): Promise<Heartbeat['stop']> {
    const checkpoint = {
      iteration: this.iteration,
      steps: this.iteration * 2048,
      seconds: this.iteration,
      metered_ms: meteredMs,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    }
    return storeCheckpoint(this.#training.services, this.attempt(), checkpoint, requestOf(bytes))
  }

  async upload(tarball = agentTarball(this.job.run.publish ?? {})): Promise<string> {
    return storeAgent(this.#training.services, this.attempt(), requestOf(tarball))
  }

  async sample(environment = 0, steps = 3): Promise<void> {
    const step = {
      observation: [0.5, 1],
      action: [1],
      reward: 1,
      log_probability: -0.5,
      terminated: false,
      truncated: false,
    }
    const trajectory = {
      iteration: Math.max(1, this.iteration),
      environment,
      return: steps,
      length: steps,
      partial: false,
    }
    const trajectories = [{ ...trajectory, steps: Array.from({ length: steps }, () => step) }]
    await storeTrajectories(this.#training.services, this.attempt(), trajectories)
  }

  async sampleEpisode(episode: SampleEpisode = sampleEpisode({ policy: 'agent' })): Promise<void> {
    const { iteration } = this
    const place = { iteration, steps: iteration * 2048, return: 0.5, length: 2 }
    await storeEpisode(this.#training.services, this.attempt(), { ...place, episode })
  }

  async beat(): Promise<Heartbeat['stop']> {
    const { services, queue, handlers } = this.#training
    const attempt = this.attempt()
    const answer = await services.database.transaction(async (query) => {
      await queue.hold(query, attempt)
      return handlers[0].heartbeat?.(query, attempt)
    })
    return answer?.stop ?? null
  }

  async release(meteredMs = 0): Promise<void> {
    const { services, handlers } = this.#training
    await releaseJob(services, handlers, { id: this.id, lease: this.job.lease, reason: 'The worker stops.', meteredMs })
  }

  async end(outcome: Outcome, meteredMs = 0): Promise<string> {
    return finishRun(this.#training.services, this.attempt(), { outcome, meteredMs })
  }

  /** Uploads an agent and completes the run. */
  async complete(meteredMs = 0): Promise<string> {
    return this.end(completed(await this.upload()), meteredMs)
  }
}

export function completed(integrity: string): Outcome {
  const { evaluation } = goodAgent
  return { state: 'completed', steps: 2048, seconds: 1, evaluation, agent: { integrity } }
}

/** The next run, for a worker of that price; undefined if none waits. */
export async function takeTurn(training: Training, price = pricePerHour, name = 'worker-1'): Promise<Turn | undefined> {
  const { services, handlers } = training
  const job = await leaseJob(services, handlers, { kinds: ['train'], worker: worker(price, name) })
  return job?.kind === 'train' ? new Turn(training, job) : undefined
}

export async function mustTakeTurn(...given: Parameters<typeof takeTurn>): Promise<Turn> {
  const turn = await takeTurn(...given)
  if (turn === undefined) throw new Error('no run waits')
  return turn
}

function worker(price: number, name: string) {
  const usage = { cpu: 0.5, memory: 0.25, gpu: null }
  const machine = { cores: 2, memory_bytes: 2 ** 30, gpus: [], slots: 1 }
  return { id: randomUUID(), name, ...machine, price_minor_per_hour: price, usage }
}

function checkpointBytes(iteration: number): Buffer {
  return Buffer.from(`weights after iteration ${iteration}`)
}

function requestOf(body: Uint8Array): Request {
  return new Request('http://localhost/', { method: 'PUT', body: new Uint8Array(body) })
}
