import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { lockObject } from './lock-package.ts'

/** Longer than any upload takes from its object to its row. */
const orphanAgeMs = 60 * 60_000

/**
 * Removes objects that no row names: what uploads left that were refused late or broke off, and what is kept no longer. Each under its lock, which
 * a publish holds from looking at the object to its commit, so none is taken from under a version that is just being
 * written.
 */
export async function sweepObjects(
  { database, objects, log }: Pick<Services, 'database' | 'objects' | 'log'>,
  now: Date = new Date(),
): Promise<void> {
  let removed = 0
  for await (const { key, writtenAt } of objects.list()) {
    if (now.getTime() - writtenAt.getTime() < orphanAgeMs || (await isNamed(database.query, key))) continue
    await database.transaction(async (query) => {
      await lockObject(database, query, key)
      if (await isNamed(query, key)) return
      await objects.delete(key)
      removed++
    })
  }
  if (removed > 0) log.info('removed objects that no row names', { objects: removed })
}

/** Every table with keys of objects stands here. */
async function isNamed(query: Queries, key: string): Promise<boolean> {
  const { rows } = await sql`
    select where exists (select from versions where object_key = ${key})
      or exists (select from checkpoints where object_key = ${key})
      or exists (select from trajectories where object_key = ${key})
      or exists (select from training_runs where agent_object_key = ${key})
      or exists (select from readme_pictures where hash = ${key.replace(/^sha256\//, '')})`.execute(query)
  return rows.length > 0
}
