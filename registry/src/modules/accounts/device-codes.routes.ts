import {
  AgentGymError,
  createDeviceCodeRequestSchema,
  deviceCodeSchema,
  deviceTokenRequestSchema,
  deviceTokenSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { createDeviceCode, deviceCodeSeconds, pollSeconds, redeemDeviceCode } from './device-log-in.ts'
import { shownToken } from './tokens.routes.ts'

const createDeviceCodeRoute = defineRoute({
  method: 'post',
  path: '/v1/device-codes',
  access: 'anyone',
  rateLimit: { name: 'device-code', per: 'network', limit: 60, windowSeconds: 600 },
  summary: 'Start a login that is approved in a browser',
  description:
    'RFC 8628 as JSON: show `user_code` and `verification_uri`, then poll for the token every `interval` seconds.',
  request: { body: { required: true, content: { 'application/json': { schema: createDeviceCodeRequestSchema } } } },
  responses: {
    200: { description: 'The codes.', content: { 'application/json': { schema: deviceCodeSchema } } },
    ...failures('rate_limited'),
  },
})

const redeemRoute = defineRoute({
  method: 'post',
  path: '/v1/device-codes/token',
  access: 'anyone',
  summary: 'Poll for approval of a login',
  request: { body: { required: true, content: { 'application/json': { schema: deviceTokenRequestSchema } } } },
  responses: {
    200: {
      description: 'The token. It is returned only once.',
      content: { 'application/json': { schema: deviceTokenSchema } },
    },
    ...failures('authorization_pending', 'slow_down', 'access_denied', 'expired_token'),
  },
})

const messages = {
  authorization_pending: 'The login has not been approved yet.',
  slow_down: `Wait ${pollSeconds} s longer between polls.`,
  access_denied: 'The login was denied.',
  expired_token: 'The login is unknown, finished or expired.',
} as const

export function deviceCodeRoutes(services: Services): OpenAPIHono<Env> {
  const { database, config } = services
  const routes = createRoutes()

  routes.openapi(createDeviceCodeRoute, async (c) => {
    const { deviceCode, userCode } = await createDeviceCode(database.query, c.req.valid('json'))
    const page = `${config.publicUrl}/device`
    return c.json(
      {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        interval: pollSeconds,
        expires_in: deviceCodeSeconds,
      },
      200,
    )
  })

  routes.openapi(redeemRoute, async (c) => {
    const answer = await redeemDeviceCode(services, c.req.valid('json').device_code, c.get('ip'))
    if ('failure' in answer)
      throw new AgentGymError({
        code: answer.failure,
        message: messages[answer.failure],
        data: answer.failure === 'slow_down' ? { interval: pollSeconds } : {},
      })
    const { token, username } = answer
    return c.json({ ...shownToken(token), token: token.token, username }, 200)
  })

  return routes
}
