import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { buy, listPackage } from '../orders/testing/marketplace.ts'
import { type AccessWorld, callers, everybody, openAccessWorld, strangers } from './testing/market-server.ts'

type Rows = [what: string, method: string, path: string, ...statuses: number[]][]

describeOnEngines('who may have which package, on $kind', ({ open }) => {
  let database: Database
  let world: AccessWorld

  beforeAll(async () => {
    database = await open()
    world = await openAccessWorld(database)
  })
  afterAll(async () => {
    await world.server.close()
    await database.close()
  })

  const tarballs: Rows = [
    // What,                                             nobody, other, buyer, refunded, colleague, seller, narrow, operator
    ['what is free', 'GET', '/npm/{free}/tarball', ...everybody(200)],
    ['what is paid', 'HEAD', '/npm/{paid}/tarball', 402, 402, 200, 402, 200, 200, 402, 402],
    ['what is paid', 'GET', '/npm/{paid}/tarball', 402, 402, 200, 402, 200, 200, 402, 402],
    ['what is hosted only', 'GET', '/npm/{hosted}/tarball', ...strangers(403)],
    ['what is private', 'GET', '/npm/{secret}/tarball', ...strangers(404)],
    ['what was taken down', 'GET', '/npm/{down}/tarball', 410, 410, 410, 410, 410, 200, 410, 410],
    ['what was bought and taken down', 'GET', '/npm/{gone}/tarball', 410, 410, 200, 410, 200, 200, 410, 410],
    ['what is malicious', 'GET', '/npm/{evil}/tarball', 410, 410, 410, 410, 410, 200, 410, 410],
    ['another casing', 'GET', '/npm/{PAID}/-/paid-1.0.0.tgz', 402, 402, 200, 402, 200, 200, 402, 402],
  ]
  it.each(tarballs)('the files of %s: %s %s', async (_what, method, path, ...expected) => {
    expect(await world.statuses(method, path)).toEqual(expected)
  })

  const documents = [
    '/v1/packages/{}/versions',
    '/v1/packages/{}/versions/1.0.0',
    '/v1/packages/{}/versions/1.0.0/readme',
    '/v1/packages/{}/resolve?range=latest',
    '/v1/packages/{}/tags',
    '/v1/packages/{}/price',
    '/v1/packages/{}/offer',
    '/v1/packages/{}/reviews',
    '/v1/packages/{}/versions/1.0.0/leaderboard',
    '/npm/{}',
    '/npm/{}/1.0.0',
    '/npm/-/package/{}/dist-tags',
  ]
  it.each(documents)(
    '%s: metadata is public for paid packages, hidden for private ones, and limited to owners and buyers after a take-down',
    async (path) => {
      const of = (name: string) => path.replace('{}', `{${name}}`)
      for (const name of ['free', 'paid', 'hosted'])
        expect(await world.statuses('GET', of(name)), name).toEqual(everybody(200))
      expect(await world.statuses('GET', of('secret')), 'secret').toEqual(strangers(404))
      const down = [410, 410, 410, 410, 410, 200, 410, 200]
      const bought = [410, 410, 200, 410, 200, 200, 410, 200]
      expect(await world.statuses('GET', of('down')), 'down').toEqual(down)
      expect(await world.statuses('GET', of('gone')), 'gone').toEqual(bought)
    },
  )

  it('the page of a package that was taken down shows the reason to everyone, and the rest only to members and buyers', async () => {
    for (const caller of callers) {
      const { status, text } = await world.server.call('GET', world.filled('/v1/packages/{gone}'), {
        token: world.tokens[caller],
      })
      const page = JSON.parse(text)
      expect(status).toBe(200)
      expect(page.taken_down).toEqual({ at: expect.any(String), reason: 'It copies another one.' })
      const sees = ['buyer', 'colleague', 'seller', 'operator'].includes(caller)
      expect([page.latest !== null, page.readme !== null, page.versions.length > 0], caller).toEqual([sees, sees, sees])
    }
    expect(await world.statuses('GET', '/v1/packages/{secret}')).toEqual(strangers(404))
  })

  it('search finds paid packages, and those taken down only for members', async () => {
    for (const path of [
      `/v1/packages?q=${world.cast.seller.username}`,
      '/v1/packages?limit=100',
      `/npm/-/v1/search?text=${world.cast.seller.username}`,
    ])
      for (const caller of callers) {
        const { text } = await world.server.call('GET', path, { token: world.tokens[caller] })
        for (const name of ['free', 'paid', 'hosted']) expect(text, caller).toContain(`"${world.names[name]}"`)
        for (const name of ['secret', 'down', 'gone', 'evil'])
          expect(text.includes(`"${world.names[name]}"`), `${caller} ${name}`).toBe(caller === 'seller')
      }
  })

  const runs: [string, Record<string, unknown>, ...number[]][] = [
    ['what is free', { scenario: '{free}' }, 401, 201, 201, 201, 201, 201, 201, 201],
    ['what is paid', { scenario: '{paid}@1.0.0' }, 401, 402, 201, 402, 201, 201, 402, 402],
    ['what is hosted, unconfirmed', { scenario: '{hosted}' }, 401, 402, 402, 402, 402, 201, 402, 402],
    // `colleague` and `operator` have no money.
    [
      'what is hosted, confirmed',
      { scenario: '{hosted}', expected_price: { amount_minor: 200 } },
      ...[401, 201, 201, 201, 402, 201, 201, 402],
    ],
    [
      'what is hosted, at another price',
      { scenario: '{hosted}', expected_price: { amount_minor: 199 } },
      ...[401, 409, 409, 409, 409, 201, 409, 409],
    ],
    ['what is private', { scenario: '{secret}' }, 401, 404, 404, 404, 404, 201, 404, 404],
    ['what was taken down', { scenario: '{down}' }, 401, 410, 410, 410, 410, 201, 410, 410],
    ['what was bought and taken down', { scenario: '{gone}' }, 401, 410, 201, 410, 201, 201, 410, 410],
    ['what is malicious', { scenario: '{evil}' }, 401, 410, 410, 410, 410, 201, 410, 410],
  ]
  it.each(runs)('training on %s, by REST and by RPC', async (_what, json, ...expected) => {
    expect(await world.statuses('POST', '/v1/runs', json)).toEqual(expected)
    const started = await Promise.all(
      callers.map(async (caller) => {
        const call = { jsonrpc: '2.0', id: 1, method: 'training.start', params: json }
        const body = JSON.parse(world.filled(JSON.stringify(call)))
        const { text } = await world.server.call('POST', '/rpc', { token: world.tokens[caller], json: body })
        return JSON.parse(text).result !== undefined
      }),
    )
    expect(started).toEqual(expected.map((status) => status === 201))
  })

  it('no URL exposes stored objects, and no job its tarball without the lease', async () => {
    const version = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select(['versions.id', 'versions.object_key', 'versions.integrity'])
      .where('packages.name', '=', world.names.paid)
      .executeTakeFirstOrThrow()
    const key = version.object_key
    for (const path of [
      ...[`/${key}`, `/objects/${key}`, `/v1/objects/${key}`, `/storage/${key}`, `/npm/${key}`, `/assets/${key}`],
      ...[`/npm/{paid}/-/../../../${key}`, `/npm/{paid}/-/%2e%2e%2f${key}`, `/npm/{paid}/-/paid-1.0.0.tgz/..`],
    ])
      expect(new Set(await world.statuses('GET', path)), path).toEqual(new Set([404]))
    const statuses = async (path: string, lease: string) =>
      new Set(await world.statuses('GET', path, undefined, { 'agentgym-lease': lease }))
    for (const what of ['tarball', 'scenario', 'evaluation/agent', 'evaluation/scenario'])
      for (const lease of ['x', `check.0..${'A'.repeat(43)}`, `train.1..${'A'.repeat(43)}`])
        expect(await statuses(`/v1/jobs/${version.id}/${what}`, lease), what).toEqual(new Set([409]))
    const hosted = `/v1/hosted-calls/tarballs/${version.id}`
    expect(await statuses(hosted, 'A'.repeat(32))).toEqual(new Set([409]))
    expect(new Set(await world.statuses('GET', hosted))).toEqual(new Set([403]))
    // Knowing the public integrity does not give a 304 without access.
    const known = { 'if-none-match': `"${version.integrity}"` }
    const path = world.filled('/npm/{paid}/tarball')
    expect((await world.server.call('GET', path, { headers: known })).status).toBe(402)
    expect((await world.server.call('GET', path, { token: world.tokens.buyer, headers: known })).status).toBe(304)
  })

  it('a refusal says how to get access', async () => {
    const path = world.filled('/npm/{paid}/tarball')
    const { text } = await world.server.call('GET', path)
    const { error, code } = JSON.parse(text)
    expect(code).toBe('payment_required')
    expect(error).toContain(`agentgym buy ${world.names.paid}@1`)
    expect(error).toContain(`${world.server.url}/packages/${world.names.paid}`)
    expect(error).toContain('$5.00')
    const narrow = await world.server.call('GET', path, { token: world.tokens.narrow })
    expect(JSON.parse(narrow.text).error).toContain('packages:read')
  })

  it('a license covers one major version', async () => {
    const listed = await listPackage(database, {
      ...{ ownerId: world.cast.seller.accountId, owner: world.cast.seller.username },
      ...{ price: { kind: 'one_time', amountMinor: 100 }, versions: ['1.0.0', '1.5.0', '2.0.0'] },
    })
    await buy(world.server.services, world.cast.buyer, listed, { range: '^1.0.0' })
    const base = listed.name.slice(listed.name.indexOf('/') + 1)
    const ask = (version: string) =>
      world.server.call('HEAD', `/npm/${listed.name}/-/${base}-${version}.tgz`, { token: world.tokens.buyer })
    expect((await ask('2.0.0')).status).toBe(402)
    // Its rows are there without their bytes: past the question, there is nothing in the store.
    for (const version of ['1.0.0', '1.5.0']) expect((await ask(version)).status).toBe(500)
  })
})
