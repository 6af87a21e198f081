import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashSecret, makeSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import { accountRoutes } from './accounts.routes.ts'
import { type AuthServer, type Call, newOperator, newToken, newUser, startAuthServer } from './test/auth-server.ts'

/**
 * Callers by their credentials. Statuses are listed per caller, in this order; roles are those in `acme`. Every row is
 * refused or granted without changing what a later row needs.
 */
const callers = ['nobody', 'expired', 'revoked', 'wrong-scope', 'other', 'viewer', 'member', 'admin', 'owner'] as const
type Caller = (typeof callers)[number]

const publicRoute = (status: number): number[] => [status, 401, 401, status, status, status, status, status, status]
const someRoute = (status: number): number[] => [401, 401, 401, 403, status, status, status, status, status]

const agm = makeSecret('agm_')
const member = '/v1/organisations/acme/members'
const rows: { route: string; path: string; json?: unknown; statuses: number[] }[] = [
  { route: 'POST /v1/accounts', path: '/v1/accounts', json: {}, statuses: publicRoute(422) },
  { route: 'GET /v1/account', path: '/v1/account', statuses: [401, 401, 401, 200, 200, 200, 200, 200, 200] },
  { route: 'PUT /v1/account/password', path: '/v1/account/password', json: {}, statuses: someRoute(422) },
  {
    route: 'PUT /v1/account/password',
    path: '/v1/account/password',
    json: { current_password: 'wrong', password: 'long enough for it' },
    statuses: someRoute(401),
  },
  { route: 'POST /v1/account/verification-mail', path: '/v1/account/verification-mail', statuses: someRoute(202) },
  { route: 'POST /v1/sessions', path: '/v1/sessions', json: {}, statuses: publicRoute(422) },
  {
    route: 'DELETE /v1/sessions/current',
    path: '/v1/sessions/current',
    // All of them bring tokens: no session to end.
    statuses: [401, 401, 401, 401, 401, 401, 401, 401, 401],
  },
  {
    route: 'POST /v1/tokens',
    path: '/v1/tokens',
    json: { name: 'x', scopes: ['account:manage'] },
    statuses: someRoute(201),
  },
  { route: 'GET /v1/tokens', path: '/v1/tokens', statuses: someRoute(200) },
  { route: 'DELETE /v1/tokens/{id}', path: `/v1/tokens/${crypto.randomUUID()}`, statuses: someRoute(404) },
  { route: 'GET /v1/sessions', path: '/v1/sessions', statuses: someRoute(200) },
  // Does not reveal whether it exists.
  { route: 'DELETE /v1/sessions/{id}', path: `/v1/sessions/${'0'.repeat(32)}`, statuses: someRoute(204) },
  {
    route: 'POST /v1/account/sign-out',
    path: '/v1/account/sign-out',
    json: { tokens: false },
    statuses: someRoute(204),
  },
  // Sessions only: all of them bring tokens.
  {
    route: 'PUT /v1/account/operator',
    path: '/v1/account/operator',
    json: { setup_secret: 'x' },
    statuses: someRoute(403),
  },
  {
    route: 'PUT /v1/accounts/{username}/operator',
    path: '/v1/accounts/guest/operator',
    statuses: [401, 401, 401, 403, 403, 403, 403, 403, 403],
  },
  ...(
    [
      ['GET /v1/accounts', '/v1/accounts', undefined, 200],
      ['DELETE /v1/accounts/{username}/operator', '/v1/accounts/guest/operator', undefined, 204],
      ['PUT /v1/accounts/{username}/disabled', '/v1/accounts/guest/disabled', { reason: 'x' }, 204],
      ['DELETE /v1/accounts/{username}/disabled', '/v1/accounts/guest/disabled', undefined, 204],
      ['PUT /v1/accounts/{username}/email', '/v1/accounts/guest/email', { email: 'guest@example.com' }, 204],
      ['DELETE /v1/accounts/{username}/second-factor', '/v1/accounts/guest/second-factor', undefined, 204],
      ['POST /v1/accounts/{username}/sign-out', '/v1/accounts/guest/sign-out', {}, 204],
    ] as const
  ).map(([route, path, json, status]) => ({
    ...{ route, path, json },
    statuses: [401, 401, 401, 403, 403, 403, 403, 403, status],
  })),
  { route: 'GET /v1/account/second-factor', path: '/v1/account/second-factor', statuses: someRoute(200) },
  // Sessions only: all of them bring tokens.
  ...(
    [
      ['POST /v1/account/second-factor', {}],
      ['PUT /v1/account/second-factor', { code: '123456' }],
      ['DELETE /v1/account/second-factor', undefined],
      ['POST /v1/account/second-factor/recovery-codes', {}],
    ] as const
  ).map(([route, json]) => ({ route, path: route.split(' ')[1], json, statuses: someRoute(403) })),
  {
    route: 'POST /v1/sessions/current/second-factor',
    path: '/v1/sessions/current/second-factor',
    json: { code: '123456' },
    statuses: publicRoute(401),
  },
  { route: 'GET /v1/account/email-change', path: '/v1/account/email-change', statuses: someRoute(200) },
  {
    route: 'POST /v1/account/email-change',
    path: '/v1/account/email-change',
    json: { email: 'new@example.org' },
    // Sessions only.
    statuses: someRoute(403),
  },
  { route: 'DELETE /v1/account/email-change', path: '/v1/account/email-change', statuses: someRoute(204) },
  ...['POST /v1/email-changes', 'POST /v1/email-changes/cancellation'].map((route) => ({
    route,
    path: route.split(' ')[1],
    json: { token: agm },
    statuses: publicRoute(400),
  })),
  { route: 'GET /v1/account/security-keys', path: '/v1/account/security-keys', statuses: someRoute(200) },
  {
    route: 'POST /v1/account/security-keys/options',
    path: '/v1/account/security-keys/options',
    json: {},
    // Sessions only.
    statuses: someRoute(403),
  },
  { route: 'POST /v1/account/security-keys', path: '/v1/account/security-keys', json: {}, statuses: someRoute(422) },
  {
    route: 'DELETE /v1/account/security-keys/{id}',
    path: `/v1/account/security-keys/${crypto.randomUUID()}`,
    statuses: someRoute(403),
  },
  {
    route: 'GET /v1/sessions/current/second-factor',
    path: '/v1/sessions/current/second-factor',
    statuses: publicRoute(401),
  },
  {
    route: 'POST /v1/sessions/current/security-key/options',
    path: '/v1/sessions/current/security-key/options',
    json: {},
    statuses: publicRoute(401),
  },
  {
    route: 'POST /v1/sessions/current/security-key',
    path: '/v1/sessions/current/security-key',
    json: {},
    statuses: publicRoute(422),
  },
  // The owner operates the server; with another scope that is not enough.
  { route: 'GET /v1/audit', path: '/v1/audit', statuses: [401, 401, 401, 403, 403, 403, 403, 403, 200] },
  { route: 'POST /v1/organisations', path: '/v1/organisations', json: { username: 'api' }, statuses: someRoute(422) },
  { route: 'GET /v1/organisations/{organisation}', path: '/v1/organisations/acme', statuses: publicRoute(200) },
  {
    route: 'PUT /v1/organisations/{organisation}/members/{username}',
    path: `${member}/guest`,
    json: { role: 'viewer' },
    statuses: [401, 401, 401, 403, 403, 403, 403, 200, 200],
  },
  {
    route: 'PUT /v1/organisations/{organisation}/members/{username}',
    path: `${member}/guest`,
    json: { role: 'owner' },
    statuses: [401, 401, 401, 403, 403, 403, 403, 403, 200],
  },
  {
    route: 'DELETE /v1/organisations/{organisation}/members/{username}',
    path: `${member}/guest`,
    statuses: [401, 401, 401, 403, 403, 403, 403, 403, 204],
  },
  { route: 'GET /v1/invitations', path: '/v1/invitations', statuses: someRoute(200) },
  {
    route: 'PUT /v1/invitations/{organisation}',
    path: '/v1/invitations/acme',
    json: { role: 'viewer' },
    statuses: someRoute(404),
  },
  { route: 'DELETE /v1/invitations/{organisation}', path: '/v1/invitations/acme', statuses: someRoute(404) },
  {
    route: 'POST /v1/email-verifications',
    path: '/v1/email-verifications',
    json: { token: agm },
    statuses: publicRoute(400),
  },
  { route: 'POST /v1/password-resets', path: '/v1/password-resets', json: {}, statuses: publicRoute(422) },
  {
    route: 'PUT /v1/password-resets',
    path: '/v1/password-resets',
    json: { token: agm, password: 'long enough for it' },
    statuses: publicRoute(400),
  },
  {
    route: 'POST /v1/device-codes',
    path: '/v1/device-codes',
    json: { name: 'x', scopes: ['packages:read'] },
    statuses: publicRoute(200),
  },
  {
    route: 'POST /v1/device-codes/token',
    path: '/v1/device-codes/token',
    json: { device_code: 'x' },
    statuses: publicRoute(400),
  },
  ...(
    [
      ['GET /v1/organisations/{organisation}/sign-on', '', undefined, 200, 200],
      [
        'PUT /v1/organisations/{organisation}/sign-on',
        '',
        { issuer: 'https://idp.example.org', client_id: 'x', client_secret: 'x', default_role: 'member' },
        403,
        400,
      ],
      ['DELETE /v1/organisations/{organisation}/sign-on', '', undefined, 403, 204],
      ['POST /v1/organisations/{organisation}/sign-on/domains', '/domains', { domain: 'example.org' }, 403, 201],
      [
        'POST /v1/organisations/{organisation}/sign-on/domains/{domain}/verify',
        '/domains/example.invalid/verify',
        undefined,
        403,
        422,
      ],
      ['DELETE /v1/organisations/{organisation}/sign-on/domains/{domain}', '/domains/example.org', undefined, 403, 204],
    ] as const
  ).map(([route, path, json, admin, owner]) => ({
    ...{ route, json },
    path: `/v1/organisations/acme/sign-on${path}`,
    statuses: [401, 401, 401, 403, 403, 403, 403, admin, owner],
  })),
  { route: 'GET /v1/sign-on', path: '/v1/sign-on?email=ann@example.org', statuses: publicRoute(404) },
  { route: 'GET /v1/sign-on/callback', path: '/v1/sign-on/callback', statuses: publicRoute(400) },
  { route: 'GET /v1/oauth/{provider}', path: '/v1/oauth/github', statuses: publicRoute(404) },
  { route: 'GET /v1/oauth/{provider}/callback', path: '/v1/oauth/github/callback', statuses: publicRoute(404) },
]

describeOnEngines('every route of accounts on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  const bring = new Map<Caller, Call>([['nobody', {}]])
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    const owner = await newOperator(server, 'acme-owner')
    await newUser(server, 'guest')
    await server.call('POST', '/v1/organisations', { cookie: owner.cookie, json: { username: 'acme' } })
    for (const role of ['viewer', 'member', 'admin']) {
      const { cookie } = await newUser(server, `acme-${role}`)
      await server.call('PUT', `${member}/acme-${role}`, { cookie: owner.cookie, json: { role } })
      await server.call('PUT', '/v1/invitations/acme', { cookie, json: { role } })
      bring.set(role as Caller, { token: await newToken(server, cookie, ['account:manage']) })
    }
    const other = await newUser(server, 'other')
    bring.set('other', { token: await newToken(server, other.cookie, ['account:manage']) })
    const ownToken = () => newToken(server, owner.cookie, ['account:manage'])
    bring.set('owner', { token: await ownToken() })
    bring.set('wrong-scope', { token: await newToken(server, owner.cookie, ['packages:manage']) })
    for (const [caller, field] of [
      ['expired', 'expires_at'],
      ['revoked', 'revoked_at'],
    ] as const) {
      const token = await ownToken()
      const past = new Date(Date.now() - 60_000)
      await database.query
        .updateTable('tokens')
        .set({ [field]: past })
        .where('hash', '=', hashSecret(token))
        .execute()
      bring.set(caller, { token })
    }
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  it.each(rows)('$route', async ({ route, path, json, statuses }) => {
    const got: number[] = []
    for (const [index, caller] of callers.entries()) {
      const call = { ...bring.get(caller), json, ip: `192.0.2.${index}` }
      got.push((await server.call(route.split(' ')[0], path, call)).status)
    }
    expect(Object.fromEntries(callers.map((caller, index) => [caller, got[index]]))).toEqual(
      Object.fromEntries(callers.map((caller, index) => [caller, statuses[index]])),
    )
  })

  it('covers every route of the API', () => {
    const document = accountRoutes(server.services).getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: '', version: '' },
    })
    const routes = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect([...new Set(rows.map(({ route }) => route))].sort()).toEqual(routes.sort())
  })
})
