import { randomBytes } from 'node:crypto'
import type { Database } from '../../../core/database/database.ts'

/** So many users, for whom accounts of the ledger can be opened; their ids. */
export async function insertOwners({ query }: Database, count: number): Promise<string[]> {
  const users = Array.from({ length: count }, () => {
    const username = `u${randomBytes(12).toString('hex')}`
    return { kind: 'user' as const, username, username_canonical: username, email: null }
  })
  const rows = await query.insertInto('accounts').values(users).returning('id').execute()
  return rows.map(({ id }) => id)
}
