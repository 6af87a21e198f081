import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

export type RateLimit = { limit: number; windowSeconds: number }

/**
 * Counts one request under `key` in a fixed window that all replicas share, by the database's clock. Throws
 * `rate_limited` with `retry_after_seconds` once there are more than `limit` in it. Do not call it inside a
 * transaction: a rollback would undo the count.
 */
export async function limitRate(database: Database, key: string, limit: RateLimit): Promise<void> {
  const { count, retryAfter } = await countRate(database, key, limit)
  if (count > limit.limit) throw rateLimited(retryAfter)
}

/** Counts like `limitRate`, without a limit. `retryAfter`: seconds until the window ends. */
export async function countRate(
  database: Database,
  key: string,
  { windowSeconds }: Pick<RateLimit, 'windowSeconds'>,
): Promise<{ count: number; retryAfter: number }> {
  const { rows } = await sql<{ count: number; retry_after: number }>`
    insert into rate_limits (key, window_start, count) values (${key}, ${windowStart(windowSeconds)}, 1)
    on conflict (key, window_start) do update set count = rate_limits.count + 1
    returning count, ceil(extract(epoch from window_start - now()) + ${windowSeconds}::int)::int as retry_after
  `.execute(database.query)
  const { count, retry_after } = rows[0]
  return { count, retryAfter: Math.max(1, retry_after) }
}

/** Undoes one count, for attempts that should not be limited, such as a successful log-in. */
export async function refundRate(
  database: Database,
  key: string,
  { windowSeconds }: Pick<RateLimit, 'windowSeconds'>,
): Promise<void> {
  await sql`
    update rate_limits set count = greatest(count - 1, 0)
    where key = ${key} and window_start = ${windowStart(windowSeconds)}
  `.execute(database.query)
}

function windowStart(windowSeconds: number) {
  return sql`to_timestamp(floor(extract(epoch from now()) / ${windowSeconds}::int) * ${windowSeconds}::int)`
}

export function rateLimited(retryAfter: number): AgentGymError {
  return new AgentGymError({
    code: 'rate_limited',
    message: `Too many requests of this kind. Try again in ${retryAfter} s.`,
    data: { retry_after_seconds: retryAfter },
  })
}
