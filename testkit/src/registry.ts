import { mkdtemp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { type AppOptions, createApp } from '../../registry/src/app/app.ts'
import { type HttpListener, listenHttp } from '../../registry/src/app/http-listener.ts'
import type { Actor, Scope } from '../../registry/src/core/access/authorize.ts'
import type { Database } from '../../registry/src/core/database/database.ts'
import type { Env } from '../../registry/src/core/http/env.ts'
import type { ServerConfig } from '../../registry/src/core/services.ts'
import { createToken } from '../../registry/src/modules/accounts/tokens.store.ts'
import { createPgliteFolder } from './databases.ts'
import { runFolder } from './run-folder.ts'
import { type TestServices, testServices } from './services.ts'

export type ServedApp = { url: string; services: TestServices; close(): Promise<void> }

/** The application with these rooms, answering real requests. */
export async function serveApp(
  database: Database,
  rooms: Hono<Env>[] | ((services: TestServices) => Hono<Env>[]),
  config: Partial<ServerConfig> = {},
  more: Pick<AppOptions, 'tracer' | 'site'> = {},
): Promise<ServedApp> {
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const services = await testServices(database, { publicUrl: url, ...config })
  const opened = typeof rooms === 'function' ? rooms(services) : rooms
  listener.answerWith(createApp(services, { routes: opened, ...more }).fetch)
  return {
    url,
    services,
    close: async () => {
      await listener.drain(0)
      await services.remove()
    },
  }
}

export type Asking = Awaited<ReturnType<typeof serveRoutes>>
type ApiResult = { status: number; code: string | undefined; body: Record<string, unknown> }

/** Modules behind the whole application, over a real socket, asked with tokens. */
export async function serveRoutes(database: Database, rooms: (services: TestServices) => Hono<Env>[]) {
  const listener: HttpListener = await listenHttp('127.0.0.1', 0)
  const url = `http://127.0.0.1:${listener.port}`
  const services = await testServices(database, { publicUrl: url })
  listener.answerWith(createApp(services, { routes: rooms(services) }).fetch)
  return {
    services,
    url,
    /** `as`: a token, or null for a stranger. */
    async ask(as: string | null, method: string, path: string, body?: unknown): Promise<ApiResult> {
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

/** A folder for `serve` whose embedded database is made already, which takes seconds otherwise. Goes with the run. */
export async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(runFolder(), 'data-'))
  await rename((await createPgliteFolder()).folder, join(folder, 'database'))
  return folder
}
