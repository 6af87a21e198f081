import { AgentGymError, accountSchema, tokenScopeSchema, tokenScopes, workKindSchema } from '@agentgym/contract'
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
import { collect, oneOf, wholeNumber } from '../option-values.ts'
import { callApi } from '../registry/call-api.ts'
import { askCode, askPassword } from '../terminal/prompts.ts'
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
    .option('--kinds <KINDS>', `limit a worker's token to kinds of work, such as check,evaluate`)
    .option('--worker <NAME>', "limit a worker's token to the worker of that name")
    .addHelpText('after', scopeHelp)
    .action(action(tokenCreate))
}

const scopeHelp = `
Scopes:
${Object.entries(tokenScopes)
  .map(([scope, meaning]) => `  ${scope.padEnd(17)}  ${meaning}`)
  .join('\n')}
`

type SignupFlags = { username: string; email: string }

/** `agentgym signup`: creates an account. Logging in is a separate step, since it writes to this machine. */
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
  context.printJson({ server, ...account })
  const { paint, symbols } = context.terminal
  context.print(
    `${paint.accent(symbols.ok)} Created the account ${paint.bold(safeText(account.username))} at ${server}`,
  )
  if (!account.email_verified) context.print(`  Confirm your address with the email sent to ${safeText(email, 254)}.`)
  const command = `agentgym login --username ${shellQuote(account.username)}`
  context.print(`${symbols.next} Log in: ${paint.accent(command)}`)
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
  printLogin(server, token, stored, context)
}

function npmrcPath(flag: LoginFlags['npmrc'], context: CommandContext): string | null {
  if (flag === false) return null
  return typeof flag === 'string' ? context.resolve(flag) : userNpmrc(context.io)
}

function printLogin(server: string, token: NewToken, stored: StoredLogin, context: CommandContext): void {
  const { username, scopes } = stored.account
  context.printJson({
    server,
    username,
    scopes,
    expires_at: token.expiresAt,
    npmrc: stored.npmrc,
    npm_scopes: stored.scopes,
  })
  const { paint, symbols } = context.terminal
  const until = token.expiresAt === null ? '' : ` until ${token.expiresAt.slice(0, 10)}`
  context.print(`${paint.accent(symbols.ok)} Logged in to ${server} as ${paint.bold(safeText(username))}${until}`)
  if (stored.npmrc !== null) {
    const names = stored.scopes.map((scope) => `@${scope}`).join(', ')
    context.print(`  npm and pnpm are set up for ${safeText(names)}: ${safeText(context.displayPath(stored.npmrc))}`)
  }
  context.print(`${symbols.next} Publish a scenario: ${paint.accent('agentgym scenario publish DIR')}`)
}

async function newToken(server: string, flags: LoginFlags, context: CommandContext): Promise<NewToken> {
  if (flags.token && flags.username !== undefined) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: '--token and --username cannot be combined',
      hint: 'Remove one of them.',
    })
  }
  if (flags.token) return { token: tokenFromEnvironment(context), id: null, expiresAt: null }
  if (flags.username !== undefined) {
    const password = await askPassword(
      `Password for ${safeText(flags.username, 60)} at ${server}`,
      { repeat: false },
      context,
    )
    return tokenByPassword(server, { username: flags.username, password, code: () => askCode(context) })
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
        context.printJson({ event: 'device_code', user_code, verification_uri, verification_uri_complete, expires_in })
        context.print(`${symbols.next} Open ${paint.accent(safeText(verification_uri_complete))}`)
        context.print(`  and check that it shows the code ${paint.bold(safeText(user_code))}`)
        context.print(
          `  ${paint.dim(`Waiting for approval; expires in ${Math.round(expires_in / 60)} min. Ctrl-C cancels.`)}`,
        )
        if (context.terminal.live && !context.json) openBrowser(verification_uri_complete, context.io)
      },
    })
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    throw new AgentGymError({
      code: 'access_denied',
      message: 'login was canceled; nothing was stored',
      hint: 'Run agentgym login to try again.',
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
    message: '--token needs AGENTGYM_TOKEN, which is not set',
    hint: 'Set AGENTGYM_TOKEN. A token on the command line would be visible to all users of this machine.',
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
      hint: 'Use the form @acme: lowercase letters, digits and hyphens.',
      data: { field: 'scope' },
    })
  })
}

/** `agentgym logout`: removes the token from this machine and .npmrc, and revokes it. */
export async function logout(context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const credentials = await readCredentials(context.io)
  const stored = Object.hasOwn(credentials.logins, server) ? credentials.logins[server] : undefined
  const { paint, symbols } = context.terminal
  if (stored === undefined) {
    context.printJson({ server, username: null, revoked: false })
    context.print(`Not logged in at ${server}.`)
    return
  }
  // Locally first: the token is removed even if the server cannot be reached.
  if (stored.npmrc !== null) await removeFromNpmrc(stored.npmrc, { server, token: stored.token })
  delete credentials.logins[server]
  await writeCredentials(credentials, context.io)
  const revoked = stored.token_id !== null && (await revoke(server, stored.token, stored.token_id))
  context.printJson({ server, username: stored.username, revoked })
  context.print(`${paint.accent(symbols.ok)} Logged out of ${server}`)
  if (!revoked) {
    context.print(
      `${symbols.warning} The token was removed from this machine but could not be revoked; it works until it expires.`,
    )
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
    // The server no longer accepts the token: revoked already.
    return error.code === 'unauthenticated'
  }
}

/** `agentgym whoami`: the logged-in account and the scopes of the token. */
export async function whoami(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const own = await account(connection)
  context.printJson({ server: connection.server, ...own })
  const { paint } = context.terminal
  const row = (name: string, value: string) => context.print(`  ${paint.dim(name.padEnd(13))}  ${safeText(value, 300)}`)
  context.print(paint.bold(safeText(own.username)))
  row('server', connection.server)
  row('email', `${own.email ?? '-'}${own.email_verified ? '' : ' (unconfirmed)'}`)
  if (own.organisations.length > 0) {
    row('organisations', own.organisations.map(({ username, role }) => `${username} (${role})`).join(', '))
  }
  row('scopes', own.scopes.join(', '))
  if (connection.tokenSource === 'environment') row('token', 'from AGENTGYM_TOKEN')
}

type TokenFlags = { username: string; scope: string[]; days?: number; kinds?: string; worker?: string }

/** `agentgym token create`: a token for a worker or a script, printed once and stored nowhere. */
export async function tokenCreate(name: string, flags: TokenFlags, context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const { username } = flags
  const scopes = flags.scope.map((text) => oneOf('scope', text, tokenScopeSchema.options))
  const password = await askPassword(`Password for ${safeText(username, 60)} at ${server}`, { repeat: false }, context)
  const kinds = flags.kinds?.split(',').map((text) => oneOf('kinds', text.trim(), workKindSchema.options))
  const bound = { ...(kinds && { kinds }), ...(flags.worker && { name: flags.worker }) }
  const request = {
    ...{ name, scopes },
    ...(flags.days === undefined ? {} : { expires_in_days: flags.days }),
    ...(Object.keys(bound).length === 0 ? {} : { worker: bound }),
  }
  const { token, id, expiresAt } = await tokenByPassword(
    server,
    { username, password, code: () => askCode(context) },
    request,
  )
  context.printJson({ server, id, name, scopes, expires_at: expiresAt, token })
  // Without a terminal, the only output: AGENTGYM_TOKEN=$(agentgym token create …).
  context.print(token)
  if (!context.terminal.live) return
  const { paint, symbols } = context.terminal
  context.print(
    `${symbols.warning} Copy it now: it is not shown again. It expires ${expiresAt === null ? 'never' : `on ${expiresAt.slice(0, 10)}`}.`,
  )
  context.print(`${symbols.next} Use it: set ${paint.accent('AGENTGYM_TOKEN')}.`)
}
