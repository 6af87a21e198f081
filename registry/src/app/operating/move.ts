import { AgentGymError } from '@agentgym/contract'
import { copyDatabase } from '../../core/database/copy-database.ts'
import type { Database } from '../../core/database/database.ts'
import { openAsItIs, requireEmpty, requireSameVersion } from '../../core/database/open-database.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { openObjectStore } from '../../core/storage/open-object-store.ts'
import { isNamed, namedObjects } from '../../modules/packages/index.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type AuditFinding, auditInstallation } from './audit.ts'
import { objectMissing } from './back-up.ts'

type Place = Pick<Settings, 'database' | 'objects'>

export type MoveOptions = {
  onProgress?: (what: 'objects' | 'rows' | 'objects read', done: number, total: number) => void
}

export type MoveResult = {
  tables: number
  rows: number
  objects: number
  copied: { objects: number; bytes: number }
  /** What an audit of the target finds, with the contents of all objects. */
  findings: AuditFinding[]
}

/**
 * Copies an installation with an embedded database to PostgreSQL, and its objects to the store of `to`. The source is not
 * changed, and no server may use it meanwhile. Objects come first and the database in one transaction: a database that
 * holds anything is complete, and an interrupted move can be repeated.
 * Throws `database_in_use`, `database_not_empty`, `database_incompatible`, `backup_failed`, `object_damaged`.
 */
export async function move(from: Place, to: Place, { onProgress = () => {} }: MoveOptions = {}): Promise<MoveResult> {
  if (!('url' in to.database)) throw noTarget()
  const source = await openAsItIs(from.database)
  try {
    await requireSameVersion(source, upgradeHint)
    const target = await openAsItIs(to.database)
    try {
      await requireEmpty(target.query)
      const stores = { from: await openObjectStore(from.objects), to: await openObjectStore(to.objects) }
      const copied = await copyObjects(source, stores, (done, total) => onProgress('objects', done, total))
      const { tables, rows } = await copyDatabase(source, target, {
        onProgress: (done, total) => onProgress('rows', done, total),
      })
      const audited = await auditInstallation(target, stores.to, {
        contents: true,
        onProgress: (done, total) => onProgress('objects read', done, total),
      })
      return { tables, rows, copied, ...audited }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function copyObjects(
  source: Database,
  { from, to }: { from: ObjectStore; to: ObjectStore },
  onProgress: (done: number, total: number) => void,
) {
  const keys = await namedObjects(source.query)
  const copied = { objects: 0, bytes: 0 }
  for (const [done, key] of keys.entries()) {
    if (!(await to.has(key))) {
      const bytes = await from.get(key)
      if (bytes !== undefined) {
        await to.put(bytes)
        copied.objects++
        copied.bytes += bytes.length
      } else if (await isNamed(source.query, key)) throw objectMissing(key)
    }
    onProgress(done + 1, keys.length)
  }
  return copied
}

// With DATABASE_URL it would migrate the target, which must stay empty.
const upgradeHint =
  'Bring it up to date first: `agentgym admin migrate` with the same --data and without DATABASE_URL in the environment.'

function noTarget(): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: 'DATABASE_URL is not set: it names the empty PostgreSQL database to move to.',
    hint: 'Set DATABASE_URL, and AGENTGYM_S3_BUCKET for a bucket, as the server will have them.',
    data: { field: 'DATABASE_URL' },
  })
}
