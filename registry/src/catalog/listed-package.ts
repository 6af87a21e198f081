import type { ListedPackage } from '@agentgym/contract'
import type { ListedRow } from './search-packages.store.ts'

/** `currency`: that of every price of the installation. */
export function listedPackage(row: ListedRow, currency: string): ListedPackage {
  return { ...listedFields(row, currency), quality: row.quality }
}

export function listedFields(
  { id, quality, created_at, updated_at, ...fields }: ListedRow,
  currency: string,
): Omit<ListedPackage, 'quality'> {
  return { ...fields, currency, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() }
}
