import { randomUUID } from 'node:crypto'
import type { SetPriceRequest } from '@agentgym/contract'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import type { TestServices } from '@agentgym/testkit/services'
import { expect } from 'vitest'
import { openModules } from '../../../app/modules.ts'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { buy, createOrganization, fund } from '../../orders/testing/marketplace.ts'
import { createActor, publish } from '../../packages/testing/publishing.ts'
import { setPrice } from '../../prices/set-price.ts'

/** The whole service over a real socket, as `agentgym serve` puts it together. */
export type MarketServer = ServedApp

/** Writes have a new idempotency key each; the text of an answer may be a tarball. */
export async function startMarketServer(database: Database, config: Partial<ServerConfig> = {}): Promise<MarketServer> {
  const served = await serveApp(database, openModules, config)
  return {
    ...served,
    call: async (method, path, call = {}) => {
      const key = call.json === undefined ? undefined : { 'idempotency-key': randomUUID() }
      const answer = await served.call(method, path, { ...call, headers: { ...key, ...call.headers } })
      return { ...answer, text: answer.bytes.toString('latin1') }
    },
  }
}

/** Publishes `@seller/base` 1.0.0 with a price, before it has users. */
export async function sell(
  services: TestServices,
  seller: Actor,
  base: string,
  price: SetPriceRequest | null,
  visibility: 'public' | 'private' = 'public',
): Promise<string> {
  await publish(services, seller, '1.0.0', { base, visibility, manifest: { description: `The package ${base}.` } })
  const name = `@${seller.username}/${base}`
  if (price !== null) await setPrice(services, { actor: seller, name, ip: null }, price)
  return name
}

/** All callers with their credentials. */
export type Cast = {
  seller: Actor
  other: Actor
  buyer: Actor
  refunded: Actor
  operator: Actor
  /** A viewer of `org`, which buys. */
  colleague: Actor
  orgOwner: Actor
  org: { id: string; username: string }
}

export async function openCast(database: Database): Promise<Cast> {
  const names = ['seller', 'other', 'buyer', 'refunded', 'operator', 'colleague', 'owner'] as const
  const [seller, other, buyer, refunded, operator, colleague, orgOwner] = await Promise.all(
    names.map((name) => createActor(database, name)),
  )
  await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
  const org = await createOrganization(database, { [orgOwner.accountId]: 'owner', [colleague.accountId]: 'viewer' })
  for (const id of [buyer.accountId, refunded.accountId, other.accountId, org.id]) await fund(database, id, 100_000)
  return { seller, other, buyer, refunded, operator: { ...operator, operator: true }, colleague, orgOwner, org }
}

/** Who asks, in this order. `narrow` is the buyer with a token that may do everything but read packages. */
export const callers = ['nobody', 'other', 'buyer', 'refunded', 'colleague', 'seller', 'narrow', 'operator'] as const
export type Caller = (typeof callers)[number]

export const everybody = (status: number) => callers.map(() => status)
/** The seller alone has it. */
export const strangers = (status: number) => callers.map((caller) => (caller === 'seller' ? 200 : status))

export type AccessWorld = {
  server: MarketServer
  cast: Cast
  tokens: Record<Caller, string | undefined>
  /** Names in paths and bodies: `{paid}` is the package, `{order}` the buyer's order. */
  names: Record<string, string>
  /** A path with its names; `/npm/{paid}/tarball` is the one that npm asks for. */
  filled(path: string): string
  /** Expected response per caller. */
  statuses(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<number[]>
}

/**
 * A marketplace in which `buyer` and the organization of `colleague` have bought everything, and `refunded` got
 * refunds.
 */
export async function openAccessWorld(database: Database): Promise<AccessWorld> {
  const server = await startMarketServer(database)
  const cast = await openCast(database)
  const names = await listPackages(server, cast)
  const tokens = await tokensOf(server, cast)
  await trade({ server, cast, tokens, names })
  const filled = (text: string) =>
    text
      .replaceAll(/\{(\w+)\}/g, (_whole, name: string) => names[name])
      .replace(/\/npm\/(@[^/]+)\/([^/]+)\/tarball/, '/npm/$1/$2/-/$2-1.0.0.tgz')
  return {
    ...{ server, cast, tokens, names, filled },
    statuses: async (method, path, json, headers = {}) => {
      const body = json === undefined ? undefined : JSON.parse(filled(JSON.stringify(json)))
      const ask = (caller: Caller) => server.call(method, filled(path), { token: tokens[caller], json: body, headers })
      return (await Promise.all(callers.map(ask))).map(({ status }) => status)
    },
  }
}

async function listPackages({ services }: MarketServer, { seller, buyer, org }: Cast): Promise<Record<string, string>> {
  const license = { kind: 'one_time', amount_minor: 500 } as const
  const paid = await sell(services, seller, 'paid', license)
  return {
    ...{ paid, PAID: paid.toUpperCase() },
    free: await sell(services, seller, 'free', null),
    hosted: await sell(services, seller, 'hosted', { kind: 'per_run', amount_minor: 200 }),
    secret: await sell(services, seller, 'secret', license, 'private'),
    down: await sell(services, seller, 'down', null),
    gone: await sell(services, seller, 'gone', license),
    evil: await sell(services, seller, 'evil', license),
    ...{ org: org.username, seller: seller.username, buyerName: buyer.username },
  }
}

async function tokensOf({ tokenOf }: MarketServer, cast: Cast): Promise<AccessWorld['tokens']> {
  const narrow = [...cast.buyer.scopes].filter((scope) => !scope.startsWith('packages:') && scope !== 'worker')
  return {
    nobody: undefined,
    other: await tokenOf(cast.other),
    buyer: await tokenOf(cast.buyer),
    refunded: await tokenOf(cast.refunded),
    colleague: await tokenOf(cast.colleague),
    seller: await tokenOf(cast.seller),
    narrow: await tokenOf(cast.buyer, narrow),
    operator: await tokenOf(cast.operator),
  }
}

/** Buys everything, refunds one buyer, and then takes some packages down. */
async function trade({ server, cast, tokens, names }: Omit<AccessWorld, 'filled' | 'statuses'>): Promise<void> {
  const { services, call } = server
  const { buyer, orgOwner, org, refunded } = cast
  for (const name of [names.paid, names.gone, names.evil]) {
    const { order } = await buy(services, buyer, { name })
    if (name === names.paid) names.order = order.id
    await buy(services, orgOwner, { name }, { account: org.username })
    const given = await buy(services, refunded, { name })
    const path = `/v1/orders/${given.order.id}/refunds`
    const back = await call('POST', path, { token: tokens.refunded, json: { reason: 'changed my mind' } })
    expect(back.text).toContain('refunded')
  }
  const reason = 'It copies another one.'
  for (const name of [names.down, names.gone, names.evil]) {
    const json = { reason, for_all: name === names.evil }
    const taken = await call('POST', `/v1/packages/${name}/take-down`, { token: tokens.operator, json })
    expect(taken.status, taken.text).toBeLessThan(300)
  }
}
