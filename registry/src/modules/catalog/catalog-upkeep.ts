import type { UpkeepTask } from '../../core/scheduled-tasks/upkeep.ts'
import type { Services } from '../../core/services.ts'
import { renewDocuments } from '../packages/documents/renew-documents.ts'
import { deleteOldDownloads } from './downloads.store.ts'
import { refreshQuality } from './refresh-quality.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * 60 * 1000
const keptDays = 90

/** What the catalogue needs done while nobody asks for it. */
export function catalogUpkeep(services: Services): UpkeepTask[] {
  const { query } = services.database
  return [
    { name: 'catalog.renew-documents', everyMs: minuteMs, run: () => renewDocuments(services) },
    { name: 'catalog.refresh-quality', everyMs: dayMs, run: (signal) => refreshQuality(query, new Date(), signal) },
    { name: 'catalog.delete-old-downloads', everyMs: dayMs, run: () => deleteOldDownloads(query, keptDays) },
  ]
}
