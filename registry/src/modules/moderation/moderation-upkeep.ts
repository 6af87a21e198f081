import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { giveOwedRefunds } from './owed-refunds.ts'

/** Refunds that a process left when it died. */
export function moderationUpkeep(services: Services): UpkeepTask[] {
  return [{ name: 'market.give-owed-refunds', everyMs: 60_000, run: () => giveOwedRefunds(services) }]
}
