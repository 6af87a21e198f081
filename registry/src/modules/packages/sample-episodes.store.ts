import { AgentGymError, type SampleEpisode } from '@agentgym/contract'
import type { Actor } from '../../core/access/actor.ts'
import type { Queries } from '../../core/database/database.ts'
import { findReadablePackage, findReadableVersion } from './packages.store.ts'

/** Keeps the first episode that a worker wrote down of a version; what comes later of it changes nothing. */
export async function keepSampleEpisode(query: Queries, versionId: string, episode: SampleEpisode): Promise<void> {
  await query
    .insertInto('sample_episodes')
    .values({ version_id: versionId, episode: JSON.stringify(episode) })
    .onConflict((conflict) => conflict.column('version_id').doNothing())
    .execute()
}

/**
 * A version's episode, for whoever may read the version. Throws `package_not_found`, `version_not_found`,
 * `sample_episode_not_found`.
 */
export async function readSampleEpisode(
  query: Queries,
  actor: Actor | null,
  asked: string,
  version: string,
): Promise<SampleEpisode> {
  const found = await findReadablePackage(query, actor, asked)
  const { id } = await findReadableVersion(query, found, version)
  const row = await query
    .selectFrom('sample_episodes')
    .select('episode')
    .where('version_id', '=', id)
    .executeTakeFirst()
  if (row !== undefined) return row.episode
  throw new AgentGymError({
    code: 'sample_episode_not_found',
    message: `Nobody has written down an episode of ${found.name}@${version}.`,
    data: { name: found.name, version },
  })
}
