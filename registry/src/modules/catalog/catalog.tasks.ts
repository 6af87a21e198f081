import { setTimeout as delay } from 'node:timers/promises'
import type { Queries } from '../../core/database/database.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { manifestFacts, packageQuality, qualityInput } from '../search/index.ts'
import { findSimilarScenarios } from './similar-scenarios.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export function catalogTasks({ database }: Services): ScheduledTask[] {
  return [
    {
      name: 'catalog.refresh-quality',
      everyMs: dayMs,
      run: (signal) => refreshQuality(database.query, new Date(), signal),
    },
    {
      name: 'catalog.find-similar',
      everyMs: minuteMs,
      run: (signal) => findSimilarScenarios(database.query, new Date(), signal),
    },
  ]
}

/** Batch size without a pause: requests wait for a batch, a few milliseconds. */
const batchSize = 10
/** Length of pauses as a multiple of the work between them. */
const pauses = 4

/**
 * Scores every package again, because its maintenance score decays with time and the rules change with releases. Works
 * in batches by ID with pauses, because requests have priority. Tolerates interruption, repetition and concurrent
 * publishing. Stops once the signal has aborted.
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
        'versions.steps_per_second',
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
