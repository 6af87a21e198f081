import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, newOperator, newUser, startAuthServer } from './test/auth-server.ts'

describeOnEngines('organisations on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  const cookies = new Map<string, string>()
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    cookies.set('zero', (await newOperator(server, 'zero')).cookie)
    for (const name of ['ann', 'bob', 'cleo']) cookies.set(name, (await newUser(server, name)).cookie)
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const call = (who: string, method: string, path: string, json?: unknown) =>
    server.call(method, `/v1/organisations${path}`, { cookie: cookies.get(who), json })
  const put = (who: string, organisation: string, username: string, role: string) =>
    call(who, 'PUT', `/${organisation}/members/${username}`, { role })
  const remove = (who: string, organisation: string, username: string) =>
    call(who, 'DELETE', `/${organisation}/members/${username}`)

  it('belongs to its creator, and shows its members only to members', async () => {
    const made = await call('ann', 'POST', '', { username: 'acme', display_name: 'Acme Robotics' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      username: 'acme',
      kind: 'organisation',
      members: [{ username: 'ann', role: 'owner' }],
    })
    expect((await call('ann', 'GET', '/ACME')).body).toEqual(made.body)
    const { members: _, ...shown } = made.body
    expect((await call('bob', 'GET', '/acme')).body).toEqual(shown)
    const own = await server.call('GET', '/v1/account', { cookie: cookies.get('ann') })
    expect(own.body.organisations).toEqual([{ username: 'acme', role: 'owner' }])
  })

  it('shares one space of names with users', async () => {
    expect((await call('ann', 'POST', '', { username: 'b0b' })).code).toBe('name_taken')
    expect((await call('ann', 'POST', '', { username: 'agentgym' })).code).toBe('name_invalid')
    // Operators may take the names that speak for AgentGym.
    expect((await call('zero', 'POST', '', { username: 'agentgym' })).status).toBe(201)
    expect((await call('ann', 'GET', '/bob')).code).toBe('account_not_found')
    expect((await put('ann', 'acme', 'agentgym', 'member')).code).toBe('account_not_found')
  })

  it('lets admins look after members, and owners alone make owners', async () => {
    expect((await put('ann', 'acme', 'bob', 'admin')).body).toEqual({ username: 'bob', role: 'admin' })
    expect((await put('bob', 'acme', 'cleo', 'viewer')).status).toBe(200)
    expect((await put('bob', 'acme', 'cleo', 'owner')).code).toBe('forbidden')
    expect((await put('bob', 'acme', 'bob', 'owner')).code).toBe('forbidden')
    expect((await put('bob', 'acme', 'ann', 'viewer')).code).toBe('forbidden')
    expect((await remove('bob', 'acme', 'ann')).code).toBe('forbidden')
    expect((await remove('bob', 'acme', 'cleo')).status).toBe(204)
    expect((await remove('bob', 'acme', 'cleo')).code).toBe('account_not_found')
  })

  it('keeps an owner', async () => {
    expect((await remove('ann', 'acme', 'ann')).code).toBe('last_owner')
    expect((await put('ann', 'acme', 'ann', 'admin')).code).toBe('last_owner')
    expect((await put('ann', 'acme', 'bob', 'owner')).status).toBe(200)
    // Each takes the other's role at the same time: one of them comes too late.
    const both = await Promise.all([put('ann', 'acme', 'bob', 'member'), put('bob', 'acme', 'ann', 'member')])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
    const owners = await database.query
      .selectFrom('memberships')
      .select('user_id')
      .where('role', '=', 'owner')
      .execute()
    expect(owners).toHaveLength(2)
  })

  it('lets members leave, but not remove others', async () => {
    await call('zero', 'POST', '', { username: 'club' })
    await put('zero', 'club', 'cleo', 'viewer')
    await put('zero', 'club', 'bob', 'member')
    expect((await remove('cleo', 'club', 'bob')).code).toBe('forbidden')
    expect((await remove('cleo', 'club', 'cleo')).status).toBe(204)
    expect((await remove('cleo', 'club', 'cleo')).code).toBe('forbidden')
    const entries = await database.query
      .selectFrom('audit')
      .select(['action', 'data'])
      .where('subject', '=', 'account:club')
      .orderBy('id')
      .execute()
    expect(entries).toEqual([
      { action: 'organisation.create', data: {} },
      { action: 'member.put', data: { member: 'cleo', role: 'viewer', before: null } },
      { action: 'member.put', data: { member: 'bob', role: 'member', before: null } },
      { action: 'member.remove', data: { member: 'cleo', before: 'viewer' } },
    ])
  })
})
