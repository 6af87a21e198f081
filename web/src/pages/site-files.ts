import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { packageAddress } from '../components/package-list.tsx'
import { notFound } from './failures.tsx'

/** Pages that need an account, or that only lead through a form. */
const uncrawled = [
  ...['/buy/', '/balance', '/dashboard', '/earnings', '/licences', '/login', '/operator', '/orders', '/payments/'],
  ...['/runs', '/settings/', '/setup', '/signup', '/v1/'],
]

/** `/robots.txt` and the sitemaps. */
export const siteFileRoutes = [
  route('get', '/robots.txt', { access: 'public' }, ({ host }) => {
    const lines = ['User-agent: *', ...uncrawled.map((path) => `Disallow: ${path}`), '']
    return file('text/plain', [...lines, `Sitemap: ${host.publicUrl}/sitemap.xml`, ''].join('\n'))
  }),

  route('get', '/sitemap.xml', { access: 'public' }, async (visit) => {
    const { pages } = await packageNames(visit, beyondLastPage)
    const parts = ['pages', ...Array.from({ length: pages }, (_, index) => `packages-${index + 1}`)]
    const addresses = parts.map((part) => `<sitemap>${location(visit, `/sitemaps/${part}.xml`)}</sitemap>`)
    return file('application/xml', xml('sitemapindex', addresses))
  }),

  route('get', '/sitemaps/pages.xml', { access: 'public' }, (visit) => {
    const docs = Object.keys(visit.docs().bySlug).map((slug) => `/docs/${slug}`)
    const browse = ['/packages', '/packages?kind=scenario', '/packages?kind=agent']
    const addresses = ['/', ...browse, '/publish', '/docs', ...docs, '/docs/api']
    return file(
      'application/xml',
      xml(
        'urlset',
        addresses.map((path) => `<url>${location(visit, path)}</url>`),
      ),
    )
  }),

  route('get', '/sitemaps/:file{packages-[1-9][0-9]*\\.xml}', { access: 'public' }, async (visit) => {
    const page = Number.parseInt(visit.params.file.slice('packages-'.length), 10)
    const { packages } = await packageNames(visit, page)
    if (packages.length === 0) return notFound(visit)
    const addresses = packages.map(
      ({ name, updated_at }) =>
        `<url>${location(visit, packageAddress(name))}<lastmod>${updated_at.slice(0, 10)}</lastmod></url>`,
    )
    return file('application/xml', xml('urlset', addresses))
  }),
]

/** Of it the API says how many pages there are, and lists nothing. */
const beyondLastPage = 50_000

async function packageNames({ api }: Visit, page: number) {
  const { data } = await api.GET('/v1/package-names', { params: { query: { page } } })
  return data
}

/** Names of packages contain no characters with a meaning in XML, and the other paths are ours. */
function location({ host }: Visit, path: string): string {
  return `<loc>${host.publicUrl}${path}</loc>`
}

function xml(root: 'sitemapindex' | 'urlset', parts: string[]): string {
  const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9'
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${namespace}">\n${parts.join('\n')}\n</${root}>\n`
}

const keptSeconds = 3_600

function file(type: string, text: string): Response {
  const headers = { 'content-type': `${type}; charset=utf-8`, 'cache-control': `public, max-age=${keptSeconds}` }
  return new Response(text, { headers })
}
