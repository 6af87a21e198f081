import type { Services } from '../../../core/services.ts'
import { readTarball } from '../read-tarball.ts'
import { holdPictures, keepDocuments, keepReadmeHtml, readmeHtmlOf, rendering } from './version-documents.store.ts'
import { readDocuments } from './version-documents.ts'

/** How many a turn makes: each reads a tarball. */
const mostAtOnce = 50

/**
 * Makes the documents of versions anew that were published before this edition of them, the latest published first. Until
 * then their READMEs are shown without pictures.
 */
export async function renewDocuments(
  services: Pick<Services, 'database' | 'objects' | 'config' | 'log'>,
): Promise<void> {
  const { database, log } = services
  const stale = await database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .innerJoin('readme_html', 'readme_html.version_id', 'versions.id')
    .select(['versions.id', 'versions.version', 'versions.readme', 'versions.object_key', 'packages.name'])
    .where('readme_html.rendering', '<', rendering)
    .orderBy('versions.created_at', 'desc')
    .limit(mostAtOnce)
    .execute()
  for (const version of stale) {
    try {
      await renew(services, version)
    } catch (error) {
      // Tried once: its README is shown without pictures.
      log.warn('the documents of a version could not be made anew', { version_id: version.id, error: String(error) })
      await keepReadmeHtml(database.query, version.id, await readmeHtmlOf(database.query, version))
    }
  }
}

type Stale = { id: string; name: string; version: string; object_key: string }

async function renew(
  { database, objects, config }: Pick<Services, 'database' | 'objects' | 'config'>,
  { id, name, version, object_key: key }: Stale,
): Promise<void> {
  const bytes = await objects.get(key)
  if (bytes === undefined) throw new Error(`${key} is missing from the store`)
  const documents = await readDocuments(bytes, await readTarball(bytes, config.limits), { name, version })
  await database.transaction(async (query) => {
    await holdPictures({ database, objects }, query, documents.pictures)
    await keepDocuments(query, id, documents)
  })
}
