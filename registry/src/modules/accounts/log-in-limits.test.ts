import { returnToSchema } from '@agentgym/contract'
import { postgresql } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { slowDownMs } from './log-in-limits.ts'
import { type AuthServer, newUser, password, startAuthServer } from './test/auth-server.ts'

describe('failed logins', () => {
  let database: Database
  let server: AuthServer
  beforeAll(async () => {
    database = await postgresql.open()
    server = await startAuthServer(database)
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const logIn = (username: string, typed: string, ip: string, cookie?: string) =>
    server.call('POST', '/v1/sessions', { json: { username, password: typed }, ip, cookie })
  const deviceOf = ({ cookie }: { cookie: string }) => /agentgym_device=[^;]+/.exec(cookie)?.[0] ?? ''

  it('from many networks do not lock out the owner, on a new or known device', async () => {
    const victim = await newUser(server, 'victim')
    for (let network = 0; network < 12; network++)
      for (let guess = 0; guess < 2; guess++)
        expect((await logIn('victim', 'wrong', `198.51.100.${network}`)).code).toBe('credentials_invalid')
    const { count } = await database.query
      .selectFrom('rate_limits')
      .select('count')
      .where('key', '=', 'log-in:victim')
      .executeTakeFirstOrThrow()
    expect(slowDownMs(count)).toBeGreaterThan(0)
    // More than any limit there was.
    await database.query.updateTable('rate_limits').set({ count: 5_000 }).where('key', '=', 'log-in:victim').execute()
    expect((await logIn('victim', password, '203.0.113.1', deviceOf(victim))).status).toBe(200)
    await database.query.updateTable('rate_limits').set({ count: 25 }).where('key', '=', 'log-in:victim').execute()
    expect((await logIn('victim', password, '203.0.113.1')).status).toBe(200)
  })

  it('from the same network do not lock out a known device', async () => {
    const neighbor = await newUser(server, 'neighbor')
    for (let guess = 0; guess < 11; guess++) await logIn('neighbor', 'wrong', '203.0.113.2')
    expect((await logIn('neighbor', password, '203.0.113.2')).code).toBe('rate_limited')
    expect((await logIn('neighbor', password, '203.0.113.2', deviceOf(neighbor))).status).toBe(200)
  })

  it('of a known device are limited like any others', async () => {
    const careless = await newUser(server, 'careless')
    const codes: (string | undefined)[] = []
    for (let guess = 0; guess < 11; guess++)
      codes.push((await logIn('careless', 'wrong', `192.0.2.${guess}`, deviceOf(careless))).code)
    expect(codes).toEqual([...Array(10).fill('credentials_invalid'), 'rate_limited'])
  })

  it('with another account’s or a forged device cookie count as unknown', async () => {
    await newUser(server, 'target')
    const attacker = await newUser(server, 'attacker')
    const [id, proof] = deviceOf(attacker).replace('agentgym_device=', '').split('.')
    const forged = [`${id}.${proof}`, `${id}.${'A'.repeat(43)}`, `${'A'.repeat(22)}.${proof}`, '', '.', 'x']
    for (const [index, value] of [...forged, ...forged].slice(0, 10).entries())
      expect((await logIn('target', 'wrong', '203.0.113.3', `agentgym_device=${value}`)).code, String(index)).toBe(
        'credentials_invalid',
      )
    expect((await logIn('target', 'wrong', '203.0.113.3', `agentgym_device=${forged[0]}`)).code).toBe('rate_limited')
  })

  it('are delayed increasingly, up to five seconds', () => {
    expect([0, 20, 21, 30, 31, 120, 121, 1e9].map(slowDownMs)).toEqual([
      ...[0, 0, 500, 500, 1_000, 5_000, 5_000, 5_000],
    ])
  })

  it('a device has an HttpOnly, SameSite cookie, the same at every login', async () => {
    const user = await newUser(server, 'regular')
    const again = await logIn('regular', password, '203.0.113.4', deviceOf(user))
    expect(deviceOf(again)).toBe(deviceOf(user))
    const [, cookie] = again.setCookies
    expect(cookie).toMatch(/^agentgym_device=.*; HttpOnly; SameSite=Lax; Path=\/; Max-Age=31536000$/)
  })
})

describe('return_to', () => {
  const here = 'https://gym.example.com'
  const parts = fc.constantFrom(
    '/',
    '\\',
    '\t',
    '\r',
    '\n',
    '@',
    ':',
    '.',
    '?',
    '#',
    ' ',
    'evil.example',
    'https:',
    'x',
    '%0a',
  )
  it('always leads to this site', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(parts, fc.string({ maxLength: 4 })), { maxLength: 8 }), (words) => {
        const path = `/${words.join('')}`
        if (!returnToSchema.safeParse(path).success) return
        expect(new URL(path, here).origin).toBe(here)
        // Nor may it break the header that it is sent in.
        expect(path).toMatch(/^[\x21-\x7e]+$/)
      }),
      { numRuns: 2_000 },
    )
  })
})
