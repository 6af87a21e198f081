import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { Actor } from '../../core/access/authorise.ts'
import type { Database, Queries } from '../../core/database/database.ts'
import { chooseVersion } from '../packages/index.ts'

export type TrainableScenario = {
  packageId: string
  versionId: string
  /** Whoever asks belongs to the account that owns it. */
  member: boolean
  name: string
  version: string
  /** SHA-256 (hex) of the bundle. */
  hash: string | null
  /** `agentgym.training` of its package.json. */
  training: Record<string, unknown>
}

/**
 * The scenario version that `name[@range]` means, for a run: as it would be installed, and one that may be trained on.
 * Throws `package_not_found`, `version_not_found`; `version_not_published` and `version_yanked` where it was named exactly;
 * `request_invalid` where it is no scenario.
 */
export async function resolveScenario(database: Database, actor: Actor, target: string): Promise<TrainableScenario> {
  const { query } = database
  // The first @ is the scope's.
  const at = target.indexOf('@', 1)
  const name = at === -1 ? target : target.slice(0, at)
  const { found, row } = await chooseVersion(query, actor, name, at === -1 ? '' : target.slice(at + 1))
  const data = { name: found.name, version: row.version }
  const shown = `${found.name}@${row.version}`
  if (found.kind !== 'scenario')
    throw new AgentGymError({
      code: 'request_invalid',
      message: `The field "scenario" is invalid: ${shown} is an agent.`,
      hint: 'Name the scenario that it was trained on.',
      data: { field: 'scenario', ...data },
    })
  if (row.state !== 'published')
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${shown} ${row.state === 'checking' ? 'is still being checked' : 'was rejected'}, so nothing is trained on it.`,
      hint: `\`agentgym info ${shown}\` shows its checks.`,
      data,
    })
  if (row.yanked_at !== null)
    throw new AgentGymError({
      code: 'version_yanked',
      message: `${shown} is yanked: no new run is trained on it.`,
      hint: 'Choose another version, or leave it out for the latest one.',
      data,
    })
  const training = await trainingBlockOf(database, query, row.id)
  const { id: packageId, member } = found
  return { packageId, versionId: row.id, member, ...data, hash: row.bundle_hash, training }
}

const manifestSchema = z.object({
  agentgym: z.object({ training: z.record(z.string(), z.unknown()).default({}) }),
})

/** A version is never changed, so its block is read once. */
async function trainingBlockOf(
  database: Database,
  query: Queries,
  versionId: string,
): Promise<Record<string, unknown>> {
  let known = blocks.get(database)
  if (known === undefined) {
    known = new Map()
    blocks.set(database, known)
  }
  const kept = known.get(versionId)
  if (kept !== undefined) return kept
  const { manifest } = await query
    .selectFrom('versions')
    .select('manifest')
    .where('id', '=', versionId)
    .executeTakeFirstOrThrow()
  const { training } = manifestSchema.parse(manifest).agentgym
  if (known.size >= mostBlocks) known.clear()
  known.set(versionId, training)
  return training
}
const blocks = new WeakMap<Database, Map<string, Record<string, unknown>>>()
const mostBlocks = 1_000
