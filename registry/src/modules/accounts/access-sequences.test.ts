import { describeOnEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rank } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import type { Role } from '../../core/database/schema.ts'
import { addOperator, removeOperator } from './operators.ts'
import { type AuthServer, newUser, password, startAuthServer } from './test/auth-server.ts'

/**
 * Users invite, accept, change roles, leave, log in, make and revoke tokens, are disabled, enabled, signed out, appointed and
 * demoted in any order. After every step the server lets each session and token do what the model says, and nothing else.
 */

const people = 3
type Person = {
  name: string
  operator: boolean
  disabled: boolean
  role: Role | null
  invited: { role: Role; by: number } | null
  /** Cookies and tokens, those that are over too. */
  sessions: { cookie: string; over: boolean }[]
  tokens: { token: string; id: string; over: boolean }[]
}

const roles: Role[] = ['viewer', 'member', 'admin', 'owner']
const step = fc.record({
  what: fc.constantFrom(
    ...([
      'invite',
      'invite',
      'accept',
      'accept',
      'decline',
      'remove',
      'leave',
      'log-in',
      'log-out',
      'token',
      'revoke',
    ] as const),
    ...(['disable', 'enable', 'sign-out', 'promote', 'demote'] as const),
  ),
  who: fc.nat({ max: people - 1 }),
  whom: fc.nat({ max: people - 1 }),
  role: fc.constantFrom(...roles),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

describeOnEngines('after any sequence of changes on $kind', ({ open }) => {
  let database: Database
  let server: AuthServer
  let ops: { cookie: string }
  let worlds = 0
  beforeAll(async () => {
    database = await open()
    server = await startAuthServer(database)
    ops = await newUser(server, 'ops')
    await addOperator(database, null, { username: 'ops', ip: null })
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  it('sessions and tokens grant exactly their user’s permissions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const world = await openWorld()
        for (const one of steps) {
          await take(world, one)
          await inspect(world)
        }
      }),
      { numRuns: 15 },
    )
  }, 300_000)

  type World = { org: string; persons: Person[] }

  /** Users of their own, the first of whom owns an organization. */
  async function openWorld(): Promise<World> {
    worlds += 1
    const persons: Person[] = []
    for (let index = 0; index < people; index++) {
      const name = `w${worlds}-p${index}`
      const { cookie } = await newUser(server, name)
      persons.push({
        ...{ name, operator: false, disabled: false, role: null, invited: null },
        ...{ sessions: [{ cookie, over: false }], tokens: [] },
      })
    }
    const org = `w${worlds}-org`
    await server.call('POST', '/v1/organisations', { cookie: persons[0].sessions[0].cookie, json: { username: org } })
    persons[0].role = 'owner'
    return { org, persons }
  }

  const living = ({ disabled, sessions, tokens }: Person) => ({
    cookie: disabled ? undefined : sessions.find(({ over }) => !over)?.cookie,
    token: disabled ? undefined : tokens.find(({ over }) => !over)?.token,
  })
  const owners = ({ persons }: World) => persons.filter(({ role }) => role === 'owner').length

  async function take(world: World, { what, who, whom, role }: Step): Promise<void> {
    const { org, persons } = world
    const [actor, target] = [persons[who], persons[whom]]
    const { cookie } = living(actor)
    const asOps = (method: string, path: string, json: unknown = {}) =>
      server.call(method, `/v1/accounts/${target.name}/${path}`, { ...ops, json })
    const member = `/v1/organisations/${org}/members/${target.name}`
    const affected = ({ role: has, invited }: Person) => has ?? invited?.role ?? null
    const mayManage = (touched: Role | null, granted: Role | null = null) =>
      actor.role !== null && rank[actor.role] >= rank[touched === 'owner' || granted === 'owner' ? 'owner' : 'admin']
    if (what === 'invite') {
      const { status, body } = await server.call('PUT', member, { cookie, json: { role } })
      if (cookie === undefined) return expect(status).toBe(401)
      if (!mayManage(affected(target), role)) return expect(status).toBe(403)
      if (target.role === 'owner' && role !== 'owner' && owners(world) === 1) return expect(status).toBe(409)
      expect([status, body.state]).toEqual([200, target.role === null ? 'invited' : 'member'])
      if (target.role === null) target.invited = { role, by: who }
      else target.role = role
    } else if (what === 'accept') {
      const { status } = await server.call('PUT', `/v1/invitations/${org}`, { cookie, json: { role } })
      if (cookie === undefined) return expect(status).toBe(401)
      const { invited } = actor
      const sender = invited === null ? null : persons[invited.by]
      const needs = rank[invited?.role === 'owner' ? 'owner' : 'admin']
      const stands = sender !== null && !sender.disabled && sender.role !== null && rank[sender.role] >= needs
      expect(status).toBe(invited?.role === role && stands ? 200 : 404)
      if (status === 200) Object.assign(actor, { role, invited: null })
    } else if (what === 'decline') {
      const { status } = await server.call('DELETE', `/v1/invitations/${org}`, { cookie, json: {} })
      expect(status).toBe(cookie === undefined ? 401 : actor.invited === null ? 404 : 204)
      if (status === 204) actor.invited = null
    } else if (what === 'remove' || what === 'leave') {
      const subject = what === 'leave' ? actor : target
      const path = `/v1/organisations/${org}/members/${subject.name}`
      const { status } = await server.call('DELETE', path, { cookie, json: {} })
      if (cookie === undefined) return expect(status).toBe(401)
      const own = subject === actor && subject.role !== null
      if (!own && !mayManage(affected(subject))) return expect(status).toBe(403)
      if (subject.role === null) expect(status).toBe(subject.invited === null ? 404 : 204)
      else expect(status).toBe(subject.role === 'owner' && owners(world) === 1 ? 409 : 204)
      if (status === 204) Object.assign(subject, { role: null, invited: null })
    } else if (what === 'log-in') {
      const json = { username: actor.name, password }
      const made = await server.call('POST', '/v1/sessions', { json, ip: `login-${actor.name}` })
      expect(made.status).toBe(actor.disabled ? 401 : 200)
      if (made.status === 200) actor.sessions.push({ cookie: made.cookie, over: false })
    } else if (what === 'log-out') {
      if (cookie === undefined) return
      await server.call('DELETE', '/v1/sessions/current', { cookie })
      const session = actor.sessions.find((one) => one.cookie === cookie)
      if (session) session.over = true
    } else if (what === 'token') {
      if (cookie === undefined) return
      const json = { name: 'x', scopes: ['account:manage'] }
      const { body } = await server.call('POST', '/v1/tokens', { cookie, json })
      actor.tokens.push({ token: String(body.token), id: String(body.id), over: false })
    } else if (what === 'revoke') {
      const token = actor.tokens.find(({ over }) => !over)
      if (cookie === undefined || token === undefined) return
      expect((await server.call('DELETE', `/v1/tokens/${token.id}`, { cookie })).status).toBe(204)
      token.over = true
    } else if (what === 'disable' || what === 'sign-out') {
      const answer =
        what === 'disable' ? await asOps('PUT', 'disabled', { reason: 'x' }) : await asOps('POST', 'sign-out')
      expect(answer.status).toBe(204)
      for (const session of target.sessions) session.over = true
      if (what === 'disable') target.disabled = true
      else for (const token of target.tokens) token.over = true
    } else if (what === 'enable') {
      expect((await asOps('DELETE', 'disabled')).status).toBe(204)
      target.disabled = false
    } else {
      const change = { username: target.name, ip: null }
      if (what === 'promote') await addOperator(database, null, change)
      else await removeOperator(database, null, change)
      target.operator = what === 'promote'
    }
  }

  /** Reads only: what each credential reaches. */
  async function inspect({ org, persons }: World): Promise<void> {
    for (const person of persons) {
      const credentials = [
        ...person.sessions.map(({ cookie, over }) => ({ by: { cookie }, works: !over && !person.disabled })),
        ...person.tokens.map(({ token, over }) => ({ by: { token }, works: !over && !person.disabled })),
      ]
      for (const { by, works } of credentials) {
        const { status, body } = await server.call('GET', '/v1/account', by)
        expect(status).toBe(works ? 200 : 401)
        const listed = (await server.call('GET', `/v1/organisations/${org}`, by)).body
        const sees = [listed.members !== undefined, listed.invitations !== undefined]
        const has = works && person.role !== null ? rank[person.role] : 0
        expect(sees).toEqual([has >= rank.viewer, has >= rank.admin])
        const operators = (await server.call('GET', '/v1/audit?limit=1', by)).status
        expect(operators).toBe(!works ? 401 : person.operator ? 200 : 403)
        if (!works) continue
        expect(body.operator).toBe(person.operator)
        expect(body.organisations).toEqual(person.role === null ? [] : [{ username: org, role: person.role }])
      }
    }
  }
})
