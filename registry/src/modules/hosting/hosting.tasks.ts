import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { endUnanswered, forgetCalls } from './hosted-calls.store.ts'

/** Ends calls whose server died while callers waited, and deletes expired answers. */
export function hostingTasks({ database }: Pick<Services, 'database'>): ScheduledTask[] {
  const run = async () => {
    await endUnanswered(database.query, 'expired')
    await forgetCalls(database.query)
  }
  return [{ name: 'hosting.calls', everyMs: 20_000, run }]
}
