import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { takeEffect } from './show-price.ts'

export function priceUpkeep(services: Pick<Services, 'database'>): ScheduledTask[] {
  return [{ name: 'market.prices-take-effect', everyMs: 30_000, run: () => takeEffect(services) }]
}
