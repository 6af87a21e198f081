import { logInRequestSchema, sessionListSchema, sessionSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { recordAudit } from '../../core/access/audit.ts'
import { unauthenticated } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { logIn } from './log-in.ts'
import { codeRequired } from './second-factor.ts'
import { luciaSessions } from './sessions.ts'

const logInRoute = defineRoute({
  method: 'post',
  path: '/v1/sessions',
  access: 'anyone',
  summary: 'Log in with a password',
  description:
    'Sets the cookie of a new session. `username` is a username or an email address. The response does not reveal whether it exists. If the account has a second factor, send `code`; without it, the session of the response permits only `POST /v1/sessions/current/second-factor`.',
  request: { body: { required: true, content: { 'application/json': { schema: logInRequestSchema } } } },
  responses: {
    200: { description: 'Logged in.', content: { 'application/json': { schema: sessionSchema } } },
    ...failures('credentials_invalid', 'second_factor_required', 'second_factor_invalid', 'rate_limited'),
  },
})

const logOutRoute = defineRoute({
  method: 'delete',
  path: '/v1/sessions/current',
  access: 'account',
  summary: 'Log out',
  responses: {
    204: { description: 'The session has ended.' },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/sessions',
  access: 'account:manage',
  operationId: 'listSessions',
  summary: 'List your sessions',
  responses: {
    200: { description: 'All sessions.', content: { 'application/json': { schema: sessionListSchema } } },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const endRoute = defineRoute({
  method: 'delete',
  path: '/v1/sessions/{id}',
  access: 'account:manage',
  operationId: 'endSession',
  summary: 'End a session',
  request: { params: z.object({ id: z.string().regex(/^[0-9a-f]{32}$/, 'the id of a session') }) },
  responses: {
    204: { description: 'The session has ended.' },
    ...failures('unauthenticated', 'forbidden'),
  },
})

export function sessionRoutes(services: Services): OpenAPIHono<Env> {
  const { database, config } = services
  const routes = createRoutes()

  routes.openapi(logInRoute, async (c) => {
    const cookieHeader = c.req.header('cookie') ?? ''
    const { account, cookies, awaitsCode } = await logIn(services, {
      ...c.req.valid('json'),
      ...{ ip: c.get('ip'), cookieHeader },
    })
    for (const cookie of cookies) c.header('set-cookie', cookie, { append: true })
    if (awaitsCode) throw codeRequired()
    return c.json({ username: account.username }, 200)
  })

  routes.openapi(logOutRoute, async (c) => {
    const actor = c.get('actor')
    if (actor.tokenId !== null) throw unauthenticated('This request has no session cookie.')
    const { cookie } = await database.transaction(async (query) => {
      const subject = `account:${actor.username}`
      await recordAudit(query, { actor, action: 'session.end', subject, ip: c.get('ip') })
      return luciaSessions(query, config).end(c.req.header('cookie') ?? '')
    })
    c.header('set-cookie', cookie)
    return c.body(null, 204)
  })

  routes.openapi(listRoute, async (c) => {
    const { accountId } = c.get('actor')
    const sessions = await luciaSessions(database.query, config).list(accountId, c.req.header('cookie') ?? '')
    const listed = sessions.map(({ id, current, createdAt, expiresAt }) => ({
      id,
      current,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    }))
    return c.json({ sessions: listed }, 200)
  })

  routes.openapi(endRoute, async (c) => {
    const actor = c.get('actor')
    const { id } = c.req.valid('param')
    await database.transaction(async (query) => {
      if (!(await luciaSessions(query, config).endListed(actor.accountId, id))) return
      const subject = `account:${actor.username}`
      await recordAudit(query, { actor, action: 'session.end', subject, ip: c.get('ip'), data: { session: id } })
    })
    return c.body(null, 204)
  })

  return routes
}
