import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import { type AuthServer, newToken, newUser, password, startAuthServer } from './test/auth-server.ts'

type Listed = { id: string; current: boolean }

describeOnEngines('sessions on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    await newUser(server, 'the-first')
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const logIn = async (username: string) =>
    (await server.call('POST', '/v1/sessions', { json: { username, password } })).cookie
  const list = async (cookie: string) =>
    (await server.call('GET', '/v1/sessions', { cookie })).body.sessions as Listed[]

  it('lists the user’s own sessions and marks the current one', async () => {
    const user = await newUser(server, 'lister')
    const [laptop, phone] = [await logIn('lister'), await logIn('lister')]
    const fromPhone = await list(phone)
    expect(fromPhone).toHaveLength(3)
    expect(fromPhone.filter(({ current }) => current)).toHaveLength(1)
    const current = (listed: Listed[]) => listed.find((one) => one.current)?.id
    expect(new Set([current(fromPhone), current(await list(laptop)), current(await list(user.cookie))]).size).toBe(3)
    expect((await server.call('GET', '/v1/sessions')).code).toBe('unauthenticated')
  })

  it('returns neither session secrets nor stored hashes', async () => {
    const { cookie } = await newUser(server, 'keeper')
    const { text } = await server.call('GET', '/v1/sessions', { cookie })
    const secret = cookie.split('=')[1]
    expect(text).not.toContain(secret)
    expect(text).not.toContain(hashSecret(secret).slice(0, 32))
  })

  it('ends only the given session', async () => {
    const { cookie } = await newUser(server, 'ender')
    const lost = await logIn('ender')
    const id = (await list(lost)).find(({ current }) => current)?.id
    expect((await server.call('DELETE', `/v1/sessions/${id}`, { cookie, json: {} })).status).toBe(204)
    expect((await server.call('GET', '/v1/account', { cookie: lost })).code).toBe('unauthenticated')
    expect((await list(cookie)).map(({ current }) => current)).toEqual([true])
    // It is over: saying so again changes nothing.
    expect((await server.call('DELETE', `/v1/sessions/${id}`, { cookie, json: {} })).status).toBe(204)
  })

  it('does not end sessions of other accounts', async () => {
    const owner = await newUser(server, 'owner-of-it')
    const other = await newUser(server, 'stranger-to-it')
    const [{ id }] = await list(owner.cookie)
    expect((await server.call('DELETE', `/v1/sessions/${id}`, { cookie: other.cookie, json: {} })).status).toBe(204)
    expect(await list(owner.cookie)).toHaveLength(1)
    const weak = await newToken(server, owner.cookie, ['packages:read'])
    expect((await server.call('DELETE', `/v1/sessions/${id}`, { token: weak })).code).toBe('forbidden')
    expect((await server.call('DELETE', '/v1/sessions/0', { cookie: owner.cookie, json: {} })).code).toBe(
      'request_invalid',
    )
  })
})
