import { sql } from 'kysely'
import type { Queries } from '../../../core/database/database.ts'
import type { Services } from '../../../core/services.ts'
import { readVersionFiles, type VersionFile } from './version-files.ts'

/** Bytes of text a statement. */
const batchBytes = 1024 * 1024

/** Stores a version's files, and that they are stored. Versions do not change, so a second time changes nothing. */
export async function keepFiles(query: Queries, versionId: string, files: VersionFile[]): Promise<void> {
  let batch: VersionFile[] = []
  let bytes = 0
  for (const file of files) {
    batch.push(file)
    bytes += file.text === null ? 0 : file.size
    if (bytes < batchBytes) continue
    await insertFiles(query, versionId, batch)
    batch = []
    bytes = 0
  }
  if (batch.length > 0) await insertFiles(query, versionId, batch)
  await query.updateTable('versions').set({ files_kept: true }).where('id', '=', versionId).execute()
}

async function insertFiles(query: Queries, versionId: string, files: VersionFile[]): Promise<void> {
  await sql`insert into version_files (version_id, path, size, hash, text)
    select ${versionId}::uuid, path, size, hash, text
    from jsonb_to_recordset(${JSON.stringify(files)}::jsonb) as given (path text, size bigint, hash text, text text)
    on conflict do nothing`.execute(query)
}

/** Limit per run, because each one reads a tarball. */
const mostAtOnce = 50

/** Stores the files of versions that an earlier release published, newest first. */
export async function keepFilesOfOlder(
  { database, objects, config, log }: Pick<Services, 'database' | 'objects' | 'config' | 'log'>,
  now: Date = new Date(),
): Promise<void> {
  const { query } = database
  const versions = await query
    .selectFrom('versions')
    .select(['id', 'object_key'])
    .where('files_kept', '=', false)
    // Those that were just accepted are about to be rendered, with their files.
    .where('created_at', '<', new Date(now.getTime() - 5 * 60_000))
    .orderBy('created_at', 'desc')
    .limit(mostAtOnce)
    .execute()
  for (const { id, object_key: key } of versions) {
    let files: VersionFile[] = []
    try {
      const bytes = await objects.get(key)
      if (bytes === undefined) throw new Error(`${key} is missing from the store`)
      files = await readVersionFiles(bytes, config.limits)
    } catch (error) {
      // Not retried: the version's page shows no files.
      log.warn('the files of a version could not be read', { version_id: id, error: String(error) })
    }
    await database.transaction((transaction) => keepFiles(transaction, id, files))
  }
}

export type ListedFile = Pick<VersionFile, 'path' | 'size' | 'hash'> & { has_text: boolean }

/** By path. */
export async function listFiles(query: Queries, versionId: string): Promise<ListedFile[]> {
  return query
    .selectFrom('version_files')
    .select(['path', 'size', 'hash'])
    .select(sql<boolean>`text is not null`.as('has_text'))
    .where('version_id', '=', versionId)
    .orderBy(sql`path collate "C"`)
    .execute()
}

export async function findFile(query: Queries, versionId: string, path: string): Promise<VersionFile | undefined> {
  return query
    .selectFrom('version_files')
    .select(['path', 'size', 'hash', 'text'])
    .where('version_id', '=', versionId)
    .where('path', '=', path)
    .executeTakeFirst()
}
