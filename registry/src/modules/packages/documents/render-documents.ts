import { type SqlBool, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { inBackground } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../../core/services.ts'
import { keepFiles } from '../files/version-files.store.ts'
import { readVersionFiles } from '../files/version-files.ts'
import { readTarball } from '../read-tarball.ts'
import { asText, type ReadmeRenderer } from './readme-renderer.ts'
import { holdPictures, keepDocuments, keepReadmeHtml, unrendered } from './version-documents.store.ts'
import { readDocuments } from './version-documents.ts'

/** Maximum number of versions rendered at once, each of a different account. */
const atOnce = 4
/** Longer than rendering a version ever takes. After that, its process counts as dead. */
const leaseSeconds = 60

type Rendering = Pick<Services, 'database' | 'objects' | 'config' | 'log'> & { readmes: ReadmeRenderer }
type Waiting = { id: string; name: string; version: string; readme: string; object_key: string; account: string }

/**
 * Renders READMEs and release notes of accepted versions in the background. Accounts take turns, so that a version
 * waits for at most one version of each other account. The queue is in the database, so it survives the process.
 */
export class DocumentRenderer {
  /** Last turn of each account. */
  readonly #turns = new LRUCache<string, number>({ max: 10_000 })
  #turn = 0
  /** Accounts with a version being rendered in this process. */
  readonly #busy = new Set<string>()
  #loops = 0
  #woken = false

  /** Renders waiting versions. Call it after committing a version; a scheduled task also runs it. */
  wake(services: Rendering): void {
    this.#woken = true
    if (this.#loops === atOnce) return
    this.#loops++
    inBackground(services.log, 'rendering READMEs', () => this.#renderAll(services).finally(() => this.#loops--))
  }

  async #renderAll(services: Rendering): Promise<void> {
    for (;;) {
      this.#woken = false
      const version = await this.#take(services)
      if (version !== undefined) await this.#render(services, version).finally(() => this.#busy.delete(version.account))
      else if (!this.#woken) return
    }
  }

  /** Leases the oldest version of the account whose turn it is. */
  async #take({ database: { query } }: Rendering): Promise<Waiting | undefined> {
    const isFree = sql<SqlBool>`(leased_until is null or leased_until < now())`
    for (;;) {
      const waiting = await query
        .selectFrom('readme_html')
        .innerJoin('versions', 'versions.id', 'readme_html.version_id')
        .innerJoin('packages', 'packages.id', 'versions.package_id')
        .select(['versions.id', 'versions.version', 'versions.readme', 'versions.object_key', 'packages.name'])
        .select('versions.published_by as account')
        .distinctOn('versions.published_by')
        .where('rendering', '=', unrendered)
        .where(isFree)
        .orderBy('versions.published_by')
        .orderBy('versions.created_at')
        .limit(1_000)
        .execute()
      const others = waiting.filter(({ account }) => !this.#busy.has(account))
      if (others.length === 0) return undefined
      const lastTurn = ({ account }: Waiting) => this.#turns.get(account) ?? 0
      const chosen = others.reduce((first, other) => (lastTurn(other) < lastTurn(first) ? other : first))
      this.#busy.add(chosen.account)
      this.#turns.set(chosen.account, ++this.#turn)
      const leased = await query
        .updateTable('readme_html')
        .set({ leased_until: sql<Date>`now() + ${leaseSeconds} * interval '1 second'` })
        .where('version_id', '=', chosen.id)
        .where('rendering', '=', unrendered)
        .where(isFree)
        .returning('version_id')
        .executeTakeFirst()
      if (leased !== undefined) return chosen
      // Another process was faster.
      this.#busy.delete(chosen.account)
    }
  }

  async #render(services: Rendering, version: Waiting): Promise<void> {
    try {
      await renderDocuments(services, version)
    } catch (error) {
      // Not retried: the README stays plain text.
      const { id, readme } = version
      services.log.warn('the documents of a version could not be rendered', { version_id: id, error: String(error) })
      await keepReadmeHtml(services.database.query, id, asText(readme))
    }
  }
}

/** Renders the documents of a version from its tarball and stores them, with its files. Without an account, for the server itself. */
export async function renderDocuments(
  { database, objects, config, readmes }: Rendering,
  { id, name, version, object_key: key, account }: Omit<Waiting, 'account' | 'readme'> & { account?: string },
): Promise<void> {
  const bytes = await objects.get(key)
  if (bytes === undefined) throw new Error(`${key} is missing from the store`)
  const tarball = await readTarball(bytes, config.limits, 'stored')
  const documents = await readDocuments(readmes, { bytes, tarball }, config.limits, { name, version, account })
  const files = await readVersionFiles(bytes, config.limits)
  await database.transaction(async (query) => {
    await keepFiles(query, id, files)
    await holdPictures({ database, objects }, query, documents.pictures)
    await keepDocuments(query, id, documents)
  })
}
