import { AgentGymError } from '@agentgym/contract'
import { askPassword } from '../account/ask-password.ts'
import { findConnection } from '../account/connection.ts'
import { openBrowser, tokenByBrowser } from '../account/device-flow.ts'
import { type NewToken, type StoredLogin, storeLogin, tokenByPassword } from '../account/log-in.ts'
import { userNpmrc } from '../account/npmrc.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { safeText } from '../terminal/safe-text.ts'

export type LoginFlags = {
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
