import assert from 'node:assert'
import {
  AgentGymError,
  type Run,
  resolveTrainingPlan,
  type startRunRequestSchema,
  type TrainingPlan,
} from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorise, requireActor } from '../../core/access/authorise.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { idempotencyKeyReused, requestHash } from '../../core/idempotency/idempotency.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'
import type { Services } from '../../core/services.ts'
import { requireRunnable } from '../orders/index.ts'
import { lockPackage } from '../packages/index.ts'
import { requireRoom } from './open-runs.ts'
import { type Publication, parsePublication, reservePublication } from './reserve-publication.ts'
import { resolveScenario, type TrainableScenario } from './resolve-scenario.ts'
import { findOwner } from './run-access.ts'
import { insertEvents, numbered } from './run-events.store.ts'
import { aheadOf, findRunFor, type RunView, runOf } from './runs.store.ts'

export type RunRequest = z.output<typeof startRunRequestSchema>

export type Submission = {
  actor: Actor | null
  request: RunRequest
  /** Within the account that it runs for. */
  idempotencyKey?: string
  /** W3C trace context of the request; null where nothing is traced. */
  traceparent: string | null
  ip: string | null
}

/**
 * Starts a run: settles which version of the scenario it plays and every setting, and then in one transaction writes run,
 * first event, audit entry and job, or nothing.
 *
 * Under an idempotency key the same request gives the run that it made the first time, whatever has changed since; another
 * request is `idempotency_key_reused`. Throws what `resolveScenario`, `resolveTrainingPlan`, `requireRunnable` and `reservePublication` throw,
 * `account_not_found`, `forbidden`, `unauthenticated` and `rate_limited`.
 */
export async function submitRun(services: Services, submission: Submission): Promise<Run> {
  const { database, config } = services
  const { request, idempotencyKey = null } = submission
  const actor = requireActor(submission.actor, 'training:start')
  const owner = await findOwner(database.query, actor, request.account)
  if (owner.id !== actor.accountId)
    await authorise(database.query, actor, 'publish', owner.id, { scope: 'training:start' })
  const hash = requestHash({ ...request, account: owner.username })
  const earlier = await findEarlier(database.query, owner.id, idempotencyKey, hash)
  if (earlier !== undefined) return told(services, actor, earlier)
  const { startsPerMinute } = config.training
  await limitRate(database, `start-run:${actor.accountId}`, { limit: startsPerMinute, windowSeconds: 60 })
  const scenario = await resolveScenario(database, actor, request.scenario)
  const plan = planOf(scenario, request)
  const publication = request.publish === undefined ? null : parsePublication(request.publish)
  await requireRoom(services, owner.id)
  const added = { submission, actor, owner, hash, scenario, plan, publication, queue: services.queue }
  const written = await database.transaction((query) => writeRun(services, query, added))
  return typeof written === 'string' ? told(services, actor, written) : runOf(written, config)
}

/** Every setting of the run, as `agentgym train` would have them. Throws `config_invalid`. */
function planOf({ training, name, version }: TrainableScenario, request: RunRequest): TrainingPlan {
  const { algorithm, steps, settings } = request
  try {
    return resolveTrainingPlan(training, { algorithm, steps, settings })
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    throw new AgentGymError({ ...error.toReport(), message: `${error.message} (${name}@${version})` })
  }
}

type NewRun = {
  submission: Submission
  actor: Actor
  owner: { id: string; username: string }
  hash: string
  scenario: TrainableScenario
  plan: TrainingPlan
  publication: Publication | null
  queue: JobQueue
}

/** Gives the run; where the same key came twice at once, the id of the one that was first, which is everybody's. */
async function writeRun(services: Services, query: Transaction<Schema>, added: NewRun): Promise<RunView | string> {
  const { submission, actor, owner, scenario, plan, publication, hash, queue } = added
  const { request, idempotencyKey = null, traceparent, ip } = submission
  // Once more, and held: whoever takes the membership away waits for the run, or the run is not written.
  if (owner.id !== actor.accountId) await authorise(query, actor, 'publish', owner.id, { scope: 'training:start' })
  if (publication !== null) {
    await lockPackage(services.database, query, publication.name.full)
    // Another of the same request may have been here while this one waited, and holds the version.
    const earlier = await findEarlier(query, owner.id, idempotencyKey, hash)
    if (earlier !== undefined) return earlier
  }
  const reserved = publication === null ? {} : await reservePublication(query, actor, publication)
  const row = await query
    .insertInto('training_runs')
    .values({
      owner_id: owner.id,
      created_by: actor.accountId,
      scenario_version_id: scenario.versionId,
      algorithm: plan.algorithm,
      settings: JSON.stringify(plan.settings),
      seed: request.seed,
      note: request.note ?? null,
      trajectories_every: request.trajectories_every,
      publish_name: null,
      publish_version: null,
      publish_visibility: null,
      ...reserved,
      idempotency_key: idempotencyKey,
      request_hash: hash,
      traceparent,
      budget_minor: request.budget_minor ?? null,
      last_seq: 1,
    })
    .onConflict((conflict) => conflict.columns(['owner_id', 'idempotency_key']).doNothing())
    .returningAll()
    .returning(aheadOf(sql.ref('training_runs.created_at')).as('ahead'))
    .executeTakeFirst()
  if (row === undefined) {
    const earlier = await findEarlier(query, owner.id, idempotencyKey, hash)
    assert(earlier !== undefined, 'a run that is in the way has the same key')
    return earlier
  }
  const { expected_price: expectedPrice } = request
  await requireRunnable(query, services.config, { actor, runId: row.id, owner, scenario, expectedPrice, ip })
  await writeTrail(query, row.id, added)
  await queue.enqueue(query, 'train', row.id)
  // As `findRunFor` would give it: that would be the dearest statement of all.
  return {
    ...row,
    ...{ owner: owner.username, creator: actor.username },
    ...{ scenario_name: scenario.name, scenario_version: scenario.version, scenario_hash: scenario.hash },
    ...{ published_name: null, published_version: null },
    ...{ checkpoint_iteration: null, checkpoint_steps: null, checkpoint_at: null },
  }
}

/** What is written of a start beside the run: its first event, and who did it. */
async function writeTrail(
  query: Transaction<Schema>,
  id: string,
  { submission, actor, owner, scenario }: NewRun,
): Promise<void> {
  await insertEvents(query, id, numbered(0, [{ type: 'queued', data: { reason: 'submitted', message: null } }]))
  await recordAudit(query, {
    actor,
    action: 'run.start',
    subject: `run:${id}`,
    ip: submission.ip,
    data: {
      scenario: `${scenario.name}@${scenario.version}`,
      owner: owner.username,
      budget_minor: submission.request.budget_minor ?? null,
    },
  })
}

/** The run that the key made, if it made one. Throws `idempotency_key_reused` where that was another request. */
async function findEarlier(
  query: Queries,
  ownerId: string,
  key: string | null,
  hash: string,
): Promise<string | undefined> {
  if (key === null) return undefined
  const row = await query
    .selectFrom('training_runs')
    .select(['id', 'request_hash'])
    .where('owner_id', '=', ownerId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst()
  if (row !== undefined && row.request_hash !== hash)
    throw idempotencyKeyReused(`, which started run ${row.id}`, { run: row.id })
  return row?.id
}

async function told({ database, config }: Services, actor: Actor, id: string): Promise<Run> {
  const found = await findRunFor(database.query, actor, id)
  assert(found !== undefined)
  return runOf(found, config)
}
