import type { Services } from '../../server/services.ts'
import type { UpkeepTask } from '../../server/upkeep.ts'
import { postUsage } from './post-usage.ts'

/** Metered calls become money. */
export function meteringUpkeep(services: Services): UpkeepTask[] {
  const run = async () => {
    await postUsage(services)
  }
  return [{ name: 'market.post-usage', everyMs: 10 * 60_000, run }]
}
