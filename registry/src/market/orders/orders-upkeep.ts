import type { Services } from '../../server/services.ts'
import type { UpkeepTask } from '../../server/upkeep.ts'
import { expireOrders } from './end-unpaid-order.ts'

export function ordersUpkeep(services: Pick<Services, 'database'>): UpkeepTask[] {
  return [{ name: 'market.expire-orders', everyMs: 60_000, run: () => expireOrders(services) }]
}
