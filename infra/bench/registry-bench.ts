import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Database,
  keepReadmeHtml,
  loadPackages,
  markdownHtml,
  openDatabase,
  startPostgresql,
  stopPostgresql,
  syntheticPackages,
  syntheticQueries,
} from '@agentgym/registry/benchmarks'
import type { Figure } from './figure.ts'
import { agent, atFixedRate, percentile, request } from './http-load.ts'

const seed = 1
const searches = 400
const pageRequestsPerSecond = 200
/** Asked for one after another before the measurement. */
const warmUpPages = 1000
const pageSeconds = 10

type Options = { packages: number; embedded: boolean; say: (line: string) => void }

/**
 * The catalogue over HTTP, from a process of its own: on PostgreSQL, or embedded. Searches come one after another (words,
 * filters, sort orders and later pages as people use them); pages of packages at a fixed rate whatever the answers take,
 * each timed from when it was due.
 */
export async function registryBenchmark({ packages, embedded, say }: Options): Promise<Figure[]> {
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
    const shown = pagesToShow(packages)
    say(`registry: HTML of ${new Set(shown).size.toLocaleString('en-US')} READMEs, which publishing makes …`)
    await renderReadmes(database, shown)
    await database.close()
    if ('url' in address) Object.assign(environment, { DATABASE_URL: address.url })
    server = fork(new URL('./registry-server.process.ts', import.meta.url), [join(folder, 'data')], {
      env: environment,
    })
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    return await measure(url, { packages, engine, shown, say })
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

type Measured = { packages: number; engine: string; shown: string[]; say: (line: string) => void }

async function measure(url: string, { packages, engine, shown, say }: Measured): Promise<Figure[]> {
  const suffix = engine.toLowerCase()
  say(`registry: ${searches} searches …`)
  const searched = await timeSearches(url)
  say(`registry: pages of packages, ${pageRequestsPerSecond} a second …`)
  const times = await timePages(shown.map((name) => `${url}/v1/packages/${name}`))
  const figure = (id: string, what: string, value: number, bar: number | null): Figure => ({
    id: `${id}_${suffix}`,
    what: `${what}, ${packages.toLocaleString('en-US')} packages, ${engine}`,
    value,
    unit: 'ms',
    bar,
    lower: true,
  })
  return [
    figure('search_p50_ms', 'search with facets over HTTP, median', percentile(searched, 0.5), null),
    figure('search_p95_ms', 'search with facets over HTTP, 95th percentile', percentile(searched, 0.95), 50),
    figure('package_page_p50_ms', `package page at ${pageRequestsPerSecond}/s, median`, percentile(times, 0.5), null),
    figure(
      'package_page_p95_ms',
      `package page at ${pageRequestsPerSecond}/s, 95th percentile`,
      percentile(times, 0.95),
      20,
    ),
  ]
}

async function timeSearches(url: string): Promise<number[]> {
  const queries = syntheticQueries(seed)
  const times: number[] = []
  for (let index = -20; index < searches; index++) {
    const started = performance.now()
    await request(`${url}/v1/packages?${searchParameters(index, String(queries.next().value))}`)
    if (index >= 0) times.push(performance.now() - started)
  }
  return times
}

/** Of ten: six searches by words, one of them in another order, two with a filter; and a look around without words. */
function searchParameters(index: number, q: string): URLSearchParams {
  const turn = ((index % 10) + 10) % 10
  if (turn < 5) return new URLSearchParams({ q })
  if (turn === 5) return new URLSearchParams({ q, sort: 'downloads' })
  if (turn < 8) return new URLSearchParams({ q, kind: 'scenario', difficulty: 'beginner' })
  if (turn === 8) return new URLSearchParams({ sort: 'newest', category: 'robotics' })
  return new URLSearchParams({ sort: 'quality', price: 'paid', limit: '50' })
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
  for (const { id, readme } of rows) await keepReadmeHtml(database.query, id, markdownHtml(readme))
}

/** Requests start when they are due, not when the ones before are answered. */
async function timePages(addresses: string[]): Promise<number[]> {
  // A server that has just started compiles its code: at a fixed rate those requests would queue and be what is measured.
  for (const address of addresses.slice(0, warmUpPages)) await request(address)
  return atFixedRate({ perSecond: pageRequestsPerSecond, requests: pageRequestsPerSecond * pageSeconds }, (index) =>
    request(addresses[warmUpPages + index]),
  )
}
