import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Database,
  keepReadmeHtml,
  loadPackages,
  loadPictures,
  markdownHtml,
  openDatabase,
  syntheticPackages,
} from '@agentgym/registry/benchmarks'
import { startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'
import { agent } from './http-load.ts'
import type { PageLoad } from './page-load.process.ts'

export const seed = 1
export const pageRequestsPerSecond = 200
const warmUpPages = 1000
const warmUpClients = 8
const pageSeconds = 10

export type FilledRegistryOptions = {
  packages: number
  embedded: boolean
  /** With episodes, agent cards and learning curves, which the site's pages draw. */
  pictures?: boolean
  /** Module that serves the folder of its first argument, and sends `{ url }`. */
  entry: URL
  say: (line: string) => void
}

export type FilledRegistry = {
  url: string
  engine: 'PGlite' | 'PostgreSQL'
  /** Names of packages to ask for, warm-up first: as many as `timePages` takes. */
  shown: string[]
}

/**
 * Measures a server in a process of its own, on PostgreSQL or embedded, that has so many packages. READMEs are there as
 * HTML for those that are shown.
 */
export async function withFilledRegistry<Result>(
  { packages, embedded, pictures = false, entry, say }: FilledRegistryOptions,
  measure: (registry: FilledRegistry) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-bench-registry-'))
  const engine = embedded ? 'PGlite' : 'PostgreSQL'
  const environment = { ...process.env, AGENTGYM_LOG_LEVEL: 'warn' }
  let server: ChildProcess | undefined
  try {
    const postgresql = join(folder, 'postgresql')
    const address = embedded
      ? { folder: join(folder, 'data', 'database') }
      : { url: await startPostgresql(postgresql, ['shared_buffers=512MB']) }
    say(`registry: ${packages.toLocaleString('en-US')} packages into ${engine} …`)
    const database = await openDatabase(address)
    await loadPackages(database, syntheticPackages(packages, seed))
    if (pictures) await loadPictures(database)
    const shown = pagesToShow(packages)
    say(`registry: HTML of ${new Set(shown).size.toLocaleString('en-US')} READMEs, which publishing makes …`)
    await renderReadmes(database, shown)
    // As a database that has been up for a while: filling it is not what is measured, nor is tidying up after that, nor
    // what is done once a day and, of a new database, at once.
    await database.execute(
      "insert into upkeep (task, next_at) values ('catalog.refresh-quality', now() + interval '1 day') on conflict do nothing",
    )
    await database.execute('vacuum analyze')
    if (!embedded) await database.execute('checkpoint')
    await database.close()
    if ('url' in address) Object.assign(environment, { DATABASE_URL: address.url })
    server = fork(entry, [join(folder, 'data')], { env: environment })
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    return await measure({ url, engine, shown })
  } finally {
    agent.destroy()
    if (server?.exitCode === null) {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    if (!embedded) await stopPostgresql(join(folder, 'postgresql'))
    await rm(folder, { recursive: true, force: true })
  }
}

/** Names of the pages that are asked for, in order: popular packages more often. */
function pagesToShow(packages: number): string[] {
  const names = [...syntheticPackages(packages, seed)].filter(({ visibility }) => visibility === 'public')
  const requests = warmUpPages + pageRequestsPerSecond * pageSeconds
  return Array.from({ length: requests }, (_, i) => names[Math.floor(((i * 0.618034) % 1) ** 4 * names.length)].name)
}

/** The part of publishing that `loadPackages` leaves out, for those packages whose pages will be asked for. */
async function renderReadmes(database: Database, names: string[]): Promise<void> {
  const rows = await database.query
    .selectFrom('packages')
    .innerJoin('versions', 'versions.package_id', 'packages.id')
    .whereRef('versions.version', '=', 'packages.latest_version')
    .where('packages.name', 'in', [...new Set(names)])
    .select(['versions.id', 'versions.readme'])
    .execute()
  for (const { id, readme } of rows) await keepReadmeHtml(database.query, id, markdownHtml(readme).html)
}

/** Milliseconds of each page. Requests start when they are due, not when the ones before are answered. */
export async function timePages(addresses: string[]): Promise<number[]> {
  const load = fork(new URL('./page-load.process.ts', import.meta.url))
  const order: PageLoad = { addresses, warmUp: warmUpPages, warmUpClients, perSecond: pageRequestsPerSecond }
  load.send(order)
  const answered = once(load, 'message').then(([times]) => times as number[])
  const ended = once(load, 'exit').then(([code]) => {
    throw new Error(`the process that asks for pages ended (${code})`)
  })
  return Promise.race([answered, ended])
}
