import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { refreshRatings } from './ratings.ts'

/** What ratings need while nobody writes a review. */
export function reviewsUpkeep({ database }: Services): UpkeepTask[] {
  return [{ name: 'market.refresh-ratings', everyMs: 3_600_000, run: () => refreshRatings(database) }]
}
