import { AgentGymError, chosenSettings, type LeasedTraining, type WorkerDescription } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Attempt, JobBody, JobHandler, LeasedAttempt, Release } from '../../core/queue/job-handler.ts'
import { type OpenedObject, openLeased } from '../../core/queue/leased-object.ts'
import type { Services } from '../../core/services.ts'
import { coverRun, isCovered } from './pay-run.ts'
import type { RunServices } from './run-services.ts'
import {
  changeRun,
  endRun,
  isOver,
  lockRun,
  type RunContext,
  type RunRow,
  requeueRun,
  runContext,
} from './run-state.ts'
import { isOfRun, latestCheckpoint, stopOf, takeMeter } from './worker-reports.ts'

/** Name of workers that do not identify themselves. */
const unnamed = { name: 'worker', price_minor_per_hour: 0 }

/** The jobs that train an agent. */
export function trainJobs(services: RunServices): JobHandler {
  const context = runContext(services)
  return {
    kind: 'train',
    describe: (query, attempt, worker) => describe(services, context, query, attempt, worker),
    exhausted: async (query, id) => {
      const run = await lockRun(query, id)
      if (run !== undefined && !isOver(run.state))
        await endRun(query, context, run, { state: 'failed', error: { code: 'worker_failed', message: exhausted } })
    },
    changed: (id) => services.runFeeds.changed(id),
    released: (query, attempt, release) => released(context, query, attempt, release),
    heartbeat: async (query, attempt) => {
      const run = await query
        .selectFrom('training_runs')
        .select(['cancel_requested_at', 'pause_requested_at', 'price_milliseconds', 'budget_minor'])
        .where('id', '=', attempt.id)
        .executeTakeFirstOrThrow()
      return { stop: stopOf(run) }
    },
  }
}

const exhausted = 'No worker finished the run within the allowed attempts.'

async function describe(
  services: RunServices,
  context: RunContext,
  query: Transaction<Schema>,
  attempt: LeasedAttempt,
  worker: WorkerDescription | undefined,
): Promise<JobBody | undefined> {
  const found = await lockRun(query, attempt.id)
  if (found === undefined) return undefined
  if (attempt.gang !== undefined && attempt.gang.rank > 0) return describeToMember(services, query, attempt, found)
  // The job came from the queue, so the run's previous worker has lost it, even if that is not recorded yet.
  const run = found.state === 'running' ? await loseLease(query, context, found) : found
  if (run.state !== 'queued') return undefined
  const { name, price_minor_per_hour: price } = teamOf(attempt, worker)
  if (!(await isPayable(services, context, query, run, price))) return undefined
  const checkpoint = await latestCheckpoint(query, run.id)
  const number = attempt.attempt + 1
  const patch = {
    state: 'running',
    attempt: number,
    idle_attempts: run.idle_attempts + 1,
    worker_id: attempt.workerId,
    worker_name: name,
    price_minor_per_hour: price,
    attempt_price_milliseconds: run.price_milliseconds,
    attempt_metered_ms: 0,
    started_at: run.started_at ?? sql<Date>`now()`,
  } as const
  const data = {
    attempt: number,
    worker: name,
    price_minor_per_hour: price,
    from_iteration: checkpoint?.iteration ?? 0,
  }
  const begun = await changeRun(query, run, patch, [{ type: 'running', data }])
  return {
    kind: 'train',
    traceparent: run.traceparent,
    run: await bodyOf(services, query, { attempt, run: begun, checkpoint }),
  }
}

/** The workers that have the run, as it names them. */
function teamOf({ gang }: LeasedAttempt, worker: WorkerDescription | undefined): typeof unnamed {
  if (gang === undefined) return worker ?? unnamed
  const [first, ...others] = gang.names
  const name = others.length === 1 ? `${first} and ${others[0]}` : `${first} and ${others.length} others`
  return { name, price_minor_per_hour: gang.priceMinorPerHour }
}

/** The job for a worker other than rank 0, once rank 0 has begun the run. */
async function describeToMember(
  services: RunServices,
  query: Transaction<Schema>,
  attempt: LeasedAttempt,
  run: RunRow,
): Promise<JobBody | undefined> {
  if (run.state !== 'running' || run.attempt !== attempt.attempt + 1) return undefined
  const checkpoint = await latestCheckpoint(query, run.id)
  return {
    kind: 'train',
    traceparent: run.traceparent,
    run: await bodyOf(services, query, { attempt, run, checkpoint }),
  }
}

/**
 * Whether a worker with that price may train the run: its budget must be reserved, which happens here if no such worker
 * was connected at submission. Otherwise the run pauses until its user resumes it with a budget that can be paid.
 */
async function isPayable(
  services: RunServices,
  context: RunContext,
  query: Transaction<Schema>,
  run: RunRow,
  price: number,
): Promise<boolean> {
  if (price === 0 || isCovered(run)) return true
  try {
    await coverRun(services, query, run, price)
    return true
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    await endRun(query, context, run, { state: 'budget_exceeded', error: error.toReport() })
    return false
  }
}

type Begun = { attempt: LeasedAttempt; run: RunRow; checkpoint: Awaited<ReturnType<typeof latestCheckpoint>> }

async function bodyOf(
  { config }: Services,
  query: Queries,
  { attempt: { id, attempt, gang }, run, checkpoint }: Begun,
): Promise<LeasedTraining['run']> {
  const url = (what: string) => `${config.publicUrl}/v1/jobs/${id}/${what}`
  const { name, version, bundle_hash: hash, integrity } = await versionOf(query, run.scenario_version_id)
  return {
    scenario: { name, version, hash: hash ?? '', integrity, tarball_url: url('scenario') },
    from: run.from_version_id === null ? null : await startOf(query, run.from_version_id, url('parent')),
    algorithm: run.algorithm,
    settings: forWorkers(run.settings),
    gpu: run.gpus === 0 ? null : { count: run.gpus, memory_bytes: run.gpu_memory },
    gang:
      gang === undefined
        ? null
        : { rank: gang.rank, workers: gang.workers, address: gang.address, secret: gang.secret },
    seed: run.seed,
    attempt: attempt + 1,
    checkpoint:
      checkpoint === undefined
        ? null
        : {
            iteration: checkpoint.iteration,
            steps: checkpoint.steps,
            sha256: checkpoint.sha256,
            url: url(`checkpoint?iteration=${checkpoint.iteration}`),
          },
    pause_at: run.pause_at,
    trajectories_every: run.trajectories_every,
    publish:
      run.publish_name === null || run.publish_version === null
        ? null
        : { name: run.publish_name, version: run.publish_version },
    budget: {
      budget_minor: run.budget_minor,
      price_milliseconds: run.price_milliseconds,
      price_minor_per_hour: run.price_minor_per_hour ?? 0,
    },
  }
}

/** Settings that workers of an older version do not know, where they say what those do anyway. */
const knownAnyway: Record<string, unknown[]> = {
  learner_device: ['cpu'],
  rollout_provider: ['cpu'],
  entropy_coefficient_schedule: ['constant'],
}

/**
 * Without what workers of an older version refuse and do, and without what is left to the scenario: there, too, a setting that is
 * missing is chosen, and where an older version chooses nothing it has a default.
 */
function forWorkers(settings: Record<string, unknown>): Record<string, unknown> {
  const chosen = (name: string, value: unknown) =>
    value === null && (chosenSettings as readonly string[]).includes(name)
  const left = Object.entries(settings).filter(([name, value]) => !chosen(name, value))
  return Object.fromEntries(left.filter(([name, value]) => !knownAnyway[name]?.includes(value)))
}

async function startOf(query: Queries, versionId: string, url: string): Promise<LeasedTraining['run']['from']> {
  const { name, version, integrity } = await versionOf(query, versionId)
  const { manifest } = await query
    .selectFrom('agent_versions')
    .select('manifest')
    .where('version_id', '=', versionId)
    .executeTakeFirstOrThrow()
  return { name, version, model_hash: manifest.model_hash, integrity, tarball_url: url }
}

async function versionOf(query: Queries, id: string) {
  return query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.bundle_hash', 'versions.integrity', 'versions.object_key'])
    .where('versions.id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Training so far stays charged, and the attempt is not counted, unless it came to nothing: then as if it was lost. */
async function released(
  context: RunContext,
  query: Transaction<Schema>,
  attempt: Attempt,
  { reason, failed, meteredMs = 0, leasedMs }: Release,
): Promise<void> {
  const run = await lockRun(query, attempt.id)
  if (run === undefined || !isOfRun(attempt, run)) return
  if (failed) return void (await loseLease(query, context, run, reason))
  const { patch, events } = takeMeter(run, { meteredMs, leasedMs })
  const metered = await changeRun(query, run, patch, events)
  const idle = Math.max(0, run.idle_attempts - 1)
  await requeueRun(query, context, metered, {
    reason: 'released',
    message: reason === '' ? null : reason,
    patch: { idle_attempts: idle, worker_id: null },
  })
}

/**
 * Handles a running run whose worker stopped responding. It is requeued, and training since its last checkpoint is not
 * charged, because the next worker repeats it; or it ends (see `requeueRun`). Both rows are locked.
 */
export async function loseLease(
  query: Transaction<Schema>,
  context: RunContext,
  run: RunRow,
  message = run.workers === 1
    ? `The worker ${run.worker_name} stopped responding.`
    : `One of the workers ${run.worker_name} stopped responding.`,
): Promise<RunRow> {
  const checkpoint = await latestCheckpoint(query, run.id)
  const price = Math.max(run.attempt_price_milliseconds, checkpoint?.price_milliseconds ?? 0)
  return requeueRun(query, context, run, {
    reason: 'lease_expired',
    message,
    patch: { price_milliseconds: price, attempt_price_milliseconds: price, attempt_metered_ms: 0, worker_id: null },
  })
}

const subjectColumns = { scenario: 'scenario_version_id', parent: 'from_version_id' } as const

/** The tarball of the scenario that a leased run trains on, or of the agent that it starts from. Throws `lease_lost`. */
export function openLeasedTarball(
  services: RunServices,
  id: string,
  lease: string,
  what: keyof typeof subjectColumns,
): Promise<OpenedObject> {
  const { query } = services.database
  return openLeased(services, { kind: 'train', id, lease }, async () => {
    const run = await query
      .selectFrom('training_runs')
      .select(`${subjectColumns[what]} as version`)
      .where('id', '=', id)
      .executeTakeFirst()
    return run?.version ? (await versionOf(query, run.version)).object_key : undefined
  })
}

/** The checkpoint that a leased run resumes from. Throws `lease_lost`, also if it was replaced by a later one. */
export function openLeasedCheckpoint(
  services: RunServices,
  id: string,
  lease: string,
  iteration: number,
): Promise<OpenedObject> {
  return openLeased(services, { kind: 'train', id, lease }, async () => {
    const checkpoint = await services.database.query
      .selectFrom('checkpoints')
      .select('object_key')
      .where('run_id', '=', id)
      .where('iteration', '=', iteration)
      .executeTakeFirst()
    return checkpoint?.object_key
  })
}
