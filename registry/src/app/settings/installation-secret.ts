import { randomBytes } from 'node:crypto'
import type { Database } from '../../core/database/database.ts'

/** The secret that all replicas of an installation share: made by whichever starts first, read by the others. */
export async function installationSecret({ query }: Database): Promise<Uint8Array> {
  const name = 'secret'
  await query
    .insertInto('installation')
    .values({ name, value: randomBytes(32).toString('hex') })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await query
    .selectFrom('installation')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return Buffer.from(value, 'hex')
}
