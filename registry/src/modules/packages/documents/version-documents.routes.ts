import { changeListSchema, changesRequestSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { isKnownTag } from '../../../core/http/entity-tag.ts'
import type { Env } from '../../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../../core/http/route.ts'
import type { Services } from '../../../core/services.ts'
import { listChanges, readReadmePicture } from './version-documents.store.ts'

const packageParams = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})

const binary = { schema: z.any().openapi({ type: 'string', format: 'binary' }) }

const pictureRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/versions/{version}/readme/pictures/{hash}',
  access: 'anyone',
  operationId: 'getReadmePicture',
  summary: 'An image in the README of a version',
  description:
    "Image URLs are in the README's HTML. Serves PNG, JPEG, GIF and WebP files of the tarball that the README shows, and no other file.",
  request: {
    params: packageParams.extend({
      version: z.string().openapi({ example: '1.0.0' }),
      hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .openapi({ description: 'SHA-256 (hex) of the image.' }),
    }),
  },
  responses: {
    200: {
      description: 'The picture.',
      content: { 'image/png': binary, 'image/jpeg': binary, 'image/gif': binary, 'image/webp': binary },
    },
    304: { description: 'Not modified.' },
    ...failures('package_not_found', 'package_taken_down', 'version_not_found', 'picture_not_found'),
  },
})

const changesRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/changes',
  access: 'anyone',
  operationId: 'getChanges',
  summary: 'Release notes of the versions of a package',
  description: "From each version's own CHANGELOG.md: the section below the heading that names the version.",
  request: { params: packageParams, query: changesRequestSchema },
  responses: {
    200: { description: 'Newest upload first.', content: json(changeListSchema) },
    ...failures('package_not_found', 'package_taken_down', 'version_not_found'),
  },
})

/** Browsers cache it permanently, because its URL contains the hash. For private packages they revalidate each time. */
const keep = { public: 'private, max-age=31536000, immutable', private: 'private, no-cache' }

/** Documents from a version's own files. */
export function documentRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(pictureRoute, async (c) => {
    const { scope, name, version, hash } = c.req.valid('param')
    const picture = await readReadmePicture(services, c.get('actor'), { name: `${scope}/${name}`, version, hash })
    const { type, bytes, visibility } = picture
    const headers = { etag: `"${hash}"`, 'cache-control': keep[visibility] }
    if (isKnownTag(c.req.header('if-none-match'), headers.etag)) return c.body(null, 304, headers)
    return c.body(Uint8Array.from(bytes), 200, { ...headers, 'content-type': type })
  })
  routes.openapi(changesRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const { query } = services.database
    return c.json(await listChanges(query, c.get('actor'), `${scope}/${name}`, c.req.valid('query')), 200)
  })
  return routes
}
