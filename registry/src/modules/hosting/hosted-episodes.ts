import { createHash, randomBytes } from 'node:crypto'
import type { HostedCall, HostedCallRequest } from '@agentgym/contract'
import { decidedBefore, episodeNotFound, type KeptEpisode, tooManyEpisodes } from '@agentgym/contract/protocols'
import { type Kysely, sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'

/** Episodes of one account in progress. */
const mostEpisodes = 1_000
/** Episodes without a decision for so long are over. */
const idle = sql`interval '1 day'`

/** Whose episode it is, and of which agent. */
export type EpisodeOwner = { accountId: string; packageId: string }

type Step = { id: string; step: number; asked: unknown }

/**
 * Begins an episode of a version, and gives its handle, which is random and good for this account alone. Throws `rate_limited`
 * where the account has too many.
 */
export async function startEpisode(database: Database, accountId: string, versionId: string): Promise<string> {
  const id = randomBytes(18).toString('base64url')
  await database.transaction(async (query) => {
    await database.lock(query, `hosted-episodes:${accountId}`)
    await forgetEpisodes(query, accountId)
    const { count } = await query
      .selectFrom('hosted_episodes')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where('account_id', '=', accountId)
      .executeTakeFirstOrThrow()
    if (Number(count) >= mostEpisodes) throw tooManyEpisodes('Your account', mostEpisodes)
    await query
      .insertInto('hosted_episodes')
      .values({ handle_hash: hashOf(id), account_id: accountId, version_id: versionId })
      .execute()
  })
  return id
}

/** What a step of an episode is decided with: the version that it was begun with, and an id that the same question always has. */
export type EpisodeCall = { version: string; state: HostedCallRequest['state']; key: string }
export type Decided = { decision: Record<string, unknown>; state: HostedCall['state'] }

/**
 * Decides on the next step of an episode by `decide`, a call of the agent. The last step, asked again with the same observation, gets
 * the same decision again, without a call: also where the first answer was lost on its way, since its call has an id. Throws
 * `episode_not_found`, `episode_step_invalid` and what `decide` throws; the episode is then as before.
 */
export async function actInEpisode(
  query: Queries,
  owner: EpisodeOwner,
  { id, step, asked }: Step,
  decide: (call: EpisodeCall) => Promise<Decided>,
): Promise<{ decision: Record<string, unknown>; next_step: number }> {
  const episode = await readEpisode(query, owner, id)
  if (episode === undefined) throw episodeNotFound()
  const hash = hashOf(JSON.stringify(asked))
  const before = decidedBefore(episode, { step, asked: hash })
  if (before !== undefined) return { decision: before, next_step: episode.next_step }
  const { decision, state } = await decide({
    ...{ version: episode.version, state: episode.state ?? undefined },
    key: uuidOf(`${id} ${step} ${hash}`),
  })
  const { numUpdatedRows } = await query
    .updateTable('hosted_episodes')
    .set({ next_step: step + 1, state: state ?? null, last: JSON.stringify({ asked: hash, decision }) })
    .set({ used_at: sql<Date>`now()` })
    .where('handle_hash', '=', hashOf(id))
    .where('next_step', '=', step)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return { decision, next_step: step + 1 }
  // Another call of this step was first: the same question has the same answer, a different one came too late.
  const now = await readEpisode(query, owner, id)
  if (now === undefined) throw episodeNotFound()
  return { decision: decidedBefore(now, { step, asked: hash }) ?? decision, next_step: now.next_step }
}

/** Forgets an episode. Whether there was one. */
export async function endEpisode(query: Queries, owner: EpisodeOwner, id: string): Promise<boolean> {
  if ((await readEpisode(query, owner, id)) === undefined) return false
  await query.deleteFrom('hosted_episodes').where('handle_hash', '=', hashOf(id)).execute()
  return true
}

/** Deletes episodes that are over: all, or an account's. */
export async function forgetEpisodes(query: Kysely<Schema>, accountId?: string): Promise<void> {
  await query
    .deleteFrom('hosted_episodes')
    .where('used_at', '<', sql<Date>`now() - ${idle}`)
    .$if(accountId !== undefined, (old) => old.where('account_id', '=', accountId ?? ''))
    .execute()
}

async function readEpisode(
  query: Queries,
  { accountId, packageId }: EpisodeOwner,
  id: string,
): Promise<(KeptEpisode & { version: string }) | undefined> {
  const row = await query
    .selectFrom('hosted_episodes')
    .innerJoin('versions', 'versions.id', 'hosted_episodes.version_id')
    .select(['versions.version', 'next_step', 'hosted_episodes.state', 'last'])
    .where('handle_hash', '=', hashOf(id))
    .where('account_id', '=', accountId)
    .where('versions.package_id', '=', packageId)
    .where('used_at', '>', sql<Date>`now() - ${idle}`)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { version, next_step, state, last } = row
  return { version, next_step, state, last: last === null ? null : JSON.parse(last) }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A UUID (version 8) that follows from a text. */
function uuidOf(text: string): string {
  const hex = hashOf(text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
