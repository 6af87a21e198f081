import { type Asking, serveRoutes } from '@agentgym/testkit/registry'
import type { TestServices } from '@agentgym/testkit/services'
import type { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { goodTarball } from '../../../../../testdata/tarballs/good-package.ts'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { Env } from '../../../core/http/env.ts'
import { createActor, publish } from '../../packages/testing/publishing.ts'
import { reviewRoutes } from '../reviews.routes.ts'
import { insertLicense } from './licenses.ts'

/** For each test a published package of its own, and buyers who review it over HTTP. */
export function reviewedPackages(
  open: () => Promise<Database>,
  rooms: (services: TestServices) => Hono<Env>[] = () => [],
) {
  let database: Database
  let server: Asking
  let seller: Actor
  let packages = 0
  const at = { name: '', path: '', packageId: '', versionId: '' }
  beforeAll(async () => {
    database = await open()
    server = await serveRoutes(database, (services) => [reviewRoutes(services), ...rooms(services)])
    seller = await createActor(database, 'seller')
  })
  beforeEach(() => publishAs(seller.username, `maze-${++packages}`))
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  /** Tests are about that one from then on. */
  async function publishAs(scope: string, base: string): Promise<void> {
    at.name = `@${scope}/${base}`
    at.path = `/v1/packages/${at.name}`
    await publishVersion('1.0.0')
    const row = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select(['versions.id', 'packages.id as package_id'])
      .where('packages.name', '=', at.name)
      .executeTakeFirstOrThrow()
    at.versionId = row.id
    at.packageId = row.package_id
  }
  const publishVersion = (version: string) =>
    publish(server.services, seller, version, { name: at.name, tarball: goodTarball({ name: at.name, version }) })

  return {
    at,
    database: () => database,
    services: () => server.services,
    seller: () => seller,
    publishAs,
    publishVersion,
    ask: (...request: Parameters<Asking['ask']>) => server.ask(...request),
    tokenOf: (...request: Parameters<Asking['tokenOf']>) => server.tokenOf(...request),
    packageRow: () =>
      database.query.selectFrom('packages').selectAll().where('name', '=', at.name).executeTakeFirstOrThrow(),
    async buyerOf(version = '1.0.0') {
      const buyer = await createActor(database, 'buyer')
      const order = await insertLicense(database, { buyer: buyer.accountId, name: at.name, version })
      return { buyer, order, token: await server.tokenOf(buyer, 'market:buy') }
    },
    review: (token: string | null, stars = 5, more: object = {}) =>
      server.ask(token, 'PUT', `${at.path}/reviews`, {
        ...{ version: '1.0.0', stars, text: 'It does what it says.' },
        ...more,
      }),
    list: async () => (await server.ask(null, 'GET', `${at.path}/reviews`)).body,
  }
}
