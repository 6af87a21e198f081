import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  AgentGymError,
  agentPartsRequestSchema,
  checkpointPartsRequestSchema,
  checkpointQuerySchema,
  errorCatalog,
  evaluationResultRequestSchema,
  heartbeatRequestSchema,
  type JobKind,
  jobResultRequestSchema,
  type LeasedJob,
  leaseHeadersSchema,
  leaseRequestSchema,
  outcomeRequestSchema,
  progressRequestSchema,
  releaseRequestSchema,
  runEpisodeRequestSchema,
  trajectoriesRequestSchema,
  type WorkerDescription,
  workerHeadersSchema,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'
import { leaseLost, type StoredJob, type TestJob } from './stored-job.ts'

/**
 * What befalls a request: `lost` before it is handled, or its `answer_lost` after that; `trouble` is a status 500 before it
 * is handled, `refused` a 413, `forbidden` a 403,
 * `unknown` a server's that does not know the endpoint; `fenced` takes the lease away first, for good; a
 * proxy refuses larger bodies than `proxyLimit` with its own 413. A promise holds it up.
 */
export type Disturbance =
  | 'lost'
  | 'answer_lost'
  | 'trouble'
  | 'refused'
  | 'forbidden'
  | 'unknown'
  | 'fenced'
  | { proxyLimit: number }
  | Promise<unknown>

/** `count` is how many requests of that action the job has had, this one included. */
type JobRequest = { action: string; job: StoredJob | undefined; count: number }

type LeaseAsked = { kinds: JobKind[]; worker?: WorkerDescription }

/**
 * A server of jobs in memory that speaks the contract and holds workers to it: what the server's own rooms would refuse it
 * refuses, and what must never happen (a gap in a curve, a checkpoint ahead of it, two outcomes) it notes in `violations`.
 */
export class JobServer {
  readonly jobs: StoredJob[] = []
  readonly violations: string[] = []
  /** Jobs of the requests whose lease was over. */
  readonly refusals: string[] = []
  /** Who asked for jobs. */
  readonly leases: LeaseAsked[] = []
  /** What befalls a request; nothing unless set. */
  disturb: (request: JobRequest) => Disturbance | undefined = () => undefined
  leaseMs = 60_000
  readonly #files = new Map<string, Uint8Array>()
  readonly #parts = new Map<string, Uint8Array>()
  readonly #waiting = new Set<{ condition: () => boolean; resolve: () => void }>()
  readonly #counts = new Map<string, number>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  url = ''

  static async start(): Promise<JobServer> {
    const server = new JobServer()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    server.url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`
    return server
  }

  /** Resolves when, after some request, it is so. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add({ condition, resolve }))
  }

  /** Queues a job; `id` and lease are the server's. */
  add(job: TestJob): StoredJob {
    const stored: StoredJob = {
      ...{ id: randomUUID(), job, state: 'queued', attempt: 0, stop: null, metered: [] },
      ...{ points: new Map(), evaluations: new Map(), trajectories: new Map(), episodes: new Map(), checkpoints: [] },
      ...{ agent: null, outcome: null, report: null, sample: null, evaluation: null, releases: [] },
    }
    this.jobs.push(stored)
    return stored
  }

  /** Serves bytes below an address of their own. */
  file(bytes: Uint8Array): string {
    const name = createHash('sha256').update(bytes).digest('hex')
    this.#files.set(name, bytes)
    return `${this.url}/files/${name}`
  }

  /** The lease is over: the job waits for another worker. */
  expire(job: StoredJob): void {
    if (job.state === 'leased') job.state = 'queued'
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  lease(kinds: JobKind[]): LeasedJob | undefined {
    const next = this.jobs.find(({ state, job }) => state === 'queued' && kinds.includes(job.kind))
    if (next === undefined) return undefined
    next.state = 'leased'
    next.attempt += 1
    next.metered.push(0)
    const leased = { id: next.id, lease: leaseOf(next), expires_at: this.leaseEnd(), traceparent: null }
    return { ...leased, ...this.#described(next) } as LeasedJob
  }

  leaseEnd(): string {
    return new Date(Date.now() + this.leaseMs).toISOString()
  }

  /** The job that a write is about, if it may be written. */
  held(id: string, lease: unknown): StoredJob {
    const job = this.jobs.find((each) => each.id === id)
    if (job === undefined || job.state !== 'leased' || lease !== leaseOf(job)) throw leaseLost()
    return job
  }

  keepPart(bytes: Uint8Array): string {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    this.#parts.set(sha256, bytes)
    return sha256
  }

  /** The parts that a request names, which must all be stored. */
  joined(request: unknown): Buffer {
    const { parts } = request as { parts: string[] }
    return Buffer.concat(parts.map((part) => this.#parts.get(part) ?? assert.fail(`the part ${part} is not stored`)))
  }

  #described({ job, attempt, checkpoints }: StoredJob): TestJob {
    if (job.kind !== 'train') return job
    const last = checkpoints.at(-1)
    if (last === undefined) return { ...job, run: { ...job.run, attempt } }
    const { iteration, steps, sha256, bytes } = last
    const checkpoint = { iteration, steps, sha256, url: this.file(bytes) }
    return { ...job, run: { ...job.run, attempt, checkpoint } }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url)
    // /v1/jobs/lease, /v1/jobs/ID/ACTION, /files/NAME
    const [room, , id, action = id] = pathname.split('/').slice(1)
    try {
      const body = await buffer(request)
      if (room === 'files') return void response.end(this.#files.get(pathname.slice('/files/'.length)))
      const requested = { action, job: this.jobs.find((job) => job.id === id) }
      const disturbance = this.#disturbance(requested)
      if (disturbance === 'lost') return void request.socket.destroy()
      if (disturbance === 'trouble') return this.#refuse(response, new Error('trouble'))
      if (typeof disturbance === 'object' && 'proxyLimit' in disturbance && body.length > disturbance.proxyLimit)
        return void response.writeHead(413).end('<html>413 Request Entity Too Large</html>')
      if (disturbance === 'refused') {
        return this.#refuse(response, new AgentGymError({ code: 'request_too_large', message: 'Too much.' }))
      }
      if (disturbance === 'forbidden') {
        return this.#refuse(response, new AgentGymError({ code: 'forbidden', message: 'No token of a worker.' }))
      }
      if (disturbance === 'unknown') {
        return this.#refuse(response, new AgentGymError({ code: 'endpoint_not_found', message: 'Not known.' }))
      }
      if (disturbance === 'fenced' && requested.job !== undefined) requested.job.state = 'over'
      if (disturbance instanceof Promise) await disturbance
      const endpoint = endpoints[requested.action]
      if (endpoint === undefined) throw new Error(`no such request: ${request.method} ${pathname}`)
      const answer = endpoint(this, { id, headers: request.headers, query: Object.fromEntries(searchParams), body })
      if (disturbance === 'answer_lost') return void request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      response.setHeader(workerProtocolHeader, workerProtocol)
      response.statusCode = answer === undefined ? 204 : 200
      response.end(answer === undefined ? undefined : JSON.stringify(answer))
    } catch (error) {
      if (error instanceof AgentGymError && error.code === 'lease_lost') this.refusals.push(id)
      if (!(error instanceof AgentGymError))
        this.violations.push(error instanceof Error ? error.message : String(error))
      this.#refuse(response, error)
    } finally {
      for (const waiter of [...this.#waiting].filter(({ condition }) => condition())) {
        this.#waiting.delete(waiter)
        waiter.resolve()
      }
    }
  }

  #disturbance({ action, job }: Omit<JobRequest, 'count'>): Disturbance | undefined {
    const key = `${job?.id} ${action}`
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return this.disturb({ action, job, count })
  }

  #refuse(response: ServerResponse, error: unknown): void {
    const report =
      error instanceof AgentGymError ? error.toReport() : { code: 'internal_error' as const, message: String(error) }
    response.statusCode = errorCatalog[report.code].status
    response.end(JSON.stringify({ error: report }))
  }
}

function leaseOf({ id, attempt }: StoredJob): string {
  return `${attempt}.${id}`
}

type Request = { id: string; headers: IncomingMessage['headers']; query: Record<string, string>; body: Buffer }

/** What a job server does at each request; the answer's body, if it has one. A failed assertion is a violation. */
const endpoints: Record<string, (server: JobServer, request: Request) => object | undefined> = {
  lease: (server, { headers, body }) => {
    workerHeadersSchema.parse(headers)
    const requested = leaseRequestSchema.parse(json(body))
    server.leases.push(requested)
    return server.lease(requested.kinds)
  },

  heartbeat: (server, { id, body }) => term(server, server.held(id, heartbeatRequestSchema.parse(json(body)).lease)),

  progress: (server, { id, body }) => {
    const { lease, points, evaluations, metered_ms } = progressRequestSchema.parse(json(body))
    const job = server.held(id, lease)
    for (const point of points) {
      assert(point.iteration <= job.points.size + 1, `iteration ${point.iteration} leaves a gap`)
      if (!job.points.has(point.iteration)) job.points.set(point.iteration, point)
    }
    for (const { iteration, evaluation } of evaluations) {
      assert(
        iteration === 0 || job.points.has(iteration),
        `an evaluation of iteration ${iteration}, which has not been reported`,
      )
      if (!job.evaluations.has(iteration)) job.evaluations.set(iteration, evaluation)
    }
    meter(job, metered_ms)
    return term(server, job)
  },

  checkpoint: (server, { id, headers, query, body: sent }) => {
    const parted = isJson(headers)
    const { lease, iteration, steps, sha256, metered_ms } = parted
      ? checkpointPartsRequestSchema.parse(json(sent))
      : { lease: leaseHeadersSchema.parse(headers)['agentgym-lease'], ...checkpointQuerySchema.parse(query) }
    const body = parted ? server.joined(json(sent)) : sent
    const job = server.held(id, lease)
    assert(job.points.has(iteration), `a checkpoint of iteration ${iteration}, which has not been reported`)
    assert.equal(createHash('sha256').update(body).digest('hex'), sha256)
    const known = job.checkpoints.find((checkpoint) => checkpoint.iteration === iteration)
    if (known === undefined) job.checkpoints.push({ iteration, steps, sha256, bytes: new Uint8Array(body) })
    meter(job, metered_ms)
    return term(server, job)
  },

  parts: (server, { id, headers, body }) => {
    server.held(id, leaseHeadersSchema.parse(headers)['agentgym-lease'])
    return { sha256: server.keepPart(body) }
  },

  trajectories: (server, { id, body }) => {
    const { lease, trajectories } = trajectoriesRequestSchema.parse(json(body))
    const job = server.held(id, lease)
    for (const each of trajectories) job.trajectories.set(`${each.iteration} ${each.environment}`, each)
    return undefined
  },

  episodes: (server, { id, body }) => {
    const { lease, ...episode } = runEpisodeRequestSchema.parse(json(body))
    server.held(id, lease).episodes.set(episode.iteration, episode)
    return undefined
  },

  agent: (server, { id, headers, body: sent }) => {
    const parted = isJson(headers)
    const lease = parted
      ? agentPartsRequestSchema.parse(json(sent)).lease
      : leaseHeadersSchema.parse(headers)['agentgym-lease']
    const body = parted ? server.joined(json(sent)) : sent
    server.held(id, lease).agent = new Uint8Array(body)
    return { integrity: integrityOf(body) }
  },

  outcome: (server, { id, body }) => {
    const { lease, outcome, metered_ms } = outcomeRequestSchema.parse(json(body))
    const job = server.held(id, lease)
    assert.equal(job.outcome, null, 'a second outcome')
    if (outcome.state === 'completed') {
      assert.equal(job.agent === null ? null : integrityOf(job.agent), outcome.agent.integrity)
    }
    meter(job, metered_ms)
    job.outcome = outcome
    job.state = 'over'
    return {}
  },

  release: (server, { id, body }) => {
    const { lease, reason, metered_ms } = releaseRequestSchema.parse(json(body))
    const job = server.held(id, lease)
    if (metered_ms !== undefined) meter(job, metered_ms)
    job.releases.push(reason)
    server.expire(job)
    return undefined
  },

  result: (server, { id, body }) => {
    const { lease, report, sample_episode: sample = null } = jobResultRequestSchema.parse(json(body))
    const job = server.held(id, lease)
    job.report = report
    job.sample = sample
    job.state = 'over'
    return { state: report.ok ? 'published' : 'rejected' }
  },

  evaluation: (server, { id, body }) => {
    const result = evaluationResultRequestSchema.parse(json(body))
    const job = server.held(id, result.lease)
    job.evaluation = result
    job.state = 'over'
    return {}
  },
}

function isJson(headers: IncomingMessage['headers']): boolean {
  return headers['content-type'] === 'application/json'
}

function json(body: Buffer): unknown {
  return JSON.parse(body.toString('utf8'))
}

function term(server: JobServer, { stop }: StoredJob): object {
  return { expires_at: server.leaseEnd(), stop }
}

/** Within an attempt the figure never falls. */
function meter({ metered }: StoredJob, meteredMs: number): void {
  metered[metered.length - 1] = Math.max(metered[metered.length - 1], meteredMs)
}

function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`
}
