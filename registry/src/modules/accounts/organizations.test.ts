import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
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
  const accept = (who: string, organisation: string, role: string) =>
    server.call('PUT', `/v1/invitations/${organisation}`, { cookie: cookies.get(who), json: { role } })
  const decline = (who: string, organisation: string) =>
    server.call('DELETE', `/v1/invitations/${organisation}`, { cookie: cookies.get(who), json: {} })
  const remove = (who: string, organisation: string, username: string) =>
    call(who, 'DELETE', `/${organisation}/members/${username}`)

  it('belongs to its creator, and lists members only to members', async () => {
    const made = await call('ann', 'POST', '', { username: 'acme', display_name: 'Acme Robotics' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      username: 'acme',
      kind: 'organisation',
      members: [{ username: 'ann', role: 'owner' }],
    })
    expect((await call('ann', 'GET', '/ACME')).body).toEqual(made.body)
    const { members: _members, invitations: _invitations, ...shown } = made.body
    expect((await call('bob', 'GET', '/acme')).body).toEqual(shown)
    const own = await server.call('GET', '/v1/account', { cookie: cookies.get('ann') })
    expect(own.body.organisations).toEqual([{ username: 'acme', role: 'owner' }])
  })

  it('shares a namespace with users', async () => {
    expect((await call('ann', 'POST', '', { username: 'b0b' })).code).toBe('name_taken')
    expect((await call('ann', 'POST', '', { username: 'agentgym' })).code).toBe('name_invalid')
    // Operators may use the reserved names.
    expect((await call('zero', 'POST', '', { username: 'agentgym' })).status).toBe(201)
    expect((await call('ann', 'GET', '/bob')).code).toBe('account_not_found')
    expect((await put('ann', 'acme', 'agentgym', 'member')).code).toBe('account_not_found')
  })

  it('lets admins manage members, and only owners add owners', async () => {
    expect((await put('ann', 'acme', 'bob', 'admin')).body).toEqual({
      ...{ username: 'bob', role: 'admin', state: 'invited' },
    })
    expect((await accept('bob', 'acme', 'admin')).body).toMatchObject({ state: 'member' })
    expect((await put('bob', 'acme', 'cleo', 'viewer')).status).toBe(200)
    await accept('cleo', 'acme', 'viewer')
    expect((await put('bob', 'acme', 'cleo', 'owner')).code).toBe('forbidden')
    expect((await put('bob', 'acme', 'bob', 'owner')).code).toBe('forbidden')
    expect((await put('bob', 'acme', 'ann', 'viewer')).code).toBe('forbidden')
    expect((await remove('bob', 'acme', 'ann')).code).toBe('forbidden')
    expect((await remove('bob', 'acme', 'cleo')).status).toBe(204)
    expect((await remove('bob', 'acme', 'cleo')).code).toBe('account_not_found')
  })

  it('keeps at least one owner', async () => {
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
    await accept('cleo', 'club', 'viewer')
    await put('zero', 'club', 'bob', 'member')
    await accept('bob', 'club', 'member')
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
      { action: 'invitation.put', data: { member: 'cleo', role: 'viewer', before: null } },
      { action: 'invitation.accept', data: { member: 'cleo', role: 'viewer' } },
      { action: 'invitation.put', data: { member: 'bob', role: 'member', before: null } },
      { action: 'invitation.accept', data: { member: 'bob', role: 'member' } },
      { action: 'member.remove', data: { member: 'cleo', before: 'viewer' } },
    ])
  })

  it('adds members only after acceptance, in the offered role', async () => {
    await call('ann', 'POST', '', { username: 'crew' })
    const members = async () => (await call('ann', 'GET', '/crew')).body
    await put('ann', 'crew', 'cleo', 'viewer')
    expect(await members()).toMatchObject({
      members: [{ username: 'ann' }],
      invitations: [{ username: 'cleo', role: 'viewer', invited_by: 'ann' }],
    })
    expect((await call('cleo', 'GET', '/crew')).body.members).toBeUndefined()
    const own = async () => (await server.call('GET', '/v1/invitations', { cookie: cookies.get('cleo') })).body
    expect(await own()).toMatchObject({ invitations: [{ organisation: 'crew', role: 'viewer', invited_by: 'ann' }] })
    // What was read is what is accepted.
    await put('ann', 'crew', 'cleo', 'admin')
    expect((await accept('cleo', 'crew', 'viewer')).code).toBe('invitation_not_found')
    expect((await accept('bob', 'crew', 'admin')).code).toBe('invitation_not_found')
    expect((await accept('cleo', 'crew', 'admin')).status).toBe(200)
    expect(await own()).toEqual({ invitations: [] })
    expect((await accept('cleo', 'crew', 'admin')).code).toBe('invitation_not_found')
    expect(await members()).toMatchObject({ members: [{ username: 'ann' }, { username: 'cleo' }], invitations: [] })
  })

  it('drops invitations that were declined, withdrawn, have expired, or whose sender lost the permission', async () => {
    await call('ann', 'POST', '', { username: 'band' })
    await put('ann', 'band', 'bob', 'viewer')
    expect((await decline('bob', 'band')).status).toBe(204)
    expect((await accept('bob', 'band', 'viewer')).code).toBe('invitation_not_found')
    await put('ann', 'band', 'bob', 'viewer')
    expect((await remove('ann', 'band', 'bob')).status).toBe(204)
    expect((await accept('bob', 'band', 'viewer')).code).toBe('invitation_not_found')
    await put('ann', 'band', 'bob', 'viewer')
    await database.query.updateTable('invitations').set({ expires_at: new Date() }).execute()
    expect((await accept('bob', 'band', 'viewer')).code).toBe('invitation_not_found')
    // An admin invites an accomplice and is removed before they accept.
    for (const ending of ['remove', 'demote', 'disable'] as const) {
      await put('ann', 'band', 'cleo', 'admin')
      await accept('cleo', 'band', 'admin')
      await put('cleo', 'band', 'bob', 'admin')
      if (ending === 'remove') await remove('ann', 'band', 'cleo')
      else if (ending === 'demote') await put('ann', 'band', 'cleo', 'member')
      else
        await database.query
          .updateTable('accounts')
          .set({ disabled_at: new Date() })
          .where('username', '=', 'cleo')
          .execute()
      expect((await accept('bob', 'band', 'admin')).code).toBe('invitation_not_found')
      await remove('ann', 'band', 'cleo')
    }
  })

  it('emails invited users with a confirmed address', async () => {
    await call('ann', 'POST', '', { username: 'choir' })
    await put('ann', 'choir', 'bob', 'viewer')
    await database.query
      .updateTable('accounts')
      .set({ email_verified_at: new Date() })
      .where('username', '=', 'bob')
      .execute()
    await put('ann', 'choir', 'bob', 'member')
    await backgroundSettled()
    const mails = (await server.services.mail.sent()).filter(({ subject }) => subject.includes('choir'))
    expect(mails.map(({ to }) => to)).toEqual(['bob@example.com'])
    expect(mails[0].text).toContain('ann invites you to join the organization choir as member')
  })
})
