import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { syntheticQueries } from '@agentgym/registry/benchmarks'
import type { Figure } from './figure.ts'
import { pageRequestsPerSecond, seed, timePages, withFilledRegistry } from './filled-registry.ts'
import { percentile } from './http-load.ts'
import { lighthouseDevices, lighthouseScores } from './lighthouse.ts'

type Options = { packages: number; embedded: boolean; say: (line: string) => void }

/** The site's pages as strangers ask for them: how fast they come, and how Lighthouse finds them. */
export async function siteBenchmark({ packages, embedded, say }: Options): Promise<Figure[]> {
  const entry = new URL('./site-server.process.ts', import.meta.url)
  return withFilledRegistry({ packages, embedded, pictures: true, entry, say }, async ({ url, engine, shown }) => {
    say(`site: pages, ${pageRequestsPerSecond} a second …`)
    const times = await timePages(pageAddresses(shown).map((path) => url + path))
    const context = `${packages.toLocaleString('en-US')} packages, ${engine}`
    const rendered = (share: number, name: string, bar: number | null): Figure => ({
      id: `site_page_p${share * 100}_ms_${engine.toLowerCase()}`,
      what: `page of the site at ${pageRequestsPerSecond}/s, ${name}, ${context}`,
      value: percentile(times, share),
      unit: 'ms',
      bar,
      lower: true,
    })
    const figures = [rendered(0.5, 'median', null), rendered(0.95, '95th percentile', 30)]
    return [...figures, ...(await lighthouseFigures(url, `/packages/${shown[0]}`, say))]
  })
}

/** Of ten: six packages, popular ones more often; two searches; the catalog narrowed; the home page. */
function pageAddresses(shown: string[]): string[] {
  const queries = syntheticQueries(seed)
  return shown.map((name, index) => {
    const turn = index % 10
    if (turn < 6) return `/packages/${name}`
    if (turn < 8) return `/packages?q=${encodeURIComponent(String(queries.next().value))}`
    return turn === 8 ? '/packages?kind=scenario&difficulty=beginner&sort=downloads' : '/'
  })
}

async function lighthouseFigures(url: string, packagePath: string, say: Options['say']): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-lighthouse-'))
  const figures: Figure[] = []
  try {
    for (const [name, path] of Object.entries({ home: '/', browse: '/packages', package: packagePath })) {
      for (const device of lighthouseDevices) {
        say(`site: Lighthouse looks at ${path}, ${device} …`)
        const scores = await lighthouseScores(url + path, { device, folder })
        for (const [category, value] of Object.entries(scores)) {
          const what = `Lighthouse, ${category} of the ${name} page, ${device}`
          figures.push({ id: `lighthouse_${category}_${name}_${device}`, what, value, unit: 'of 100', bar: 95 })
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return figures
}
