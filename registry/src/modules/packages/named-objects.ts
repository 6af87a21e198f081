import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** Whether a row needs the object. All tables with object keys are here and in `namedObjects`. */
export async function isNamed(query: Queries, key: string): Promise<boolean> {
  const { rows } = await sql`
    select where exists (select from versions where object_key = ${key})
      or exists (select from checkpoints where object_key = ${key})
      or exists (select from trajectories where object_key = ${key})
      or exists (select from training_runs where agent_object_key = ${key})
      or exists (select from readme_pictures where hash = ${key.replace(/^sha256\//, '')})`.execute(query)
  return rows.length > 0
}

/** The keys of all objects that a row needs, each once, in order. */
export async function namedObjects(query: Queries): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select object_key as key from versions where object_key is not null
    union select object_key from checkpoints where object_key is not null
    union select object_key from trajectories where object_key is not null
    union select agent_object_key from training_runs where agent_object_key is not null
    union select 'sha256/' || hash from readme_pictures
    order by key`.execute(query)
  return rows.map(({ key }) => key)
}
