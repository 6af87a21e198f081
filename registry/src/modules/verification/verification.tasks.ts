import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'

/** Scheduled tasks for evaluations. */
export function verificationTasks(services: Services): ScheduledTask[] {
  const run = () => enqueueLostEvaluations(services)
  return [{ name: 'verification.enqueue-lost-evaluations', everyMs: 10 * 60_000, run }]
}

/** An unfinished evaluation has a job. If the queue was lost (restored from a copy, say), it gets a new one. */
export async function enqueueLostEvaluations(services: Services): Promise<void> {
  const { queue } = services
  const open = await services.database.query
    .selectFrom('evaluations')
    .select('id')
    .where('ended_at', 'is', null)
    .orderBy('created_at')
    .limit(10_000)
    .execute()
  for (const { id } of open) {
    if (await queue.recover('evaluate', id))
      services.log.warn('an evaluation under way had no job', { evaluation_id: id })
  }
}
