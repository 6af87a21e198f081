import {
  AgentGymError,
  type DemonstrationsHead,
  demonstrationTasks,
  type KeptEpisode,
  type KeptEpisodeList,
} from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireOperator } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { DemonstrationTable } from '../../core/database/training-schema.ts'
import type { Services } from '../../core/services.ts'
import { version as agentgym } from '../../core/version.ts'
import { requireTarball } from '../entitlements/index.ts'
import { recordEvent } from '../events/index.ts'
import { findReadablePackage, findReadableVersion } from '../packages/index.ts'
import { peopleBaseline } from './people-baseline.ts'

/** Episodes of a version that an account can keep. */
export const mostKept = 100
/** Longest file of demonstrations; the first episodes kept are in it. */
const mostFileBytes = 16 * 2 ** 20

type Row = Omit<Selectable<DemonstrationTable>, 'actions' | 'line' | 'tasks'> & {
  /** Of its removal. */
  appeal?: 'open' | 'dismissed' | null
  version: string
  username: string | null
}
const appealOfRemoval = sql<
  'open' | 'dismissed' | null
>`(select reports.state from reports where reports.reason = 'appeal'
  and demonstration_id = demonstrations.id and reports.created_at >= removed_at order by reports.created_at desc limit 1)`

type Asked = { actor: Actor | null; name: string; version: string }

export function episodeOf(row: Row): KeptEpisode {
  const { id, version, episode, state, steps, return_sum, message, username, created_at } = row
  const { removed_at: at, removed_reason: reason, appeal = null } = row
  return {
    ...{ id, version, episode, state, steps, return: return_sum, message, by: username },
    removed: at === null ? null : { at: at.toISOString(), reason: reason ?? '', appeal },
    created_at: created_at.toISOString(),
  }
}

/**
 * What people reach on a version, and the caller's own episodes; none for anonymous callers. `everyone`: all episodes, for
 * operators. Throws `package_not_found`, `version_not_found`, `forbidden`.
 */
export async function listEpisodes(
  { database: { query } }: Services,
  { actor, name, version }: Asked,
  of: 'own' | 'everyone',
): Promise<KeptEpisodeList> {
  if (of === 'everyone') requireOperator(actor, 'packages:manage')
  const found = await findReadablePackage(query, actor, name)
  const { id } = await findReadableVersion(query, found, version)
  const rows =
    actor === null
      ? []
      : await query
          .selectFrom('demonstrations')
          .innerJoin('accounts', 'accounts.id', 'demonstrations.account_id')
          .select(['demonstrations.id', 'version_id', 'account_id', 'seed', 'episode', 'steps', 'state', 'message'])
          .select(['return_sum', 'demonstrations.created_at', 'accounts.username', 'removed_at', 'removed_reason'])
          .select(appealOfRemoval.as('appeal'))
          .where('version_id', '=', id)
          .$if(of === 'own', (own) => own.where('account_id', '=', actor.accountId))
          .$if(of === 'everyone', (all) => all.where('removed_at', 'is', null))
          .orderBy('demonstrations.created_at', 'desc')
          .orderBy('demonstrations.id')
          .limit(100)
          .execute()
  return {
    scenario: { name: found.name, version },
    people: await peopleBaseline(query, id),
    episodes: rows.map((row) => episodeOf({ ...row, version })),
  }
}

/** Where a file of demonstrations comes from. */
type Source = { name: string; version: string; hash: string | null }

/** All kept episodes of a version as a file of demonstrations, without names. For those who may have the scenario's files. */
export async function demonstrationsFile(services: Services, { actor, name, version }: Asked): Promise<string> {
  const { database, config } = services
  const { query } = database
  const found = await findReadablePackage(query, actor, name)
  const { id, bundle_hash: hash } = await findReadableVersion(query, found, version)
  await requireTarball(query, { actor, found, version, publicUrl: config.publicUrl }, { use: false })
  const { rows } = await sql<{ line: string; tasks: { train: number; eval: number }; seed: number }>`
    select line, tasks, seed from (
      select line, tasks, seed, created_at, demonstrations.id,
        sum(octet_length(line) + 1) over (order by created_at, demonstrations.id) as bytes
      from demonstrations where version_id = ${id} and state = 'kept' and removed_at is null
        and not exists (select from accounts where accounts.id = account_id and disabled_at is not null)) as kept
    where bytes <= ${mostFileBytes} order by created_at, id`.execute(query)
  const [first] = rows
  if (first === undefined)
    throw new AgentGymError({
      code: 'demonstration_not_found',
      message: `No episode of ${found.name}@${version} has been kept.`,
      data: { name: found.name, version },
    })
  return fileOf(
    { name: found.name, version, hash },
    first,
    rows.map(({ line }) => line),
  )
}

function fileOf(
  { name, version, hash }: Source,
  { seed, tasks }: { seed: number; tasks: { train: number; eval: number } },
  lines: string[],
): string {
  const head: DemonstrationsHead = {
    ...{ format: 'agentgym-demonstrations', format_version: 1, agentgym },
    scenario: { name, version, hash: hash ?? '' },
    ...{ seed, tasks: demonstrationTasks(tasks) },
  }
  return `${[JSON.stringify(head), ...lines].join('\n')}\n`
}

/** The caller's own episode as a file of one demonstration. Throws `demonstration_not_found`. */
export async function ownEpisodeFile(
  query: Queries,
  actor: Actor,
  id: string,
): Promise<{ text: string; name: string }> {
  const row = await findEpisode(query, id)
  if (row?.account_id !== actor.accountId || row.line === null || row.tasks === null) throw notFound(id)
  const { seed, tasks, line, name, version, bundle_hash: hash, episode } = row
  return { text: fileOf({ name, version, hash }, { seed, tasks }, [line]), name: `episode-${episode + 1}.jsonl` }
}

/**
 * Deletes the actor's own episode. With a `reason`, an operator removes anyone's: it is kept for an appeal, and counts for
 * nothing. Throws `demonstration_not_found`, also for episodes of others.
 */
export async function removeEpisode(
  { database, queue }: Services,
  { actor, ip, id, reason }: { actor: Actor; ip: string; id: string; reason?: string },
): Promise<void> {
  await database.transaction(async (query) => {
    // Locks are taken in the order job, subject.
    await queue.lock(query, 'replay', id)
    const row = await findEpisode(query, id)
    if (row === undefined || (reason === undefined ? row.account_id !== actor.accountId : row.removed_at !== null))
      throw notFound(id)
    await queue.end(query, 'replay', id)
    if (reason === undefined) await query.deleteFrom('demonstrations').where('id', '=', id).execute()
    else
      await query
        .updateTable('demonstrations')
        .set({ removed_at: sql<Date>`now()`, removed_reason: reason })
        .where('id', '=', id)
        .execute()
    await recordAudit(query, {
      ...{ actor, ip, action: reason === undefined ? 'demonstration.remove' : 'demonstration.take_down' },
      ...{
        subject: `${row.name}@${row.version}`,
        data: reason === undefined ? { id } : { id, by: row.username, reason },
      },
    })
    const { account_id: accountId, name, version } = row
    if (reason !== undefined && accountId !== actor.accountId)
      await recordEvent(query, { type: 'demonstration.removed', accountId, data: { package: name, version, reason } })
  })
}

/** The actor's episode that an operator removed. Throws `demonstration_not_found`, also for episodes of others. */
export async function findRemovedEpisode(query: Queries, actor: Actor, id: string) {
  const row = await findEpisode(query, id)
  if (row?.account_id !== actor.accountId || row.removed_at === null) throw notFound(id)
  return { ...row, removed_at: row.removed_at, removed_reason: row.removed_reason ?? '' }
}

/** Undoes its removal. A replay that had not ended is queued again by a scheduled task. */
export async function restoreEpisode(query: Transaction<Schema>, id: string): Promise<void> {
  await query
    .updateTable('demonstrations')
    .set({ removed_at: null, removed_reason: null })
    .where('id', '=', id)
    .execute()
}

function findEpisode(query: Queries, id: string) {
  return query
    .selectFrom('demonstrations')
    .innerJoin('versions', 'versions.id', 'demonstrations.version_id')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .innerJoin('accounts', 'accounts.id', 'demonstrations.account_id')
    .select(['demonstrations.account_id', 'demonstrations.seed', 'demonstrations.episode'])
    .select(['demonstrations.line', 'demonstrations.tasks', 'removed_at', 'removed_reason', 'versions.package_id'])
    .select(['packages.name', 'versions.version', 'versions.bundle_hash', 'accounts.username'])
    .where('demonstrations.id', '=', id)
    .executeTakeFirst()
}

function notFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'demonstration_not_found',
    message: `You have no kept episode ${id}.`,
    hint: 'It may have been removed, or not been replayed yet.',
    data: { id },
  })
}
