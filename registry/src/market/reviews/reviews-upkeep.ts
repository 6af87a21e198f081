import type { Services } from '../../server/services.ts'
import type { UpkeepTask } from '../../server/upkeep.ts'
import { refreshRatings } from './ratings.store.ts'

/** What ratings need while nobody writes a review. */
export function reviewsUpkeep({ database }: Services): UpkeepTask[] {
  return [{ name: 'market.refresh-ratings', everyMs: 3_600_000, run: () => refreshRatings(database) }]
}
