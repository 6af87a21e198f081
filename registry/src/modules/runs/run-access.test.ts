import { randomUUID } from 'node:crypto'
import type { TokenScope } from '@agentgym/contract'
import { postgresql } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import type { Role } from '../../core/database/schema.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { cancelWaiting, createOrganization, type RunServer, runIn, startRunServer, tokenOf } from './test/run-server.ts'
import { mustTakeTurn } from './testing/train.ts'

const seen: Role[] = ['viewer', 'member', 'admin', 'owner']
const working: Role[] = ['member', 'admin', 'owner']

type Route = {
  method: string
  path: string
  json?: unknown
  /** What a token needs for it, and what beside that. */
  scope: TokenScope
  also?: TokenScope
  /** Roles in the account of the run that suffice. */
  roles: Role[]
  /** What those get. */
  status: number
  /** Error for a run in another state. Default: `run_state_conflict`. */
  conflict?: string
  /** Expected response for callers without access to the run. */
  hidden: string
}

const run = { scope: 'training:view', roles: seen, hidden: 'run_not_found' } as const
const share = { ...run, scope: 'packages:publish', also: 'training:view', roles: working } as const
/** Every route about a run of an organization. RUN has completed, WAITING waits. */
const routes: Route[] = [
  { ...run, method: 'GET', path: '/v1/runs/RUN', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs?account=ACCOUNT', status: 200, hidden: 'forbidden' },
  { ...run, method: 'GET', path: '/v1/runs/RUN/events', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/metrics', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/metrics.csv', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/metrics.tfevents', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/metrics.jsonl', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/checkpoints', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/checkpoints/2', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/episodes', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/episodes/2', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/agent', status: 200 },
  { ...run, method: 'GET', path: '/v1/runs/RUN/trajectories', scope: 'data:export', status: 200 },
  { ...run, method: 'GET', path: '/v1/evaluations/EVALUATION', status: 200, hidden: 'evaluation_not_found' },
  { ...run, method: 'GET', path: '/v1/runs/RUN/sharing', status: 200 },
  { ...share, method: 'PUT', path: '/v1/runs/RUN/sharing', json: { public: false }, status: 200 },
  { ...share, method: 'POST', path: '/v1/runs/RUN/link', status: 201 },
  { ...share, method: 'DELETE', path: '/v1/runs/RUN/link', status: 200 },
  {
    ...run,
    method: 'POST',
    path: '/v1/runs/RUN/evaluations',
    json: {},
    scope: 'training:evaluate',
    roles: working,
    status: 202,
  },
  {
    ...run,
    method: 'POST',
    path: '/v1/runs/WAITING/publish',
    json: { name: '@ACCOUNT/agent' },
    scope: 'packages:publish',
    also: 'training:view',
    roles: working,
    status: 409,
    conflict: 'run_has_no_agent',
  },
  {
    ...run,
    method: 'POST',
    path: '/v1/runs/RUN/pause',
    scope: 'training:cancel',
    roles: working,
    status: 409,
  },
  {
    ...run,
    method: 'POST',
    path: '/v1/runs/WAITING/resume',
    json: { budget_minor: 5 },
    scope: 'training:start',
    roles: working,
    status: 409,
  },
  {
    ...run,
    method: 'POST',
    path: '/v1/runs',
    json: { scenario: 'SCENARIO', account: 'ACCOUNT' },
    scope: 'training:start',
    roles: working,
    status: 201,
    hidden: 'forbidden',
  },
  // Last: it ends the run that waits, and asked again it changes nothing.
  { ...run, method: 'POST', path: '/v1/runs/WAITING/cancel', scope: 'training:cancel', roles: working, status: 200 },
]

describe('permissions for an organization’s run', () => {
  let database: Database
  let server: RunServer
  const members = {} as Record<Role, Actor>
  let stranger: Actor
  const fill = new Map<string, string>()
  beforeAll(async () => {
    database = await postgresql.open()
    server = await startRunServer(database)
    const { training } = server
    for (const role of seen) members[role] = await createActor(database, role)
    stranger = await createActor(database, 'stranger')
    const account = await createOrganization(
      database,
      seen.map((role) => [members[role], role]),
    )
    const token = await tokenOf(training, members.member)
    const start = async () => {
      const json = { scenario: training.scenario, account: account.username }
      return runIn(await server.call('POST', '/v1/runs', { json, token })).id
    }
    const completed = await start()
    const turn = await mustTakeTurn(training)
    await turn.train(2, 1)
    await turn.save(1)
    await turn.sample()
    await turn.sampleEpisode()
    await turn.complete(1)
    const evaluation = await server.call('POST', `/v1/runs/${completed}/evaluations`, { json: {}, token })
    fill.set('SCENARIO', training.scenario)
    fill.set('ACCOUNT', account.username)
    fill.set('EVALUATION', String(evaluation.body.id))
    fill.set('RUN', completed)
    fill.set('WAITING', await start())
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const filled = (text: string) => [...fill].reduce((whole, [word, value]) => whole.replaceAll(word, value), text)
  const ask = ({ method, path, json }: Route, token?: string) =>
    server.call(method, filled(path), {
      token,
      ...(json === undefined ? {} : { body: filled(JSON.stringify(json)) }),
    })
  const outcome = async (route: Route, token?: string) => {
    const { status, code } = await ask(route, token)
    return code ?? status
  }
  /** 409 means that the run is in another state, so the caller was authorized. */
  const allowed = ({ status, conflict = 'run_state_conflict' }: Route) => (status === 409 ? conflict : status)

  it.each(routes)('$method $path', async (route) => {
    expect(await outcome(route)).toBe('unauthenticated')
    expect(await outcome(route, await tokenOf(server.training, stranger))).toBe(route.hidden)
    for (const role of seen) {
      const token = await tokenOf(server.training, members[role])
      expect(await outcome(route, token), role).toBe(route.roles.includes(role) ? allowed(route) : 'forbidden')
    }
    const others: TokenScope[] = ['packages:manage', 'account:manage', 'worker']
    expect(await outcome(route, await tokenOf(server.training, members.owner, others))).toBe('forbidden')
    const enough = await tokenOf(server.training, members.owner, [route.scope, ...(route.also ? [route.also] : [])])
    expect(await outcome(route, enough)).toBe(allowed(route))
  })

  it('covers every route of runs', async () => {
    const { body } = await server.call('GET', '/v1/openapi.json')
    const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, item]) =>
      /^.v1.(runs|evaluations)/.test(path) ? Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`) : [],
    )
    const pattern = (path: string) =>
      path
        .replace(/RUN|WAITING|EVALUATION/, '{id}')
        .replace('/2', '/{iteration}')
        .replace(/\?.*/, '')
    // For everyone; see below.
    const shared = ['GET /v1/runs/{id}/shared', 'GET /v1/runs/{id}/shared/episodes/{iteration}']
    const known = [...routes.map(({ method, path }) => `${method} ${pattern(path)}`), ...shared]
    expect(known.sort()).toEqual(described.sort())
  })

  it('a view-only token changes nothing, and any other run scope includes viewing', async () => {
    const viewing = await tokenOf(server.training, members.owner, ['training:view'])
    for (const route of routes.filter(({ scope }) => scope !== 'training:view'))
      expect(await outcome(route, viewing), route.path).toBe('forbidden')
    for (const scope of ['training:start', 'training:cancel', 'training:evaluate', 'data:export'] as const)
      expect(await outcome(routes[0], await tokenOf(server.training, members.owner, [scope])), scope).toBe(200)
  })

  it('a missing run is answered like another account’s run', async () => {
    const token = await tokenOf(server.training, stranger)
    for (const { method, path, json } of routes.filter(({ hidden }) => hidden === 'run_not_found')) {
      const call = { token, ...(json === undefined ? {} : { json: JSON.parse(filled(JSON.stringify(json))) }) }
      const theirs = await server.call(method, filled(path), call)
      const nobodys = await server.call(method, filled(path).replace(/[0-9a-f-]{36}/, randomUUID()), call)
      const reported = (text: string) => text.replace(/[0-9a-f-]{36}/g, 'ID')
      expect([theirs.status, reported(theirs.text)]).toEqual([nobodys.status, reported(nobodys.text)])
    }
    expect((await server.call('GET', '/v1/runs/7', { token })).code).toBe('request_invalid')
  })

  describe('shared with others', () => {
    let token: string
    beforeAll(async () => {
      token = await tokenOf(server.training, members.member)
    })
    const path = (rest: string, id = fill.get('RUN')) => `/v1/runs/${id}${rest}`
    const change = (method: string, rest: string, json?: unknown) => server.call(method, path(rest), { token, json })
    const look = (secret?: string, id?: string, rest = '') =>
      server.call('GET', path(`/shared${rest}`, id), {
        headers: secret === undefined ? {} : { 'agentgym-link': secret },
      })
    const link = async () => {
      const { url } = (await change('POST', '/link')).body as { url: string }
      return { url, secret: url.split('/').at(-1) ?? '' }
    }

    it('a link shows the training and its result, and nothing of the account', async () => {
      const { url, secret } = await link()
      expect(url).toContain(`/runs/${fill.get('RUN')}/shared/agl_`)
      const { status, body, text } = await look(secret)
      expect(status).toBe(200)
      expect(Object.keys(body).sort()).toEqual([
        ...[
          'algorithm',
          'created_at',
          'ended_at',
          'episodes',
          'evaluation',
          'evaluations',
          'id',
          'note',
          'points',
          'progress',
        ],
        ...['scenario', 'seed', 'settings', 'started_at', 'state', 'targets'],
      ])
      expect((body.points as object[]).length).toBe(2)
      for (const actor of [...Object.values(members), fill.get('ACCOUNT') ?? ''])
        expect(text).not.toContain(typeof actor === 'string' ? actor : actor.username)
      // It opens nothing else.
      for (const rest of ['', '/metrics', '/agent', '/sharing'])
        expect((await server.call('GET', path(rest), { headers: { 'agentgym-link': secret } })).code).toBe(
          'unauthenticated',
        )
    })

    it('a link that is revoked, replaced, altered or of another run opens nothing', async () => {
      const first = await link()
      const second = await link()
      const altered = `${second.secret.slice(0, -1)}${second.secret.endsWith('0') ? '1' : '0'}`
      const hash = await database.query.selectFrom('run_links').select('secret_hash').executeTakeFirstOrThrow()
      const wrong = [undefined, '', first.secret, altered, second.secret.toLowerCase(), hash.secret_hash, "' or 1=1 --"]
      for (const secret of wrong) expect((await look(secret)).code, secret).toBe('run_not_found')
      expect((await look(second.secret, fill.get('WAITING'))).code).toBe('run_not_found')
      expect((await look('x'.repeat(100))).code).toBe('request_invalid')
      expect((await look(second.secret)).status).toBe(200)
      expect((await change('DELETE', '/link')).body).toEqual({ public: false, link: null, url: null })
      expect((await look(second.secret)).code).toBe('run_not_found')
    })

    it('is read by everyone while it is public, whatever becomes of its link', async () => {
      const { secret } = await link()
      expect((await change('PUT', '/sharing', { public: true })).body).toMatchObject({
        ...{ public: true, link: { created_by: members.member.username } },
        url: expect.stringContaining(`/runs/${fill.get('RUN')}/shared`),
      })
      await change('DELETE', '/link')
      for (const known of [undefined, secret, 'wrong']) expect((await look(known)).status).toBe(200)
      await change('PUT', '/sharing', { public: false })
      for (const known of [undefined, secret]) expect((await look(known)).code).toBe('run_not_found')
    })

    it('its sampled episodes are seen by those who see it, unless its scenario is private', async () => {
      const { secret } = await link()
      const episode = '/episodes/2'
      expect((await look(secret)).body.episodes).toMatchObject([{ iteration: 2, return: 0.5, length: 2 }])
      expect((await look(secret, undefined, episode)).body).toEqual(sampleEpisode({ policy: 'agent' }))
      expect((await look(secret, undefined, '/episodes/3')).code).toBe('run_episode_not_found')
      expect((await look(undefined, undefined, episode)).code).toBe('run_not_found')
      const setVisibility = (visibility: 'public' | 'private') =>
        database.query
          .updateTable('packages')
          .set({ visibility })
          .where('name', '=', fill.get('SCENARIO') ?? '')
          .execute()
      await setVisibility('private')
      expect((await look(secret)).body.episodes).toEqual([])
      expect((await look(secret, undefined, episode)).code).toBe('run_episode_not_found')
      await setVisibility('public')
      await change('DELETE', '/link')
      expect((await look(secret, undefined, episode)).code).toBe('run_not_found')
    })

    it('every change is in the audit log once, without the secret', async () => {
      await database.query.deleteFrom('run_links').execute()
      const { secret } = await link()
      for (const on of [true, true, false, false]) await change('PUT', '/sharing', { public: on })
      for (let repeated = 0; repeated < 2; repeated++) await change('DELETE', '/link')
      const entries = await database.query
        .selectFrom('audit')
        .selectAll()
        .where('subject', '=', `run:${fill.get('RUN')}`)
        .where('actor_id', '=', members.member.accountId)
        .orderBy('id', 'desc')
        .limit(4)
        .execute()
      expect(entries.map(({ action }) => action).reverse()).toEqual([
        ...['run.create_link', 'run.make_public', 'run.make_private', 'run.revoke_link'],
      ])
      expect(JSON.stringify(entries)).not.toContain(secret)
    })
  })

  it('a removed membership ends access immediately', async () => {
    const leaver = await createActor(database)
    const organisation = await createOrganization(database, [
      [members.owner, 'owner'],
      [leaver, 'member'],
    ])
    const token = await tokenOf(server.training, leaver)
    const json = { scenario: server.training.scenario, account: organisation.username }
    const { id } = runIn(await server.call('POST', '/v1/runs', { json, token }))
    await database.query.deleteFrom('memberships').where('user_id', '=', leaver.accountId).execute()
    expect((await server.call('GET', `/v1/runs/${id}`, { token })).code).toBe('run_not_found')
    expect((await server.call('POST', `/v1/runs/${id}/cancel`, { token })).code).toBe('run_not_found')
    expect((await server.call('GET', '/v1/runs', { token })).body).toEqual({ runs: [], next_cursor: null })
    await cancelWaiting(server.training)
  })

  it('status requires the scope to view runs', async () => {
    expect((await server.call('GET', '/v1/status')).code).toBe('unauthenticated')
    const token = await tokenOf(server.training, members.owner, ['packages:read'])
    expect((await server.call('GET', '/v1/status', { token })).code).toBe('forbidden')
    const seeing = await tokenOf(server.training, stranger, ['training:view'])
    expect((await server.call('GET', '/v1/status', { token: seeing })).body).toMatchObject({ runs: { queued: 0 } })
  })
})
