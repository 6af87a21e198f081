import type { Services } from '../../server/services.ts'
import type { UpkeepTask } from '../../server/upkeep.ts'
import { giveOwedRefunds } from './owed-refunds.ts'

/** Refunds that a process left when it died. */
export function moderationUpkeep(services: Services): UpkeepTask[] {
  return [{ name: 'market.give-owed-refunds', everyMs: 60_000, run: () => giveOwedRefunds(services) }]
}
