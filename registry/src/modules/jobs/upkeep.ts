import type { JobHandler } from '../../core/queue/job-handler.ts'
import { jobQueue } from '../../core/queue/job-queue.ts'
import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { forgetWorkers } from './workers.store.ts'

/** What the queue needs done while nobody asks for it. */
export function jobUpkeep(services: Services, handlers: JobHandler[]): UpkeepTask[] {
  return [
    { name: 'jobs.settle-exhausted', everyMs: 15_000, run: () => settleExhausted(services, handlers) },
    { name: 'jobs.forget-workers', everyMs: 3_600_000, run: () => forgetWorkers(services.database.query) },
  ]
}

/** Tells the rooms of jobs that came to no result in all their attempts. */
export async function settleExhausted(
  services: Pick<Services, 'database' | 'config' | 'log'>,
  handlers: JobHandler[],
): Promise<void> {
  const queue = await jobQueue(services)
  for (const handler of handlers) await queue.settleExhausted(handler.kind, (id) => handler.exhausted(id))
}
