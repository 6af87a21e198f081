import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { accountTasks } from './accounts.tasks.ts'
import { createDeviceCode } from './device-log-in.ts'
import { type AuthServer, newUser, startAuthServer } from './test/auth-server.ts'

describeOnEngines('accountTasks on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  it('deletes only expired rows', async () => {
    const { query } = database
    const { cookie } = await newUser(server, 'keeper')
    await backgroundSettled()
    const counts = async () => {
      const tables = ['sessions', 'mail_tokens', 'device_codes', 'rate_limits'] as const
      const rows = await Promise.all(tables.map((table) => query.selectFrom(table).selectAll().execute()))
      return rows.map(({ length }) => length)
    }
    await createDeviceCode(query, { name: 'now', scopes: ['packages:read'] })
    const before = await counts()
    expect(before.every((count) => count > 0)).toBe(true)

    const user = await query.selectFrom('accounts').select('id').executeTakeFirstOrThrow()
    const longAgo = new Date(Date.now() - 3 * 86_400_000)
    const hash = '0'.repeat(64)
    await query.insertInto('sessions').values({ id: hash, user_id: user.id, expires_at: longAgo }).execute()
    const link = { hash, account_id: user.id, purpose: 'verify', email: 'a@example.com', expires_at: longAgo } as const
    await query.insertInto('mail_tokens').values(link).execute()
    const code = { hash, user_code: 'BBBB-BBBB', name: 'x', scopes: '[]', account_id: null, expires_at: longAgo }
    await query.insertInto('device_codes').values(code).execute()
    await query.insertInto('rate_limits').values({ key: 'x', window_start: longAgo, count: 1 }).execute()

    for (const task of accountTasks(server.services)) await task.run()
    expect(await counts()).toEqual(before)
    expect((await server.call('GET', '/v1/account', { cookie })).status).toBe(200)
  })
})
