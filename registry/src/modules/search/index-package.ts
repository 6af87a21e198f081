import { type Selectable, sql, type Transaction } from 'kysely'
import type { Schema, VersionTable } from '../../core/database/schema.ts'
import { type ManifestFacts, manifestFacts } from './manifest-facts.ts'
import { packageQuality, type QualityInput } from './package-quality.ts'
import { searchedWords, searchVectors } from './search-vectors.ts'

const dayMs = 24 * 60 * 60 * 1000

/**
 * Brings what the catalogue keeps of a package up to date with the version that `packages.latest_version` names: title,
 * summary, category, difficulty, algorithm, keywords, quality, search vectors and `updated_at`. To be called in the
 * transaction that moved `latest` or deprecated that version, after it; does nothing for a package without one.
 */
export async function indexPackage(query: Transaction<Schema>, packageId: string): Promise<void> {
  const latest = await query
    .selectFrom('packages')
    .innerJoin('versions', (join) =>
      join.onRef('versions.package_id', '=', 'packages.id').onRef('versions.version', '=', 'packages.latest_version'),
    )
    .select(['packages.name', 'packages.kind', 'versions.manifest', 'versions.readme', 'versions.checks'])
    .select(['versions.deprecated', 'versions.published_at'])
    .where('packages.id', '=', packageId)
    .executeTakeFirst()
  if (latest === undefined) return
  const facts = manifestFacts(latest.name, latest.manifest)
  const { title, summary, category, difficulty, algorithm, keywords } = facts
  const words = searchedWords({ ...facts, name: latest.name, readme: latest.readme })
  const { search, searchRank } = searchVectors({
    name: sql`${words.name}`,
    title: sql`${words.title}`,
    labels: sql`${words.labels}`,
    summary: sql`${words.summary}`,
    readme: sql`${words.readme}`,
  })
  await query
    .updateTable('packages')
    .set({ title, summary, category, difficulty, algorithm, keywords: JSON.stringify(keywords) })
    .set({ quality: packageQuality(qualityInput(latest.kind, facts, latest, new Date())).score })
    .set({ search, search_rank: searchRank })
    .set({
      updated_at: sql`coalesce((select max(published_at) from versions where package_id = ${packageId}), updated_at)`,
    })
    .where('id', '=', packageId)
    .execute()
}

type JudgedVersion = Pick<Selectable<VersionTable>, 'readme' | 'checks' | 'deprecated' | 'published_at'>

export function qualityInput(
  kind: QualityInput['kind'],
  facts: ManifestFacts,
  version: JudgedVersion,
  now: Date,
): QualityInput {
  return {
    kind,
    readme: version.readme,
    summary: facts.summary,
    keywords: facts.keywords,
    linked: facts.homepage !== null || facts.repository !== null,
    checks: version.checks,
    successCriteria: facts.successCriteria,
    deprecated: version.deprecated !== null,
    daysSincePublish: (now.getTime() - (version.published_at ?? now).getTime()) / dayMs,
  }
}
