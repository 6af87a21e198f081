import {
  type AgentCard,
  agentCardSchema,
  agentManifestSchema,
  spaceLeaves,
  type TagList,
  type VersionDetails,
  type VersionList,
} from '@agentgym/contract'
import { wholeMask } from '@agentgym/contract/protocols'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { tarballPath } from '../../core/http/package-path.ts'
import type { Services } from '../../core/services.ts'
import { describeVerification } from '../evaluations/index.ts'
import { changesOf } from './documents/version-documents.store.ts'
import {
  findReadablePackage,
  findReadableVersion,
  learningCurveOf,
  listVersions,
  type VersionDetails as ReadVersion,
  tagsOf,
  type VersionRow,
} from './packages.store.ts'

/** Versions of a package that the actor may see. Throws `package_not_found`. */
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
  const isAgent = found.kind === 'agent'
  return versionDetails(config, found.name, row, {
    tags,
    changes: await changesOf(database.query, row.id),
    verification: isAgent ? await describeVerification(database.query, row.id) : null,
    learningCurve: isAgent ? await learningCurveOf(database.query, row.id) : null,
    agentManifest: isAgent ? await agentManifestOf(database.query, row.id) : null,
  })
}

type Shown = Omit<
  VersionRow,
  'id' | 'package_id' | 'bundle_hash' | 'shasum' | 'object_key' | 'published_by' | 'intended_tag' | 'files_kept'
>

type VersionParts = {
  tags: ReadonlyMap<string, string>
  changes: VersionDetails['changes']
  /** This and the following fields are null for scenarios. */
  verification: VersionDetails['verification']
  learningCurve: VersionDetails['learning_curve']
  agentManifest: unknown
}

/** A version, from its row and its parts in other tables. */
export function versionDetails(
  config: Pick<Services['config'], 'publicUrl'>,
  name: string,
  row: Shown & Pick<ReadVersion, 'bundle_hash' | 'checks' | 'manifest' | 'readme'>,
  { tags, changes, verification, learningCurve, agentManifest }: VersionParts,
): VersionDetails {
  return {
    name,
    ...versionFields(row),
    bundle_hash: row.bundle_hash,
    tarball: config.publicUrl + tarballPath(name, row.version),
    tags: [...tags].filter(([, tagged]) => tagged === row.version).map(([tag]) => tag),
    checks: row.checks,
    manifest: row.manifest,
    readme: row.readme,
    changes,
    verification,
    learning_curve: learningCurve,
    agent: agentCard(agentManifest),
  }
}

/** Null if agent.json does not match the current schema. */
function agentCard(agentManifest: unknown): AgentCard | null {
  const parsed = agentManifestSchema.safeParse(agentManifest)
  if (!parsed.success) return null
  const { scenario, ...rest } = parsed.data
  const spaces = { observation: spaceLeaves(scenario.observation), action: spaceLeaves(scenario.action) }
  const whole_mask = scenario.mask_required ? wholeMask(scenario.action) : undefined
  return agentCardSchema.parse({ ...rest, scenario, spaces, whole_mask })
}

async function agentManifestOf(query: Queries, versionId: string): Promise<unknown> {
  const row = await query
    .selectFrom('agent_versions')
    .select('manifest')
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  return row?.manifest
}

/** Throws `package_not_found`. */
export async function describeTags(query: Queries, actor: Actor | null, name: string): Promise<TagList> {
  const found = await findReadablePackage(query, actor, name)
  return { name: found.name, tags: Object.fromEntries(await tagsOf(query, found.id)) }
}

function versionFields(row: Shown): Omit<VersionList['versions'][number], 'checks_passed' | 'checks_count'> {
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
