import { tokenScopeSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashSecret, makeSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, type Call, newOperator, newToken, newUser, startAuthServer } from './test/auth-server.ts'

describeOnEngines('tokens on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  let operator: { cookie: string }
  let user: { username: string; cookie: string }
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    operator = await newOperator(server, 'the-first')
    user = await newUser(server, 'holder')
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const create = (call: Call, json: Record<string, unknown>) => server.call('POST', '/v1/tokens', { ...call, json })
  const whoAmI = (token: string) => server.call('GET', '/v1/account', { token })
  const change = (token: string, values: { expires_at?: Date; last_used_at?: Date; scopes?: string }) =>
    database.query.updateTable('tokens').set(values).where('hash', '=', hashSecret(token)).execute()
  const find = (token: string) =>
    database.query.selectFrom('tokens').selectAll().where('hash', '=', hashSecret(token)).executeTakeFirstOrThrow()

  it('shows a token once, and lists it without', async () => {
    const made = await create(user, { name: 'laptop', scopes: ['packages:read'] })
    expect(made.status).toBe(201)
    const { token, ...rest } = made.body
    expect(token).toMatch(/^agt_[0-9A-Za-z]{33}$/)
    expect(rest).toMatchObject({
      name: 'laptop',
      prefix: String(token).slice(0, 12),
      scopes: ['packages:read'],
      last_used_at: null,
    })
    const days = (Date.parse(String(rest.expires_at)) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(90)
    const listed = await server.call('GET', '/v1/tokens', user)
    expect(listed.body.tokens).toContainEqual(rest)
    expect(listed.text).not.toContain(String(token))
    expect(listed.text).not.toContain(hashSecret(String(token)))
  })

  it('grants implied scopes, and reports them', async () => {
    const token = await newToken(server, user.cookie, ['packages:manage'])
    expect((await whoAmI(token)).body).toMatchObject({
      username: 'holder',
      scopes: ['packages:manage', 'packages:publish', 'packages:read'],
    })
  })

  it('refuses invalid, unknown, expired and revoked tokens, and those of disabled accounts', async () => {
    const expired = await newToken(server, user.cookie, ['packages:read'])
    await change(expired, { expires_at: new Date(Date.now() - 1_000) })
    const revoked = String((await create(user, { name: 'x', scopes: ['packages:read'] })).body.token)
    const { id } = await find(revoked)
    expect((await server.call('DELETE', `/v1/tokens/${id}`, user)).status).toBe(204)
    const left = await newUser(server, 'left')
    const disabled = await newToken(server, left.cookie, ['packages:read'])
    await database.query
      .updateTable('accounts')
      .set({ disabled_at: new Date() })
      .where('username', '=', 'left')
      .execute()
    for (const token of ['', 'agt_short', makeSecret('agt_'), makeSecret('agd_'), expired, revoked, disabled]) {
      const answer = await whoAmI(token)
      expect([answer.status, answer.code]).toEqual([401, 'unauthenticated'])
    }
    expect((await server.call('GET', '/v1/account', { cookie: left.cookie })).status).toBe(401)
    // An invalid token is refused even on public routes, and before a valid cookie is considered.
    expect((await server.call('GET', '/v1/openapi.json', { token: expired })).status).toBe(401)
    expect((await server.call('GET', '/v1/account', { token: expired, cookie: user.cookie })).status).toBe(401)
    const basic = { headers: { authorization: `Basic ${Buffer.from('holder:x').toString('base64')}` } }
    expect((await server.call('GET', '/v1/account', basic)).code).toBe('unauthenticated')
  })

  it('reports when a token was last used, without a write per request', async () => {
    const token = await newToken(server, user.cookie, ['packages:read'])
    await whoAmI(token)
    const first = (await find(token)).last_used_at
    expect(first).toBeInstanceOf(Date)
    await whoAmI(token)
    expect((await find(token)).last_used_at).toEqual(first)
    await change(token, { last_used_at: new Date(Date.now() - 3_600_000) })
    await whoAmI(token)
    expect((await find(token)).last_used_at?.getTime()).toBeGreaterThanOrEqual(Number(first?.getTime()))
  })

  it('does not let a token grant more than its own scopes', async () => {
    const manager = await newToken(server, user.cookie, ['account:manage', 'packages:publish'])
    expect((await create({ token: manager }, { name: 'x', scopes: ['packages:read', 'account:manage'] })).status).toBe(
      201,
    )
    const more = await create({ token: manager }, { name: 'x', scopes: ['packages:manage'] })
    expect([more.status, more.code]).toEqual([403, 'forbidden'])
    const worker = await create(user, { name: 'x', scopes: ['worker'] })
    expect([worker.status, worker.code]).toEqual([403, 'forbidden'])
    expect((await create(operator, { name: 'x', scopes: ['worker'] })).status).toBe(201)
  })

  it('never treats a user as a worker', async () => {
    const scopesBy = async (call: Call) => (await server.call('GET', '/v1/account', call)).body.scopes
    expect(await scopesBy(user)).toEqual(tokenScopeSchema.options.filter((scope) => scope !== 'worker'))
    expect(await scopesBy(operator)).toContain('worker')
    const token = await newToken(server, user.cookie, ['packages:read'])
    await change(token, { scopes: JSON.stringify(['packages:read', 'worker']) })
    expect(await scopesBy({ token })).toEqual(['packages:read'])
  })

  it('identifies the built-in worker, which can access only jobs', async () => {
    const embeddedWorkerToken = makeSecret('agt_')
    const beside = await startAuthServer(database, { embeddedWorkerToken })
    try {
      const token = embeddedWorkerToken
      const form = { step: 'deny', user_code: 'BCDF-GHJK' }
      expect((await beside.call('GET', '/v1/account', { token })).status).toBe(401)
      expect((await beside.call('GET', '/v1/tokens', { token })).status).toBe(403)
      expect((await beside.call('DELETE', '/v1/sessions/current', { token })).status).toBe(401)
      expect((await beside.call('POST', '/device', { token, form })).status).toBe(401)
      expect((await beside.call('POST', '/v1/organisations', { token, json: { username: 'acme' } })).status).toBe(403)
    } finally {
      await beside.close()
    }
    expect((await whoAmI(embeddedWorkerToken)).code).toBe('unauthenticated')
  })

  it('revokes an operator’s worker tokens on demotion', async () => {
    const token = await newToken(server, operator.cookie, ['worker'])
    const setOperator = (value: boolean) =>
      database.query.updateTable('accounts').set({ operator: value }).where('username', '=', 'the-first').execute()
    expect((await whoAmI(token)).body.scopes).toEqual(['worker'])
    await setOperator(false)
    expect((await whoAmI(token)).body.scopes).toEqual([])
    await setOperator(true)
  })

  it('grants nothing for a scope that no longer exists', async () => {
    const token = await newToken(server, user.cookie, ['packages:read'])
    await change(token, { scopes: JSON.stringify(['packages:read', 'everything']) })
    expect((await whoAmI(token)).body.scopes).toEqual(['packages:read'])
  })

  it('revokes only the user’s own tokens; a token may always revoke itself', async () => {
    const token = await newToken(server, user.cookie, ['packages:read'])
    const { id } = await find(token)
    const other = await newUser(server, 'somebody')
    expect((await server.call('DELETE', `/v1/tokens/${id}`, { cookie: other.cookie })).code).toBe('token_not_found')
    const sibling = await newToken(server, user.cookie, ['packages:read'])
    expect((await server.call('DELETE', `/v1/tokens/${id}`, { token: sibling })).code).toBe('forbidden')
    expect((await server.call('DELETE', `/v1/tokens/${id}`, { token })).status).toBe(204)
    expect((await whoAmI(token)).status).toBe(401)
    expect((await server.call('DELETE', `/v1/tokens/${id}`, user)).code).toBe('token_not_found')
    expect((await server.call('DELETE', '/v1/tokens/no-uuid', user)).code).toBe('request_invalid')
  })
})
