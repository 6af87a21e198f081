import { randomUUID } from 'node:crypto'
import { workerProtocol, workerProtocolHeader } from '@agentgym/contract'
import { goodTarball } from '../../../testdata/tarballs/good-package.ts'
import { request } from '../http-load.ts'
import type { Side, Visitor } from './side.ts'

/** Something that users do, on the database of either size. */
export type Operation = { id: string; what: string; perform(side: Side, round: number): Promise<unknown> }

/** What people look at, without and with an account. `top`: whose own rows grow with the database, too. */
const pages: Operation[] = [
  page('home', 'home page', () => '/'),
  page('browse', 'packages', () => '/packages'),
  page('browse_far', 'packages, a later page', ({ laterPage }) => laterPage),
  page('filtered', 'packages with filters', () => '/packages?kind=scenario&difficulty=beginner&sort=newest'),
  page(
    'search',
    'search by words',
    ({ queries }, round) => `/packages?q=${encodeURIComponent(queries[round % queries.length])}`,
  ),
  page(
    'search_filtered',
    'search by words, with filters',
    ({ queries }, round) => `/packages?kind=scenario&q=${encodeURIComponent(queries[round % queries.length])}`,
  ),
  page('agents', 'agents with facets', () => '/packages?kind=agent'),
  page('agents_solved', 'agents that meet the targets', () => '/packages?kind=agent&solved=yes'),
  page(
    'agents_of',
    'agents of the most used scenario',
    ({ topScenario }) => `/packages?kind=agent&scenario=${encodeURIComponent(topScenario)}`,
  ),
  page('leaderboard', 'leaderboard of the most used scenario', ({ topScenario }) => `/packages/${topScenario}/agents`),
  page('package', 'page of a package', ({ packages }, round) => `/packages/${packages[round % packages.length]}`),
  page('package_top', 'page of the most used scenario', ({ topScenario }) => `/packages/${topScenario}`),
  page(
    'versions',
    'versions of a package',
    ({ packages }, round) => `/packages/${packages[round % packages.length]}/versions`,
  ),
  page('npm', 'a package as npm reads it', ({ packages }, round) => `/npm/${packages[round % packages.length]}`),
  page('publisher', 'page of a publisher', ({ publishers }, round) => `/@${publishers[round % publishers.length]}`),
  page(
    'feed',
    'feed of a publisher',
    ({ publishers }, round) => `/@${publishers[round % publishers.length]}/feed.atom`,
  ),
  page('sitemap', 'index of the sitemap', () => '/sitemap.xml'),
  page('dashboard', 'dashboard', () => '/dashboard', 'person'),
  page('runs', 'runs of a user', () => '/runs', 'person'),
  page('runs_top', 'runs of the busiest user', () => '/runs', 'top'),
  page('run', 'page of a run', ({ run }) => `/runs/${run}`, 'top'),
  page('orders', 'orders of a user', () => '/orders', 'person'),
  page('orders_top', 'orders of the user with most', () => '/orders', 'top'),
  page('licenses_top', 'licenses of the user with most', () => '/licences', 'top'),
  page('balance_top', 'balance of the user with most', () => '/balance', 'top'),
  page('spending_top', 'spending limits of the user with most calls', () => '/settings/spending', 'top'),
  page('sales', 'sales of a seller', () => '/sales', 'seller'),
  page('sales_top', 'sales of the largest seller', () => '/sales', 'topSeller'),
  page('analytics', "analytics of a seller's package", ({ seller }) => `/packages/${seller.sells}/analytics`, 'seller'),
  page(
    'analytics_top',
    'analytics of the package that sells best',
    ({ topSeller }) => `/packages/${topSeller.sells}/analytics`,
    'topSeller',
  ),
  page('earnings', 'earnings of a seller', () => '/earnings', 'seller'),
  page('earnings_top', 'earnings of the largest seller', () => '/earnings', 'topSeller'),
  page('queue', "operator's queue", () => '/operator/queue', 'operator'),
  page('accounts', "operator's accounts", () => '/operator/accounts?q=seed-1', 'operator'),
  page('audit', "operator's audit log", () => '/operator/audit', 'operator'),
]

const changes: Operation[] = [
  {
    ...{ id: 'publish', what: 'publishing a package and setting its price' },
    perform: async (side) => {
      const name = `@${side.person.username}/p${randomUUID().slice(0, 8)}`
      const body = goodTarball({ name, version: '1.0.0' })
      const headers = { ...bearer(side.person), 'content-type': 'application/octet-stream' }
      await request(`${side.url}/v1/packages/${name}/versions/1.0.0`, { method: 'PUT', headers, body, status: 202 })
      await send(side, `/v1/packages/${name}/price`, side.person, {
        method: 'PUT',
        body: { kind: 'one_time', amount_minor: 500 },
      })
    },
  },
  {
    ...{ id: 'submit', what: 'starting a run' },
    perform: (side, round) =>
      post(
        side,
        '/v1/runs',
        side.buyers[round % side.buyers.length],
        { scenario: side.topScenario, steps: 100_000 },
        201,
      ),
  },
  {
    ...{ id: 'lease', what: 'leasing a run and releasing it' },
    perform: async (side) => {
      const job = JSON.parse(await post(side, '/v1/jobs/lease', side.operator, { kinds: ['train'] }))
      await post(side, `/v1/jobs/${job.id}/heartbeat`, side.operator, { lease: job.lease })
      await post(side, `/v1/jobs/${job.id}/release`, side.operator, { lease: job.lease, reason: 'measured' }, 204)
    },
  },
  {
    ...{ id: 'checkout', what: 'buying an agent' },
    perform: (side, round) => {
      const buyer = side.buyers[round % side.buyers.length]
      return post(side, '/v1/orders', buyer, { package: buyer.wants, pay_with: 'balance' }, 201)
    },
  },
  {
    ...{ id: 'call', what: 'counting a call' },
    perform: (side) => {
      const { name: agent, caller } = side.called
      const event = {
        id: randomUUID(),
        package: agent,
        version: '1.0.0',
        account: caller,
        calls: 1,
        at: new Date().toISOString(),
      }
      return post(side, '/v1/usage-events', side.operator, { events: [event] })
    },
  },
]

export const operations: readonly Operation[] = [...pages, ...changes]

type Whose = 'person' | 'top' | 'seller' | 'topSeller' | 'operator'

function page(id: string, what: string, path: (side: Side, round: number) => string, whose?: Whose): Operation {
  return {
    ...{ id, what },
    perform: (side, round) => {
      const headers = whose === undefined ? {} : { cookie: side[whose].cookie }
      return request(side.url + path(side, round), { headers })
    },
  }
}

const bearer = ({ token }: Visitor) => ({ authorization: `Bearer ${token}` })

function post(side: Side, path: string, by: Visitor, body: unknown, status = 200): Promise<string> {
  return send(side, path, by, { method: 'POST', body, status })
}

type Sent = { method: string; body: unknown; status?: number }

function send({ url }: Side, path: string, by: Visitor, { body, ...sent }: Sent): Promise<string> {
  const headers = {
    ...bearer(by),
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
    [workerProtocolHeader]: workerProtocol,
  }
  return request(url + path, { ...sent, headers, body: JSON.stringify(body) })
}
