import { setTimeout as delay } from 'node:timers/promises'
import type { Queries } from '../../core/database/database.ts'
import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { deleteOldDownloads } from '../packages/downloads.ts'
import { renewDocuments } from '../packages/packages.tasks.ts'
import { qualityInput } from '../search/index-package.ts'
import { manifestFacts, packageQuality } from '../search/package-quality.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * 60 * 1000
const keptDays = 90

/** What the catalogue needs done while nobody asks for it. */
export function catalogUpkeep(services: Services): UpkeepTask[] {
  const { query } = services.database
  return [
    { name: 'catalog.renew-documents', everyMs: minuteMs, run: () => renewDocuments(services) },
    { name: 'catalog.refresh-quality', everyMs: dayMs, run: (signal) => refreshQuality(query, new Date(), signal) },
    { name: 'catalog.delete-old-downloads', everyMs: dayMs, run: () => deleteOldDownloads(query, keptDays) },
  ]
}

/** What is computed without a pause: requests wait for that long, some milliseconds. */
const batchSize = 10
/** Pauses take so many times as long as the work between them. */
const pauses = 4

/**
 * Scores every package again, for its maintenance fades with time and the rules change with the program. In batches by
 * id, and slowly, for requests come first; bears being cut off and done twice, and publishing in between. Stops
 * where it is once the signal has aborted.
 */
export async function refreshQuality(query: Queries, now: Date, signal?: AbortSignal): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000'
  while (signal?.aborted !== true) {
    const startedMs = performance.now()
    const batch = await query
      .selectFrom('packages')
      .innerJoin('versions', (join) =>
        join.onRef('versions.package_id', '=', 'packages.id').onRef('versions.version', '=', 'packages.latest_version'),
      )
      .select(['packages.id', 'packages.name', 'packages.kind', 'packages.quality', 'packages.latest_version'])
      .select([
        'versions.manifest',
        'versions.readme',
        'versions.checks',
        'versions.deprecated',
        'versions.published_at',
      ])
      .where('packages.id', '>', after)
      .orderBy('packages.id')
      .limit(batchSize)
      .execute()
    for (const row of batch) {
      const facts = manifestFacts(row.name, row.manifest)
      const quality = packageQuality(qualityInput(row.kind, facts, row, now)).score
      if (quality === row.quality) continue
      await query
        .updateTable('packages')
        .set({ quality })
        .where('id', '=', row.id)
        .where('latest_version', '=', row.latest_version)
        .execute()
    }
    if (batch.length < batchSize) return
    after = batch[batch.length - 1].id
    await delay(pauses * (performance.now() - startedMs), undefined, { signal }).catch(() => {})
  }
}
