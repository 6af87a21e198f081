import { fileListSchema, fileRequestSchema, fileViewSchema, versionComparisonSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env, RequestReader } from '../../../core/http/env.ts'
import { createRoutes, defineRoute, failures, file, json } from '../../../core/http/route.ts'
import type { PackageServices } from '../package-services.ts'
import { compareVersions, describeFiles, openFiles, readFile, type VersionOf, viewFile } from './read-files.ts'

const base = '/v1/packages/{scope}/{name}/versions/{version}'
const params = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
  version: z.string().openapi({ example: '1.0.0' }),
})
const unseen = ['package_not_found', 'package_taken_down', 'version_not_found'] as const
const refusals = ['payment_required', 'hosted_only', 'license_unused', 'package_file_not_found'] as const

const listRoute = defineRoute({
  method: 'get',
  path: `${base}/files`,
  access: 'anyone',
  operationId: 'listFiles',
  summary: 'The files of a version',
  description: 'Of a package that is sold, callers without a license may read package.json, README and changelog only.',
  request: { params },
  responses: { 200: { description: 'By path.', content: json(fileListSchema) }, ...failures(...unseen) },
})

const openRoute = defineRoute({
  method: 'post',
  path: `${base}/files`,
  access: 'packages:read',
  operationId: 'openFiles',
  summary: 'Use a license to read the files of a version',
  description:
    'Counts as a download: afterwards, only the seller can refund the purchase. Only needed for a license that is not used yet.',
  request: { params },
  responses: {
    204: { description: 'The files can be read.' },
    ...failures('unauthenticated', 'forbidden', ...unseen, 'payment_required', 'hosted_only'),
  },
})

const viewRoute = defineRoute({
  method: 'get',
  path: `${base}/files/view`,
  access: 'anyone',
  operationId: 'viewFile',
  summary: 'A text file as highlighted HTML',
  description: 'The first 2,000 lines, at most 256 KiB.',
  request: { params, query: fileRequestSchema },
  responses: {
    200: { description: 'The file.', content: json(fileViewSchema) },
    ...failures(...unseen, ...refusals),
  },
})

const contentRoute = defineRoute({
  method: 'get',
  path: `${base}/files/content`,
  access: 'anyone',
  operationId: 'downloadFile',
  summary: 'A text file as it was published',
  description: 'Binary files, and texts over 512 KiB, are in the tarball only.',
  request: { params, query: fileRequestSchema },
  responses: {
    200: { description: 'The file.', content: { 'application/octet-stream': file } },
    ...failures(...unseen, ...refusals),
  },
})

const compareRoute = defineRoute({
  method: 'get',
  path: `${base}/compare/{base}`,
  access: 'anyone',
  operationId: 'compareVersions',
  summary: 'What a version changes in the files of another',
  request: { params: params.extend({ base: z.string().openapi({ example: '0.9.0' }) }) },
  responses: {
    200: { description: 'The files that differ.', content: json(versionComparisonSchema) },
    ...failures(...unseen),
  },
})

/** Files of versions: lists, texts and comparisons. */
export function fileRoutes(services: PackageServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(listRoute, async (c) => {
    return c.json(await describeFiles(services, c.get('actor'), versionOf(c)), 200)
  })
  routes.openapi(openRoute, async (c) => {
    await openFiles(services, c.get('actor'), versionOf(c))
    return c.body(null, 204)
  })
  routes.openapi(viewRoute, async (c) => {
    const { path } = c.req.valid('query')
    return c.json(await viewFile(services, c.get('actor'), { ...versionOf(c), path }), 200)
  })
  routes.openapi(contentRoute, async (c) => {
    const { path } = c.req.valid('query')
    const { file } = await readFile(services, c.get('actor'), { ...versionOf(c), path })
    return c.body(file.text, 200, {
      // Never a document of this origin, whatever the file is called.
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename*=UTF-8''${encodeFileName(file.path)}`,
      'cache-control': 'private, no-cache',
    })
  })
  routes.openapi(compareRoute, async (c) => {
    const { base } = c.req.valid('param')
    return c.json(await compareVersions(services, c.get('actor'), { ...versionOf(c), base }), 200)
  })
  return routes
}

function versionOf(c: RequestReader): VersionOf {
  return { name: `${c.req.param('scope')}/${c.req.param('name')}`, version: c.req.param('version') ?? '' }
}

/** The last part of a path as RFC 8187 has it in a header. */
function encodeFileName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}
