import { setTimeout } from 'node:timers/promises'
import { AgentGymError } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertAccount } from '../../modules/accounts/accounts.store.ts'
import type { Database } from '../database/database.ts'
import type { Role } from '../database/schema.ts'
import { recordAudit } from './audit.ts'
import { type Actor, authorize, type Permission, requireActor, requireOperator, type Scope } from './authorize.ts'
import { putMember, removeMember } from './memberships.store.ts'

const roles: Role[] = ['viewer', 'member', 'admin', 'owner']
const permissions: Permission[] = ['read', 'publish', 'manage', 'own']

const codeOf = async (work: Promise<unknown> | (() => unknown)): Promise<string> => {
  try {
    await (typeof work === 'function' ? work() : work)
    return 'allowed'
  } catch (error) {
    if (error instanceof AgentGymError) return error.code
    throw error
  }
}

describeOnEngines('authorize on $kind', ({ open }) => {
  let database: Database
  let organizationId: string
  const users = new Map<Role | 'stranger' | 'operator', Actor>()
  beforeAll(async () => {
    database = await open()
    await database.transaction(async (query) => {
      organizationId = (await insertAccount(query, { kind: 'organisation', username: 'acme' })).id
      for (const role of [...roles, 'stranger', 'operator'] as const) {
        const { id } = await insertAccount(query, { kind: 'user', username: `a-${role}` })
        if (role !== 'stranger' && role !== 'operator') await putMember(query, organizationId, id, role)
        users.set(role, actor(id, `a-${role}`, { operator: role === 'operator' }))
      }
    })
  })
  afterAll(() => database.close())

  const actor = (accountId: string, username: string, rest: Partial<Actor> = {}): Actor => ({
    accountId,
    username,
    emailVerified: true,
    operator: false,
    tokenId: null,
    scopes: new Set<Scope>(['packages:read', 'packages:publish', 'packages:manage', 'account:manage']),
    ...rest,
  })
  const user = (role: Role | 'stranger' | 'operator') => users.get(role) as Actor
  const ask = (who: Actor | null, permission: Permission, options: { scope?: Scope; hidden?: string } = {}) =>
    codeOf(authorize(database.query, who, permission, organizationId, { scope: 'packages:read', ...options }))

  it.each(permissions)('%s: allows sufficient roles and none below', async (permission) => {
    const answers = await Promise.all(roles.map((role) => ask(user(role), permission)))
    const weakest = permissions.indexOf(permission)
    expect(answers).toEqual(roles.map((_, rank) => (rank >= weakest ? 'allowed' : 'forbidden')))
  })

  it.each(permissions)('%s: denies non-members, operators and anonymous callers', async (permission) => {
    expect(await ask(user('stranger'), permission)).toBe('forbidden')
    expect(await ask(user('operator'), permission)).toBe('forbidden')
    expect(await ask(null, permission)).toBe('unauthenticated')
  })

  it('gives users full access to their own resources, and others none', async () => {
    const options = { scope: 'packages:read' } as const
    for (const permission of permissions) {
      const owner = user('stranger')
      expect(await authorize(database.query, owner, permission, owner.accountId, options)).toBe(owner)
      expect(await codeOf(authorize(database.query, user('owner'), permission, owner.accountId, options))).toBe(
        'forbidden',
      )
    }
  })

  it('also requires the scope of the token', async () => {
    const owner = { ...user('owner'), scopes: new Set<Scope>(['packages:read']) }
    expect(await ask(owner, 'read')).toBe('allowed')
    expect(await ask(owner, 'publish', { scope: 'packages:publish' })).toBe('forbidden')
    expect(await ask(owner, 'own', { scope: 'account:manage' })).toBe('forbidden')
  })

  it('hides private packages from callers who cannot read them', async () => {
    const hidden = '@acme/secret'
    const blind = { ...user('owner'), scopes: new Set<Scope>(['account:manage']) }
    for (const who of [null, user('stranger'), user('operator'), blind])
      for (const permission of permissions) expect(await ask(who, permission, { hidden })).toBe('package_not_found')
    expect(await ask(user('viewer'), 'read', { hidden })).toBe('allowed')
    expect(await ask(user('viewer'), 'publish', { hidden })).toBe('forbidden')
  })

  it('notices a membership removed in the meantime', async () => {
    const { id } = await database.transaction((query) => insertAccount(query, { kind: 'user', username: 'leaver' }))
    const leaver = actor(id, 'leaver')
    await putMember(database.query, organizationId, id, 'admin')
    expect(await ask(leaver, 'manage')).toBe('allowed')
    await putMember(database.query, organizationId, id, 'viewer')
    expect(await ask(leaver, 'manage')).toBe('forbidden')
  })

  it('locks the membership until the permitted write is done', async () => {
    const { id } = await database.transaction((query) => insertAccount(query, { kind: 'user', username: 'writer' }))
    await putMember(database.query, organizationId, id, 'member')
    const order: string[] = []
    const held = Promise.withResolvers<void>()
    const write = database.transaction(async (query) => {
      await authorize(query, actor(id, 'writer'), 'publish', organizationId, { scope: 'packages:publish' })
      held.resolve()
      // Long enough for the removal to come in between without the lock.
      await setTimeout(100)
      await recordAudit(query, { actor: null, action: 'session.end', subject: 'x', ip: null })
      order.push('written')
    })
    await held.promise
    await removeMember(database.query, organizationId, id)
    order.push('removed')
    await write
    expect(order).toEqual(['written', 'removed'])
  })

  it('requires only the actor for personal resources', async () => {
    expect(await codeOf(() => requireActor(null, 'account:manage'))).toBe('unauthenticated')
    expect(await codeOf(() => requireActor(user('stranger'), 'worker'))).toBe('forbidden')
    expect(requireActor(user('stranger'), 'account:manage')).toBe(user('stranger'))
    expect(await codeOf(() => requireOperator(user('owner'), 'account:manage'))).toBe('forbidden')
    expect(requireOperator(user('operator'), 'account:manage')).toBe(user('operator'))
  })
})
