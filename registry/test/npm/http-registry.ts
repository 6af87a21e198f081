import { once } from 'node:events'
import { freePort } from '@agentgym/testkit/ports'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { serve } from '@hono/node-server'
import { expect } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { type Actor, scopes } from '../../src/core/access/authorize.ts'
import type { Database } from '../../src/core/database/database.ts'
import { npmRoutes } from '../../src/modules/npm/npm.routes.ts'
import type { Change } from '../../src/modules/packages/change-versions.ts'
import { packScenario, publishDocument, type ScenarioPackage } from './scenario-package.ts'
import { passCheck, signUp } from './test-registry.ts'

export type Json = Record<string, unknown>
export type Served = {
  'dist-tags': Record<string, string>
  versions: Record<string, Json>
  readme?: string
}
type Options = { as?: string; method?: string; body?: string; headers?: Record<string, string> }

export type HttpRegistry = {
  services: TestServices
  /** Tokens by username, for `as`. */
  tokens: Map<string, string>
  ask(path: string, options?: Options): Promise<Response>
  json(path: string, options?: Options): Promise<Json>
  packument(name: string, as?: string): Promise<Served>
  /** Publishes like npm, which sends `latest` by default. */
  put(scenario: ScenarioPackage, as?: string, tag?: string): Promise<Response>
  pass(name: string, version: string): Promise<void>
  /** `put` by acme, and `pass`. */
  publish(scenario: ScenarioPackage, tag?: string): Promise<void>
  /** For changes that do not come through npm, by acme. */
  change(name: string): Change & { actor: Actor }
  close(): Promise<void>
}

/** The registry in this process, behind a port, with the users acme and mallory. */
export async function openHttpRegistry(database: Database): Promise<HttpRegistry> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const services = await testServices(database, { publicUrl: url })
  const app = createApp(services, { routes: [npmRoutes(services)] })
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port })
  if (!server.listening) await once(server, 'listening')
  const acme = await signUp(services, 'acme', ['packages:manage'])
  const mallory = await signUp(services, 'mallory', ['packages:manage'])
  const tokens = new Map([
    ['acme', acme.token],
    ['mallory', mallory.token],
  ])

  async function ask(path: string, { as, method, body, headers = {} }: Options = {}): Promise<Response> {
    const authorization = as === undefined ? {} : { authorization: `Bearer ${tokens.get(as)}` }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    return fetch(`${url}/npm${path}`, { method, body, headers: { ...authorization, ...type, ...headers } })
  }
  async function json(path: string, options?: Options): Promise<Json> {
    return (await (await ask(path, options)).json()) as Json
  }
  async function put(scenario: ScenarioPackage, as = 'acme', tag = 'latest'): Promise<Response> {
    const document = publishDocument(scenario, await packScenario(scenario), tag)
    return ask(`/${scenario.name.replace('/', '%2f')}`, { as, method: 'PUT', body: document })
  }
  const actor = { accountId: acme.accountId, username: 'acme', emailVerified: true, operator: false, tokenId: null }
  const pass = (name: string, version: string) => passNamed(services, name, version)
  return {
    services,
    tokens,
    ask,
    json,
    put,
    pass,
    packument: async (name, as) => (await json(`/${name}`, { as })) as unknown as Served,
    publish: async (scenario, tag) => {
      const response = await put(scenario, 'acme', tag)
      expect(response.status, await response.text()).toBe(201)
      await pass(scenario.name, scenario.version)
    },
    change: (name) => ({ actor: { ...actor, scopes: new Set(scopes) }, name, ip: null }),
    close: async () => {
      server.close()
      await services.downloads.flush()
      await services.remove()
    },
  }
}

async function passNamed(services: TestServices, name: string, version: string): Promise<void> {
  const { id } = await services.database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('versions.id')
    .where('packages.name', '=', name)
    .where('version', '=', version)
    .executeTakeFirstOrThrow()
  await passCheck(services, id, { name, version })
}
