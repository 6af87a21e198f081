import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema, VersionCheck } from '../../core/database/schema.ts'
import { putTag } from './move-tags.ts'
import { tagsOf } from './packages.store.ts'
import { tagOnPublish } from './tag-rules.ts'
import { taggedVersions } from './tagged-versions.ts'

/** A version in state `checking`, of whose package the caller holds the lock. */
export type UndecidedVersion = {
  id: string
  package_id: string
  version: string
  /** Empty where no tag was named. */
  intended_tag: string
  /** The package's. */
  name: string
}

/** Publishes a version, with the tag and the package's description that follow from it, or rejects it: once and for good. */
export async function decideVersion(
  query: Transaction<Schema>,
  version: UndecidedVersion,
  ok: boolean,
  checks: VersionCheck[],
): Promise<'published' | 'rejected'> {
  const state = ok ? 'published' : 'rejected'
  await query
    .updateTable('versions')
    .set({ state, checks: JSON.stringify(checks), published_at: ok ? sql<Date>`now()` : null })
    .where('id', '=', version.id)
    .execute()
  const tag = ok ? await tagPublished(query, version) : null
  await recordAudit(query, {
    actor: null,
    action: ok ? 'package.published' : 'package.rejected',
    subject: `${version.name}@${version.version}`,
    ip: null,
    data: ok ? { tag } : { failed: checks.filter((check) => !check.ok).map(({ id }) => id) },
  })
  return state
}

async function tagPublished(query: Transaction<Schema>, version: UndecidedVersion): Promise<string | null> {
  const versions = await taggedVersions(query, version.package_id)
  const published = versions.find((candidate) => candidate.version === version.version)
  const intended = version.intended_tag === '' ? null : version.intended_tag
  const tags = await tagsOf(query, version.package_id)
  const tag = published === undefined ? null : tagOnPublish(published, intended, tags, versions)
  if (tag !== null) await putTag(query, version.package_id, tag, version.version)
  return tag
}
