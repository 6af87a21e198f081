import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { expireOrders } from './end-unpaid-order.ts'

export function ordersUpkeep(services: Pick<Services, 'database'>): UpkeepTask[] {
  return [{ name: 'market.expire-orders', everyMs: 60_000, run: () => expireOrders(services) }]
}
