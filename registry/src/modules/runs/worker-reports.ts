import { randomUUID } from 'node:crypto'
import {
  AgentGymError,
  type checkpointQuerySchema,
  type Heartbeat,
  type progressRequestSchema,
  type RunEventData,
  type Trajectory,
} from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { leaseLost } from '../../core/queue/leases.ts'
import { settleRunOrder } from '../orders/index.ts'
import { lockObject, readTarball } from '../packages/index.ts'
import {
  insertEvents,
  insertPoints,
  type NewRunEvent,
  type NumberedEvent,
  type NumberedPoint,
} from './run-events.store.ts'
import type { RunServices } from './run-services.ts'
import {
  changeRun,
  isNearlySpent,
  isSpent,
  lockRun,
  meter,
  type RunContext,
  type RunPatch,
  type RunRow,
  runContext,
  spentMinor,
} from './run-state.ts'
import { readBounded, type Upload } from './worker-uploads.ts'

/** A write by the run's worker, with both rows locked. */
export type Write = { query: Transaction<Schema>; run: RunRow; context: RunContext; leasedMs: number }

/**
 * All writes of a worker about a run go through here: one transaction that locks the lease and the run. Watchers are
 * notified afterwards. Throws `lease_lost`, without any change, if the attempt is not the current one.
 */
export async function writeRun<Result>(
  services: Pick<RunServices, 'database' | 'queue' | 'config' | 'log' | 'runFeeds'>,
  attempt: Attempt,
  work: (write: Write) => Promise<Result>,
): Promise<Result> {
  const context = runContext(services)
  const result = await services.database.transaction(async (query) => {
    const { leasedMs } = await context.queue.hold(query, attempt)
    const run = await lockRun(query, attempt.id)
    if (run === undefined || !isOfRun(attempt, run)) throw leaseLost()
    return work({ query, run, context, leasedMs })
  })
  services.runFeeds.changed(attempt.id)
  return result
}

/** Runs count attempts from 1, the queue from 0. */
export function isOfRun({ attempt }: Attempt, run: Pick<RunRow, 'state' | 'attempt'>): boolean {
  return run.state === 'running' && run.attempt === attempt + 1
}

/** Applies a worker's reported training time: updates the meter, and warns once when the budget is nearly used up. */
export function takeMeter(
  run: RunRow,
  { meteredMs, leasedMs }: { meteredMs: number; leasedMs: number },
): { patch: RunPatch; events: NewRunEvent[]; metered: RunRow } {
  const reading = meter(run, { meteredMs, leasedMs })
  const metered = { ...run, ...reading }
  if (run.budget_minor === null || run.budget_warned_at !== null || !isNearlySpent(metered))
    return { patch: reading, events: [], metered }
  const data = { spent_minor: spentMinor(metered), budget_minor: run.budget_minor }
  const patch = { ...reading, budget_warned_at: sql<Date>`now()` }
  return { patch, events: [{ type: 'budget_warning', data }], metered }
}

/** Whether the worker should end the run, and why. */
export function stopOf(
  run: Pick<RunRow, 'cancel_requested_at' | 'pause_requested_at' | 'price_milliseconds' | 'budget_minor'>,
): Heartbeat['stop'] {
  if (run.cancel_requested_at !== null) return 'cancel'
  if (isSpent(run)) return 'budget'
  return run.pause_requested_at !== null ? 'pause' : null
}

type Progress = (typeof progressRequestSchema)['_output']

/**
 * Accepts iterations from the run's worker. A resumed run repeats iterations after its checkpoint, bit for bit; each
 * counts once. Returns why the run should end, or null if it should continue. Throws `lease_lost`, and
 * `request_invalid` if iterations in between are missing.
 *
 * Takes six round trips to the database for any number of points, and more for the first iteration.
 */
export async function recordProgress(
  services: Pick<RunServices, 'database' | 'queue' | 'config' | 'log' | 'metrics' | 'runFeeds'>,
  attempt: Attempt,
  { points, evaluations, metered_ms: meteredMs }: Omit<Progress, 'lease'>,
): Promise<Heartbeat['stop']> {
  const { stop, fresh } = await writeRun(services, attempt, async ({ query, run, leasedMs }) => {
    const fresh = points.filter(({ iteration }) => iteration > run.iteration)
    requireNoGap(fresh, run.iteration)
    const { patch, events, metered } = takeMeter(run, { meteredMs, leasedMs })
    const known = await evaluatedIterations(query, run.id, evaluations)
    const added = evaluations.filter(({ iteration }) => !known.has(iteration) && known.add(iteration))
    const placed = place(run.last_seq, fresh, added, events)
    await insertPoints(query, run.id, placed.points)
    await insertEvents(query, run.id, placed.events)
    await changeRun(query, run, { ...patch, ...latest(fresh), last_seq: placed.lastSeq })
    // Training has started: the payment held for the run's scenario goes to its seller.
    if (run.iteration === 0 && fresh.length > 0) await settleRunOrder(query, run.id, 'post')
    return { stop: stopOf(metered), fresh }
  })
  services.metrics.iterations(fresh.map((point) => point.collect_seconds + point.update_seconds))
  return stop
}

function requireNoGap(fresh: { iteration: number }[], reached: number): void {
  const missing = fresh.findIndex(({ iteration }, index) => iteration !== reached + 1 + index)
  if (missing === -1) return
  throw new AgentGymError({
    code: 'request_invalid',
    message: `The run has ${reached + missing} iterations, so iteration ${fresh[missing].iteration} is out of order.`,
    hint: 'Send every iteration, in order.',
    data: { field: 'points', expected: reached + missing + 1 },
  })
}

/** Iterations of the given evaluations that already have one. */
async function evaluatedIterations(
  query: Queries,
  runId: string,
  evaluations: { iteration: number }[],
): Promise<Set<number>> {
  if (evaluations.length === 0) return new Set()
  const iterations = sql.val(evaluations.map(({ iteration }) => iteration))
  const { rows } = await sql<{ iteration: number }>`
    select (data ->> 'iteration')::bigint as iteration from run_events
    where run_id = ${runId} and type = 'evaluation' and (data ->> 'iteration')::bigint = any(${iterations}::bigint[])
  `.execute(query)
  return new Set(rows.map(({ iteration }) => iteration))
}

/** Numbers points and events after `lastSeq`: an evaluation comes after its iteration. */
function place(
  lastSeq: number,
  points: RunEventData['progress'][],
  evaluations: RunEventData['evaluation'][],
  others: NewRunEvent[],
): { points: NumberedPoint[]; events: NumberedEvent[]; lastSeq: number } {
  const placed: { points: NumberedPoint[]; events: NumberedEvent[] } = { points: [], events: [] }
  const waiting = evaluations.toSorted((a, b) => a.iteration - b.iteration)
  let seq = lastSeq
  const placeUpTo = (iteration: number) => {
    while (waiting.length > 0 && waiting[0].iteration <= iteration)
      placed.events.push({ type: 'evaluation', data: waiting.splice(0, 1)[0], seq: ++seq })
  }
  for (const data of points) {
    placeUpTo(data.iteration - 1)
    placed.points.push({ seq: ++seq, data })
    placeUpTo(data.iteration)
  }
  placeUpTo(Number.POSITIVE_INFINITY)
  for (const event of others) placed.events.push({ ...event, seq: ++seq })
  return { ...placed, lastSeq: seq }
}

function latest(fresh: RunEventData['progress'][]): RunPatch {
  const last = fresh.at(-1)
  return last === undefined ? {} : { iteration: last.iteration, progress: JSON.stringify(last), idle_attempts: 0 }
}

/** Number of checkpoints kept of a running run; a new one replaces the oldest. */
const keptCheckpoints = 3

/**
 * Accepts a checkpoint from the run's worker: its bytes are durable before any row references them. Repeating an
 * iteration changes nothing. Returns why the run should end, or null if it should continue.
 *
 * Throws `lease_lost`; `request_too_large`; `request_invalid` if the bytes do not match their hash, or if an earlier
 * iteration has not been reported, because a worker that resumes from this checkpoint could not send it anymore.
 */
export async function storeCheckpoint(
  services: RunServices,
  attempt: Attempt,
  checkpoint: (typeof checkpointQuerySchema)['_output'],
  upload: Upload,
): Promise<Heartbeat['stop']> {
  const { database, objects, config } = services
  const { iteration, steps, seconds, sha256, metered_ms: meteredMs } = checkpoint
  // Checked before reading all the bytes.
  await services.queue.requireActive(attempt)
  return readBounded(objects, upload, config.training.checkpointBytes, async (bytes) => {
    const key = await objects.put(bytes)
    if (key !== `sha256/${sha256}`)
      throw invalid('sha256', `The checkpoint's SHA-256 is not ${sha256}: it was damaged in transit.`)
    return writeRun(services, attempt, async ({ query, run, leasedMs }) => {
      if (iteration > run.iteration)
        throw invalid('iteration', `The run has ${run.iteration} iterations; this is a checkpoint of ${iteration}.`)
      const { patch, events, metered } = takeMeter(run, { meteredMs, leasedMs })
      await lockObject(database, query, key)
      // The sweeper may have deleted it meanwhile.
      if (!(await objects.has(key))) await objects.put(bytes)
      const inserted = await query
        .insertInto('checkpoints')
        .values({
          run_id: run.id,
          iteration,
          steps,
          seconds,
          price_milliseconds: metered.price_milliseconds,
          object_key: key,
          sha256,
          size: bytes.length,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('iteration')
        .executeTakeFirst()
      if (inserted === undefined) await changeRun(query, run, patch, events)
      else {
        await dropOlder(query, run.id)
        const stored = { type: 'checkpoint', data: { iteration, steps } } as const
        await changeRun(query, run, { ...patch, idle_attempts: 0 }, [stored, ...events])
      }
      return stopOf(metered)
    })
  })
}

/** The checkpoint to resume from. */
export async function latestCheckpoint(query: Queries, runId: string) {
  return query
    .selectFrom('checkpoints')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('iteration', 'desc')
    .limit(1)
    .executeTakeFirst()
}

async function dropOlder(query: Queries, runId: string): Promise<void> {
  await sql`
    delete from checkpoints where run_id = ${runId} and iteration < (
      select min(iteration) from (
        select iteration from checkpoints where run_id = ${runId} order by iteration desc limit ${keptCheckpoints}
      ) as kept)`.execute(query)
}

function invalid(field: string, message: string): AgentGymError {
  const hint = 'Send all iterations before the checkpoint, and its complete content.'
  return new AgentGymError({ code: 'request_invalid', message, hint, data: { field } })
}

/** Steps in the preview of a trajectory for pages. The object contains all steps. */
const shownSteps = 200

/**
 * Accepts sampled trajectories from the run's worker: one object of newline-delimited JSON, one row each, and their
 * first steps. Ignores a trajectory if one of the same iteration and environment exists. Throws `lease_lost`.
 */
export async function storeTrajectories(
  services: RunServices,
  attempt: Attempt,
  trajectories: Trajectory[],
): Promise<void> {
  const { database, objects } = services
  await services.queue.requireActive(attempt)
  const bytes = Buffer.from(trajectories.map((trajectory) => `${JSON.stringify(trajectory)}\n`).join(''))
  const key = await objects.put(bytes)
  const rows = trajectories.map(({ steps, return: episodeReturn, ...trajectory }, line) => ({
    ...trajectory,
    id: randomUUID(),
    episode_return: episodeReturn,
    line,
    steps: steps.slice(0, shownSteps).map((step, index) => ({ ...step, step: index })),
  }))
  await writeRun(services, attempt, async ({ query, run }) => {
    await lockObject(database, query, key)
    // The sweeper may have deleted it meanwhile.
    if (!(await objects.has(key))) await objects.put(bytes)
    const json = sql`${JSON.stringify(rows)}::jsonb`
    await sql`
      insert into trajectories (id, run_id, iteration, environment, episode_return, length, partial, object_key, line)
      select id, ${run.id}::uuid, iteration, environment, episode_return, length, partial, ${key}, line
      from jsonb_to_recordset(${json}) as given (id uuid, iteration bigint, environment integer,
        episode_return double precision, length integer, partial boolean, line integer)
      on conflict do nothing`.execute(query)
    await sql`
      insert into trajectory_steps (trajectory_id, step, observation, action, reward, log_probability, terminated, truncated)
      select given.id, taken.step, taken.observation, taken.action, taken.reward, taken.log_probability,
        taken.terminated, taken.truncated
      from jsonb_to_recordset(${json}) as given (id uuid, steps jsonb)
      join trajectories on trajectories.id = given.id
      cross join lateral jsonb_to_recordset(given.steps) as taken (step integer, observation jsonb, action jsonb,
        reward double precision, log_probability double precision, terminated boolean, truncated boolean)`.execute(
      query,
    )
  })
}

/**
 * Accepts the trained agent's tarball from the run's worker, and returns its integrity. It becomes the run's agent once
 * the outcome names that integrity. Throws `lease_lost` and the codes `tarball_…` and `package_manifest_…`.
 */
export async function storeAgent(services: RunServices, attempt: Attempt, upload: Upload): Promise<string> {
  const { database, objects, config } = services
  await services.queue.requireActive(attempt)
  const bytes = await readBounded(objects, upload, config.limits.tarballBytes, async (read) => read)
  const { integrity } = await readTarball(bytes, config.limits)
  const key = await objects.put(bytes)
  await writeRun(services, attempt, async ({ query, run }) => {
    await lockObject(database, query, key)
    // The sweeper may have deleted it meanwhile.
    if (!(await objects.has(key))) await objects.put(bytes)
    const patch = { agent_object_key: key, agent_integrity: integrity, agent_size: bytes.length }
    await changeRun(query, run, patch)
  })
  return integrity
}
