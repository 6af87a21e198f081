import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { expireTransfers } from './expire-transfers.ts'
import { foldHotAccounts } from './fold-hot-accounts.ts'

const secondMs = 1_000

/** What the ledger needs done while nobody asks for it. */
export function ledgerUpkeep({ database }: Pick<Services, 'database'>): ScheduledTask[] {
  return [
    {
      name: 'market.fold-hot-accounts',
      everyMs: 10 * secondMs,
      run: async () => {
        await foldHotAccounts(database)
      },
    },
    {
      name: 'market.expire-transfers',
      everyMs: 10 * secondMs,
      run: async () => {
        await expireTransfers(database)
      },
    },
  ]
}
