import type { Hono } from 'hono'
import { createApp } from '../app/app.ts'
import { type HttpListener, listenHttp } from '../app/http-listener.ts'
import type { Actor, Scope } from '../core/access/actor.ts'
import type { Database } from '../core/database/database.ts'
import type { Env } from '../core/http/env.ts'
import { createToken } from '../modules/accounts/tokens.store.ts'
import { type TestServices, testServices } from './test-services.ts'

export type Asking = Awaited<ReturnType<typeof askRooms>>
type Asked = { status: number; code: string | undefined; body: Record<string, unknown> }

/** Rooms behind the whole application, over a real socket, asked with tokens. */
export async function askRooms(database: Database, rooms: (services: TestServices) => Hono<Env>[]) {
  const listener: HttpListener = await listenHttp('127.0.0.1', 0)
  const url = `http://127.0.0.1:${listener.port}`
  const services = await testServices(database, { publicUrl: url })
  listener.answerWith(createApp(services, { rooms: rooms(services) }).fetch)
  return {
    services,
    url,
    /** `as`: a token, or null for a stranger. */
    async ask(as: string | null, method: string, path: string, body?: unknown): Promise<Asked> {
      const headers: Record<string, string> = as === null ? {} : { authorization: `Bearer ${as}` }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
      const text = await response.text()
      const parsed = text === '' ? {} : JSON.parse(text)
      return { status: response.status, code: parsed.error?.code, body: parsed }
    },
    tokenOf: (actor: Actor, ...scopes: Scope[]) => tokenOf(database, actor, scopes),
    async close() {
      await listener.drain(0)
      await services.remove()
    },
  }
}

async function tokenOf(database: Database, { accountId }: Actor, scopes: Scope[]): Promise<string> {
  return (await createToken(database.query, { accountId, name: 'test', scopes, expiresAt: null })).token
}
