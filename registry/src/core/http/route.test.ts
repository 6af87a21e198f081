import { expectTypeOf, it } from 'vitest'
import type { Actor } from '../access/authorize.ts'
import { createRoutes, defineRoute } from './route.ts'

const described = { method: 'get', path: '/v1/caller', responses: { 204: { description: 'Known.' } } } as const

it('a handler’s caller is null only with access `anyone`', () => {
  const routes = createRoutes()
  routes.openapi(defineRoute({ ...described, access: 'anyone' }), (c) => {
    expectTypeOf(c.get('actor')).toEqualTypeOf<Actor | null>()
    return c.body(null, 204)
  })
  for (const route of [
    defineRoute({ ...described, access: 'account' }),
    defineRoute({ ...described, access: 'packages:read' }),
    defineRoute({ ...described, access: { operator: 'worker' } }),
  ] as const)
    routes.openapi(route, (c) => {
      expectTypeOf(c.get('actor')).toExtend<Actor>()
      return c.body(null, 204)
    })
})
