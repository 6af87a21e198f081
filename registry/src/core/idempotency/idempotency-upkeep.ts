import { sql } from 'kysely'
import type { UpkeepTask } from '../scheduled-tasks/upkeep.ts'
import type { Services } from '../services.ts'

/** Nobody repeats a request after so long; until then every repetition meets its answer. */
const keptDays = 30

export function idempotencyUpkeep(services: Pick<Services, 'database'>): UpkeepTask[] {
  return [{ name: 'market.idempotency-keys', everyMs: 3_600_000, run: () => forgetKeys(services) }]
}

/** Takes keys away that are older than 30 days, some at a time. */
export async function forgetKeys({ database }: Pick<Services, 'database'>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ key: string }>`
      delete from idempotency_keys where (actor_id, key) in (
        select actor_id, key from idempotency_keys
        where created_at < now() - ${keptDays} * interval '1 day' limit 1000)
      returning key`.execute(database.query)
    if (rows.length < 1_000) return
  }
}
