import { jobQueue } from '../../core/queue/job-queue.ts'
import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { sweepObjects } from './sweep-objects.ts'

const minuteMs = 60_000

/** What the packages need done while nobody asks for it. */
export function packageUpkeep(services: Services): UpkeepTask[] {
  return [
    { name: 'packages.enqueue-lost-checks', everyMs: 10 * minuteMs, run: () => enqueueLostChecks(services) },
    { name: 'packages.sweep-objects', everyMs: 60 * minuteMs, run: () => sweepObjects(services) },
  ]
}

/** A version that is being checked has a job. Where the queue was lost (restored from a copy, say), it gets one again. */
export async function enqueueLostChecks(services: Services): Promise<void> {
  const queue = await jobQueue(services)
  const checking = await services.database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('versions.id')
    .where('versions.state', '=', 'checking')
    // Agents are another room's to check.
    .where('packages.kind', '=', 'scenario')
    .orderBy('versions.created_at')
    .limit(10_000)
    .execute()
  for (const { id } of checking) {
    if (await queue.recover('check', id))
      services.log.warn('a version that was being checked had no job', { version_id: id })
  }
}
