import type { ListedPackage } from '@agentgym/contract'
import type { Queries } from '../../core/database/database.ts'
import { bestReturns } from '../verification/best-returns.ts'
import type { ListedRow } from './search-packages.store.ts'

/** `currency`: that of every price of the installation. */
export async function listedPackages(query: Queries, rows: ListedRow[], currency: string): Promise<ListedPackage[]> {
  const best = await bestReturns(
    query,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    ...listedFields(row, currency),
    quality: row.quality,
    best_return: best.get(row.id) ?? null,
  }))
}

export function listedFields(
  { id, quality, created_at, updated_at, ...fields }: ListedRow,
  currency: string,
): Omit<ListedPackage, 'quality' | 'best_return'> {
  return { ...fields, currency, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() }
}
