import {
  createOrganizationRequestSchema,
  memberSchema,
  organizationSchema,
  putMemberRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { rank } from '../../core/access/authorize.ts'
import { membersOf } from '../../core/access/memberships.store.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { requireAccount } from './accounts.store.ts'
import { invitationsTo } from './invitations.ts'
import { createOrganization, dropMember, setMember } from './organizations.ts'

const organizationParam = z.object({ organisation: z.string() })
const memberParam = organizationParam.extend({ username: z.string() })
const organizationBody = { 'application/json': { schema: organizationSchema } }

const createOrganizationRoute = defineRoute({
  method: 'post',
  path: '/v1/organisations',
  access: 'account:manage',
  rateLimit: { name: 'create-organisation', per: 'account', limit: 50, windowSeconds: 86_400 },
  summary: 'Create an organization',
  description: 'The caller becomes its owner. Users and organizations share one namespace.',
  request: { body: { required: true, content: { 'application/json': { schema: createOrganizationRequestSchema } } } },
  responses: {
    201: { description: 'The organization.', content: organizationBody },
    ...failures('unauthenticated', 'forbidden', 'name_invalid', 'name_taken', 'rate_limited'),
  },
})

const showOrganizationRoute = defineRoute({
  method: 'get',
  path: '/v1/organisations/{organisation}',
  access: 'anyone',
  summary: 'Get an organization',
  description: 'Only members see the list of members.',
  request: { params: organizationParam },
  responses: {
    200: { description: 'The organization.', content: organizationBody },
    ...failures('account_not_found'),
  },
})

const putMemberRoute = defineRoute({
  method: 'put',
  path: '/v1/organisations/{organisation}/members/{username}',
  access: 'account:manage',
  // Invitations are mailed.
  rateLimit: { name: 'put-member', per: 'account', limit: 500, windowSeconds: 86_400 },
  summary: 'Invite a user, or change a member’s role',
  description:
    'A user who is not a member gets an invitation, and is a member once they accept it. Requires the role of admin. Granting or revoking the role of owner requires an owner.',
  request: {
    params: memberParam,
    body: { required: true, content: { 'application/json': { schema: putMemberRequestSchema } } },
  },
  responses: {
    200: { description: 'The member, or the invited user.', content: { 'application/json': { schema: memberSchema } } },
    ...failures('unauthenticated', 'forbidden', 'account_not_found', 'last_owner', 'rate_limited'),
  },
})

const deleteMemberRoute = defineRoute({
  method: 'delete',
  path: '/v1/organisations/{organisation}/members/{username}',
  access: 'account:manage',
  summary: 'Remove a member, withdraw an invitation, or leave the organization',
  request: { params: memberParam },
  responses: {
    204: { description: 'The user is no longer a member.' },
    ...failures('unauthenticated', 'forbidden', 'account_not_found', 'last_owner'),
  },
})

export function organizationRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()

  routes.openapi(createOrganizationRoute, async (c) => {
    const actor = c.get('actor')
    const { username, display_name = null } = c.req.valid('json')
    const made = await createOrganization(services, actor, { username, displayName: display_name, ip: c.get('ip') })
    return c.json(
      { ...shown(made), members: [{ username: actor.username, role: 'owner' as const }], invitations: [] },
      201,
    )
  })

  routes.openapi(showOrganizationRoute, async (c) => {
    const organisation = await requireAccount(database.query, c.req.valid('param').organisation, 'organisation')
    const members = await membersOf(database.query, organisation.id)
    const role = members.find(({ username }) => username === c.get('actor')?.username)?.role
    if (role === undefined) return c.json(shown(organisation), 200)
    if (rank[role] < rank.admin) return c.json({ ...shown(organisation), members }, 200)
    const open = await invitationsTo(database.query, organisation.id)
    const invitations = open.map(({ username, role, invited_by, expires_at }) => ({
      ...{ username, role, invited_by, expires_at: expires_at.toISOString() },
    }))
    return c.json({ ...shown(organisation), members, invitations }, 200)
  })

  routes.openapi(putMemberRoute, async (c) => {
    const { organisation, username } = c.req.valid('param')
    const { role } = c.req.valid('json')
    const member = await setMember(services, c.get('actor'), { organisation, username, role, ip: c.get('ip') })
    return c.json(member, 200)
  })

  routes.openapi(deleteMemberRoute, async (c) => {
    await dropMember(services, c.get('actor'), { ...c.req.valid('param'), ip: c.get('ip') })
    return c.body(null, 204)
  })

  return routes
}

function shown({ username, display_name, created_at }: Awaited<ReturnType<typeof createOrganization>>) {
  return { username, kind: 'organisation' as const, display_name, created_at: created_at.toISOString() }
}
