import {
  earningsDaysRequestSchema,
  earningsDaysSchema,
  earningsEntriesRequestSchema,
  earningsEntriesSchema,
  earningsRequestSchema,
  earningsSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { csvType } from '../../core/http/csv.ts'
import type { Env } from '../../core/http/env.ts'
import { exportStream } from '../../core/http/export-stream.ts'
import { createRoutes, defineRoute, failures, file, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { findSeller, showEarnings } from './earnings.ts'
import { allEarnings, earningsByDay, earningsCsv, listEarnings } from './earnings-entries.ts'

const codes = ['unauthenticated', 'forbidden', 'account_not_found'] as const

const earningsRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/earnings',
  operationId: 'getEarnings',
  summary: 'Earnings of an account',
  description:
    'Total sales, fees, royalties, refunds and payouts, and the amount available for payout. For admins of the account. Requires the scope `market:sell`.',
  request: { query: earningsRequestSchema },
  responses: { 200: { description: 'The earnings.', content: json(earningsSchema) }, ...failures(...codes) },
})

const entriesRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/earnings/entries',
  operationId: 'listEarnings',
  summary: 'Entries of the earnings',
  description: 'Each sale, royalty, refund, chargeback, batch of calls and payout. Requires the scope `market:sell`.',
  request: { query: earningsEntriesRequestSchema },
  responses: { 200: { description: 'Newest first.', content: json(earningsEntriesSchema) }, ...failures(...codes) },
})

const daysRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/earnings/days',
  operationId: 'getEarningsByDay',
  summary: 'Earnings of an account by day',
  description: 'Days in UTC, oldest first, including days without sales. Requires the scope `market:sell`.',
  request: { query: earningsDaysRequestSchema },
  responses: { 200: { description: 'The days.', content: json(earningsDaysSchema) }, ...failures(...codes) },
})

const csvRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/earnings.csv',
  operationId: 'getEarningsAsCsv',
  summary: 'Entries of the earnings as CSV',
  description:
    'All entries, newest first, with amounts in major units of the currency. Requires the scope `market:sell`.',
  request: { query: earningsRequestSchema },
  responses: { 200: { description: 'One line per entry.', content: { 'text/csv': file } }, ...failures(...codes) },
})

/** Earnings of sellers and authors. */
export function earningsRoutes(services: Services): OpenAPIHono<Env> {
  const { query } = services.database
  const routes = createRoutes()
  routes.openapi(earningsRoute, async (c) =>
    c.json(await showEarnings(services, c.get('actor'), c.req.valid('query').account), 200),
  )
  routes.openapi(entriesRoute, async (c) =>
    c.json(await listEarnings(services, c.get('actor'), c.req.valid('query')), 200),
  )
  routes.openapi(daysRoute, async (c) =>
    c.json(await earningsByDay(services, c.get('actor'), c.req.valid('query')), 200),
  )
  routes.openapi(csvRoute, async (c) => {
    const { id, username } = await findSeller(query, c.get('actor'), c.req.valid('query').account)
    return c.body(exportStream(earningsCsv(allEarnings(query, id))), 200, {
      'content-type': csvType,
      'content-disposition': `attachment; filename="earnings-${username}.csv"`,
      'cache-control': 'private, no-store',
    })
  })
  return routes
}
