import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../core/database/database.ts'
import { readSnapshot } from '../../core/database/read-snapshot.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { auditLedger } from '../../modules/ledger/index.ts'
import { auditMarket } from '../../modules/orders/index.ts'
import { isNamed, namedObjects } from '../../modules/packages/index.ts'
import { remember } from './remembered.ts'

/** A violated rule of the installation with its subject: an account, an order, an object … */
export type AuditFinding = { rule: string; subject: string; detail: string }

export type Audit = { findings: AuditFinding[]; objects: number }

export type AuditOptions = {
  /** Also reads every object and compares it with its name, which takes as long as reading the whole store. */
  contents?: boolean
  onProgress?: (done: number, total: number) => void
}

/**
 * Audits money (`auditLedger`, `auditMarket`) and the objects that rows need. Reads only, beside a running server; its end
 * is remembered for `/metrics`. Expected result: no findings.
 */
export async function auditInstallation(
  database: Database,
  objects: ObjectStore,
  { contents = false, onProgress = () => {} }: AuditOptions = {},
): Promise<Audit> {
  const money = [...(await auditLedger(database)), ...(await auditMarket(database))]
  const keys = await database.transaction(async (query) => {
    await readSnapshot(query)
    return namedObjects(query)
  })
  const damaged: AuditFinding[] = []
  for (const [done, key] of keys.entries()) {
    const fault = await faultOf(objects, key, contents)
    // A row that has expired since needs it no longer.
    if (fault !== undefined && (await isNamed(database.query, key)))
      damaged.push({ rule: 'every object that a row needs is in the store, undamaged', subject: key, detail: fault })
    onProgress(done + 1, keys.length)
    if (done % 100 === 99) await nextTurn()
  }
  const findings = [...money, ...damaged]
  await remember(database.query, 'audit', { at: new Date().toISOString(), findings: findings.length })
  return { findings, objects: keys.length }
}

async function faultOf(objects: ObjectStore, key: string, contents: boolean): Promise<string | undefined> {
  if (!contents) return (await objects.has(key)) ? undefined : 'It is missing.'
  const stored = await objects.stream(key)
  if (stored === undefined) return 'It is missing.'
  try {
    // Read to its end: the stream compares the bytes with the key.
    for await (const chunk of stored.body) void chunk
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
