import { hostname } from 'node:os'
import {
  AgentGymError,
  createdTokenSchema,
  type OwnAccount,
  ownAccountSchema,
  sessionSchema,
  type TokenScope,
} from '@agentgym/contract'
import { z } from 'zod'
import type { CommandIo } from '../command-io.ts'
import { callApi, callApiWithHeaders } from '../registry/registry-api.ts'
import type { Connection } from './connection.ts'
import { readCredentials, writeCredentials } from './credentials.ts'
import { addToNpmrc } from './npmrc.ts'

/** What the command itself needs; `account:manage` and `worker` are for tokens made on purpose. */
export const cliScopes: TokenScope[] = [
  'packages:read',
  'packages:publish',
  'packages:manage',
  'training:start',
  'training:view',
  'training:cancel',
  'training:evaluate',
  'data:export',
  'agents:call',
  'market:buy',
  'market:sell',
]

export type NewToken = { token: string; id: string | null; expiresAt: string | null }

/** How the token appears in the account's list. */
export function tokenName(): string {
  return `agentgym on ${hostname()}`.slice(0, 80)
}

export function account(connection: Connection): Promise<OwnAccount> {
  return callApi(connection, { path: '/v1/account', answer: ownAccountSchema })
}

export type TokenRequest = { name: string; scopes: TokenScope[]; expires_in_days?: number }

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
