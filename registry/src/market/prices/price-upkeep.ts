import type { Services } from '../../server/services.ts'
import type { UpkeepTask } from '../../server/upkeep.ts'
import { takeEffect } from './show-price.ts'

export function priceUpkeep(services: Pick<Services, 'database'>): UpkeepTask[] {
  return [{ name: 'market.prices-take-effect', everyMs: 30_000, run: () => takeEffect(services) }]
}
