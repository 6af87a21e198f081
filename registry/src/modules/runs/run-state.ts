import assert from 'node:assert'
import { AgentGymError, type ErrorReport, type Evaluation, type RunState, trainingCostMinor } from '@agentgym/contract'
import { type Selectable, sql, type Transaction, type UpdateObject } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { TrainingRunTable } from '../../core/database/training-schema.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'
import type { Services } from '../../core/services.ts'
import { recordEvent } from '../events/index.ts'
import { settleRunOrder } from '../orders/index.ts'
import { chargeRun } from './pay-run.ts'
import { insertEvents, type NewRunEvent, numbered } from './run-events.store.ts'

/** A run's row. Code that changes it holds the row's lock, and before that the job's. */
export type RunRow = Selectable<TrainingRunTable>
export type RunPatch = Omit<UpdateObject<Schema, 'training_runs'>, 'state'> & { state?: RunState }

/** Dependencies for ending a run: the queue for its job, and the currency for its charge. */
export type RunContext = { queue: JobQueue; currency: string }

export function runContext({ queue, config }: Pick<Services, 'queue' | 'config'>): RunContext {
  return { queue, currency: config.training.currency }
}

/** State transitions of a run. End states are final, except those that can be resumed. */
const successors: Record<RunState, readonly RunState[]> = {
  queued: ['running', 'failed', 'cancelled', 'budget_exceeded', 'paused'],
  running: ['queued', 'completed', 'failed', 'cancelled', 'budget_exceeded', 'paused'],
  budget_exceeded: ['queued'],
  paused: ['queued'],
  completed: [],
  failed: [],
  cancelled: [],
}

/** Number of attempts without a new checkpoint or iteration after which a run fails. */
export const maxIdleAttempts = 5

export function mayBecome(from: RunState, to: RunState): boolean {
  return successors[from].includes(to)
}

export function isOver(state: RunState): boolean {
  return state !== 'queued' && state !== 'running'
}

/** The run's row, locked until the transaction ends. Lock its job first. */
export async function lockRun(query: Transaction<Schema>, runId: string): Promise<RunRow | undefined> {
  return query.selectFrom('training_runs').selectAll().where('id', '=', runId).forUpdate().executeTakeFirst()
}

/** Changes a locked run and appends events; returns the updated row. Nothing else changes the state. */
export async function changeRun(
  query: Transaction<Schema>,
  run: RunRow,
  patch: RunPatch,
  events: NewRunEvent[] = [],
): Promise<RunRow> {
  const { state } = patch
  assert(state === undefined || mayBecome(run.state, state), `run ${run.id} is ${run.state} and cannot be ${state}`)
  await insertEvents(query, run.id, numbered(run.last_seq, events))
  return query
    .updateTable('training_runs')
    .set({ last_seq: run.last_seq + events.length, ...patch })
    .where('id', '=', run.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The outcome of a run, with its results. */
export type End =
  | {
      state: 'completed'
      steps: number
      seconds: number
      evaluation: Evaluation
      agent: { object_key: string; integrity: string; size: number }
      /** The result of publishing the agent; null if not requested. */
      published: { versionId: string; name: string; version: string } | { error: ErrorReport } | null
    }
  | { state: 'failed'; error: ErrorReport }
  | { state: 'cancelled' }
  | { state: 'paused' }
  | {
      state: 'budget_exceeded'
      /** Why the run is paused without having used up its budget: the budget could not be paid. */
      error?: ErrorReport
    }

/**
 * The only way to end a run: sets the state, appends the last event, charges it, settles the payment held for its
 * scenario, and ends its job, in the caller's transaction, which has locked job and run.
 */
export async function endRun(
  query: Transaction<Schema>,
  { queue, currency }: RunContext,
  run: RunRow,
  end: End,
): Promise<RunRow> {
  const cover = await chargeRun(query, run, { costMinor: spentMinor(run), currency })
  await settleRunOrder(query, run.id, end.state === 'completed' || run.iteration > 0 ? 'post' : 'void')
  await queue.end(query, 'train', run.id)
  await recordRunEnd(query, run, end)
  return changeRun(
    query,
    run,
    { state: end.state, ended_at: sql<Date>`now()`, ...cover, ...remains(end) },
    eventsOf(run, end),
  )
}

async function recordRunEnd(query: Transaction<Schema>, run: RunRow, end: End): Promise<void> {
  const { name } = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('packages.name')
    .where('versions.id', '=', run.scenario_version_id)
    .executeTakeFirstOrThrow()
  const published =
    end.state === 'completed' && end.published !== null && 'name' in end.published ? end.published : null
  await recordEvent(query, {
    ...{ type: 'run.ended', accountId: run.owner_id, userId: run.created_by },
    data: {
      ...{ run: run.id, state: end.state, scenario: name },
      error: end.state === 'failed' ? end.error.message.slice(0, 500) : null,
      published: published === null ? null : `${published.name}@${published.version}`,
    },
  })
}

function remains(end: End): RunPatch {
  if (end.state === 'failed' || (end.state === 'budget_exceeded' && end.error !== undefined))
    return { error: JSON.stringify(end.error) }
  if (end.state !== 'completed') return {}
  const { evaluation, agent, published } = end
  return {
    evaluation: JSON.stringify(evaluation),
    agent_object_key: agent.object_key,
    agent_integrity: agent.integrity,
    agent_size: agent.size,
    published_version_id: published !== null && 'versionId' in published ? published.versionId : null,
  }
}

/** The last of them ends streams of the run's events. */
function eventsOf(run: RunRow, end: End): NewRunEvent[] {
  if (end.state === 'failed') return [{ type: 'failed', data: { error: end.error } }]
  if (end.state === 'cancelled') return [{ type: 'cancelled', data: {} }]
  if (end.state === 'paused') return [{ type: 'paused', data: { steps: stepsOf(run) } }]
  if (end.state === 'budget_exceeded') {
    const data = { spent_minor: spentMinor(run), budget_minor: run.budget_minor ?? 0 }
    return [{ type: 'budget_exceeded', data }]
  }
  const { steps, seconds, evaluation, published } = end
  const completed: NewRunEvent = { type: 'completed', data: { steps, seconds, evaluation } }
  if (published === null) return [completed]
  if ('error' in published) return [{ type: 'publish_failed', data: published }, completed]
  const { name, version } = published
  return [{ type: 'published', data: { name, version } }, completed]
}

/** Environment steps of the reported iterations. */
function stepsOf({ progress }: Pick<RunRow, 'progress'>): number {
  return Number(progress?.steps ?? 0)
}

/**
 * Handles a run whose worker is gone or released it: it is queued again, unless it was about to end or makes no
 * progress. Its job is already queued.
 */
export async function requeueRun(
  query: Transaction<Schema>,
  context: RunContext,
  run: RunRow,
  { reason, message, patch }: { reason: 'lease_expired' | 'released'; message: string | null; patch: RunPatch },
): Promise<RunRow> {
  const waiting = await changeRun(query, run, { ...patch, state: 'queued' }, [
    { type: 'queued', data: { reason, message } },
  ])
  if (waiting.cancel_requested_at !== null) return endRun(query, context, waiting, { state: 'cancelled' })
  if (isSpent(waiting)) return endRun(query, context, waiting, { state: 'budget_exceeded' })
  if (waiting.pause_requested_at !== null) return endRun(query, context, waiting, { state: 'paused' })
  if (waiting.idle_attempts < maxIdleAttempts) return waiting
  // A run of several workers says what keeps them from each other.
  const detail = run.workers > 1 && message !== null ? ` ${message}` : ''
  const error = { ...workerFailed, message: `${workerFailed.message}${detail}` }
  return endRun(query, context, waiting, { state: 'failed', error })
}

const workerFailed: ErrorReport = {
  code: 'worker_failed',
  message: `${maxIdleAttempts} workers in a row made no progress: each stopped before a new iteration or checkpoint.`,
  hint: 'The scenario may run out of memory or time: run `agentgym scenario check`, or train with fewer environments.',
}

/**
 * Cancels a run: a queued run ends immediately, a running one after its worker has saved a checkpoint. Repeating the
 * request changes nothing. Throws `run_not_found`, and `run_state_conflict` if the run has ended.
 */
export async function requestCancel(query: Transaction<Schema>, context: RunContext, runId: string): Promise<RunRow> {
  const run = await lockJobAndRun(query, context.queue, runId)
  if (run.cancel_requested_at !== null && (run.state === 'running' || run.state === 'cancelled')) return run
  if (isOver(run.state)) throw stateConflict(run, 'cancelled')
  const requested = await changeRun(query, run, { cancel_requested_at: sql<Date>`now()` }, [
    { type: 'cancel_requested', data: {} },
  ])
  return run.state === 'queued' ? endRun(query, context, requested, { state: 'cancelled' }) : requested
}

/**
 * Pauses a run: a queued run immediately, a running one after its worker has saved a checkpoint. Repeating the request
 * changes nothing. Throws `run_not_found`, and `run_state_conflict` if the run has ended or is being canceled.
 */
export async function requestPause(query: Transaction<Schema>, context: RunContext, runId: string): Promise<RunRow> {
  const run = await lockJobAndRun(query, context.queue, runId)
  if (run.state === 'paused' || (run.state === 'running' && run.pause_requested_at !== null)) return run
  if (isOver(run.state) || run.cancel_requested_at !== null) throw stateConflict(run, 'paused')
  const requested = await changeRun(query, run, { pause_requested_at: sql<Date>`now()` })
  return run.state === 'queued' ? endRun(query, context, requested, { state: 'paused' }) : requested
}

/**
 * Resumes a run that is paused or used up its budget, with a new job. `budgetMinor`: null keeps a paused run's; `pauseAt`: null
 * lets it train to its end. Throws `run_not_found`, `run_state_conflict` in another state, and `request_invalid` if the budget
 * is missing or used up as well, or if the run has already passed `pauseAt`.
 */
export async function resumeRun(
  query: Transaction<Schema>,
  { queue }: Pick<RunContext, 'queue'>,
  runId: string,
  { budgetMinor, pauseAt = null, tokenId }: Resumption & { tokenId: string | null },
): Promise<RunRow> {
  const run = await lockJobAndRun(query, queue, runId)
  if (run.state !== 'budget_exceeded' && run.state !== 'paused') throw stateConflict(run, 'resumed')
  const budget = budgetMinor ?? run.budget_minor
  if (isSpent({ ...run, budget_minor: budget }))
    throw new AgentGymError({
      code: 'request_invalid',
      message: `The run has spent ${spentMinor({ ...run, budget_minor: null })}; a budget of ${budget} leaves nothing to train with.`,
      hint: 'The budget covers the whole run, including what it has already spent.',
      data: { field: 'budget_minor' },
    })
  if (pauseAt !== null && pauseAt <= stepsOf(run))
    throw new AgentGymError({
      code: 'request_invalid',
      message: `The run has trained ${stepsOf(run)} steps, so it cannot pause at ${pauseAt}.`,
      hint: 'Omit pause_at to train to the end.',
      data: { field: 'pause_at' },
    })
  await queue.enqueue(query, 'train', run.id, {
    ...{ attempt: run.attempt, account: run.created_by, owner: run.owner_id, gpu: run, workers: run.workers },
  })
  const patch: RunPatch = {
    state: 'queued',
    resumptions: run.resumptions + 1,
    idle_attempts: 0,
    budget_minor: budget,
    pause_at: pauseAt,
    pause_requested_at: null,
    // The token whose caps apply to the budget.
    token_id: tokenId,
    budget_warned_at: null,
    ended_at: null,
    error: null,
  }
  return changeRun(query, run, patch, [{ type: 'queued', data: { reason: 'resumed', message: null } }])
}

/** How a run is resumed: see `resumeRun`. */
export type Resumption = { budgetMinor: number | null; pauseAt?: number | null }

async function lockJobAndRun(query: Transaction<Schema>, queue: JobQueue, runId: string): Promise<RunRow> {
  await queue.lock(query, 'train', runId)
  const run = await lockRun(query, runId)
  if (run === undefined)
    throw new AgentGymError({ code: 'run_not_found', message: `Run ${runId} does not exist.`, data: { id: runId } })
  return run
}

function stateConflict({ id, state }: RunRow, wanted: 'cancelled' | 'paused' | 'resumed'): AgentGymError {
  const hints = {
    cancelled: 'A finished run cannot be changed.',
    paused: 'Only a run that is queued or running can be paused.',
    resumed: 'Only a run that is paused or used up its budget can be resumed. Start a new one.',
  }
  return new AgentGymError({
    code: 'run_state_conflict',
    message: `The run is ${state} and cannot be ${wanted}.`,
    hint: hints[wanted],
    data: { id, state },
  })
}

/** The columns of a run that determine its cost. */
export type Metered = {
  price_minor_per_hour: number | null
  attempt_price_milliseconds: number
  attempt_metered_ms: number
  price_milliseconds: number
  budget_minor: number | null
}

const millisecondsPerHour = 3_600_000
/** Tolerance for a worker's clock ahead of ours within one attempt. */
const clockSlackMs = 1_000
const warnedShare = 0.75

/**
 * The run's meter after a worker's report of its training time in this attempt. The reported time is capped at the time
 * since the lease began, and never decreases. `price_milliseconds` is Σ price per hour × milliseconds.
 */
export function meter(
  run: Metered,
  { meteredMs, leasedMs }: { meteredMs: number; leasedMs: number },
): Pick<Metered, 'attempt_metered_ms' | 'price_milliseconds'> {
  const possible = Math.floor(Math.min(meteredMs, Math.max(0, leasedMs) + clockSlackMs))
  const metered = Math.max(run.attempt_metered_ms, possible)
  const price = run.attempt_price_milliseconds + (run.price_minor_per_hour ?? 0) * metered
  return {
    attempt_metered_ms: metered,
    price_milliseconds: Math.min(Math.max(run.price_milliseconds, price), Number.MAX_SAFE_INTEGER),
  }
}

/** The cost of the run so far in minor units, at most its budget. */
export function spentMinor({ price_milliseconds, budget_minor }: Pick<Metered, 'price_milliseconds' | 'budget_minor'>) {
  return Math.min(trainingCostMinor(price_milliseconds), budget_minor ?? Number.POSITIVE_INFINITY)
}

/** Whether all of the budget is used. A run without a budget has no limit. */
export function isSpent({ price_milliseconds, budget_minor }: Pick<Metered, 'price_milliseconds' | 'budget_minor'>) {
  return budget_minor !== null && price_milliseconds >= budget_minor * millisecondsPerHour
}

/** Whether enough of the budget is used to notify its owner. */
export function isNearlySpent({
  price_milliseconds,
  budget_minor,
}: Pick<Metered, 'price_milliseconds' | 'budget_minor'>) {
  return budget_minor !== null && price_milliseconds >= warnedShare * budget_minor * millisecondsPerHour
}
