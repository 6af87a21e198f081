import { packageAnalyticsRequestSchema, packageAnalyticsSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { csvType } from '../../core/http/csv.ts'
import type { Env } from '../../core/http/env.ts'
import { exportStream } from '../../core/http/export-stream.ts'
import { createRoutes, defineRoute, failures, file, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { analyticsCsv, packageAnalytics } from './package-analytics.ts'

const params = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})

const description =
  'By day (UTC), version and source. Bots and members of the account are not counted as viewers. For admins of the account. Requires the scope `market:sell`.'

const analyticsRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/packages/{scope}/{name}/analytics',
  operationId: 'getPackageAnalytics',
  summary: 'Views, trials, sales and refunds of a package',
  description,
  request: { params, query: packageAnalyticsRequestSchema },
  responses: {
    200: { description: 'Only days with a count.', content: json(packageAnalyticsSchema) },
    ...failures('unauthenticated', 'forbidden', 'package_not_found'),
  },
})

const csvRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/packages/{scope}/{name}/analytics.csv',
  operationId: 'getPackageAnalyticsAsCsv',
  summary: 'Views, trials, sales and refunds of a package as CSV',
  description,
  request: { params, query: packageAnalyticsRequestSchema },
  responses: {
    200: { description: 'One line per day, version and source.', content: { 'text/csv': file } },
    ...failures('unauthenticated', 'forbidden', 'package_not_found'),
  },
})

export function analyticsRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(analyticsRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const request = { name: `${scope}/${name}`, ...c.req.valid('query') }
    return c.json(await packageAnalytics(services, c.get('actor'), request), 200)
  })
  routes.openapi(csvRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const request = { name: `${scope}/${name}`, ...c.req.valid('query') }
    const analytics = await packageAnalytics(services, c.get('actor'), request)
    return c.body(exportStream(analyticsCsv(analytics)), 200, {
      'content-type': csvType,
      'content-disposition': `attachment; filename="analytics-${name}.csv"`,
      'cache-control': 'private, no-store',
    })
  })
  return routes
}
