import {
  dependentsSchema,
  type PackageList,
  type PackagePage,
  packageListSchema,
  packageNamesRequestSchema,
  packageNamesSchema,
  packagePageSchema,
  packageViewSchema,
  publisherSchema,
  type SearchRequest,
  sampleEpisodeSchema,
  searchRequestSchema,
  versionReadmeSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { accepts } from 'hono/accepts'
import { html, raw } from 'hono/html'
import type { Actor } from '../../core/access/authorize.ts'
import { decodeCursor, encodeCursor } from '../../core/database/page-cursor.ts'
import { isKnownTag } from '../../core/http/entity-tag.ts'
import type { Env, RequestReader } from '../../core/http/env.ts'
import { type Html, page } from '../../core/http/pages/page.ts'
import { createRoutes, declare, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  findReadablePackage,
  findReadableVersion,
  type PackageServices,
  readmeHtmlOf,
  sampleEpisodeOf,
} from '../packages/index.ts'
import { searchQuery } from '../search/index.ts'
import { listPackageNames } from './package-names.ts'
import { findDependents, packagePage } from './package-page.ts'
import { packageView } from './package-view.ts'
import { describePublisher } from './publisher.ts'
import { facetCounts, listedPackages, searchPackages } from './search-packages.ts'

const packageParams = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})

const versionParams = packageParams.extend({ version: z.string().openapi({ example: '1.0.0' }) })

const searchRoute = defineRoute({
  method: 'get',
  path: '/v1/packages',
  access: 'anyone',
  operationId: 'searchPackages',
  summary: 'Search and browse packages',
  description:
    'Public packages, and the private ones of your accounts. Facets count the results of each value with the other filters unchanged.',
  request: { query: searchRequestSchema },
  responses: {
    200: { description: 'One page.', content: { 'application/json': { schema: packageListSchema } } },
    ...failures(),
  },
})

const namesRoute = defineRoute({
  method: 'get',
  path: '/v1/package-names',
  access: 'anyone',
  operationId: 'listPackageNames',
  summary: 'List the names of all public packages',
  description: 'In alphabetical order, for sitemaps and mirrors: up to 10,000 a page. Pages start at 1.',
  request: { query: packageNamesRequestSchema },
  responses: {
    200: { description: 'One page.', content: { 'application/json': { schema: packageNamesSchema } } },
    ...failures(),
  },
})

const pageRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}',
  access: 'anyone',
  operationId: 'getPackage',
  summary: 'Get a package, with everything its page shows',
  request: { params: packageParams },
  responses: {
    200: { description: 'The package.', content: { 'application/json': { schema: packagePageSchema } } },
    ...failures('package_not_found'),
  },
})

const viewRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/view',
  access: 'anyone',
  operationId: 'getPackageView',
  summary: 'Get a package with its offer and latest version in one response',
  description:
    "Combines `GET /v1/packages/{scope}/{name}`, its offer, its latest version and that version's sample episode.",
  request: { params: packageParams },
  responses: {
    200: { description: 'The package.', content: { 'application/json': { schema: packageViewSchema } } },
    ...failures('package_not_found'),
  },
})

const readmeRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/versions/{version}/readme',
  access: 'anyone',
  operationId: 'getReadme',
  summary: 'The README of a version',
  description:
    'As Markdown and as sanitized HTML; its images are served by this server. `Accept: text/html` returns a page with only the README.',
  request: { params: versionParams },
  responses: {
    200: {
      description: 'The README.',
      content: { 'application/json': { schema: versionReadmeSchema }, 'text/html': { schema: z.string() } },
    },
    ...failures('package_not_found', 'package_taken_down', 'version_not_found'),
  },
})

const sampleEpisodeRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/versions/{version}/sample-episode',
  access: 'anyone',
  operationId: 'getSampleEpisode',
  summary: 'A short sample episode of a version, for previews',
  description:
    "For a scenario, an episode of random actions; for an agent, its first evaluation episode. Its content comes from the scenario's code: treat it as untrusted.",
  request: { params: versionParams },
  responses: {
    200: {
      description: 'The episode.',
      content: { 'application/json': { schema: sampleEpisodeSchema } },
    },
    304: { description: 'Not modified.' },
    ...failures('package_not_found', 'version_not_found', 'sample_episode_not_found'),
  },
})

const publisherRoute = defineRoute({
  method: 'get',
  path: '/v1/accounts/{username}',
  access: 'anyone',
  operationId: 'getPublisher',
  summary: 'A user or organization, with its packages',
  description: 'Private packages are visible to members only.',
  request: { params: z.object({ username: z.string().openapi({ example: 'acme' }) }) },
  responses: {
    200: { description: 'The account.', content: { 'application/json': { schema: publisherSchema } } },
    ...failures('account_not_found'),
  },
})

const dependentsRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/dependents',
  access: 'anyone',
  operationId: 'getDependents',
  summary: 'Dependents of a package: agents trained on it and packages that depend on it',
  request: { params: packageParams },
  responses: {
    200: {
      description: 'Packages visible to you.',
      content: { 'application/json': { schema: dependentsSchema } },
    },
    ...failures('package_not_found', 'package_taken_down'),
  },
})

/** Search, and package pages. */
export function catalogRoutes(services: PackageServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(searchRoute, async (c) => {
    const actor = c.get('actor')
    return c.json(await readFor(services, actor, (from) => listPackages(from, actor, c.req.valid('query'))), 200)
  })
  routes.openapi(namesRoute, async (c) => {
    const { page } = c.req.valid('query')
    return c.json(await readFor(services, c.get('actor'), (from) => listPackageNames(from.database.query, page)), 200)
  })
  routes.openapi(pageRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const actor = c.get('actor')
    const shown = await readFor(services, actor, (from) => packagePage(from, actor, `${scope}/${name}`))
    countCommand(services, c, shown.name)
    return c.json(shown, 200)
  })
  routes.openapi(viewRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const actor = c.get('actor')
    return c.json(await readFor(services, actor, (from) => packageView(from, actor, `${scope}/${name}`)), 200)
  })
  // For servers without the site. The README in it has passed the sanitizer.
  routes.get('/packages/:scope/:name', declare({ access: 'anyone', yieldsToSite: true }), async (c) => {
    const { scope, name } = c.req.param()
    const shown = await packagePage(services, c.get('actor'), `${scope}/${name}`)
    return c.html(packageDocument(shown, services.config.publicUrl))
  })
  routes.openapi(readmeRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const { query } = services.database
    const found = await findReadablePackage(query, c.get('actor'), `${scope}/${name}`)
    const shown = await findReadableVersion(query, found, version)
    const html = await readmeHtmlOf(services, shown)
    c.header('vary', 'accept', { append: true })
    const type = accepts(c, {
      header: 'Accept',
      supports: ['application/json', 'text/html'],
      default: 'application/json',
    })
    if (type === 'text/html') return c.html(readmePage(`${found.name}@${version}`, html), 200)
    return c.json({ name: found.name, version, markdown: shown.readme, html }, 200)
  })
  routes.openapi(sampleEpisodeRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const { query } = services.database
    const found = await findReadablePackage(query, c.get('actor'), `${scope}/${name}`)
    const readable = await findReadableVersion(query, found, version)
    // A version's first episode is kept for good; who may read it changes.
    const headers = { etag: `"${readable.id}"`, 'cache-control': 'private, no-cache' }
    if (isKnownTag(c.req.header('if-none-match'), headers.etag)) return c.body(null, 304, headers)
    return c.json(await sampleEpisodeOf(query, found.name, readable), 200, headers)
  })
  routes.openapi(publisherRoute, async (c) => {
    const actor = c.get('actor')
    const { username } = c.req.valid('param')
    return c.json(await readFor(services, actor, (from) => describePublisher(from, actor, username)), 200)
  })
  routes.openapi(dependentsRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const actor = c.get('actor')
    const find = (from: Services) => findDependents(from.database.query, actor, `${scope}/${name}`)
    return c.json(await readFor(services, actor, find), 200)
  })
  return routes
}

/**
 * Reads from the replica, if there is one, for someone without an account: who publishes or buys sees at once what they did, and
 * others need not see it within seconds.
 */
function readFor<Given extends Services, Result>(
  services: Given,
  actor: Actor | null,
  work: (services: Given) => Promise<Result>,
): Promise<Result> {
  const { replica } = services
  if (actor !== null || replica === undefined) return work(services)
  return replica.read((database) => work({ ...services, database }))
}

/** A package that the command shows counts as viewed. */
function countCommand({ usage }: PackageServices, c: RequestReader, name: string): void {
  const userAgent = c.req.header('user-agent') ?? ''
  if (!userAgent.startsWith('agentgym')) return
  const view = { kind: 'view', name, version: null, source: 'command' } as const
  usage.record({ ...view, client: { ip: c.get('ip'), userAgent }, accountId: c.get('actor')?.accountId ?? null })
}

async function listPackages(
  { database, config }: Services,
  actor: Actor | null,
  { q, cursor, limit, ...request }: SearchRequest,
): Promise<PackageList> {
  // A cursor is bound to its query; only the page size may change.
  const listKey = JSON.stringify([q ?? '', Object.entries(request).sort()])
  const after = cursor === undefined ? null : decodeCursor(config.secret, listKey, cursor)
  const search = { ...request, limit, after, words: searchQuery(q ?? '') }
  const { rows, end, ...counted } = await searchPackages(database, actor, search)
  return {
    packages: await listedPackages(database.query, rows, config.training.currency),
    ...facetCounts(counted, search),
    next_cursor: end === null ? null : encodeCursor(config.secret, listKey, end),
  }
}

/** Names and versions consist of characters without a meaning in HTML. */
function readmePage(title: string, html: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${html}</body></html>`
}

/** A package as a plain page, at the address that `agentgym scenario publish` prints. */
function packageDocument(shown: PackagePage, publicUrl: string): Html {
  const { name, latest, readme, quality } = shown
  const facts: [string, string][] = [
    ['Version', latest === null ? 'none published yet' : latest.version],
    ['Kind', shown.kind],
    ['Publisher', shown.owner.username],
    ['License', latest?.license ?? 'not stated'],
    ['Quality', `${quality.score} of 100`],
    ['Downloads', String(shown.downloads)],
    ['Integrity', latest?.integrity ?? 'none'],
  ]
  const body = html`
<h1>${name}</h1>
<p class="lead">${shown.summary ?? ''}</p>
<pre><code>export AGENTGYM_SERVER=${publicUrl}
agentgym train ${name}</code></pre>
<div class="scroll"><table>
${facts.map(([label, value]) => html`<tr><td>${label}</td><td><code>${value}</code></td></tr>`)}
</table></div>
${readme === null ? '' : html`<h2>README</h2><div>${raw(readme.html)}</div>`}`
  return page({ title: `${name} · AgentGym`, body })
}
