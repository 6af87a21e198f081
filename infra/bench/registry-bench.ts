import { syntheticQueries } from '@agentgym/registry/benchmarks'
import type { Figure } from './figure.ts'
import { pageRequestsPerSecond, seed, timePages, withFilledRegistry } from './filled-registry.ts'
import { percentile, request } from './http-load.ts'

const searches = 400

type Options = { packages: number; embedded: boolean; say: (line: string) => void }

/**
 * The catalog over HTTP, from a process of its own: on PostgreSQL, or embedded. Searches come one after another (words,
 * filters, sort orders and later pages as people use them); pages of packages at a fixed rate whatever the answers take,
 * each timed from when it was due.
 */
export async function registryBenchmark({ packages, embedded, say }: Options): Promise<Figure[]> {
  const entry = new URL('./registry-server.process.ts', import.meta.url)
  return withFilledRegistry({ packages, embedded, entry, say }, ({ url, ...registry }) =>
    measure(url, { packages, say, ...registry }),
  )
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
