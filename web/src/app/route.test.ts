import type { OwnAccount } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { type Access, judgeAccess, route } from './route.ts'

const account = (more: Partial<OwnAccount> = {}): OwnAccount => ({
  username: 'ada',
  kind: 'user',
  email: 'ada@example.com',
  email_verified: true,
  operator: false,
  organisations: [
    { username: 'acme', role: 'viewer' },
    { username: 'labs', role: 'member' },
    { username: 'works', role: 'admin' },
    { username: 'own', role: 'owner' },
  ],
  scopes: [],
  unread_notifications: 0,
  ...more,
})

describe('access to pages of an account', () => {
  const judged = (access: Access, scope: string) => judgeAccess({ access }, account(), { scope })

  it.each([
    ['ada', 'allowed', 'allowed'],
    ['@ada', 'allowed', 'allowed'],
    ['acme', 'allowed', 'hidden'],
    ['@labs', 'allowed', 'hidden'],
    ['works', 'allowed', 'allowed'],
    ['own', 'allowed', 'allowed'],
    ['stranger', 'hidden', 'hidden'],
    ['', 'hidden', 'hidden'],
    ['@@ada', 'hidden', 'hidden'],
    ['constructor', 'hidden', 'hidden'],
  ])('%s: member %s, owner %s', (scope, member, owner) => {
    expect({ member: judged('member', scope), owner: judged('owner', scope) }).toEqual({ member, owner })
  })

  it('a path without the account gives no access', () => {
    expect(judgeAccess({ access: 'member' }, account(), {})).toBe('hidden')
  })

  it('operators are not members of accounts', () => {
    const operator = account({ operator: true, organisations: [] })
    expect(judgeAccess({ access: 'operator' }, operator, {})).toBe('allowed')
    expect(judgeAccess({ access: 'member' }, operator, { scope: 'acme' })).toBe('hidden')
    expect(judgeAccess({ access: 'operator' }, account(), {})).toBe('hidden')
  })
})

it('a rule about an account missing in the path is a bug', () => {
  const nothing = () => new Response()
  expect(() => route('get', '/settings', { access: 'owner' }, nothing)).toThrow('does not name')
  expect(() => route('get', '/settings/:scope', { access: 'owner', of: 'team' }, nothing)).toThrow('does not name')
})
