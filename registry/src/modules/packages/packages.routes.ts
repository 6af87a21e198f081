import {
  deprecationRequestSchema,
  type ErrorCode,
  errorCatalog,
  publishedVersionSchema,
  publishRequestSchema,
  resolvedVersionSchema,
  resolveRequestSchema,
  tagListSchema,
  tagRequestSchema,
  versionDetailsSchema,
  versionListSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env, RequestReader } from '../../core/http/env.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import { createRoutes, defineRoute, failures, json, uploadTimeoutMs } from '../../core/http/route.ts'
import { type Change, deleteTag, deprecateVersions, setTag, unyankVersion, yankVersion } from './change-versions.ts'
import { describeTags, describeVersion, describeVersions } from './describe-versions.ts'
import type { PackageServices } from './package-services.ts'
import { publishVersion } from './publish-version.ts'
import { readUpload } from './read-tarball.ts'
import { resolveVersion } from './resolve-version.ts'

const base = '/v1/packages/{scope}/{name}'
const packageParams = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})
const versionParams = packageParams.extend({ version: z.string().openapi({ example: '1.0.0' }) })
const tagParams = packageParams.extend({ tag: z.string().openapi({ example: 'next' }) })

const done = { 204: { description: 'Done.' } }
/** Error codes of tarballs and models. */
const vettingCodes = (Object.keys(errorCatalog) as ErrorCode[]).filter(
  (code) => /^(?:tarball|package|model)_/.test(code) && errorCatalog[code].exit === 2,
)
const changeCodes = ['unauthenticated', 'forbidden', 'package_not_found', 'package_taken_down'] as const

const publishRoute = defineRoute({
  method: 'put',
  path: `${base}/versions/{version}`,
  access: 'packages:publish',
  bodyLimit: ({ limits }) => limits.tarballBytes,
  timeoutMs: uploadTimeoutMs,
  summary: 'Publish a version',
  description:
    'The body is the tarball, as `npm pack` makes it. The version is then `checking`; `GET` it for the result. Repeating an upload with the same bytes returns the same response.',
  request: {
    params: versionParams,
    query: publishRequestSchema,
    body: {
      required: true,
      content: { 'application/octet-stream': { schema: z.any().openapi({ type: 'string', format: 'binary' }) } },
    },
  },
  responses: {
    200: { description: 'Uploaded before; its checks have finished.', content: json(publishedVersionSchema) },
    202: { description: 'Accepted; checks are running.', content: json(publishedVersionSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'rate_limited',
      'name_invalid',
      'name_taken',
      'version_invalid',
      'version_exists',
      'tag_invalid',
      'manifest_invalid',
      'agent_invalid',
      ...vettingCodes,
    ),
  },
})

const versionsRoute = defineRoute({
  method: 'get',
  path: `${base}/versions`,
  access: 'anyone',
  summary: 'Versions and tags of a package',
  request: { params: packageParams },
  responses: {
    200: { description: 'Newest first.', content: json(versionListSchema) },
    ...failures('package_not_found', 'package_taken_down'),
  },
})

const versionRoute = defineRoute({
  method: 'get',
  path: `${base}/versions/{version}`,
  access: 'anyone',
  summary: 'One version: state, checks, manifest, README',
  request: { params: versionParams },
  responses: {
    200: { description: 'The version.', content: json(versionDetailsSchema) },
    ...failures('package_not_found', 'package_taken_down', 'version_not_found'),
  },
})

const resolveRoute = defineRoute({
  method: 'get',
  path: `${base}/resolve`,
  access: 'anyone',
  summary: 'Resolve a range, a tag or an exact version',
  description: 'Resolves as npm does. A range never resolves to a yanked version.',
  request: { params: packageParams, query: resolveRequestSchema },
  responses: {
    200: { description: 'The version to install.', content: json(resolvedVersionSchema) },
    ...failures('package_not_found', 'package_taken_down', 'version_not_found'),
  },
})

const tagsRoute = defineRoute({
  method: 'get',
  path: `${base}/tags`,
  access: 'anyone',
  summary: 'Tags of a package',
  request: { params: packageParams },
  responses: {
    200: { description: 'The tags.', content: json(tagListSchema) },
    ...failures('package_not_found', 'package_taken_down'),
  },
})

const setTagRoute = defineRoute({
  method: 'put',
  path: `${base}/tags/{tag}`,
  access: 'packages:publish',
  summary: 'Point a tag at a version',
  description: 'Setting `latest` explicitly can move it backwards or to a prerelease.',
  request: { params: tagParams, body: { required: true, content: json(tagRequestSchema) } },
  responses: {
    ...done,
    ...failures(...changeCodes, 'version_not_found', 'version_not_published', 'version_yanked', 'tag_invalid'),
  },
})

const deleteTagRoute = defineRoute({
  method: 'delete',
  path: `${base}/tags/{tag}`,
  access: 'packages:publish',
  summary: 'Remove a tag',
  request: { params: tagParams },
  responses: { ...done, ...failures(...changeCodes, 'tag_not_found', 'tag_protected') },
})

const deprecateRoute = defineRoute({
  method: 'put',
  path: `${base}/versions/{version}/deprecation`,
  access: 'packages:publish',
  summary: 'Deprecate a version, or undo it',
  request: { params: versionParams, body: { required: true, content: json(deprecationRequestSchema) } },
  responses: { ...done, ...failures(...changeCodes, 'version_not_found') },
})

const yankRoute = defineRoute({
  method: 'put',
  path: `${base}/versions/{version}/yank`,
  access: 'packages:manage',
  summary: 'Yank a version',
  description: 'Hides it from ranges and tags; installing the exact version still works.',
  request: { params: versionParams },
  responses: { ...done, ...failures(...changeCodes, 'version_not_found', 'version_not_published') },
})

const unyankRoute = defineRoute({
  method: 'delete',
  path: `${base}/versions/{version}/yank`,
  access: 'packages:manage',
  summary: 'Undo a yank',
  request: { params: versionParams },
  responses: { ...done, ...failures(...changeCodes, 'version_not_found', 'version_not_published') },
})

/** Publishing, versions, tags and resolving. Search and the package's page are in the catalog. */
export function packageRoutes(services: PackageServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { config, database } = services
  routes.openapi(publishRoute, async (c) => {
    const { version } = c.req.valid('param')
    const { tag, visibility } = c.req.valid('query')
    const published = await publishVersion(services, {
      ...changeOf(c),
      version,
      tag,
      visibility,
      tarball: () => readUpload(c.req.raw, config.limits.tarballBytes),
    })
    const { receivedIntegrity, integrity, ...rest } = published
    const url = config.publicUrl + packagePagePath(published.name)
    const body = { ...rest, url, integrity: receivedIntegrity, served_integrity: integrity }
    return c.json(body, published.state === 'checking' ? 202 : 200)
  })
  routes.openapi(versionsRoute, async (c) => {
    return c.json(await describeVersions(database.query, c.get('actor'), nameOf(c)), 200)
  })
  routes.openapi(versionRoute, async (c) => {
    const { version } = c.req.valid('param')
    return c.json(await describeVersion(services, c.get('actor'), nameOf(c), version), 200)
  })
  routes.openapi(resolveRoute, async (c) => {
    const { range } = c.req.valid('query')
    return c.json(await resolveVersion(services, c.get('actor'), nameOf(c), range), 200)
  })
  routes.openapi(tagsRoute, async (c) => {
    return c.json(await describeTags(database.query, c.get('actor'), nameOf(c)), 200)
  })
  routes.openapi(setTagRoute, async (c) => {
    await setTag(services, changeOf(c), c.req.valid('param').tag, c.req.valid('json').version)
    return c.body(null, 204)
  })
  routes.openapi(deleteTagRoute, async (c) => {
    await deleteTag(services, changeOf(c), c.req.valid('param').tag)
    return c.body(null, 204)
  })
  routes.openapi(deprecateRoute, async (c) => {
    const messages = new Map([[c.req.valid('param').version, c.req.valid('json').message]])
    await deprecateVersions(services, changeOf(c), messages)
    return c.body(null, 204)
  })
  routes.openapi(yankRoute, async (c) => {
    await yankVersion(services, changeOf(c), c.req.valid('param').version)
    return c.body(null, 204)
  })
  routes.openapi(unyankRoute, async (c) => {
    await unyankVersion(services, changeOf(c), c.req.valid('param').version)
    return c.body(null, 204)
  })
  return routes
}

/** As in the path, in any casing: reads find the package, publishing refuses names that are not lower case. */
function nameOf(c: RequestReader): string {
  return `${c.req.param('scope')}/${c.req.param('name')}`
}

function changeOf(c: RequestReader): Change {
  return { actor: c.get('actor'), name: nameOf(c), ip: c.get('ip') }
}
