import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { deleteOldArrivals } from './arrivals.ts'
import { renderDocuments } from './documents/render-documents.ts'
import { keepReadmeHtml, readmeHtmlOf, rendering, unrendered } from './documents/version-documents.store.ts'
import { deleteOldDownloads } from './downloads.ts'
import { keepFilesOfOlder } from './files/version-files.store.ts'
import { isNamed } from './named-objects.ts'
import type { PackageServices } from './package-services.ts'
import { deleteOldUsage } from './package-usage.ts'
import { lockObject } from './packages.store.ts'

const minuteMs = 60_000
/** Retention of per-client downloads, in days. */
const downloadDays = 90

export function packageTasks(services: PackageServices): ScheduledTask[] {
  return [
    { name: 'packages.enqueue-lost-checks', everyMs: 10 * minuteMs, run: () => enqueueLostChecks(services) },
    { name: 'packages.sweep-objects', everyMs: 60 * minuteMs, run: () => sweepObjects(services) },
    {
      name: 'catalog.render-documents',
      everyMs: minuteMs,
      run: async () => services.documents.wake(services),
    },
    { name: 'packages.keep-files', everyMs: minuteMs, run: () => keepFilesOfOlder(services) },
    { name: 'catalog.renew-documents', everyMs: minuteMs, run: () => renewDocuments(services) },
    {
      name: 'catalog.delete-old-downloads',
      everyMs: 24 * 60 * minuteMs,
      run: () => deleteOldDownloads(services.database.query, downloadDays),
    },
    {
      name: 'packages.delete-old-usage',
      everyMs: 24 * 60 * minuteMs,
      run: () => deleteOldUsage(services.database.query),
    },
    {
      name: 'packages.delete-old-arrivals',
      everyMs: 60 * minuteMs,
      run: () => deleteOldArrivals(services.database.query),
    },
  ]
}

/** Recreates missing jobs of versions in state `checking`, for example after the queue was restored from a backup. */
export async function enqueueLostChecks(services: Services): Promise<void> {
  const { queue } = services
  const checking = await services.database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['versions.id', 'versions.published_by'])
    .where('versions.state', '=', 'checking')
    // Agents are verified instead.
    .where('packages.kind', '=', 'scenario')
    .orderBy('versions.created_at')
    .limit(10_000)
    .execute()
  for (const { id, published_by: account } of checking) {
    if (await queue.recover('check', id, { account }))
      services.log.warn('a version that was being checked had no job', { version_id: id })
  }
}

/** Longer than an upload takes from storing its object to inserting its row. */
const orphanAgeMs = 60 * 60_000

/**
 * Deletes orphaned objects: left by failed uploads, or expired. Each is deleted under its lock, which a publish holds
 * from checking the object until its commit, so no object is deleted while a version that needs it is being written.
 */
export async function sweepObjects(
  { database, objects, log }: Pick<Services, 'database' | 'objects' | 'log'>,
  now: Date = new Date(),
): Promise<void> {
  let removed = 0
  for await (const { key, writtenAt } of objects.list()) {
    if (now.getTime() - writtenAt.getTime() < orphanAgeMs || (await isNamed(database.query, key))) continue
    await database.transaction(async (query) => {
      await lockObject(database, query, key)
      if (await isNamed(query, key)) return
      await objects.delete(key)
      removed++
    })
  }
  if (removed > 0) log.info('removed objects that no row names', { objects: removed })
}

/** Limit per run, because each one reads a tarball. */
const mostAtOnce = 50

/**
 * Regenerates the documents of versions that were published with an earlier rendering, newest first. Until then their
 * READMEs are shown without images.
 */
export async function renewDocuments(
  services: Pick<PackageServices, 'database' | 'objects' | 'config' | 'log' | 'readmes'>,
): Promise<void> {
  const { database, log } = services
  const stale = await database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .innerJoin('readme_html', 'readme_html.version_id', 'versions.id')
    .select(['versions.id', 'versions.version', 'versions.readme', 'versions.object_key', 'packages.name'])
    .where('readme_html.rendering', '<', rendering)
    .where('readme_html.rendering', '>', unrendered)
    .orderBy('versions.created_at', 'desc')
    .limit(mostAtOnce)
    .execute()
  for (const version of stale) {
    try {
      await renderDocuments(services, version)
    } catch (error) {
      // Not retried: the README is shown without images.
      log.warn('the documents of a version could not be regenerated', { version_id: version.id, error: String(error) })
      await keepReadmeHtml(database.query, version.id, await readmeHtmlOf(services, version))
    }
  }
}
