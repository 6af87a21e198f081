import { type TestServices, testServices } from '@agentgym/testkit/services'
import { createApp } from '../../../app/app.ts'
import { listenHttp } from '../../../app/http-listener.ts'
import type { Database } from '../../../core/database/database.ts'
import { backgroundSettled } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { accountRoutes } from '../accounts.routes.ts'
import type { Providers } from '../oauth-log-in.ts'
import { addOperator } from '../operators.ts'

export type Call = {
  token?: string
  /** The Cookie header. */
  cookie?: string
  json?: unknown
  /** A form as a browser sends it. */
  form?: Record<string, string>
  headers?: Record<string, string>
  /** The client's address: the server trusts one proxy. */
  ip?: string
}

export type Answer = {
  status: number
  text: string
  /** Of an answer in JSON. */
  body: Record<string, unknown>
  /** `error.code` of a failure. */
  code: string | undefined
  headers: Headers
  /** `name=value` of each cookie that was set, as a browser would send it back. */
  cookie: string
  /** Each Set-Cookie header, whole. */
  setCookies: string[]
}

export type AuthServer = {
  url: string
  services: TestServices
  call(method: string, path: string, call?: Call): Promise<Answer>
  close(): Promise<void>
}

export const password = 'correct horse battery'

/** The accounts' routes behind the whole application, over a real socket. */
export async function startAuthServer(
  database: Database,
  config: Partial<ServerConfig> = {},
  providers?: Providers,
): Promise<AuthServer> {
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const services = await testServices(database, { publicUrl: url, trustedProxies: 1, ...config })
  listener.answerWith(createApp(services, { routes: [accountRoutes(services, providers)] }).fetch)
  return {
    url,
    services,
    call: (method, path, call = {}) => send(url, method, path, call),
    close: async () => {
      await listener.drain(1_000)
      await backgroundSettled()
      await services.remove()
    },
  }
}

async function send(
  url: string,
  method: string,
  path: string,
  { token, cookie, json, form, headers, ip }: Call,
): Promise<Answer> {
  const body = form === undefined ? (json === undefined ? undefined : JSON.stringify(json)) : new URLSearchParams(form)
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    body,
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(ip === undefined ? {} : { 'x-forwarded-for': ip }),
      ...headers,
    },
  })
  const text = await response.text()
  const setCookies = response.headers.getSetCookie()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const parsed = isJson ? JSON.parse(text) : {}
  return {
    status: response.status,
    text,
    body: parsed,
    code: parsed.error?.code,
    headers: response.headers,
    cookie: setCookies.map((value) => value.split(';')[0]).join('; '),
    setCookies,
  }
}

/** Signs a user up and logs in; `cookie` is the session's. */
export async function newUser({ call }: AuthServer, username: string): Promise<{ username: string; cookie: string }> {
  const signedUp = await call('POST', '/v1/accounts', {
    json: { username, email: `${username}@example.com`, password },
    ip: `user-${username}`,
  })
  if (signedUp.status !== 201) throw new Error(`signing up ${username}: ${signedUp.text}`)
  const loggedIn = await call('POST', '/v1/sessions', { json: { username, password }, ip: `user-${username}` })
  return { username, cookie: loggedIn.cookie }
}

/** As `newUser`, and an operator. */
export async function newOperator(server: AuthServer, username: string): ReturnType<typeof newUser> {
  const user = await newUser(server, username)
  await addOperator(server.services.database, null, { username, ip: null })
  return user
}

/** Creates a token for the session's account. */
export async function newToken({ call }: AuthServer, cookie: string, scopes: string[]): Promise<string> {
  const made = await call('POST', '/v1/tokens', { cookie, json: { name: 'test', scopes } })
  if (made.status !== 201) throw new Error(`making a token: ${made.text}`)
  return String(made.body.token)
}
