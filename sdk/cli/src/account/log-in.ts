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
  type WorkKind,
} from '@agentgym/contract'
import { z } from 'zod'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'
import { callApi, callApiWithHeaders } from '../registry/call-api.ts'
import { askCode, askPassword } from '../terminal/prompts.ts'
import { safeText } from '../terminal/text.ts'
import { type Connection, readCredentials, writeCredentials } from './connection.ts'
import { addToNpmrc } from './npmrc.ts'

/** What the command itself needs. Tokens with `account:manage` or `worker` are created explicitly. */
export const cliScopes: TokenScope[] = tokenScopeSchema.options.filter(
  (scope) => scope !== 'account:manage' && scope !== 'worker',
)

export type NewToken = { token: string; id: string | null; expiresAt: string | null }

/** The name of the token in the account's list. */
function tokenName(): string {
  return `agentgym on ${hostname()}`.slice(0, 80)
}

export function account(connection: Connection): Promise<OwnAccount> {
  return callApi(connection, { path: '/v1/account', answer: ownAccountSchema })
}

type TokenRequest = {
  name: string
  scopes: TokenScope[]
  expires_in_days?: number
  worker?: { kinds?: WorkKind[]; name?: string }
}

/** `code`: asks for a code of the second factor, where the account has one. */
type Password = { username: string; password: string; code(): Promise<string> }

/** Exchanges a password for a token, through a session that is closed right away. */
export function tokenByPassword(
  server: string,
  password: Password,
  request: TokenRequest = { name: tokenName(), scopes: cliScopes },
): Promise<NewToken> {
  return withSession(server, password, async (anonymous, headers) => {
    const requested = { method: 'POST' as const, path: '/v1/tokens', json: request, headers }
    const created = await callApi(anonymous, { ...requested, answer: createdTokenSchema })
    return { token: created.token, id: created.id, expiresAt: created.expires_at }
  })
}

/** Runs `work` in a session, for requests that a token may not make. They send its `headers` and no token. */
export async function withSession<Value>(
  server: string,
  { username, password, code }: Password,
  work: (connection: Connection, headers: Record<string, string>) => Promise<Value>,
): Promise<Value> {
  const anonymous: Connection = { server, token: null, tokenSource: null }
  const logIn = (json: object) =>
    callApiWithHeaders(anonymous, { method: 'POST', path: '/v1/sessions', json, answer: sessionSchema })
  const { headers } = await logIn({ username, password }).catch(async (error: unknown) => {
    if (!(error instanceof AgentGymError) || error.code !== 'second_factor_required') throw error
    return logIn({ username, password, code: await code() })
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
    // Sessions expire on their own, and the user's request is already done.
    if (!(error instanceof AgentGymError)) throw error
  }
}

export type StoredLogin = { account: OwnAccount; npmrc: string | null; scopes: string[] }

/**
 * Stores a token for its server, and in an .npmrc for the scopes that the account may publish to, so that npm and pnpm
 * work too. The token is checked first: an invalid one is never stored.
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

/** Logs in through the browser: `show` displays the address and the code, then this waits for approval. */
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
      // The server may be restarting; the code stays valid.
      if (reason !== 'authorization_pending' && reason !== 'slow_down' && reason !== 'server_unreachable') throw error
      if (reason === 'slow_down') intervalSeconds += slowDownSeconds
    }
  }
}

/** Opens the page in a browser on desktops. The address has been printed before. */
export function openBrowser(url: string, { environment }: CommandIo): void {
  const desktop = process.platform === 'darwin' || Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY)
  if (!desktop) return
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

/**
 * Runs `work`, which needs the scope `account:manage`. Tokens of `agentgym login` lack it, so that a leaked token cannot
 * raise its own limits: then this asks for the password and uses a session.
 */
export async function asManager<Value>(
  connection: Connection,
  work: (connection: Connection, headers: Record<string, string>) => Promise<Value>,
  context: CommandContext,
): Promise<Value> {
  const { username, scopes } = await account(connection)
  if (scopes.includes('account:manage')) return work(connection, {})
  const { server } = connection
  const password = await askPassword(`Password for ${safeText(username, 60)} at ${server}`, { repeat: false }, context)
  return withSession(server, { username, password, code: () => askCode(context) }, work)
}
