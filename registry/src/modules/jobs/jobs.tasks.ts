import type { JobHandler } from '../../core/queue/job-handler.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { sampleQueue } from './queue-history.ts'
import { forgetWorkers } from './workers.store.ts'

/** Scheduled tasks of the queue. */
export function jobTasks(services: Services, handlers: JobHandler[]): ScheduledTask[] {
  const { database, queue } = services
  const expire = async () => {
    await queue.expireLeases()
    await settleExhausted(services, handlers)
  }
  const forget = async () => {
    await forgetWorkers(database.query)
    await queue.forgetEnded()
  }
  return [
    { name: 'jobs.expire-leases', everyMs: 15_000, run: expire },
    { name: 'jobs.sample-queue', everyMs: 60_000, run: () => sampleQueue(services) },
    { name: 'jobs.forget', everyMs: 3_600_000, run: forget },
  ]
}

/** Ends the jobs that exhausted their attempts without a result. One that fails to end does not block the others. */
export async function settleExhausted(
  { database, queue, log }: Pick<Services, 'database' | 'queue' | 'log'>,
  handlers: JobHandler[],
): Promise<void> {
  for (const handler of handlers)
    for (const id of await queue.exhausted(handler.kind))
      try {
        await database.transaction(async (query) => {
          if (await queue.settle(query, handler.kind, id)) await handler.exhausted(query, id)
        })
        handler.changed?.(id)
      } catch (error) {
        log.error('an exhausted job could not be ended', { job_id: id, kind: handler.kind, error: String(error) })
      }
}
