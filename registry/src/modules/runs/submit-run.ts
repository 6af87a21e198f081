import assert from 'node:assert'
import {
  AgentGymError,
  continuedAgentPlan,
  findSummaryProblem,
  type Run,
  resolveTrainingPlan,
  type startRunRequestSchema,
  type TrainingPlan,
  withDevices,
} from '@agentgym/contract'
import type { Transaction } from 'kysely'
import semver from 'semver'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { authorize, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { idempotencyKeyReused, requestHash } from '../../core/idempotency/idempotency.ts'
import { isUnserved } from '../../core/queue/gang-seats.ts'
import type { GpuNeed } from '../../core/queue/gpu-matching.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'
import type { Services } from '../../core/services.ts'
import { requireRunnable } from '../orders/index.ts'
import {
  authorizeScope,
  findPackage,
  lockPackage,
  type PackageName,
  parsePackageName,
  parseVersion,
} from '../packages/index.ts'
import { gpuNeedOf, requireTogether, settingsOnGpu } from './gpu-need.ts'
import { coverRun, trainingPrice } from './pay-run.ts'
import { findOwner } from './run-access.ts'
import { insertEvents, numbered } from './run-events.store.ts'
import type { RunServices } from './run-services.ts'
import {
  requireStartable,
  resolveScenario,
  resolveStartingAgent,
  type StartingAgent,
  type TrainableScenario,
} from './run-subjects.ts'
import { findRunFor, type RunView, runOf, runsAhead } from './runs.store.ts'

type RunRequest = z.output<typeof startRunRequestSchema>

type Submission = {
  actor: Actor | null
  request: RunRequest
  /** Unique within the owning account. */
  idempotencyKey?: string
  /** W3C trace context of the request; null if tracing is off. */
  traceparent: string | null
  ip: string | null
}

/**
 * Starts a run: resolves the versions of the scenario and of the agent to start from, and every setting, and then in one
 * transaction writes run, first event, audit entry and job, or nothing.
 *
 * With an idempotency key, the same request returns the run created by the first one, whatever has changed since; a
 * different request throws `idempotency_key_reused`. Throws the errors of `resolveScenario`, `resolveStartingAgent`,
 * `resolveTrainingPlan`, `requireRunnable`, `requireStartable` and `reservePublication`, and `account_not_found`,
 * `forbidden`, `unauthenticated` and `rate_limited`.
 */
export async function submitRun(services: RunServices, submission: Submission): Promise<Run> {
  const { database, config } = services
  const { request, idempotencyKey = null } = submission
  const actor = requireActor(submission.actor, 'training:start')
  const owner = await findOwner(database.query, actor, request.account)
  if (owner.id !== actor.accountId)
    await authorize(database.query, actor, 'publish', owner.id, { scope: 'training:start' })
  const hash = requestHash({ ...request, account: owner.username })
  const earlier = await findEarlier(database.query, owner.id, idempotencyKey, hash)
  if (earlier !== undefined) return readEarlierRun(services, actor, earlier)
  const { startsPerMinute } = config.training
  await limitRate(database, `start-run:${actor.accountId}`, { limit: startsPerMinute, windowSeconds: 60 })
  const scenario = await resolveScenario(services, actor, request.scenario)
  const from = request.from === undefined ? null : await resolveStartingAgent(services, actor, request.from)
  const plan = planOf(scenario, from, request)
  const gpu = gpuNeedOf(plan, request.gpu)
  const { workers = 1 } = request
  requireTogether(plan, gpu, workers)
  const publication = request.publish === undefined ? null : parsePublication(request.publish)
  await services.openJobs.requireRoom('train', { accountId: actor.accountId, ownerId: owner.id })
  const added = {
    submission,
    actor,
    owner,
    hash,
    scenario,
    from,
    plan,
    gpu,
    workers,
    publication,
    queue: services.queue,
  }
  const written = await database.transaction((query) => writeRun(services, query, added))
  return typeof written === 'string' ? readEarlierRun(services, actor, written) : runOf(written, config)
}

/** All settings of the run, resolved as in `agentgym train`. Throws `config_invalid`. */
function planOf(
  { training, name, version }: TrainableScenario,
  from: StartingAgent | null,
  { algorithm, steps, settings, gpu }: RunRequest,
): TrainingPlan {
  const requested = {
    algorithm,
    steps,
    settings: gpu === undefined ? settings : { ...settingsOnGpu, ...withDevices(settings) },
  }
  try {
    return from === null ? resolveTrainingPlan(training, requested) : continuedAgentPlan(training, requested, from)
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
  /** Null: random weights. */
  from: StartingAgent | null
  plan: TrainingPlan
  gpu: GpuNeed
  workers: number
  publication: Publication | null
  queue: JobQueue
}

/** Returns the run, or for a concurrent request with the same key the ID of the first run. */
async function writeRun(services: RunServices, query: Transaction<Schema>, added: NewRun): Promise<RunView | string> {
  const { submission, actor, owner, scenario, from, plan, gpu, workers, publication, hash, queue } = added
  const { request, idempotencyKey = null, traceparent, ip } = submission
  // Checked again, with a lock: removing the membership waits for the run, or the run is not written.
  if (owner.id !== actor.accountId) await authorize(query, actor, 'publish', owner.id, { scope: 'training:start' })
  if (publication !== null) {
    await lockPackage(services.database, query, publication.name.full)
    // A concurrent request with the same key may have reserved the version during the wait.
    const earlier = await findEarlier(query, owner.id, idempotencyKey, hash)
    if (earlier !== undefined) return earlier
  }
  const reserved = publication === null ? {} : await reservePublication(query, actor, publication)
  if (publication !== null) await requireSummary(query, publication)
  const row = await query
    .insertInto('training_runs')
    .values({
      owner_id: owner.id,
      created_by: actor.accountId,
      scenario_version_id: scenario.versionId,
      from_version_id: from?.versionId ?? null,
      algorithm: plan.algorithm,
      settings: JSON.stringify(plan.settings),
      seed: request.seed,
      ...{ gpus: gpu.gpus, gpu_memory: gpu.gpu_memory, gpu_uses: [...gpu.gpu_uses] },
      workers,
      note: request.note ?? null,
      trajectories_every: request.trajectories_every,
      pause_at: request.pause_at ?? null,
      publish_name: null,
      publish_version: null,
      publish_visibility: null,
      publish_summary: publication?.summary ?? null,
      ...reserved,
      idempotency_key: idempotencyKey,
      request_hash: hash,
      traceparent,
      budget_minor: request.budget_minor ?? null,
      token_id: actor.tokenId,
      last_seq: 1,
    })
    .onConflict((conflict) => conflict.columns(['owner_id', 'idempotency_key']).doNothing())
    .returningAll()
    .returning(runsAhead('training_runs').as('ahead'))
    .returning(isUnserved('training_runs').as('unserved'))
    .executeTakeFirst()
  if (row === undefined) {
    const earlier = await findEarlier(query, owner.id, idempotencyKey, hash)
    assert(earlier !== undefined, 'a run that is in the way has the same key')
    return earlier
  }
  const { expected_price: expectedPrice } = request
  const price = await trainingPrice(query, gpu)
  if (price > 0) await coverRun(services, query, row, price)
  await requireRunnable(query, services.config, { actor, runId: row.id, owner, scenario, expectedPrice, ip })
  if (from !== null) await requireStartable(query, services.config, actor, from)
  await writeTrail(query, row.id, added)
  await queue.enqueue(query, 'train', row.id, { account: actor.accountId, owner: owner.id, gpu, workers })
  // Built here in the format of `findRunFor`, whose query would be the most expensive of the request.
  return {
    ...row,
    ...{ owner: owner.username, creator: actor.username },
    ...{ scenario_name: scenario.name, scenario_version: scenario.version, scenario_hash: scenario.hash },
    ...{ parent_name: from?.parent.name ?? null, parent_version: from?.parent.version ?? null },
    ...{ parent_hash: from?.parent.model_hash ?? null, parent_license: from?.parent.license ?? null },
    ...{ published_name: null, published_version: null },
    worker_usage: null,
    ...{ checkpoint_iteration: null, checkpoint_steps: null, checkpoint_at: null },
  }
}

/** Writes the first event and the audit entry of a new run. */
async function writeTrail(
  query: Transaction<Schema>,
  id: string,
  { submission, actor, owner, scenario, from }: NewRun,
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
      ...(from === null ? {} : { from: `${from.parent.name}@${from.parent.version}` }),
      budget_minor: submission.request.budget_minor ?? null,
    },
  })
}

/**
 * The run that the key created, if any. Throws `idempotency_key_reused` if that was a different request.
 *
 * Not `withIdempotencyKey`, which repeats the first answer for 30 days to the user who got it: a run's key belongs to
 * the owning account, is stored with the run, and a repeated request returns the run's current state.
 */
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

async function readEarlierRun({ database, config }: Services, actor: Actor, id: string): Promise<Run> {
  const found = await findRunFor(database.query, actor, id)
  assert(found !== undefined)
  return runOf(found, config)
}

export type PublicationRequest = {
  name: string
  version?: string
  visibility?: 'public' | 'private'
  summary?: string
}
export type Publication = {
  name: PackageName
  version: string | undefined
  visibility: 'public' | 'private' | undefined
  /** Default: that of the package's latest version. */
  summary: string | undefined
}

/** Throws `name_invalid`, `version_invalid`, `package_summary_placeholder`. */
export function parsePublication({ name, version, visibility, summary }: PublicationRequest): Publication {
  const problem = summary === undefined ? undefined : findSummaryProblem(summary, 'agent')
  if (problem !== undefined) throw new AgentGymError({ ...problem, data: { field: 'summary' } })
  return {
    name: parsePackageName(name),
    version: version === undefined ? undefined : parseVersion(version),
    visibility,
    summary: summary?.trim(),
  }
}

/** Before a run costs anything: its agent could not be published without one. Throws `package_summary_…`. */
async function requireSummary(query: Queries, publication: Publication): Promise<void> {
  const problem = findSummaryProblem(await summaryFor(query, publication), 'agent')
  if (problem !== undefined) throw new AgentGymError({ ...problem, data: { field: 'summary' } })
}

/** The given summary, or that of the package's latest version if its publisher wrote it; null if there is none. */
export async function summaryFor(
  query: Queries,
  { name, summary }: Pick<Publication, 'summary'> & { name: Pick<PackageName, 'full'> },
): Promise<string | null> {
  if (summary !== undefined) return summary
  const found = await query.selectFrom('packages').select('summary').where('name', '=', name.full).executeTakeFirst()
  const known = found?.summary ?? null
  return findSummaryProblem(known, 'agent') === undefined ? known : null
}

/**
 * Reserves a version for the run's agent: the requested one, or the next patch above all existing and reserved
 * versions. Must be called under the package's lock, in the transaction that writes the run. A version reserved by run
 * `runId` itself counts as free.
 *
 * Throws `forbidden` if the actor may not publish under that name, `package_kind_changed` if it is a scenario,
 * `package_visibility_fixed`, `name_taken` for a similar name, and `version_exists`.
 */
export async function reservePublication(
  query: Transaction<Schema>,
  actor: Actor,
  { name, version, visibility }: Publication,
  runId: string | null = null,
): Promise<{ publish_name: string; publish_version: string; publish_visibility: 'public' | 'private' | null }> {
  await authorizeScope(query, actor, name)
  await requireAgentsName(query, name, visibility)
  const taken = await takenVersions(query, name.full, runId)
  if (version !== undefined && taken.includes(version)) throw versionTaken(name.full, version)
  return {
    publish_name: name.full,
    publish_version: version ?? nextPatch(taken),
    publish_visibility: visibility ?? null,
  }
}

async function requireAgentsName(
  query: Transaction<Schema>,
  name: PackageName,
  visibility: Publication['visibility'],
): Promise<void> {
  const found = await findPackage(query, name.full)
  if (found === undefined) return requireDistinctName(query, name)
  if (found.kind !== 'agent')
    throw new AgentGymError({
      code: 'package_kind_changed',
      message: `${name.full} is published as ${found.kind}; runs publish agents.`,
      hint: 'Choose another name.',
      data: { name: name.full },
    })
  if (visibility !== undefined && visibility !== found.visibility)
    throw new AgentGymError({
      code: 'package_visibility_fixed',
      message: `${name.full} is ${found.visibility}; publishing a version cannot make it ${visibility}.`,
      hint: 'Omit the visibility.',
      data: { name: name.full },
    })
}

async function requireDistinctName(query: Transaction<Schema>, name: PackageName): Promise<void> {
  const other = await query
    .selectFrom('packages')
    .select('id')
    .where('name_canonical', '=', name.canonical)
    .executeTakeFirst()
  if (other !== undefined)
    throw new AgentGymError({
      code: 'name_taken',
      message: `${name.full} is too similar to another package of @${name.scope}.`,
      hint: 'Choose a name that differs by more than . _ - or by l, i, 1, o, 0.',
      data: { name: name.full },
    })
}

/** The next patch above all existing and reserved versions of a package, ignoring the run's own reservation. */
export async function freeVersion(query: Queries, name: string, runId: string): Promise<string> {
  return nextPatch(await takenVersions(query, name, runId))
}

/** Existing versions in any state, and versions reserved by runs. */
async function takenVersions(query: Queries, name: string, runId: string | null): Promise<string[]> {
  const rows = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('versions.version')
    .where('packages.name', '=', name)
    .union(
      query
        .selectFrom('training_runs')
        .select((select) => select.ref('publish_version').$notNull().as('version'))
        .where('publish_name', '=', name)
        .where('state', 'not in', ['failed', 'cancelled'])
        .$if(runId !== null, (other) => other.where('id', '!=', runId)),
    )
    .execute()
  return rows.map(({ version }) => version)
}

/** `0.1.0` for the first version, as for locally trained agents. */
function nextPatch(taken: readonly string[]): string {
  const [highest] = semver.rsort([...taken])
  return highest === undefined ? '0.1.0' : (semver.inc(highest, 'patch') ?? highest)
}

function versionTaken(name: string, version: string): AgentGymError {
  return new AgentGymError({
    code: 'version_exists',
    message: `${name}@${version} is already published, or reserved by another run.`,
    hint: 'Omit the version to use the next free one.',
    data: { name, version },
  })
}
