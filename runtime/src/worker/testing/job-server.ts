import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { AgentGymError, errorCatalogue, type JobKind, type LeasedJob, type WorkerDescription } from '@agentgym/contract'
import { endpoints } from './job-server-endpoints.ts'
import { leaseLost, type StoredJob, type TestJob } from './stored-job.ts'

/**
 * What befalls a request: `lost` before it is handled, or its `answer_lost` after that; `trouble` is a status 500 before it
 * is handled, `refused` a 413, `forbidden` a 403; `fenced` takes the lease away first, for good. A promise holds it up.
 */
export type Disturbance = 'lost' | 'answer_lost' | 'trouble' | 'refused' | 'forbidden' | 'fenced' | Promise<unknown>

/** `count` is how many requests of that action the job has had, this one included. */
export type JobRequest = { action: string; job: StoredJob | undefined; count: number }

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
      ...{ points: new Map(), evaluations: new Map(), trajectories: new Map(), checkpoints: [] },
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
      const asked = { action, job: this.jobs.find((job) => job.id === id) }
      const disturbance = this.#disturbance(asked)
      if (disturbance === 'lost') return void request.socket.destroy()
      if (disturbance === 'trouble') return this.#refuse(response, new Error('trouble'))
      if (disturbance === 'refused') {
        return this.#refuse(response, new AgentGymError({ code: 'request_too_large', message: 'Too much.' }))
      }
      if (disturbance === 'forbidden') {
        return this.#refuse(response, new AgentGymError({ code: 'forbidden', message: 'No token of a worker.' }))
      }
      if (disturbance === 'fenced' && asked.job !== undefined) asked.job.state = 'over'
      if (disturbance instanceof Promise) await disturbance
      const endpoint = endpoints[asked.action]
      if (endpoint === undefined) throw new Error(`no such request: ${request.method} ${pathname}`)
      const answer = endpoint(this, { id, query: Object.fromEntries(searchParams), body })
      if (disturbance === 'answer_lost') return void request.socket.destroy()
      response.setHeader('content-type', 'application/json')
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
    response.statusCode = errorCatalogue[report.code].status
    response.end(JSON.stringify({ error: report }))
  }
}

function leaseOf({ id, attempt }: StoredJob): string {
  return `${attempt}.${id}`
}
