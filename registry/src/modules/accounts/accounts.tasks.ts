import { sql } from 'kysely'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { luciaSessions } from './sessions.ts'

/** Longer than any rate limit window, and than users care about an expired code or link. */
const keptFor = sql<Date>`now() - interval '2 days'`

/** Deletes expired rows. Correctness does not depend on it: expiry dates are checked on use. */
export function accountTasks({ database, config }: Services): ScheduledTask[] {
  const { query } = database
  return [
    {
      name: 'auth-expired',
      everyMs: 3_600_000,
      run: async () => {
        await luciaSessions(query, config).deleteExpired()
        await query.deleteFrom('device_codes').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('invitations').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('mail_tokens').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('email_changes').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('key_challenges').where('expires_at', '<', keptFor).execute()
        await query.deleteFrom('rate_limits').where('window_start', '<', keptFor).execute()
      },
    },
  ]
}
