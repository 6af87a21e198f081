import {
  endRentalRequestSchema,
  rentalListRequestSchema,
  rentalListSchema,
  rentalSchema,
  reservedRentalSchema,
  reserveRentalRequestSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireDirector } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { readRentals, rentalState } from './rentals.store.ts'
import { endRental, rentalNotFound, reserveRental } from './reserve-rental.ts'

const params = z.object({ id: z.uuid() })
const access = { operator: 'worker' } as const

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/rentals',
  access,
  unlogged: 'on_success',
  summary: 'Machines rented for the queue (operators)',
  description: 'Those that have not ended, the queued runs that want another one, and what they cost.',
  request: { query: rentalListRequestSchema },
  responses: {
    200: { description: 'The rentals.', content: json(rentalListSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const reserveRoute = defineRoute({
  method: 'post',
  path: '/v1/rentals',
  access,
  summary: 'Reserve a machine for the queue (operators)',
  description:
    'Before a provider is asked for it. Resolves to an ID, by which the machine is named, and a token for its worker; or to why the queue needs none or the limits allow none. It counts toward the limits until it has ended.',
  request: { body: { required: true, content: json(reserveRentalRequestSchema) } },
  responses: {
    200: { description: 'The rental, or why there is none.', content: json(reservedRentalSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const showRoute = defineRoute({
  method: 'get',
  path: '/v1/rentals/{id}',
  access,
  unlogged: 'on_success',
  summary: 'A machine rented for the queue (operators)',
  request: { params },
  responses: {
    200: { description: 'The rental.', content: json(rentalSchema) },
    ...failures('unauthenticated', 'forbidden', 'rental_not_found'),
  },
})

const endRoute = defineRoute({
  method: 'put',
  path: '/v1/rentals/{id}',
  access,
  summary: 'Close a rental, or record that it has ended (operators)',
  description: 'Its token is revoked. A repetition changes nothing.',
  request: { params, body: { required: true, content: json(endRentalRequestSchema) } },
  responses: {
    200: { description: 'The rental.', content: json(rentalSchema) },
    ...failures('unauthenticated', 'forbidden', 'rental_not_found'),
  },
})

/** For the process that rents machines, with an operator's token. A worker's token, such as a rented one's, may do none of it. */
export function rentalRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { database, queue } = services
  const show = async (id: string) => {
    const [rental] = await readRentals(database.query, id)
    if (rental === undefined) throw rentalNotFound(id)
    return rental
  }
  routes.openapi(listRoute, async (c) => {
    requireDirector(c.get('actor'))
    return c.json(await rentalState(database.query, queue, c.req.valid('query').wait_seconds), 200)
  })
  routes.openapi(reserveRoute, async (c) => {
    const actor = c.get('actor')
    requireDirector(actor)
    return c.json(await reserveRental(services, { actor, ip: c.get('ip') }, c.req.valid('json')), 200)
  })
  routes.openapi(showRoute, async (c) => {
    requireDirector(c.get('actor'))
    return c.json(await show(c.req.valid('param').id), 200)
  })
  routes.openapi(endRoute, async (c) => {
    const actor = c.get('actor')
    requireDirector(actor)
    const { id } = c.req.valid('param')
    await endRental(services, { actor, ip: c.get('ip') }, { id, ...c.req.valid('json') })
    return c.json(await show(id), 200)
  })
  return routes
}
