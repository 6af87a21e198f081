import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import { requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import {
  authorizeScope,
  createVersion,
  keepLearningCurve,
  lockPackage,
  type PublishedVersion,
  publishRate,
  renameTarball,
  requireRoomFor,
  type VettedPackage,
  vetPackage,
} from '../packages/index.ts'
import { packedPoints } from './curves/curves.store.ts'
import { requireOwnRun } from './run-access.ts'
import { agentKeyOf } from './run-data.ts'
import type { RunServices } from './run-services.ts'
import { changeRun, type End, lockRun, type RunContext, type RunRow } from './run-state.ts'
import type { RunView } from './runs.store.ts'
import {
  freeVersion,
  type Publication,
  type PublicationRequest,
  parsePublication,
  reservePublication,
  summaryFor,
} from './submit-run.ts'

type RunPublication = PublicationRequest & { actor: Actor | null; runId: string; ip: string | null }

/** How often to try the next free version number when another publisher takes one first. */
const mostTries = 3

/**
 * Publishes the agent of a completed run as if the caller had uploaded it: the run's tarball under that name and
 * version; default: the next free version. Repeating the request for the published version, or for that name without a
 * version, returns the same response. If the checks rejected the version, it is published again.
 *
 * Throws `run_not_found`, `forbidden`, `rate_limited`, `run_has_no_agent`, and the errors of `parsePublication`,
 * `reservePublication`, `vetPackage` and `createVersion`.
 */
export async function publishRun(services: RunServices, request: RunPublication): Promise<PublishedVersion> {
  const { database } = services
  const publication = parsePublication(request)
  const { accountId } = requireActor(request.actor, 'packages:publish')
  const { run, actor } = await requireOwnRun(database.query, request.actor, request.runId, 'training:view')
  await limitRate(database, `publish:${accountId}`, publishRate)
  const ownerId = await authorizeScope(database.query, actor, publication.name)
  const tarball = await readAgent(services, run)
  for (let tries = 1; ; tries++) {
    try {
      return await publishOnce(services, { request, actor, ownerId, publication, tarball })
    } catch (error) {
      const taken = error instanceof AgentGymError && error.code === 'version_exists'
      if (!taken || publication.version !== undefined || tries === mostTries) throw error
    }
  }
}

async function readAgent({ objects }: Services, run: RunView): Promise<Uint8Array> {
  const key = agentKeyOf(run)
  const bytes = await objects.get(key)
  if (bytes === undefined) throw new Error(`${key}, the agent of run ${run.id}, is missing`)
  return bytes
}

type Publishing = {
  request: RunPublication
  actor: Actor
  ownerId: string
  publication: Publication
  tarball: Uint8Array
}

async function publishOnce(services: RunServices, publishing: Publishing): Promise<PublishedVersion> {
  const { database, objects } = services
  const { request, publication, tarball } = publishing
  const { full: name } = publication.name
  const earlier = await publishedAs(database.query, request.runId, publication)
  if (earlier !== undefined) return earlier
  const version = publication.version ?? (await freeVersion(database.query, name, request.runId))
  // Expensive work comes before the transaction that may publish it.
  const summary = await summaryFor(database.query, publication)
  const renamed = await renameTarball(tarball, { name, version, summary }, services.config.limits)
  const vetted = await vetPackage(services, renamed, { name, version })
  await requireRoomFor(services, { accountId: publishing.actor.accountId, ownerId: publishing.ownerId }, vetted)
  const objectKey = await objects.put(vetted.bytes)
  const { queue } = services
  const published = await database.transaction(async (query) => {
    const run = await lockRun(query, request.runId)
    if (run === undefined) throw new Error(`run ${request.runId} is gone`)
    // The same form may have been submitted twice.
    const meanwhile = await publishedAs(query, run.id, publication)
    if (meanwhile !== undefined) return meanwhile
    return writeVersion(query, { ...services, queue }, { ...publishing, run, version, vetted, objectKey })
  })
  services.documents.wake(services)
  return published
}

type Written = Publishing & { run: RunRow; version: string; vetted: VettedPackage; objectKey: string }

async function writeVersion(
  query: Transaction<Schema>,
  context: Parameters<typeof createVersion>[1],
  { request, publication, run, version, vetted, objectKey }: Written,
): Promise<PublishedVersion> {
  const { ip } = request
  // Checked again, with a lock: the membership may have been removed since.
  const { actor } = await requireOwnRun(query, request.actor, run.id, 'training:view')
  const { name, visibility } = publication
  await lockPackage(context.database, query, name.full)
  await reservePublication(query, actor, { ...publication, version }, run.id)
  const { id, state, integrity } = await createVersion(query, context, { actor, vetted, objectKey, visibility, ip })
  await changeRun(query, run, { published_version_id: id })
  await keepCurveOf(query, run.id, id)
  return { name: name.full, version, state, integrity }
}

async function keepCurveOf(query: Queries, runId: string, versionId: string): Promise<void> {
  const packed = (await packedPoints(query, runId)).map(({ data }) => data)
  await keepLearningCurve(query, { runId, versionId, packed })
}

/** The run's existing publication, if it is the requested one. */
async function publishedAs(
  query: Queries,
  runId: string,
  { name, version }: Publication,
): Promise<PublishedVersion | undefined> {
  const found = await query
    .selectFrom('training_runs')
    .innerJoin('versions', 'versions.id', 'training_runs.published_version_id')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.state', 'versions.integrity'])
    .where('training_runs.id', '=', runId)
    .where('packages.name', '=', name.full)
    .where('versions.state', '!=', 'rejected')
    .executeTakeFirst()
  return found !== undefined && (version === undefined || version === found.version) ? found : undefined
}

type Published = Extract<End, { state: 'completed' }>['published']

/**
 * An agent to publish, or the reason for a refusal; null if publishing was not requested. `objectKey`: the run's own
 * tarball. `publishedKey`: the tarball as rewritten by the registry.
 */
export type VettedAgent = {
  objectKey: string
  vetted: (VettedPackage & { publishedKey: string }) | { error: ErrorReport }
} | null

/** Checks a run's agent before the transaction that may publish it. */
export async function vetRunAgent(services: RunServices, run: RunRow): Promise<VettedAgent> {
  const { publish_name: name, publish_version: version, agent_object_key: objectKey } = run
  const { query } = services.database
  if (name === null || version === null || objectKey === null) return null
  const bytes = await services.objects.get(objectKey)
  if (bytes === undefined) throw new Error(`${objectKey}, the agent of run ${run.id}, is missing from the store`)
  try {
    const summary = await summaryFor(query, { name: { full: name }, summary: run.publish_summary ?? undefined })
    const described = await renameTarball(bytes, { summary }, services.config.limits)
    const vetted = await vetPackage(services, described, { name, version })
    return { objectKey, vetted: { ...vetted, publishedKey: await services.objects.put(vetted.bytes) } }
  } catch (error) {
    return { objectKey, vetted: { error: reportOf(error) } }
  }
}

/**
 * Publishes a run's agent under its reserved name and version, as if the user who started the run had uploaded it, in
 * the transaction that ends the run. The result records a refusal; the run completes either way.
 */
export async function publishRunAgent(
  query: Transaction<Schema>,
  services: Pick<Services, 'database' | 'objects' | 'config' | 'log'>,
  { queue }: RunContext,
  run: RunRow,
  agent: NonNullable<VettedAgent>,
): Promise<NonNullable<Published>> {
  const { vetted } = agent
  if ('error' in vetted) return vetted
  const { name, version } = vetted.manifest
  // A failure inside is rolled back, and the transaction can continue.
  await sql`savepoint publishing`.execute(query)
  try {
    const actor = await publisherOf(query, run)
    const visibility = run.publish_visibility ?? undefined
    const added = { actor, vetted, objectKey: vetted.publishedKey, visibility, ip: null }
    const { id: versionId } = await createVersion(query, { ...services, queue }, added)
    await keepCurveOf(query, run.id, versionId)
    await sql`release savepoint publishing`.execute(query)
    return { versionId, name, version }
  } catch (error) {
    const report = reportOf(error)
    await sql`rollback to savepoint publishing`.execute(query)
    return { error: report }
  }
}

/** The user who started the run, if they may still publish. */
async function publisherOf(query: Transaction<Schema>, { created_by: accountId }: RunRow): Promise<Actor> {
  const { username, disabled_at: disabledAt } = await query
    .selectFrom('accounts')
    .select(['username', 'disabled_at'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (disabledAt !== null)
    throw new AgentGymError({ code: 'forbidden', message: `The account ${username} is disabled.` })
  const scopes = new Set(['packages:publish'] as const)
  return { accountId, username, emailVerified: false, operator: false, tokenId: null, scopes }
}

function reportOf(error: unknown): ErrorReport {
  if (!(error instanceof AgentGymError)) throw error
  return error.toReport()
}
