import { AgentGymError, accountSchema, tokenScopeSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { z } from 'zod'
import { findConnection, readCredentials, writeCredentials } from '../account/connection.ts'
import {
  account,
  type NewToken,
  openBrowser,
  type StoredLogin,
  storeLogin,
  tokenByBrowser,
  tokenByPassword,
} from '../account/log-in.ts'
import { removeFromNpmrc, userNpmrc } from '../account/npmrc.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { oneOf, wholeNumber } from '../option-values.ts'
import { callApi } from '../registry/call-api.ts'
import { askPassword } from '../terminal/prompts.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addAccountCommands(program: Command, action: MakeAction): void {
  program
    .command('signup')
    .description('create an account; takes the password from a prompt or AGENTGYM_PASSWORD')
    .requiredOption('--username <NAME>', 'username, and the scope of your packages: @NAME/…')
    .requiredOption('--email <ADDRESS>', 'email address, for password resets')
    .action(action(signup))
  program
    .command('login')
    .description('log in through the browser, and set up npm and pnpm')
    .option('--username <NAME>', 'log in with a password, from a prompt or AGENTGYM_PASSWORD')
    .option('--token', 'log in with the token in AGENTGYM_TOKEN')
    .option('--scope <SCOPE>', 'additional npm scope to set up (repeatable)', collect)
    .option('--npmrc <FILE>', ".npmrc file to update (default: the user's)")
    .option('--no-npmrc', 'leave .npmrc unchanged')
    .action(action(login))
  program
    .command('logout')
    .description('revoke the token and remove it from this machine and .npmrc')
    .action(action(logout))
  program.command('whoami').description('show the logged-in account').action(action(whoami))
  program
    .command('token')
    .usage('COMMAND [options]')
    .description('create tokens for workers and scripts')
    .command('create')
    .argument('<NAME>', 'name of the token, shown in the list of tokens')
    .description('create a token and print it once; asks for the password')
    .requiredOption('--username <NAME>', 'account of the token')
    .requiredOption('--scope <SCOPE>', 'permission, such as worker or packages:publish (repeatable)', collect)
    .option('--days <N>', 'days until it expires (default: 90)', wholeNumber('days', { least: 1, greatest: 366 }))
    .action(action(tokenCreate))
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}

type SignupFlags = { username: string; email: string }

/** `agentgym signup`: makes an account. Logging in is a step of its own, for it writes to this machine. */
export async function signup(flags: SignupFlags, context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const { username, email } = flags
  const password = await askPassword(
    `New password for ${safeText(username, 60)} at ${server}`,
    { repeat: true },
    context,
  )
  const account = await callApi(
    { server, token: null, tokenSource: null },
    { method: 'POST', path: '/v1/accounts', json: { username, email, password }, answer: accountSchema },
  )
  context.sayJson({ server, ...account })
  const { paint, symbols } = context.terminal
  context.say(`${paint.accent(symbols.ok)} Made the account ${paint.bold(safeText(account.username))} at ${server}`)
  if (!account.email_verified) context.say(`  A mail to ${safeText(email, 254)} asks to confirm the address.`)
  const command = `agentgym login --username ${shellQuote(account.username)}`
  context.say(`${symbols.next} Log in on this machine: ${paint.accent(command)}`)
}

type LoginFlags = {
  username?: string
  token?: boolean
  /** A path; false with --no-npmrc. */
  npmrc?: string | boolean
  scope?: string[]
}

/** `agentgym login`: in the browser, or with `--username` and a password, or with `--token` from AGENTGYM_TOKEN. */
export async function login(flags: LoginFlags, context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const token = await newToken(server, flags, context)
  const stored = await storeLogin(
    server,
    token,
    { npmrc: npmrcPath(flags.npmrc, context), scopes: scopeNames(flags.scope) },
    context.io,
  )
  sayLogin(server, token, stored, context)
}

function npmrcPath(flag: LoginFlags['npmrc'], context: CommandContext): string | null {
  if (flag === false) return null
  return typeof flag === 'string' ? context.resolve(flag) : userNpmrc(context.io)
}

function sayLogin(server: string, token: NewToken, stored: StoredLogin, context: CommandContext): void {
  const { username, scopes } = stored.account
  context.sayJson({
    server,
    username,
    scopes,
    expires_at: token.expiresAt,
    npmrc: stored.npmrc,
    npm_scopes: stored.scopes,
  })
  const { paint, symbols } = context.terminal
  const until = token.expiresAt === null ? '' : ` until ${token.expiresAt.slice(0, 10)}`
  context.say(`${paint.accent(symbols.ok)} Logged in at ${server} as ${paint.bold(safeText(username))}${until}`)
  if (stored.npmrc !== null) {
    const names = stored.scopes.map((scope) => `@${scope}`).join(', ')
    context.say(`  npm and pnpm know ${safeText(names)} too: ${safeText(context.displayPath(stored.npmrc))}`)
  }
  context.say(`${symbols.next} Publish a scenario: ${paint.accent('agentgym scenario publish DIR')}`)
}

async function newToken(server: string, flags: LoginFlags, context: CommandContext): Promise<NewToken> {
  if (flags.token && flags.username !== undefined) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: '--token takes a token and --username a password',
      hint: 'Leave one of the two out.',
    })
  }
  if (flags.token) return { token: tokenFromEnvironment(context), id: null, expiresAt: null }
  if (flags.username !== undefined) {
    const password = await askPassword(
      `Password of ${safeText(flags.username, 60)} at ${server}`,
      { repeat: false },
      context,
    )
    return tokenByPassword(server, { username: flags.username, password })
  }
  return inBrowser(server, context)
}

async function inBrowser(server: string, context: CommandContext): Promise<NewToken> {
  const interrupt = cancelOnInterrupt(context)
  const { paint, symbols } = context.terminal
  try {
    return await tokenByBrowser(server, {
      signal: interrupt.signal,
      show: (code) => {
        const { user_code, verification_uri, verification_uri_complete, expires_in } = code
        context.sayJson({ event: 'device_code', user_code, verification_uri, verification_uri_complete, expires_in })
        context.say(`${symbols.next} Open ${paint.accent(safeText(verification_uri_complete))}`)
        context.say(`  and compare the code: ${paint.bold(safeText(user_code))}`)
        context.say(`  ${paint.dim(`Waiting for you, ${Math.round(expires_in / 60)} min at most. Ctrl-C stops.`)}`)
        if (context.terminal.live && !context.json) openBrowser(verification_uri_complete, context.io)
      },
    })
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    throw new AgentGymError({
      code: 'access_denied',
      message: 'the log-in was stopped; nothing was stored',
      hint: 'Start it again with agentgym login.',
    })
  } finally {
    interrupt.release()
  }
}

function tokenFromEnvironment({ io }: CommandContext): string {
  const token = io.environment.AGENTGYM_TOKEN?.trim()
  if (token) return token
  throw new AgentGymError({
    code: 'usage_invalid',
    message: '--token stores the token in AGENTGYM_TOKEN, which is not set',
    hint: 'Set AGENTGYM_TOKEN. On the command line every user of this machine could read it.',
  })
}

/** `@acme` and `acme` are the same scope. */
function scopeNames(scopes: readonly string[] = []): string[] {
  return scopes.map((scope) => {
    const name = scope.replace(/^@/, '')
    if (/^[a-z0-9][a-z0-9._-]*$/.test(name)) return name
    throw new AgentGymError({
      code: 'name_invalid',
      message: `${JSON.stringify(scope.slice(0, 100))} is not a scope`,
      hint: 'Write it as @acme: lower-case letters, digits and hyphens.',
      data: { field: 'scope' },
    })
  })
}

/** `agentgym logout`: forgets the token of the server here and in .npmrc, and revokes it there. */
export async function logout(context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const credentials = await readCredentials(context.io)
  const stored = Object.hasOwn(credentials.logins, server) ? credentials.logins[server] : undefined
  const { paint, symbols } = context.terminal
  if (stored === undefined) {
    context.sayJson({ server, username: null, revoked: false })
    context.say(`Nobody is logged in at ${server} on this machine.`)
    return
  }
  // Here first: whatever the server says, the token is gone from this machine.
  if (stored.npmrc !== null) await removeFromNpmrc(stored.npmrc, { server, token: stored.token })
  delete credentials.logins[server]
  await writeCredentials(credentials, context.io)
  const revoked = stored.token_id !== null && (await revoke(server, stored.token, stored.token_id))
  context.sayJson({ server, username: stored.username, revoked })
  context.say(`${paint.accent(symbols.ok)} Logged out at ${server}`)
  if (!revoked) {
    context.say(`${symbols.warning} The token was removed here but not revoked there; it is good until it expires.`)
  }
}

async function revoke(server: string, token: string, id: string): Promise<boolean> {
  try {
    await callApi(
      { server, token, tokenSource: 'login' },
      { method: 'DELETE', path: `/v1/tokens/${encodeURIComponent(id)}`, answer: z.any() },
    )
    return true
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    // A token that the server does not know any more is as good as revoked.
    return error.code === 'unauthenticated'
  }
}

/** `agentgym whoami`: who the server takes us for, and what the token may do. */
export async function whoami(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const own = await account(connection)
  context.sayJson({ server: connection.server, ...own })
  const { paint } = context.terminal
  const row = (name: string, value: string) => context.say(`  ${paint.dim(name.padEnd(13))}  ${safeText(value, 300)}`)
  context.say(paint.bold(safeText(own.username)))
  row('server', connection.server)
  row('email', `${own.email ?? '-'}${own.email_verified ? '' : ' (not confirmed)'}`)
  if (own.organisations.length > 0) {
    row('organisations', own.organisations.map(({ username, role }) => `${username} (${role})`).join(', '))
  }
  row('scopes', own.scopes.join(', '))
  if (connection.tokenSource === 'environment') row('token', 'from AGENTGYM_TOKEN')
}

type TokenFlags = { username: string; scope: string[]; days?: number }

/** `agentgym token create`: a token for a worker or a program. Nothing is stored here; it is printed once. */
export async function tokenCreate(name: string, flags: TokenFlags, context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const { username } = flags
  const scopes = flags.scope.map((text) => oneOf('scope', text, tokenScopeSchema.options))
  const password = await askPassword(`Password of ${safeText(username, 60)} at ${server}`, { repeat: false }, context)
  const request = { name, scopes, ...(flags.days === undefined ? {} : { expires_in_days: flags.days }) }
  const { token, id, expiresAt } = await tokenByPassword(server, { username, password }, request)
  context.sayJson({ server, id, name, scopes, expires_at: expiresAt, token })
  // Alone on its line, and alone on stdout where that is no terminal: AGENTGYM_TOKEN=$(agentgym token create …).
  context.say(token)
  if (!context.terminal.live) return
  const { paint, symbols } = context.terminal
  context.say(`${symbols.warning} It is not shown again. It holds until ${expiresAt?.slice(0, 10) ?? 'it is revoked'}.`)
  context.say(`${symbols.next} Whoever has it sets ${paint.accent('AGENTGYM_TOKEN')}.`)
}
