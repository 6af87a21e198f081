import { offerRequestSchema, offerSchema, pricePageSchema, setPriceRequestSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { makeOffer } from './offer.ts'
import { pricePage } from './price-page.ts'
import { setPrice } from './set-price.ts'

const base = '/v1/packages/{scope}/{name}'
const packageParams = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})

const priceRoute = defineRoute({
  access: 'anyone',
  method: 'get',
  path: `${base}/price`,
  operationId: 'getPrice',
  summary: 'Current, future and past prices of a package',
  request: { params: packageParams },
  responses: {
    200: { description: 'Prices and terms.', content: json(pricePageSchema) },
    ...failures('package_not_found', 'package_taken_down'),
  },
})

const setPriceRoute = defineRoute({
  access: 'market:sell',
  secondFactor: true,
  method: 'put',
  path: `${base}/price`,
  operationId: 'setPrice',
  summary: 'Set the price of a package',
  description:
    'Decreases take effect immediately. Increases (of the price, royalties or the price of calls) are announced and take effect after the server’s notice period, or immediately if the package has no orders, downloads or training runs yet. Existing orders do not change. Requires the scope `market:sell`, and the second factor if there is one.',
  request: { params: packageParams, body: { required: true, content: json(setPriceRequestSchema) } },
  responses: {
    200: { description: 'Current price and terms.', content: json(pricePageSchema) },
    ...failures('unauthenticated', 'forbidden', 'second_factor_required', 'package_not_found', 'package_taken_down'),
  },
})

const offerRoute = defineRoute({
  access: 'anyone',
  method: 'get',
  path: `${base}/offer`,
  operationId: 'getOffer',
  summary: 'Get the offer for a package',
  description:
    'Everything a buyer needs before ordering: total, license, terms and the verification of an agent. An order names this price.',
  request: { params: packageParams, query: offerRequestSchema },
  responses: {
    200: { description: 'The offer.', content: json(offerSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'account_not_found',
      'package_not_found',
      'package_taken_down',
      'version_not_found',
      'version_yanked',
    ),
  },
})

/** Prices and offers of packages. */
export function priceRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  const nameOf = ({ scope, name }: z.infer<typeof packageParams>) => `${scope}/${name}`
  routes.openapi(priceRoute, async (c) =>
    c.json(await pricePage(services, c.get('actor'), nameOf(c.req.valid('param'))), 200),
  )
  routes.openapi(setPriceRoute, async (c) => {
    const change = { actor: c.get('actor'), name: nameOf(c.req.valid('param')), ip: c.get('ip') }
    return c.json(await setPrice(services, change, c.req.valid('json')), 200)
  })
  routes.openapi(offerRoute, async (c) => {
    const requested = { actor: c.get('actor'), name: nameOf(c.req.valid('param')), ...c.req.valid('query') }
    return c.json(await makeOffer(services, requested), 200)
  })
  return routes
}
