import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { testDatabases } from '../../testing/test-databases.ts'
import { buy, listPackage } from '../orders/testing/marketplace.ts'
import { type Cast, type MarketServer, openCast, sell, startMarketServer } from './testing/market-server.ts'

/** Who asks, in this order. `narrow` is the buyer with a token that may do everything but read packages. */
const callers = ['nobody', 'other', 'buyer', 'refunded', 'colleague', 'seller', 'narrow', 'operator'] as const
type Caller = (typeof callers)[number]
type Rows = [what: string, method: string, path: string, ...statuses: number[]][]

const everybody = (status: number) => callers.map(() => status)
const strangers = (status: number) => callers.map((caller) => (caller === 'seller' ? 200 : status))

describe.each(await testDatabases())('who may have what, on $kind', ({ open }) => {
  let database: Database
  let server: MarketServer
  let cast: Cast
  let tokens: Record<Caller, string | undefined>
  /** Names in paths and bodies: `{paid}` is the package, `{order}` the buyer's order. */
  let names: Record<string, string>

  beforeAll(async () => {
    database = await open()
    server = await startMarketServer(database)
    cast = await openCast(database)
    const { seller, buyer, operator, org, orgOwner, refunded } = cast
    const { services, tokenOf } = server
    const licence = { kind: 'one_time', amount_minor: 500 } as const
    names = {
      free: await sell(services, seller, 'free', null),
      paid: await sell(services, seller, 'paid', licence),
      hosted: await sell(services, seller, 'hosted', { kind: 'per_run', amount_minor: 200 }),
      secret: await sell(services, seller, 'secret', licence, 'private'),
      down: await sell(services, seller, 'down', null),
      gone: await sell(services, seller, 'gone', licence),
      evil: await sell(services, seller, 'evil', licence),
      org: org.username,
      seller: seller.username,
      buyerName: buyer.username,
    }
    names.PAID = names.paid.toUpperCase()
    const narrow = [...buyer.scopes].filter((scope) => !scope.startsWith('packages:') && scope !== 'worker')
    tokens = {
      nobody: undefined,
      other: await tokenOf(cast.other),
      buyer: await tokenOf(buyer),
      refunded: await tokenOf(refunded),
      colleague: await tokenOf(cast.colleague),
      seller: await tokenOf(seller),
      narrow: await tokenOf(buyer, narrow),
      operator: await tokenOf(operator),
    }
    for (const name of [names.paid, names.gone, names.evil]) {
      const { order } = await buy(services, buyer, { name })
      if (name === names.paid) names.order = order.id
      await buy(services, orgOwner, { name }, { account: org.username })
      const given = await buy(services, refunded, { name })
      const path = `/v1/orders/${given.order.id}/refunds`
      const back = await server.call('POST', path, { token: tokens.refunded, json: { reason: 'changed my mind' } })
      expect(back.text).toContain('refunded')
    }
    for (const [name, forAll] of [
      [names.down, false],
      [names.gone, false],
      [names.evil, true],
    ] as const) {
      const json = { reason: 'It copies another one.', for_all: forAll }
      const taken = await server.call('POST', `/v1/packages/${name}/take-down`, { token: tokens.operator, json })
      expect(taken.status, taken.text).toBeLessThan(300)
    }
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const filled = (text: string) =>
    text
      .replaceAll(/\{(\w+)\}/g, (_whole, name: string) => names[name])
      .replace(/\/npm\/(@[^/]+)\/([^/]+)\/tarball/, '/npm/$1/$2/-/$2-1.0.0.tgz')

  async function statuses(method: string, path: string, json?: unknown): Promise<number[]> {
    const answers = await Promise.all(
      callers.map((caller) => {
        const body = json === undefined ? undefined : JSON.parse(filled(JSON.stringify(json)))
        return server.call(method, filled(path), { token: tokens[caller], json: body })
      }),
    )
    return answers.map(({ status }) => status)
  }

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
    expect(await statuses(method, path)).toEqual(expected)
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
    '%s: everybody reads of what is sold, nobody of what is private, those of what was taken down who have it',
    async (path) => {
      const of = (name: string) => path.replace('{}', `{${name}}`)
      for (const name of ['free', 'paid', 'hosted'])
        expect(await statuses('GET', of(name)), name).toEqual(everybody(200))
      expect(await statuses('GET', of('secret')), 'secret').toEqual(strangers(404))
      const down = [410, 410, 410, 410, 410, 200, 410, 200]
      const bought = [410, 410, 200, 410, 200, 200, 410, 200]
      expect(await statuses('GET', of('down')), 'down').toEqual(down)
      expect(await statuses('GET', of('gone')), 'gone').toEqual(bought)
    },
  )

  it('the page of what was taken down says so to everybody, with the reason, and shows the rest to few', async () => {
    for (const caller of callers) {
      const { status, text } = await server.call('GET', filled('/v1/packages/{gone}'), { token: tokens[caller] })
      const page = JSON.parse(text)
      expect(status).toBe(200)
      expect(page.taken_down).toEqual({ at: expect.any(String), reason: 'It copies another one.' })
      const sees = ['buyer', 'colleague', 'seller', 'operator'].includes(caller)
      expect([page.latest !== null, page.readme !== null, page.versions.length > 0], caller).toEqual([sees, sees, sees])
    }
    expect(await statuses('GET', '/v1/packages/{secret}')).toEqual(strangers(404))
  })

  it('search finds what is sold, and what was taken down only for its members', async () => {
    for (const path of [
      `/v1/packages?q=${cast.seller.username}`,
      '/v1/packages?limit=100',
      `/npm/-/v1/search?text=${cast.seller.username}`,
    ])
      for (const caller of callers) {
        const { text } = await server.call('GET', path, { token: tokens[caller] })
        for (const name of ['free', 'paid', 'hosted']) expect(text, caller).toContain(`"${names[name]}"`)
        for (const name of ['secret', 'down', 'gone', 'evil'])
          expect(text.includes(`"${names[name]}"`), `${caller} ${name}`).toBe(caller === 'seller')
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
    expect(await statuses('POST', '/v1/runs', json)).toEqual(expected)
    const started = await Promise.all(
      callers.map(async (caller) => {
        const call = { jsonrpc: '2.0', id: 1, method: 'training.start', params: json }
        const body = JSON.parse(filled(JSON.stringify(call)))
        const { text } = await server.call('POST', '/rpc', { token: tokens[caller], json: body })
        return JSON.parse(text).result !== undefined
      }),
    )
    expect(started).toEqual(expected.map((status) => status === 201))
  })

  it('no address gives what is stored, and no job its tarball without the lease', async () => {
    const version = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select(['versions.id', 'versions.object_key', 'versions.integrity'])
      .where('packages.name', '=', names.paid)
      .executeTakeFirstOrThrow()
    const key = version.object_key
    for (const path of [
      ...[`/${key}`, `/objects/${key}`, `/v1/objects/${key}`, `/storage/${key}`, `/npm/${key}`, `/assets/${key}`],
      ...[`/npm/{paid}/-/../../../${key}`, `/npm/{paid}/-/%2e%2e%2f${key}`, `/npm/{paid}/-/paid-1.0.0.tgz/..`],
    ])
      expect(new Set(await statuses('GET', path)), path).toEqual(new Set([404]))
    for (const what of ['tarball', 'scenario', 'evaluation/agent', 'evaluation/scenario'])
      for (const lease of ['x', `check.0..${'A'.repeat(43)}`, `train.1..${'A'.repeat(43)}`])
        expect(new Set(await statuses('GET', `/v1/jobs/${version.id}/${what}?lease=${lease}`)), what).toEqual(
          new Set([409]),
        )
    // Whoever knows the integrity, which is public, does not get a 304 that others get 200 for.
    const known = { 'if-none-match': `"${version.integrity}"` }
    const path = filled('/npm/{paid}/tarball')
    expect((await server.call('GET', path, { headers: known })).status).toBe(402)
    expect((await server.call('GET', path, { token: tokens.buyer, headers: known })).status).toBe(304)
  })

  it('answers about others’ orders, money and licences as about none', async () => {
    const { order } = names
    const unknown = crypto.randomUUID()
    const asking: Caller[] = ['other', 'refunded', 'colleague', 'operator']
    const text = async (caller: Caller, method: string, path: string, json?: unknown) => {
      const answer = await server.call(method, path, { token: tokens[caller], json })
      return `${answer.status} ${answer.text.replaceAll(order, '…').replaceAll(unknown, '…')}`
    }
    for (const caller of asking.filter((name) => name !== 'operator'))
      for (const [method, path, json] of [
        ['GET', '/v1/orders/ID', undefined],
        ['POST', '/v1/orders/ID/refunds', { reason: 'mine' }],
        ['POST', '/v1/orders/ID/cancel', undefined],
        ['GET', '/v1/payments/ID', undefined],
      ] as const)
        expect(await text(caller, method, path.replace('ID', order), json), `${caller} ${path}`).toBe(
          await text(caller, method, path.replace('ID', unknown), json),
        )
    expect(await statuses('GET', `/v1/orders/${order}`)).toEqual([
      401,
      404,
      200,
      404,
      404,
      200,
      200,
      expect.any(Number),
    ])
    const ofAccount = [
      'orders',
      'entitlements',
      'balance',
      'payments',
      'earnings',
      'earnings/entries',
      'payouts',
      'spend-caps',
    ]
    for (const what of ofAccount)
      for (const account of ['{buyerName}', '{seller}', '{org}']) {
        const got = await statuses('GET', `/v1/${what}?account=${account}`)
        const mine: Caller[] =
          account === '{buyerName}' ? ['buyer', 'narrow'] : account === '{seller}' ? ['seller'] : ['colleague']
        for (const [index, status] of got.entries())
          if (!mine.includes(callers[index]))
            expect([401, 403, 404], `${what} ${account} ${callers[index]}`).toContain(status)
      }
  })

  it('RPC has nothing of the market', async () => {
    for (const method of [
      'orders.list',
      'orders.place',
      'market.buy',
      'balance.get',
      'earnings.get',
      'entitlements.list',
    ])
      for (const caller of callers) {
        const call = { jsonrpc: '2.0', id: 1, method, params: {} }
        const { text } = await server.call('POST', '/rpc', { token: tokens[caller], json: call })
        expect(JSON.parse(text).result).toBeUndefined()
      }
  })

  it('what is refused says how to get it', async () => {
    const path = filled('/npm/{paid}/tarball')
    const { text } = await server.call('GET', path)
    const { error, code } = JSON.parse(text)
    expect(code).toBe('payment_required')
    expect(error).toContain(`agentgym buy ${names.paid}@1`)
    expect(error).toContain(`${server.url}/packages/${names.paid}`)
    expect(error).toContain('5.00 USD')
    const narrow = await server.call('GET', path, { token: tokens.narrow })
    expect(JSON.parse(narrow.text).error).toContain('packages:read')
  })

  it('a licence is for one major: another one is bought anew', async () => {
    const listed = await listPackage(database, {
      ...{ ownerId: cast.seller.accountId, owner: cast.seller.username },
      ...{ price: { kind: 'one_time', amountMinor: 100 }, versions: ['1.0.0', '1.5.0', '2.0.0'] },
    })
    await buy(server.services, cast.buyer, listed, { range: '^1.0.0' })
    const base = listed.name.slice(listed.name.indexOf('/') + 1)
    const ask = (version: string) =>
      server.call('HEAD', `/npm/${listed.name}/-/${base}-${version}.tgz`, { token: tokens.buyer })
    expect((await ask('2.0.0')).status).toBe(402)
    // Its rows are there without their bytes: past the question, there is nothing in the store.
    for (const version of ['1.0.0', '1.5.0']) expect((await ask(version)).status).toBe(500)
  })
})
