import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { actorHolds } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import type { ServerConfig } from '../../core/services.ts'
import { isClaimed, setupSecret } from './claim.ts'
import { addOperator, createOperator, removeOperator } from './operators.ts'
import { type AuthServer, newOperator, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'

describeOnEngines('claiming a server on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  beforeEach(async () => {
    database = await open()
  })
  afterEach(async () => {
    await server.close()
    await database.close()
  })
  const start = async (config: Partial<ServerConfig> = {}) => {
    server = await startAuthServer(database, config)
  }
  const signUp = (username: string, headers: Record<string, string> = {}) =>
    server.call('POST', '/v1/accounts', {
      json: { username, email: `${username}@example.com`, password },
      headers,
    })
  const operators = async () => {
    const rows = await database.query.selectFrom('accounts').select('username').where('operator', '=', true).execute()
    return rows.map(({ username }) => username)
  }

  it('goes to the first account on a local server', async () => {
    await start()
    expect((await signUp('first')).body.operator).toBe(true)
    expect((await signUp('second')).body.operator).toBe(false)
    expect(await operators()).toEqual(['first'])
    expect(await isClaimed(database.query)).toBe(true)
  })

  it('does not go to requests through a proxy, with another host name or from another machine', async () => {
    await start()
    for (const [header, value] of [
      ['x-forwarded-for', '192.0.2.1'],
      ['x-real-ip', '192.0.2.1'],
      ['via', '1.1 proxy'],
    ])
      expect((await signUp(`by-${header}`, { [header]: value })).body.operator).toBe(false)
    // Not even later from this machine, because another account was first.
    expect((await signUp('local')).body.operator).toBe(false)
    expect(await operators()).toEqual([])
  })

  it.each([
    ['a name that a setting once made an operator', 'operator'],
    ['the first account', 'anyone'],
  ])('of a public server needs more than signing up as %s', async (_what, username) => {
    await start({ local: false })
    const made = await signUp(username === 'operator' ? 'chosen' : username)
    expect(made.body.operator).toBe(false)
    expect(await isClaimed(database.query)).toBe(false)
    // Reserved names stay reserved, too.
    expect((await signUp('operator')).code).toBe('name_invalid')
  })

  it('requires the set-up secret and a session, once', async () => {
    await start({ local: false })
    const ann = await newUser(server, 'ann')
    const bob = await newUser(server, 'bob')
    const secret = setupSecret(server.services.config)
    const claim = (by: { cookie?: string; token?: string }, setup_secret: string) =>
      server.call('PUT', '/v1/account/operator', { ...by, json: { setup_secret } })
    expect((await claim({}, secret)).status).toBe(401)
    expect((await claim(ann, 'ags_wrong')).code).toBe('credentials_invalid')
    const token = await newToken(server, ann.cookie, ['account:manage'])
    expect((await claim({ token }, secret)).code).toBe('forbidden')
    const both = await Promise.all([claim(ann, secret), claim(bob, secret)])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 403])
    expect(await operators()).toHaveLength(1)
    expect((await claim(ann, secret)).code).toBe('forbidden')
    // Nor after the last operator is gone.
    await database.query.updateTable('accounts').set({ operator: false }).execute()
    expect((await claim(bob, secret)).code).toBe('forbidden')
    expect(await operators()).toEqual([])
  })

  it('limits guesses of the set-up secret', async () => {
    await start({ local: false })
    const ann = await newUser(server, 'ann')
    const codes: (string | undefined)[] = []
    for (let guess = 0; guess < 16; guess++) {
      const json = { setup_secret: `guess ${guess}` }
      codes.push((await server.call('PUT', '/v1/account/operator', { ...ann, json })).code)
    }
    expect(codes.at(-2)).toBe('credentials_invalid')
    expect(codes.at(-1)).toBe('rate_limited')
  })

  it('accepts only the configured secret', async () => {
    await start({ local: false, setupSecret: 'a secret of my own' })
    const ann = await newUser(server, 'ann')
    const { setupSecret: _, ...derived } = server.services.config
    for (const [setup_secret, status] of [
      [setupSecret(derived), 401],
      ['a secret of my own', 204],
    ] as const)
      expect((await server.call('PUT', '/v1/account/operator', { ...ann, json: { setup_secret } })).status).toBe(status)
  })

  it('works on the database, for existing and new accounts with any name', async () => {
    await start({ local: false })
    await newUser(server, 'ann')
    await addOperator(database, null, { username: 'ann', ip: null })
    await createOperator(database, { username: 'support', email: 'support@example.com', password })
    expect(await operators()).toEqual(['ann', 'support'])
    const logIn = { json: { username: 'support', password } }
    expect((await server.call('POST', '/v1/sessions', logIn)).status).toBe(200)
    await removeOperator(database, null, { username: 'ann', ip: null })
    await expect(removeOperator(database, null, { username: 'support', ip: null })).rejects.toMatchObject({
      code: 'last_operator',
    })
    await expect(addOperator(database, null, { username: 'nobody-here', ip: null })).rejects.toMatchObject({
      code: 'account_not_found',
    })
  })
})

describeOnEngines('what operators do to accounts on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  let ops: { username: string; cookie: string }
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    ops = await newOperator(server, 'ops')
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const act = (method: string, username: string, what: string, json?: unknown, by: object = ops) =>
    server.call(method, `/v1/accounts/${username}/${what}`, { ...by, json })
  const alive = async (by: { cookie?: string; token?: string }) =>
    (await server.call('GET', '/v1/account', by)).status === 200

  it('disables and enables: sessions end permanently, tokens are suspended', async () => {
    const user = await newUser(server, 'rude')
    const token = await newToken(server, user.cookie, ['packages:read'])
    expect((await act('PUT', 'rude', 'disabled', { reason: 'Spam' })).status).toBe(204)
    expect([await alive(user), await alive({ token })]).toEqual([false, false])
    const logIn = () => server.call('POST', '/v1/sessions', { json: { username: 'rude', password }, ip: 'rude' })
    expect((await logIn()).code).toBe('credentials_invalid')
    const listed = await server.call('GET', '/v1/accounts?q=rud', ops)
    expect(listed.body).toMatchObject({ accounts: [{ username: 'rude', disabled: { reason: 'Spam' } }] })
    expect((await act('DELETE', 'rude', 'disabled')).status).toBe(204)
    expect([await alive(user), await alive({ token })]).toEqual([false, true])
    expect((await logIn()).status).toBe(200)
  })

  it('signs out everywhere, others and oneself, with tokens or without', async () => {
    const user = await newUser(server, 'lost')
    const token = await newToken(server, user.cookie, ['packages:read'])
    await act('POST', 'lost', 'sign-out', { tokens: false })
    expect([await alive(user), await alive({ token })]).toEqual([false, true])
    await act('POST', 'lost', 'sign-out', {})
    expect(await alive({ token })).toBe(false)
    const again = await server.call('POST', '/v1/sessions', { json: { username: 'lost', password }, ip: 'lost' })
    const other = await newToken(server, again.cookie, ['packages:read'])
    expect((await server.call('POST', '/v1/account/sign-out', { cookie: again.cookie, json: {} })).status).toBe(204)
    expect([await alive(again), await alive({ token: other })]).toEqual([false, false])
  })

  it('ends requests of ended sessions', async () => {
    const { cookie } = await newUser(server, 'watcher')
    const session = await database.query
      .selectFrom('sessions')
      .innerJoin('accounts', 'accounts.id', 'user_id')
      .select(['sessions.id', 'user_id'])
      .where('username', '=', 'watcher')
      .executeTakeFirstOrThrow()
    const actor = {
      ...{ accountId: session.user_id, username: 'watcher', emailVerified: false, operator: false },
      ...{ tokenId: null, sessionId: session.id, scopes: new Set<never>() },
    }
    expect(await actorHolds(database.query, actor)).toBe(true)
    await server.call('POST', '/v1/account/sign-out', { cookie, json: { tokens: false } })
    expect(await actorHolds(database.query, actor)).toBe(false)
  })

  it('adds and removes operators by session only, and keeps at least one', async () => {
    const next = await newUser(server, 'next')
    const token = await newToken(server, ops.cookie, ['account:manage'])
    expect((await act('PUT', 'next', 'operator', undefined, { token })).code).toBe('forbidden')
    expect((await act('PUT', 'next', 'operator')).status).toBe(204)
    const worker = await newToken(server, next.cookie, ['worker'])
    expect((await act('DELETE', 'ops', 'operator', undefined, next)).status).toBe(204)
    expect((await act('PUT', 'next', 'operator')).status).toBe(403)
    for (const [method, what, json] of [
      ['DELETE', 'operator', undefined],
      ['PUT', 'disabled', { reason: 'x' }],
    ] as const)
      expect((await act(method, 'next', what, json, next)).code).toBe('last_operator')
    await act('PUT', 'ops', 'operator', undefined, next)
    // Each demotes the other: one comes too late.
    const both = await Promise.all([
      act('DELETE', 'next', 'operator'),
      act('DELETE', 'ops', 'operator', undefined, next),
    ])
    expect(both.map(({ status }) => status).sort()).not.toEqual([204, 204])
    const left = await database.query.selectFrom('accounts').select('username').where('operator', '=', true).execute()
    expect(left).toHaveLength(1)
    const scopes = (await server.call('GET', '/v1/account', { token: worker })).body.scopes
    expect(scopes).toEqual(left[0].username === 'next' ? ['worker'] : [])
    // For the tests after this one.
    await addOperator(database, null, { username: 'ops', ip: null })
  })

  it('lists accounts page by page, each once', async () => {
    for (const name of ['page-a', 'page-b', 'page-c']) await newUser(server, name)
    const names: string[] = []
    let after: string | null = ''
    while (after !== null) {
      const query = new URLSearchParams({ q: 'page-', limit: '2', ...(after === '' ? {} : { after }) })
      const { body } = await server.call('GET', `/v1/accounts?${query}`, ops)
      const { accounts, next_after } = body as { accounts: { username: string }[]; next_after: string | null }
      names.push(...accounts.map(({ username }) => username))
      after = next_after
    }
    expect(names).toEqual(['page-a', 'page-b', 'page-c'])
    expect((await server.call('GET', '/v1/accounts?q=%25', ops)).body.accounts).toEqual([])
    expect((await server.call('GET', '/v1/accounts?operators=true', ops)).body.accounts).toContainEqual(
      expect.objectContaining({ username: 'ops' }),
    )
  })
})
