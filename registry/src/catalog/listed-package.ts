import type { ListedPackage } from '@agentgym/contract'
import type { ListedRow } from './search-packages.store.ts'

export function listedPackage(row: ListedRow): ListedPackage {
  return { ...listedFields(row), quality: row.quality }
}

export function listedFields({
  id,
  quality,
  created_at,
  updated_at,
  ...fields
}: ListedRow): Omit<ListedPackage, 'quality'> {
  return { ...fields, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() }
}
