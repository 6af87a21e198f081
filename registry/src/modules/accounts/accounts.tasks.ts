import { sql } from 'kysely'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { luciaSessions } from './sessions.ts'

/** Longer than any window, and than anybody asks about a code or a link that is over. */
const keptFor = sql<Date>`now() - interval '2 days'`

/** Takes away what is over. Correctness does not hang on it: everything that expires is asked for its date when used. */
export function accountTasks({ database, config }: Services): ScheduledTask[] {
  const { query } = database
  return [
    {
      name: 'auth-expired',
      everyMs: 3_600_000,
      run: async () => {
        await luciaSessions(query, config).deleteExpired()
        await query.deleteFrom('device_codes').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('mail_tokens').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('rate_limits').where('window_start', '<', keptFor).execute()
      },
    },
  ]
}
