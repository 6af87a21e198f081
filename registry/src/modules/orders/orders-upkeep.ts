import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { expireOrders } from './end-unpaid-order.ts'

export function ordersUpkeep(services: Pick<Services, 'database'>): ScheduledTask[] {
  return [{ name: 'market.expire-orders', everyMs: 60_000, run: () => expireOrders(services) }]
}
