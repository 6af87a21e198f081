import type { PackagePage, Quality } from '@agentgym/contract'
import type { Actor } from '../../core/access/actor.ts'
import { tarballPath } from '../../core/http/package-path.ts'
import type { Services } from '../../core/services.ts'
import { readmeRenderer } from '../packages/documents/readme-renderer.ts'
import { findReadablePackage, isTakenDownFor, type PackageRow } from '../packages/packages.store.ts'
import { qualityInput } from '../search/index-package.ts'
import { manifestFacts } from '../search/manifest-facts.ts'
import { packageQuality } from '../search/package-quality.ts'
import { listedFields } from './listed-package.ts'
import { findPage, type LatestRow, type PageRow } from './package-page.store.ts'

/**
 * Everything that the package's page shows. Of one that was taken down strangers see that, and why, and neither README nor
 * versions. Throws `package_not_found`.
 */
export async function packagePage(
  { database, config }: Services,
  actor: Actor | null,
  name: string,
): Promise<PackagePage> {
  const { query } = database
  const found = await findReadablePackage(query, actor, name, { takenDown: 'shown' })
  const page = await findPage(query, found.id)
  const isHidden = await isTakenDownFor(query, actor, found)
  return describePage(config, found, isHidden ? { ...page, latest: null, tags: {}, recent: [] } : page)
}

/** The page of a package, from the rows of it that whoever asks may see. */
export async function describePage(
  config: Services['config'],
  found: Pick<PackageRow, 'taken_down_at' | 'taken_down_reason'>,
  page: PageRow,
): Promise<PackagePage> {
  const { latest } = page
  const html = latest === null ? null : (latest.readme_html ?? (await readmeRenderer.readme(latest.id, latest.readme)))
  const { taken_down_at: takenDownAt, taken_down_reason: reason } = found
  return {
    ...listedFields(page.package, config.training.currency),
    owner: page.owner,
    taken_down: takenDownAt === null ? null : { at: takenDownAt.toISOString(), reason },
    latest: latest === null ? null : latestVersion(page.package.name, latest, config.publicUrl),
    readme: latest === null || html === null ? null : { markdown: latest.readme, html },
    quality: latest === null ? { score: 0, parts: [] } : quality(page.package, latest),
    tags: page.tags,
    versions_count: page.published,
    versions: page.recent.map((version) => ({
      ...version,
      published_at: new Date(version.published_at).toISOString(),
    })),
  }
}

function quality({ name, kind }: PageRow['package'], latest: LatestRow): Quality {
  return packageQuality(qualityInput(kind, manifestFacts(name, latest.manifest), latest, new Date()))
}

function latestVersion(name: string, row: LatestRow, publicUrl: string): NonNullable<PackagePage['latest']> {
  const { license, homepage, repository, agentgym } = manifestFacts(name, row.manifest)
  return {
    version: row.version,
    published_at: row.published_at.toISOString(),
    license,
    homepage,
    repository,
    published_by: row.publisher,
    integrity: row.integrity,
    tarball: publicUrl + tarballPath(name, row.version),
    size: row.size,
    unpacked_size: row.unpacked_size,
    file_count: row.file_count,
    bundle_hash: row.bundle_hash,
    downloads: row.downloads,
    deprecated: row.deprecated,
    yanked: row.yanked_at !== null,
    checks: row.checks,
    agentgym,
  }
}
