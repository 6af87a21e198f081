import { z } from 'zod'
import type { Queries } from '../../core/database/database.ts'

const moment = z.iso.datetime()
const schemas = {
  /** The last audit that ended. */
  audit: z.object({ at: moment, findings: z.int().min(0) }),
  /** The last complete backup: the state of which moment it holds. */
  backup: z.object({ at: moment }),
}

type What = keyof typeof schemas
export type Remembered<Name extends What> = z.infer<(typeof schemas)[Name]>

/** Keeps what `/metrics` of every replica tells about the installation. */
export async function remember<Name extends What>(query: Queries, what: Name, value: Remembered<Name>): Promise<void> {
  const row = { name: `last_${what}`, value: JSON.stringify(value) }
  await query
    .insertInto('installation')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: row.value }))
    .execute()
}

/** Undefined if there has been none. */
export async function remembered<Name extends What>(query: Queries, what: Name): Promise<Remembered<Name> | undefined> {
  const row = await query
    .selectFrom('installation')
    .select('value')
    .where('name', '=', `last_${what}`)
    .executeTakeFirst()
  return row && (schemas[what].parse(JSON.parse(row.value)) as Remembered<Name>)
}
