import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { endUnanswered, forgetCalls } from './hosted-calls.store.ts'
import { forgetEpisodes } from './hosted-episodes.ts'

/** Ends calls whose server died while callers waited, and deletes expired answers and episodes that are over. */
export function hostingTasks({ database }: Pick<Services, 'database'>): ScheduledTask[] {
  const run = async () => {
    await endUnanswered(database.query, 'expired')
    await forgetCalls(database.query)
    await forgetEpisodes(database.query)
  }
  return [{ name: 'hosting.calls', everyMs: 20_000, run }]
}
