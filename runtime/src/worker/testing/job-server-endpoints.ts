import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  checkpointQuerySchema,
  evaluationResultRequestSchema,
  heartbeatRequestSchema,
  jobResultRequestSchema,
  leaseQuerySchema,
  leaseRequestSchema,
  outcomeRequestSchema,
  progressRequestSchema,
  releaseRequestSchema,
  trajectoriesRequestSchema,
} from '@agentgym/contract'
import type { JobServer } from './job-server.ts'
import type { StoredJob } from './stored-job.ts'

type Request = { id: string; query: Record<string, string>; body: Buffer }

/** What a job server does at each request; the answer's body, if it has one. A failed assertion is a violation. */
export const endpoints: Record<string, (server: JobServer, request: Request) => object | undefined> = {
  lease: (server, { body }) => {
    const asked = leaseRequestSchema.parse(json(body))
    server.leases.push(asked)
    return server.lease(asked.kinds)
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
      assert(job.points.has(iteration), `an evaluation of iteration ${iteration}, which has not been reported`)
      if (!job.evaluations.has(iteration)) job.evaluations.set(iteration, evaluation)
    }
    meter(job, metered_ms)
    return term(server, job)
  },

  checkpoint: (server, { id, query, body }) => {
    const { lease, iteration, steps, sha256, metered_ms } = checkpointQuerySchema.parse(query)
    const job = server.held(id, lease)
    assert(job.points.has(iteration), `a checkpoint of iteration ${iteration}, which has not been reported`)
    assert.equal(createHash('sha256').update(body).digest('hex'), sha256)
    const known = job.checkpoints.find((checkpoint) => checkpoint.iteration === iteration)
    if (known === undefined) job.checkpoints.push({ iteration, steps, sha256, bytes: new Uint8Array(body) })
    meter(job, metered_ms)
    return term(server, job)
  },

  trajectories: (server, { id, body }) => {
    const { lease, trajectories } = trajectoriesRequestSchema.parse(json(body))
    const job = server.held(id, lease)
    for (const each of trajectories) job.trajectories.set(`${each.iteration} ${each.environment}`, each)
    return undefined
  },

  agent: (server, { id, query, body }) => {
    server.held(id, leaseQuerySchema.parse(query).lease).agent = new Uint8Array(body)
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
