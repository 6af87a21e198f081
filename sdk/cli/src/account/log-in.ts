import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  AgentGymError,
  createdTokenSchema,
  deviceCodeSchema,
  deviceTokenSchema,
  type OwnAccount,
  ownAccountSchema,
  sessionSchema,
  type TokenScope,
  tokenScopeSchema,
} from '@agentgym/contract'
import { z } from 'zod'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'
import { callApi, callApiWithHeaders } from '../registry/call-api.ts'
import { askPassword } from '../terminal/prompts.ts'
import { safeText } from '../terminal/text.ts'
import { type Connection, readCredentials, writeCredentials } from './connection.ts'
import { addToNpmrc } from './npmrc.ts'

/** What the command itself needs. Tokens with `account:manage` or `worker` are created explicitly. */
export const cliScopes: TokenScope[] = tokenScopeSchema.options.filter(
  (scope) => scope !== 'account:manage' && scope !== 'worker',
)

export type NewToken = { token: string; id: string | null; expiresAt: string | null }

/** How the token appears in the account's list. */
function tokenName(): string {
  return `agentgym on ${hostname()}`.slice(0, 80)
}

export function account(connection: Connection): Promise<OwnAccount> {
  return callApi(connection, { path: '/v1/account', answer: ownAccountSchema })
}

type TokenRequest = { name: string; scopes: TokenScope[]; expires_in_days?: number }

type Password = { username: string; password: string }

/** Exchanges a password for a token. The session in between ends at once. */
export function tokenByPassword(
  server: string,
  password: Password,
  request: TokenRequest = { name: tokenName(), scopes: cliScopes },
): Promise<NewToken> {
  return withSession(server, password, async (anonymous, headers) => {
    const asked = { method: 'POST' as const, path: '/v1/tokens', json: request, headers }
    const created = await callApi(anonymous, { ...asked, answer: createdTokenSchema })
    return { token: created.token, id: created.id, expiresAt: created.expires_at }
  })
}

/** Does what a session alone may do: requests go out with its `headers`, without a token. It ends with the work. */
export async function withSession<Value>(
  server: string,
  { username, password }: Password,
  work: (connection: Connection, headers: Record<string, string>) => Promise<Value>,
): Promise<Value> {
  const anonymous: Connection = { server, token: null, tokenSource: null }
  const { headers } = await callApiWithHeaders(anonymous, {
    method: 'POST',
    path: '/v1/sessions',
    json: { username, password },
    answer: sessionSchema,
  })
  const cookie = headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  try {
    return await work(anonymous, { cookie })
  } finally {
    await endSession(anonymous, cookie)
  }
}

async function endSession(connection: Connection, cookie: string): Promise<void> {
  try {
    await callApi(connection, { method: 'DELETE', path: '/v1/sessions/current', headers: { cookie }, answer: z.any() })
  } catch (error) {
    // It ends by itself; what the user asked for has worked or failed already.
    if (!(error instanceof AgentGymError)) throw error
  }
}

export type StoredLogin = { account: OwnAccount; npmrc: string | null; scopes: string[] }

/**
 * Stores a token for its server, and in an .npmrc for the scopes that the account may publish to, so that npm and pnpm
 * work with them too. The token is tried first: one that does not work is never stored.
 */
export async function storeLogin(
  server: string,
  token: NewToken,
  options: { npmrc: string | null; scopes: readonly string[] },
  io: CommandIo,
): Promise<StoredLogin> {
  const own = await account({ server, token: token.token, tokenSource: 'login' })
  const organisations = own.organisations.map(({ username }) => username)
  const scopes = [...new Set([own.username, ...organisations, ...options.scopes])]
  if (options.npmrc !== null) await addToNpmrc(options.npmrc, { server, token: token.token, scopes })
  const credentials = await readCredentials(io)
  credentials.server = server
  credentials.logins[server] = {
    username: own.username,
    token: token.token,
    token_id: token.id,
    expires_at: token.expiresAt,
    npmrc: options.npmrc,
  }
  await writeCredentials(credentials, io)
  return { account: own, npmrc: options.npmrc, scopes }
}

type DeviceCode = z.infer<typeof deviceCodeSchema>

/** RFC 8628: what `slow_down` adds to the interval. */
const slowDownSeconds = 5

/** Logs in through the browser: `show` tells the user where to go and which code to compare; then this waits for them. */
export async function tokenByBrowser(
  server: string,
  options: { show(code: DeviceCode): void; signal: AbortSignal },
): Promise<NewToken> {
  const connection: Connection = { server, token: null, tokenSource: null }
  const code = await callApi(connection, {
    method: 'POST',
    path: '/v1/device-codes',
    json: { name: tokenName(), scopes: cliScopes },
    answer: deviceCodeSchema,
    signal: options.signal,
  })
  options.show(code)
  let intervalSeconds = code.interval
  for (;;) {
    await sleep(intervalSeconds * 1000, undefined, { signal: options.signal })
    try {
      const { token, id, expires_at } = await callApi(connection, {
        method: 'POST',
        path: '/v1/device-codes/token',
        json: { device_code: code.device_code },
        answer: deviceTokenSchema,
        signal: options.signal,
      })
      return { token, id, expiresAt: expires_at }
    } catch (error) {
      const reason = error instanceof AgentGymError ? error.code : undefined
      // A server that restarts is worth waiting for: the code is still good.
      if (reason !== 'authorization_pending' && reason !== 'slow_down' && reason !== 'server_unreachable') throw error
      if (reason === 'slow_down') intervalSeconds += slowDownSeconds
    }
  }
}

/** Opens the page where there is a desktop to open it on; the address has been printed anyway. */
export function openBrowser(url: string, { environment }: CommandIo): void {
  const desktop = process.platform === 'darwin' || Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY)
  if (!desktop) return
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

/**
 * Does what needs the scope `account:manage`. A token of `agentgym login` does not have it, so that whoever gets at one cannot
 * lift what limits it: then the password is asked for, and a session does the work.
 */
export async function asManager<Value>(
  connection: Connection,
  work: (connection: Connection, headers: Record<string, string>) => Promise<Value>,
  context: CommandContext,
): Promise<Value> {
  const { username, scopes } = await account(connection)
  if (scopes.includes('account:manage')) return work(connection, {})
  const { server } = connection
  const password = await askPassword(`Password of ${safeText(username, 60)} at ${server}`, { repeat: false }, context)
  return withSession(server, { username, password }, work)
}
