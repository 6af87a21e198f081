import type { Database } from '../../core/database/database.ts'
import type { DatabaseAddress } from '../../core/database/open-database.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'

/** What an installation's data is, without a server. */
export type Installation = {
  address: DatabaseAddress
  database: Database
  objects: ObjectStore
  /** Closes an embedded database early and keeps others from it: its folder is whole, and at rest until the work ends. */
  atRest(folder: string): Promise<void>
}
