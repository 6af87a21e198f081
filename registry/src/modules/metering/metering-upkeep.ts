import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { postUsage } from './post-usage.ts'

/** Metered calls become money. */
export function meteringUpkeep(services: Services): ScheduledTask[] {
  const run = async () => {
    await postUsage(services)
  }
  return [{ name: 'market.post-usage', everyMs: 10 * 60_000, run }]
}
