import type { ProgressEvent, RunLink, RunSharing, SampleEpisode, SharedRun } from '@agentgym/contract'
import { successCriteriaSchema } from '@agentgym/contract'
import { sql } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { hashSecret, isSecret, makeSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { packedPoints } from './curves/curves.store.ts'
import { requireOwnRun, requireRun, runNotFound } from './run-access.ts'
import { episodeNotFound, listEpisodes, mayShowEpisodes, readEpisode } from './run-episodes.ts'
import { findRun, type RunView, runOf } from './runs.store.ts'

type SharingServices = Pick<Services, 'database' | 'config'>
type Change = { actor: Actor | null; runId: string; ip: string | null }

/** Who else may look at a run, for its members. Throws `run_not_found`. */
export async function readSharing(
  { database: { query }, config }: SharingServices,
  { actor, runId }: Pick<Change, 'actor' | 'runId'>,
): Promise<RunSharing> {
  const { run } = await requireRun(query, actor, runId)
  return sharingOf(query, run, config.publicUrl)
}

/** Makes a run public, or private again; its link stays as it is. Throws `run_not_found`, `forbidden`. */
export async function setPublic(
  { database, config }: SharingServices,
  { actor, runId, ip, isPublic }: Change & { isPublic: boolean },
): Promise<RunSharing> {
  return database.transaction(async (query) => {
    const changed = await requireOwnRun(query, actor, runId, 'training:view')
    const { numUpdatedRows } = await query
      .updateTable('training_runs')
      .set({ public_at: isPublic ? sql<Date>`now()` : null })
      .where('id', '=', runId)
      .where('public_at', isPublic ? 'is' : 'is not', null)
      .executeTakeFirst()
    const action = isPublic ? 'run.make_public' : 'run.make_private'
    if (numUpdatedRows > 0n) await recordAudit(query, { actor: changed.actor, action, subject: `run:${runId}`, ip })
    const { run } = await requireRun(query, actor, runId)
    return sharingOf(query, run, config.publicUrl)
  })
}

/** A new link, which replaces the one before. Its secret is in this response alone. Throws `run_not_found`, `forbidden`. */
export async function createLink(
  { database, config }: SharingServices,
  { actor, runId, ip }: Change,
): Promise<RunLink> {
  const secret = makeSecret('agl_')
  return database.transaction(async (query) => {
    const changed = await requireOwnRun(query, actor, runId, 'training:view')
    const row = { secret_hash: hashSecret(secret), created_by: changed.actor.accountId }
    const { created_at } = await query
      .insertInto('run_links')
      .values({ run_id: runId, ...row })
      .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ ...row, created_at: sql<Date>`now()` }))
      .returning('created_at')
      .executeTakeFirstOrThrow()
    await recordAudit(query, { actor: changed.actor, action: 'run.create_link', subject: `run:${runId}`, ip })
    return { url: `${addressOf(config.publicUrl, runId)}/${secret}`, created_at: created_at.toISOString() }
  })
}

/** From now on the run's link leads nowhere. Throws `run_not_found`, `forbidden`. */
export async function revokeLink(
  { database, config }: SharingServices,
  { actor, runId, ip }: Change,
): Promise<RunSharing> {
  return database.transaction(async (query) => {
    const changed = await requireOwnRun(query, actor, runId, 'training:view')
    const { numDeletedRows } = await query.deleteFrom('run_links').where('run_id', '=', runId).executeTakeFirst()
    if (numDeletedRows > 0n)
      await recordAudit(query, { actor: changed.actor, action: 'run.revoke_link', subject: `run:${runId}`, ip })
    return sharingOf(query, changed.run, config.publicUrl)
  })
}

/**
 * A run as others see it: a public one, or with the secret of its link. Throws the same `run_not_found` for every reason.
 */
export async function readShared(
  { database: { query }, config }: SharingServices,
  { runId, secret }: { runId: string; secret: string | undefined },
): Promise<SharedRun> {
  const run = await requireShared(query, { runId, secret })
  const { id, state, scenario, algorithm, settings, seed, note, ...rest } = runOf(run, config)
  const { created_at, started_at, ended_at, progress, evaluation } = rest
  const [targets, points, evaluations, episodes] = await Promise.all([
    targetsOf(query, run.scenario_version_id),
    thinnedPoints(query, run),
    evaluationsOf(query, runId),
    (await mayShowEpisodes(query, run)) ? listEpisodes(query, runId) : [],
  ])
  return {
    ...{ id, state, scenario, algorithm, settings, seed, note, created_at, started_at, ended_at, progress, evaluation },
    ...{ targets, points, evaluations, episodes },
  }
}

/** Throws `run_not_found` as `readShared` does, and `run_episode_not_found`. */
export async function readSharedEpisode(
  { database: { query } }: SharingServices,
  { iteration, ...link }: { runId: string; secret: string | undefined; iteration: number },
): Promise<SampleEpisode> {
  const run = await requireShared(query, link)
  if (!(await mayShowEpisodes(query, run))) throw episodeNotFound(run.id, iteration)
  return readEpisode(query, run.id, iteration)
}

async function requireShared(
  query: Queries,
  { runId, secret }: { runId: string; secret: string | undefined },
): Promise<RunView> {
  const run = await findRun(query, runId)
  if (run === undefined || !(run.public_at !== null || (await opens(query, runId, secret)))) throw runNotFound(runId)
  return run
}

async function opens(query: Queries, runId: string, secret: string | undefined): Promise<boolean> {
  if (secret === undefined || !isSecret('agl_', secret)) return false
  const found = await query
    .selectFrom('run_links')
    .select('run_id')
    .where('secret_hash', '=', hashSecret(secret))
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return found !== undefined
}

async function sharingOf(query: Queries, { id, public_at }: RunView, publicUrl: string): Promise<RunSharing> {
  const link = await query
    .selectFrom('run_links')
    .innerJoin('accounts', 'accounts.id', 'run_links.created_by')
    .select(['accounts.username', 'run_links.created_at'])
    .where('run_links.run_id', '=', id)
    .executeTakeFirst()
  return {
    public: public_at !== null,
    link: link === undefined ? null : { created_by: link.username, created_at: link.created_at.toISOString() },
    url: public_at === null ? null : addressOf(publicUrl, id),
  }
}

function addressOf(publicUrl: string, runId: string): string {
  return `${publicUrl}/runs/${runId}/shared`
}

async function targetsOf(query: Queries, versionId: string): Promise<SharedRun['targets']> {
  const { success } = await query
    .selectFrom('versions')
    .select(sql<unknown>`manifest -> 'agentgym' -> 'success'`.as('success'))
    .where('id', '=', versionId)
    .executeTakeFirstOrThrow()
  return successCriteriaSchema.safeParse(success).data ?? {}
}

const mostPoints = 1_000

async function thinnedPoints(query: Queries, { id, iteration }: RunView): Promise<ProgressEvent[]> {
  const packed = await packedPoints(query, id)
  const every = Math.max(1, Math.ceil(iteration / mostPoints))
  const rows = await query
    .selectFrom('training_metrics')
    .select('data')
    .where('run_id', '=', id)
    .where(sql<boolean>`(iteration % ${every} = 0 or iteration = ${iteration})`)
    .orderBy('iteration')
    .execute()
  // Validated against its schema on arrival.
  return [...packed, ...rows].map(({ data }) => data as ProgressEvent)
}

async function evaluationsOf(query: Queries, runId: string): Promise<SharedRun['evaluations']> {
  const rows = await query
    .selectFrom('run_events')
    .select('data')
    .where('run_id', '=', runId)
    .where('type', '=', 'evaluation')
    .orderBy('seq', 'desc')
    .limit(mostPoints)
    .execute()
  return rows.reverse().map(({ data }) => {
    const { steps, evaluation } = data as SharedRun['evaluations'][number]
    return { steps, evaluation }
  })
}
