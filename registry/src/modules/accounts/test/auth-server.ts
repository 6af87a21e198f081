import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import type { Database } from '../../../core/database/database.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { accountRoutes } from '../accounts.routes.ts'
import type { Providers } from '../oauth-log-in.ts'
import { addOperator } from '../operators.ts'
import type { ResolveTxt } from '../sign-on-providers.ts'

export type { Answer, Call } from '@agentgym/testkit/registry'

export type AuthServer = ServedApp

export const password = 'correct horse battery'

/** The accounts' routes behind the whole application, over a real socket. It trusts one proxy. */
export function startAuthServer(
  database: Database,
  config: Partial<ServerConfig> = {},
  providers?: Providers,
  resolveTxt?: ResolveTxt,
): Promise<AuthServer> {
  return serveApp(database, (services) => [accountRoutes(services, providers, resolveTxt)], {
    trustedProxies: 1,
    ...config,
  })
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
