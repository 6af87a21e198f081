import {
  type AgentCard,
  agentCardSchema,
  agentManifestSchema,
  spaceLeaves,
  type TagList,
  type VersionDetails,
  type VersionList,
} from '@agentgym/contract'
import type { Actor } from '../auth/actor.ts'
import { changesOf } from '../catalog/version-documents.store.ts'
import type { Queries } from '../database/database.ts'
import type { Services } from '../server/services.ts'
import { learningCurveOf } from '../training/learning-curves.store.ts'
import { describeVerification } from '../verification/describe-verification.ts'
import { tarballPath } from './package-path.ts'
import { findReadablePackage, findReadableVersion, listVersions, tagsOf, type VersionRow } from './packages.store.ts'

/** Versions of a package, as far as whoever asks may see them. Throws `package_not_found`. */
export async function describeVersions(query: Queries, actor: Actor | null, name: string): Promise<VersionList> {
  const found = await findReadablePackage(query, actor, name)
  const tags = await tagsOf(query, found.id)
  const rows = await listVersions(query, found)
  return {
    name: found.name,
    tags: Object.fromEntries(tags),
    versions: rows
      .reverse()
      .map((row) => ({ ...versionFields(row), checks_passed: row.checks_passed, checks_count: row.checks_count })),
  }
}

/** Throws `package_not_found`, `version_not_found`. */
export async function describeVersion(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  name: string,
  version: string,
): Promise<VersionDetails> {
  const found = await findReadablePackage(database.query, actor, name)
  const row = await findReadableVersion(database.query, found, version)
  const tags = await tagsOf(database.query, found.id)
  return {
    name: found.name,
    ...versionFields(row),
    bundle_hash: row.bundle_hash,
    tarball: config.publicUrl + tarballPath(found.name, row.version),
    tags: [...tags].filter(([, tagged]) => tagged === row.version).map(([tag]) => tag),
    checks: row.checks,
    manifest: row.manifest,
    readme: row.readme,
    changes: await changesOf(database.query, row.id),
    verification: found.kind === 'agent' ? await describeVerification(database.query, row.id) : null,
    learning_curve: found.kind === 'agent' ? await learningCurveOf(database.query, row.id) : null,
    agent: found.kind === 'agent' ? await agentCardOf(database.query, row.id) : null,
  }
}

/** Null where agent.json is not as it would have to be today. */
async function agentCardOf(query: Queries, versionId: string): Promise<AgentCard | null> {
  const row = await query
    .selectFrom('agent_versions')
    .select('manifest')
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  const parsed = agentManifestSchema.safeParse(row?.manifest)
  if (!parsed.success) return null
  const { scenario, ...rest } = parsed.data
  const spaces = { observation: spaceLeaves(scenario.observation), action: spaceLeaves(scenario.action) }
  return agentCardSchema.parse({ ...rest, scenario, spaces })
}

/** Throws `package_not_found`. */
export async function describeTags(query: Queries, actor: Actor | null, name: string): Promise<TagList> {
  const found = await findReadablePackage(query, actor, name)
  return { name: found.name, tags: Object.fromEntries(await tagsOf(query, found.id)) }
}

function versionFields(row: VersionRow): Omit<VersionList['versions'][number], 'checks_passed' | 'checks_count'> {
  return {
    version: row.version,
    state: row.state,
    created_at: row.created_at.toISOString(),
    published_at: row.published_at?.toISOString() ?? null,
    integrity: row.integrity,
    size: row.size,
    unpacked_size: row.unpacked_size,
    file_count: row.file_count,
    deprecated: row.deprecated,
    yanked: row.yanked_at !== null,
    downloads: row.downloads,
  }
}
