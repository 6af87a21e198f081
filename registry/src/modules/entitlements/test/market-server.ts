import { randomUUID } from 'node:crypto'
import type { SetPriceRequest } from '@agentgym/contract'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { createApp } from '../../../app/app.ts'
import { listenHttp } from '../../../app/http-listener.ts'
import { openRooms } from '../../../app/rooms.ts'
import { type Actor, type Scope, scopes } from '../../../core/access/authorise.ts'
import type { Database } from '../../../core/database/database.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { createToken } from '../../accounts/tokens.store.ts'
import { createOrganisation, fund } from '../../orders/testing/marketplace.ts'
import { createActor, publish } from '../../packages/testing/publishing.ts'
import { setPrice } from '../../prices/set-price.ts'

export type Answer = { status: number; text: string; headers: Headers; code: string | undefined }
export type Call = { token?: string | undefined; json?: unknown; headers?: Record<string, string> }

/** The whole service over a real socket, as `agentgym serve` puts it together. */
export type MarketServer = {
  url: string
  services: TestServices
  call(method: string, path: string, call?: Call): Promise<Answer>
  tokenOf(actor: Actor, scopes?: readonly Scope[]): Promise<string>
  close(): Promise<void>
}

export async function startMarketServer(database: Database, config: Partial<ServerConfig> = {}): Promise<MarketServer> {
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const services = await testServices(database, { publicUrl: url, ...config })
  const rooms = await openRooms(services)
  listener.answerWith(createApp(services, { rooms: rooms.routes }).fetch)
  return {
    url,
    services,
    call: (method, path, call) => send(url + path, method, call),
    tokenOf: async ({ accountId }, held = scopes) => {
      const { token } = await createToken(database.query, { accountId, name: 'test', scopes: held, expiresAt: null })
      return token
    },
    close: async () => {
      rooms.drain()
      await listener.drain(0)
      await rooms.close()
      await services.remove()
    },
  }
}

async function send(address: string, method: string, { token, json, headers }: Call = {}): Promise<Answer> {
  const response = await fetch(address, {
    method,
    redirect: 'manual',
    body: json === undefined ? null : JSON.stringify(json),
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  })
  const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const body = isJson && text !== '' ? JSON.parse(text) : {}
  return { status: response.status, text, headers: response.headers, code: body.error?.code ?? body.code }
}

/** Publishes `@seller/base` 1.0.0 with a price, before anybody relies on it. */
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

/** Everybody who may ask: what they bring decides what they get. */
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
  const org = await createOrganisation(database, { [orgOwner.accountId]: 'owner', [colleague.accountId]: 'viewer' })
  for (const id of [buyer.accountId, refunded.accountId, other.accountId, org.id]) await fund(database, id, 100_000)
  return { seller, other, buyer, refunded, operator: { ...operator, operator: true }, colleague, orgOwner, org }
}
