import { mkdtemp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { type AppOptions, createApp } from '../../registry/src/app/app.ts'
import { listenHttp } from '../../registry/src/app/http-listener.ts'
import type { Modules } from '../../registry/src/app/modules.ts'
import { type Actor, type Scope, scopes } from '../../registry/src/core/access/authorize.ts'
import type { Database } from '../../registry/src/core/database/database.ts'
import type { Env } from '../../registry/src/core/http/env.ts'
import { backgroundSettled } from '../../registry/src/core/scheduled-tasks/scheduled-tasks.ts'
import type { ServerConfig } from '../../registry/src/core/services.ts'
import { createToken } from '../../registry/src/modules/accounts/tokens.store.ts'
import { createPgliteFolder } from './databases.ts'
import { runFolder } from './run-folder.ts'
import { type TestServices, testServices } from './services.ts'

/** A request: a token or a session's cookie, and one of `json`, `form` (as a browser sends it) and `content`. */
export type Call = {
  token?: string | null | undefined
  /** The Cookie header. */
  cookie?: string
  json?: unknown
  form?: Record<string, string>
  content?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** The client's address, for a server that trusts one proxy. */
  ip?: string
  signal?: AbortSignal | undefined
}

export type Answer = {
  status: number
  bytes: Buffer
  text: string
  /** Of an answer in JSON. */
  body: Record<string, unknown>
  /** Of a failure: `error.code`, or `code` as npm has it. */
  code: string | undefined
  headers: Headers
  /** `name=value` of each cookie that was set, as a browser would send it back. */
  cookie: string
  /** Each Set-Cookie header, whole. */
  setCookies: string[]
}

export type ServedApp = {
  url: string
  services: TestServices
  call(method: string, path: string, call?: Call): Promise<Answer>
  /** A token of an account; with every scope unless some are named. */
  tokenOf(actor: Pick<Actor, 'accountId'>, scopes?: readonly Scope[]): Promise<string>
  close(): Promise<void>
}

/** Routes, and what ends with the server: all of `openModules`, or routes alone. */
type Rooms = Hono<Env>[] | (Pick<Modules, 'routes'> & Partial<Modules>)

/** The application with these rooms, answering real requests. */
export async function serveApp(
  database: Database,
  rooms: Rooms | ((services: TestServices) => Rooms | Promise<Rooms>),
  config: Partial<ServerConfig> = {},
  more: Pick<AppOptions, 'tracer' | 'site'> = {},
): Promise<ServedApp> {
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const services = await testServices(database, { publicUrl: url, ...config })
  const opened = typeof rooms === 'function' ? await rooms(services) : rooms
  const modules: Exclude<Rooms, Hono<Env>[]> = Array.isArray(opened) ? { routes: opened } : opened
  listener.answerWith(createApp(services, { routes: modules.routes, ...more }).fetch)
  return {
    url,
    services,
    call: (method, path, call) => callAt(url, method, path, call),
    tokenOf: (actor, held = scopes) => tokenOf(database, actor, held),
    close: async () => {
      modules.drain?.()
      await listener.drain(0)
      await modules.close?.()
      await backgroundSettled()
      await services.remove()
    },
  }
}

/** Sends a request and reads the whole answer; follows no redirect. */
export async function callAt(url: string, method: string, path: string, call: Call = {}): Promise<Answer> {
  const { token, cookie, json, form, headers, ip, signal } = call
  const formBody = form === undefined ? call.content : new URLSearchParams(form)
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    body: json === undefined ? (formBody ?? null) : JSON.stringify(json),
    signal: signal ?? null,
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token == null ? {} : { authorization: `Bearer ${token}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(ip === undefined ? {} : { 'x-forwarded-for': ip }),
      ...headers,
    },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const body = isJson && text !== '' ? JSON.parse(text) : {}
  const setCookies = response.headers.getSetCookie()
  return {
    status: response.status,
    ...{ bytes, text, body, setCookies },
    code: response.ok ? undefined : (body.error?.code ?? body.code),
    headers: response.headers,
    cookie: setCookies.map((value) => value.split(';')[0]).join('; '),
  }
}

export type ApiResult = Pick<Answer, 'status' | 'code' | 'body'>
export type Asking = Awaited<ReturnType<typeof serveRoutes>>

/** Modules behind the whole application, over a real socket, asked with tokens. */
export async function serveRoutes(database: Database, rooms: (services: TestServices) => Hono<Env>[]) {
  const served = await serveApp(database, rooms)
  return {
    ...served,
    /** `as`: a token, or null for a stranger. */
    async ask(as: string | null, method: string, path: string, json?: unknown): Promise<ApiResult> {
      const { status, code, body } = await served.call(method, path, { token: as, json })
      return { status, code, body }
    },
    tokenOf: (actor: Actor, ...held: Scope[]) => served.tokenOf(actor, held),
  }
}

/** A token of an account, straight from the database. */
export async function tokenOf(
  database: Database,
  { accountId }: Pick<Actor, 'accountId'>,
  held: readonly Scope[] = scopes,
): Promise<string> {
  return (await createToken(database.query, { accountId, name: 'test', scopes: held, expiresAt: null })).token
}

/** A folder for `serve` whose embedded database is made already, which takes seconds otherwise. Goes with the run. */
export async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(runFolder(), 'data-'))
  await rename((await createPgliteFolder()).folder, join(folder, 'database'))
  return folder
}
