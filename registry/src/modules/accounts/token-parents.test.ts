import { describeOnEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { tokenParents } from '../../core/database/migrations/0017-token-parents.ts'
import { type AuthServer, newOperator, newToken, newUser, startAuthServer } from './test/auth-server.ts'

/** A token as the model knows it: by its place in the list, so that a parent comes before its children. */
type Made = { id: string; token: string; parent: number | null; scopes: string[]; expiresAt: number; revoked: boolean }

describeOnEngines('tokens that tokens create, on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    await newOperator(server, 'the-first')
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const create = (by: { token?: string; cookie?: string }, json: Record<string, unknown>) =>
    server.call('POST', '/v1/tokens', { ...by, json: { name: 'x', scopes: ['account:manage'], ...json } })
  const revoke = (by: { token?: string; cookie?: string }, id: string) => server.call('DELETE', `/v1/tokens/${id}`, by)
  const works = async (token: string) => (await server.call('GET', '/v1/account', { token })).status === 200

  it('expire with their parent, whatever expiry they request', async () => {
    const { cookie } = await newUser(server, 'short')
    const parent = (await create({ cookie }, { expires_in_days: 1 })).body
    const child = (await create({ token: String(parent.token) }, { expires_in_days: 365 })).body
    expect(child).toMatchObject({ expires_at: parent.expires_at, parent_id: parent.id })
    const shorter = (await create({ token: String(child.token) }, { expires_in_days: 1 })).body
    expect(Date.parse(String(shorter.expires_at))).toBeLessThanOrEqual(Date.parse(String(child.expires_at)))
  })

  it('are revoked with their parent, and each revocation is recorded', async () => {
    const { cookie } = await newUser(server, 'family')
    const parent = (await create({ cookie }, {})).body
    const child = (await create({ token: String(parent.token) }, {})).body
    const grandchild = (await create({ token: String(child.token) }, {})).body
    const sibling = (await create({ cookie }, {})).body
    expect((await revoke({ cookie }, String(parent.id))).status).toBe(204)
    expect(await Promise.all([parent, child, grandchild, sibling].map(({ token }) => works(String(token))))).toEqual([
      ...[false, false, false, true],
    ])
    const recorded = await database.query
      .selectFrom('audit')
      .select(['subject', 'data'])
      .where('action', '=', 'token.revoke')
      .where(
        'subject',
        'in',
        [parent, child, grandchild].map(({ id }) => `token:${id}`),
      )
      .orderBy('id')
      .execute()
    expect(recorded).toEqual([
      { subject: `token:${parent.id}`, data: {} },
      { subject: `token:${child.id}`, data: { with: parent.id } },
      { subject: `token:${grandchild.id}`, data: { with: parent.id } },
    ])
  })

  it('cannot escape a concurrent revocation', async () => {
    const { cookie } = await newUser(server, 'racer')
    for (let round = 0; round < 8; round++) {
      const parent = (await create({ cookie }, {})).body
      const token = String(parent.token)
      const [made] = await Promise.all([
        Promise.all(Array.from({ length: 4 }, () => create({ token }, {}))),
        revoke({ cookie }, String(parent.id)),
      ])
      for (const { status, body } of made) {
        expect([201, 401]).toContain(status)
        if (status === 201) expect(await works(String(body.token))).toBe(false)
      }
    }
  })

  it('never outlive or exceed an ancestor, in any order of creating and revoking', async () => {
    const scopes = ['account:manage', 'packages:read', 'packages:publish', 'market:buy']
    const step = fc.record({
      what: fc.constantFrom('create' as const, 'create' as const, 'revoke' as const),
      by: fc.nat(),
      scopes: fc.subarray(scopes, { minLength: 1 }),
      days: fc.integer({ min: 1, max: 366 }),
    })
    let users = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const { cookie } = await newUser(server, `user-${++users}x`)
        const made: Made[] = []
        const living = (index: number | null): boolean =>
          index === null || (!made[index].revoked && living(made[index].parent))
        for (const { what, by, scopes: wanted, days } of steps) {
          // 0 is the session, the others are tokens, revoked ones too.
          const maker = by % (made.length + 1) === 0 ? null : (by % (made.length + 1)) - 1
          const call = maker === null ? { cookie } : { token: made[maker].token }
          if (what === 'create') {
            const { status, body } = await create(call, { scopes: wanted, expires_in_days: days })
            const grants = maker === null || made[maker].scopes.includes('account:manage')
            const within = maker === null || wanted.every((scope) => holds(made[maker].scopes, scope))
            expect(status).toBe(!living(maker) ? 401 : grants && within ? 201 : 403)
            if (status !== 201) continue
            const expiresAt = Date.parse(String(body.expires_at))
            if (maker !== null) expect(expiresAt).toBeLessThanOrEqual(made[maker].expiresAt)
            const [id, token] = [String(body.id), String(body.token)]
            made.push({ id, token, parent: maker, scopes: wanted, expiresAt, revoked: false })
          } else if (maker !== null) {
            expect((await revoke({ cookie }, made[maker].id)).status).toBe(living(maker) ? 204 : 404)
            made[maker].revoked = true
          }
        }
        for (const [index, { token }] of made.entries()) expect(await works(token)).toBe(living(index))
      }),
      { numRuns: 12 },
    )
  })

  it('get unrecorded parents from the audit log', async () => {
    const { cookie } = await newUser(server, 'upgraded')
    const parent = (await create({ cookie }, { expires_in_days: 1 })).body
    const child = (await create({ token: String(parent.token) }, {})).body
    const grandchild = (await create({ token: String(child.token) }, {})).body
    const late = new Date(Date.now() + 300 * 86_400_000)
    const ids = [child, grandchild].map(({ id }) => String(id))
    // `parent_id` has no update type: nothing but a migration sets it.
    await database.query
      .updateTable('tokens')
      .set({ expires_at: late, parent_id: null } as never)
      .where('id', 'in', ids)
      .execute()
    await revoke({ cookie }, String(parent.id))
    expect(await works(String(grandchild.token))).toBe(true)
    for (const statement of tokenParents.statements.slice(2)) await database.execute(statement)
    expect(await works(String(child.token))).toBe(false)
    expect(await works(String(grandchild.token))).toBe(false)
    const [first] = await database.query.selectFrom('tokens').select('expires_at').where('id', 'in', ids).execute()
    expect(first.expires_at?.toISOString()).toBe(parent.expires_at)
  })

  it('inherit their parent’s worker limits', async () => {
    const first = await server.call('POST', '/v1/sessions', {
      json: { username: 'the-first', password: 'correct horse battery' },
    })
    const cookie = first.cookie
    const scopes = ['account:manage', 'worker']
    const bound = await create({ cookie }, { scopes, worker: { kinds: ['check', 'evaluate'], name: 'north' } })
    expect(bound.body.worker).toEqual({ kinds: ['check', 'evaluate'], name: 'north' })
    const by = { token: String(bound.body.token) }
    expect((await create(by, { scopes })).body.worker).toEqual(bound.body.worker)
    expect((await create(by, { scopes, worker: { kinds: ['check'] } })).body.worker).toEqual({
      kinds: ['check'],
      name: 'north',
    })
    expect((await create(by, { scopes, worker: { kinds: ['train'] } })).code).toBe('forbidden')
    expect((await create(by, { scopes, worker: { name: 'south' } })).code).toBe('forbidden')
    const unbound = await newToken(server, cookie, ['worker'])
    expect(unbound).toMatch(/^agt_/)
    expect((await create({ cookie }, { worker: { kinds: ['check'] } })).code).toBe('request_invalid')
  })
})

function holds(scopes: string[], scope: string): boolean {
  return scopes.includes(scope) || (scope === 'packages:read' && scopes.includes('packages:publish'))
}
