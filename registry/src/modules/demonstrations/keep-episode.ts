import { AgentGymError, type KeptEpisode, type keepEpisodeRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { requireTarball } from '../entitlements/index.ts'
import { findReadablePackage, findReadableVersion } from '../packages/index.ts'
import { episodeOf, mostKept } from './demonstrations.store.ts'

type Keeping = { actor: Actor; ip: string; name: string; version: string }
type Given = z.infer<typeof keepEpisodeRequestSchema>

/**
 * Stores the actions of an episode, and queues their replay, which computes the score. For users who may have the files of
 * the scenario, since they have played them.
 *
 * Throws `package_not_found`, `version_not_found`, `version_not_published`, `payment_required`, `hosted_only`,
 * `scenario_mismatch` for another bundle, `demonstration_exists`, `rate_limited`, `request_invalid` for an agent.
 */
export async function keepEpisode(services: Services, keeping: Keeping, given: Given): Promise<KeptEpisode> {
  const { database, queue, config } = services
  const { actor, ip, name, version } = keeping
  const found = await findReadablePackage(database.query, actor, name)
  const row = await findReadableVersion(database.query, found, version)
  requirePlayable(found, row)
  await requireTarball(database.query, { actor, found, version, publicUrl: config.publicUrl }, { use: false })
  if (row.bundle_hash !== given.hash) throw otherBundle(found.name, version, row.bundle_hash ?? '', given.hash)
  await services.openJobs.requireRoom('replay', actor)
  return database.transaction(async (query) => {
    await database.lock(query, `demonstrations:${row.id}:${actor.accountId}`)
    await requireNew(query, { versionId: row.id, accountId: actor.accountId, version, ...given })
    const stored = await query
      .insertInto('demonstrations')
      .values({
        ...{ version_id: row.id, account_id: actor.accountId, seed: given.seed, episode: given.episode },
        ...{ steps: given.actions.length, actions: JSON.stringify(given.actions) },
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await queue.enqueue(query, 'replay', stored.id, { account: actor.accountId })
    const subject = `${found.name}@${version}`
    await recordAudit(query, { actor, ip, action: 'demonstration.keep', subject, data: { id: stored.id } })
    return episodeOf({ ...stored, version, username: actor.username })
  })
}

function requirePlayable(
  { kind, name }: { kind: string; name: string },
  { state, version }: { state: string; version: string },
): void {
  if (kind !== 'scenario')
    throw new AgentGymError({
      code: 'request_invalid',
      message: `${name} is an agent; episodes are kept of scenarios.`,
      data: { field: 'name', in: 'path' },
    })
  if (state !== 'published')
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${name}@${version} ${state === 'rejected' ? 'was rejected' : 'is still being checked'}.`,
      data: { state },
    })
}

/** Forgets a refused try at the same episode. */
async function requireNew(
  query: Transaction<Schema>,
  { versionId, accountId, version, seed, episode }: Given & { versionId: string; accountId: string; version: string },
): Promise<void> {
  const own = await query
    .selectFrom('demonstrations')
    .select(['id', 'seed', 'episode', 'state'])
    .where('version_id', '=', versionId)
    .where('account_id', '=', accountId)
    .execute()
  const same = own.find((kept) => kept.seed === seed && kept.episode === episode)
  if (same !== undefined && same.state !== 'refused')
    throw new AgentGymError({
      code: 'demonstration_exists',
      message: `You have kept episode ${episode + 1} of version ${version} already.`,
      hint: 'Keep another episode, or remove the one that you have.',
      data: { id: same.id },
    })
  if (same !== undefined) await query.deleteFrom('demonstrations').where('id', '=', same.id).execute()
  else if (own.length >= mostKept)
    throw new AgentGymError({
      code: 'request_invalid',
      message: `You have kept ${mostKept} episodes of version ${version}, the most an account can keep.`,
      hint: 'Remove some first.',
      data: { field: 'episode', most: mostKept },
    })
}

function otherBundle(name: string, version: string, hash: string, given: string): AgentGymError {
  return new AgentGymError({
    code: 'scenario_mismatch',
    message: `The episode was played on bundle ${given.slice(0, 12)}; ${name}@${version} is bundle ${hash.slice(0, 12)}.`,
    hint: 'Reload the page, and play the episode again.',
    data: { scenario: name, version, hash, given },
  })
}
