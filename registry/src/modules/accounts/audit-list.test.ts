import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, newOperator, newToken, newUser, startAuthServer } from './test/auth-server.ts'

type Entry = { id: number; actor: string | null; action: string; subject: string }

describeOnEngines('the audit log on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  let operator: { username: string; cookie: string }
  let user: { username: string; cookie: string }
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    operator = await newOperator(server, 'the-first')
    user = await newUser(server, 'somebody')
    for (let made = 0; made < 5; made++) await newToken(server, user.cookie, ['packages:read'])
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const list = async (query: Record<string, string>) => {
    const { body } = await server.call('GET', `/v1/audit?${new URLSearchParams(query)}`, operator)
    return body as { entries: Entry[]; next_before: number | null }
  }

  it('is restricted to operators, with a session or a token with account:manage', async () => {
    expect((await server.call('GET', '/v1/audit')).code).toBe('unauthenticated')
    expect((await server.call('GET', '/v1/audit', user)).code).toBe('forbidden')
    const weak = await newToken(server, operator.cookie, ['packages:read'])
    expect((await server.call('GET', '/v1/audit', { token: weak })).code).toBe('forbidden')
    expect((await server.call('GET', '/v1/audit', operator)).status).toBe(200)
  })

  it('lists each entry once, newest first, in pages', async () => {
    const whole = await list({ limit: '100' })
    expect(whole.next_before).toBeNull()
    const paged: Entry[] = []
    let before: number | null = 1_000_000
    while (before !== null) {
      const page: { entries: Entry[]; next_before: number | null } = await list({ limit: '3', before: String(before) })
      paged.push(...page.entries)
      before = page.next_before
    }
    expect(paged).toEqual(whole.entries)
    expect(paged.map(({ id }) => id)).toEqual(paged.map(({ id }) => id).sort((a, b) => b - a))
  })

  it('filters by actor, action and subject', async () => {
    const made = await list({ actor: 'somebody', action: 'token.' })
    expect(made.entries.map(({ actor, action }) => `${actor} ${action}`)).toEqual(
      Array(5).fill('somebody token.create'),
    )
    const [{ subject }] = made.entries
    expect((await list({ subject })).entries).toHaveLength(1)
    // The beginning of an action is text, no pattern.
    expect((await list({ action: '%' })).entries).toEqual([])
    expect((await list({ actor: 'nobody' })).entries).toEqual([])
  })
})
