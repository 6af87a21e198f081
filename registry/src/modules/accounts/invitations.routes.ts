import { acceptInvitationRequestSchema, invitationListSchema, memberSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { acceptInvitation, declineInvitation, invitationsOf } from './invitations.ts'

const params = z.object({ organisation: z.string().max(100) })
const refusals = failures('unauthenticated', 'forbidden', 'invitation_not_found')

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/invitations',
  access: 'account:manage',
  operationId: 'listInvitations',
  summary: 'Invitations to organizations',
  responses: {
    200: { description: 'Pending invitations.', content: json(invitationListSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const acceptRoute = defineRoute({
  method: 'put',
  path: '/v1/invitations/{organisation}',
  access: 'account:manage',
  operationId: 'acceptInvitation',
  summary: 'Accept an invitation',
  description: 'Grants the role in the invitation. Fails if its sender is no longer allowed to invite.',
  request: { params, body: { required: true, content: json(acceptInvitationRequestSchema) } },
  responses: { 200: { description: 'The new membership.', content: json(memberSchema) }, ...refusals },
})

const declineRoute = defineRoute({
  method: 'delete',
  path: '/v1/invitations/{organisation}',
  access: 'account:manage',
  operationId: 'declineInvitation',
  summary: 'Decline an invitation',
  request: { params },
  responses: { 204: { description: 'The invitation was declined.' }, ...refusals },
})

export function invitationRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()

  routes.openapi(listRoute, async (c) => {
    const found = await invitationsOf(services.database.query, c.get('actor').accountId)
    const invitations = found.map(({ host, display_name, role, invited_by, created_at, expires_at }) => ({
      ...{ organisation: host, display_name, role, invited_by },
      created_at: created_at.toISOString(),
      expires_at: expires_at.toISOString(),
    }))
    return c.json({ invitations }, 200)
  })

  routes.openapi(acceptRoute, async (c) => {
    const actor = c.get('actor')
    const { role } = c.req.valid('json')
    await acceptInvitation(services, actor, { ...c.req.valid('param'), role, ip: c.get('ip') })
    return c.json({ username: actor.username, role, state: 'member' as const }, 200)
  })

  routes.openapi(declineRoute, async (c) => {
    await declineInvitation(services, c.get('actor'), { ...c.req.valid('param'), ip: c.get('ip') })
    return c.body(null, 204)
  })

  return routes
}
