import { AgentGymError, accountListSchema, clearedSchema, setEmailRequestSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { z } from 'zod'
import { findConnection } from '../account/connection.ts'
import { asManager } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { callApi } from '../registry/call-api.ts'
import { askPassword } from '../terminal/prompts.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText } from '../terminal/text.ts'
import { type DataFlags, dataOption, settingsOf } from './server-data.ts'

export function addOperatorCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('operator')
    .usage('COMMAND [options]')
    .description('choose who operates a server, and manage its accounts')
  group
    .command('add')
    .argument('<NAME>', 'username')
    .description('make a user an operator, on the database of the server (DATABASE_URL, or --data while it is stopped)')
    .option('--email <ADDRESS>', 'create the account, with a password from a prompt or AGENTGYM_PASSWORD')
    .option(...dataOption)
    .action(action(operatorAdd))
  group
    .command('remove')
    .argument('<NAME>', 'username')
    .description('demote an operator, on the database of the server')
    .option(...dataOption)
    .action(action(operatorRemove))
  group
    .command('list')
    .description('list operators, from the database of the server')
    .option(...dataOption)
    .action(action(operatorList))
  group
    .command('accounts')
    .argument('[TEXT]', 'part of a username or email address')
    .description('list accounts of a running server')
    .action(action(operatorAccounts))
  group
    .command('disable')
    .argument('<NAME>', 'username')
    .description('disable an account of a running server: no login, no sessions, no tokens')
    .requiredOption('--reason <TEXT>', 'recorded in the audit log')
    .action(action(operatorDisable))
  group
    .command('enable')
    .argument('<NAME>', 'username')
    .description('enable a disabled account')
    .action(action(operatorEnable))
  group
    .command('sign-out')
    .argument('<NAME>', 'username')
    .description('end all sessions of an account and revoke its tokens')
    .option('--keep-tokens', 'end sessions only')
    .action(action(operatorSignOut))
  group
    .command('clear-nondeterministic')
    .argument('<SCENARIO>', 'scenario and version: @acme/maze@1.0.0')
    .description('judge agents by a scenario again that was marked as nondeterministic because of a faulty worker')
    .action(action(operatorClearNondeterministic))
  group
    .command('set-email')
    .argument('<NAME>', 'username')
    .argument('<ADDRESS>', 'email address, which the user confirms by a link sent to it')
    .description("set the email address of a user who lost access to the mailbox; verify the user's identity first")
    .option('--local', 'on the database of the server (DATABASE_URL, or --data while it is stopped); sends no mail')
    .option(...dataOption)
    .action(action(operatorSetEmail))
  group
    .command('reset-second-factor')
    .argument('<NAME>', 'username')
    .description("remove the second factor of a user who lost it; verify the user's identity first")
    .option('--local', 'on the database of the server (DATABASE_URL, or --data while it is stopped)')
    .option(...dataOption)
    .action(action(operatorResetSecondFactor))
}

/** `agentgym operator add`: an existing user, or a new account where `--email` is given. */
async function operatorAdd(
  username: string,
  flags: DataFlags & { email?: string },
  context: CommandContext,
): Promise<void> {
  const { withOperators } = await import('@agentgym/registry')
  const { email } = flags
  const created = await withOperators(settingsOf(flags, context), async (operators) => {
    if (await operators.exists(username)) {
      await operators.add(username)
      return false
    }
    if (email === undefined)
      throw new AgentGymError({
        code: 'account_not_found',
        message: `no account is named ${safeText(username, 100)}`,
        hint: 'Add --email ADDRESS to create it.',
        data: { username },
      })
    const password = await askPassword(`New password for ${safeText(username, 60)}`, { repeat: true }, context)
    if (password.length < 10 || password.length > 200)
      throw new AgentGymError({ code: 'request_invalid', message: 'the password must have 10 to 200 characters' })
    await operators.create({ username, email, password })
    return true
  })
  context.printJson({ username, operator: true, created })
  const { paint, symbols } = context.terminal
  const what = created ? 'Created the operator' : 'Operator added:'
  context.print(`${paint.accent(symbols.ok)} ${what} ${paint.bold(safeText(username, 100))}`)
}

async function operatorRemove(username: string, flags: DataFlags, context: CommandContext): Promise<void> {
  const { withOperators } = await import('@agentgym/registry')
  await withOperators(settingsOf(flags, context), (operators) => operators.remove(username))
  context.printJson({ username, operator: false })
  done(`${safeText(username, 100)} is no longer an operator`, context)
}

async function operatorList(flags: DataFlags, context: CommandContext): Promise<void> {
  const { withOperators } = await import('@agentgym/registry')
  const operators = await withOperators(settingsOf(flags, context), (all) => all.list())
  context.printJson({ operators })
  if (operators.length === 0) context.print('No operators. Add one with agentgym operator add NAME.')
  for (const { username, email, disabled } of operators)
    context.print(`${safeText(username, 100)}  ${safeText(email ?? '-', 254)}${disabled ? '  disabled' : ''}`)
}

async function operatorAccounts(text: string | undefined, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const list = await asManager(
    connection,
    (by, headers) =>
      callApi(by, { path: '/v1/accounts', query: { q: text, limit: 100 }, headers, answer: accountListSchema }),
    context,
  )
  context.printJson(list)
  const rows = list.accounts.map(({ username, kind, email, operator, disabled }) => [
    safeText(username, 100),
    kind === 'user' ? (operator ? 'operator' : 'user') : 'organization',
    safeText(email ?? '-', 254),
    disabled === null ? '' : `disabled: ${safeText(disabled.reason, 200)}`,
  ])
  const columns = ['Account', 'Kind', 'Email', 'State'].map((title) => ({ title }))
  for (const line of renderTable(columns, rows, context.terminal)) context.print(line)
  if (list.next_after !== null) context.print('More accounts match. Use a longer text.')
}

type Change = {
  method: 'PUT' | 'DELETE' | 'POST'
  what: 'disabled' | 'sign-out' | 'second-factor' | 'email'
  json?: unknown
}

async function change(username: string, { method, what, json }: Change, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const path = `/v1/accounts/${encodeURIComponent(username)}/${what}`
  await asManager(
    connection,
    (by, headers) => callApi(by, { method, path, json: json ?? {}, headers, answer: z.any() }),
    context,
  )
}

async function operatorDisable(username: string, { reason }: { reason: string }, context: CommandContext) {
  await change(username, { method: 'PUT', what: 'disabled', json: { reason } }, context)
  context.printJson({ username, disabled: true, reason })
  done(`Disabled ${safeText(username, 100)}`, context)
}

async function operatorEnable(username: string, context: CommandContext): Promise<void> {
  await change(username, { method: 'DELETE', what: 'disabled' }, context)
  context.printJson({ username, disabled: false })
  done(`Enabled ${safeText(username, 100)}`, context)
}

async function operatorResetSecondFactor(
  username: string,
  { local = false, ...flags }: DataFlags & { local?: boolean },
  context: CommandContext,
): Promise<void> {
  if (local) {
    const { withOperators } = await import('@agentgym/registry')
    await withOperators(settingsOf(flags, context), (operators) => operators.resetSecondFactor(username))
  } else await change(username, { method: 'DELETE', what: 'second-factor' }, context)
  context.printJson({ username, second_factor: false })
  done(`${safeText(username, 100)} has no second factor now, and is logged out`, context)
}

async function operatorSetEmail(
  username: string,
  email: string,
  { local = false, ...flags }: DataFlags & { local?: boolean },
  context: CommandContext,
): Promise<void> {
  const checked = requireEmail(email)
  if (local) {
    const { withOperators } = await import('@agentgym/registry')
    await withOperators(settingsOf(flags, context), (operators) => operators.setEmail(username, checked))
  } else await change(username, { method: 'PUT', what: 'email', json: { email: checked } }, context)
  context.printJson({ username, email: checked })
  done(`${safeText(username, 100)} has the address ${safeText(checked, 254)}, not confirmed yet`, context)
}

async function operatorClearNondeterministic(text: string, context: CommandContext): Promise<void> {
  const [, scope, name, version] = /^(@[^/@]+)\/([^/@]+)@([^/@]+)$/.exec(text) ?? []
  if (version === undefined)
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${safeText(text, 254)} is not a scenario and version`,
      hint: 'Example: @acme/maze@1.0.0',
    })
  const connection = await findConnection(context)
  const path = `/v1/packages/${[scope, name, 'versions', version].map(encodeURIComponent).join('/')}/nondeterministic`
  const { cleared } = await asManager(
    connection,
    (by, headers) => callApi(by, { method: 'DELETE', path, json: {}, headers, answer: clearedSchema }),
    context,
  )
  context.printJson({ scenario: text, cleared })
  if (cleared) done(`Agents are judged by ${safeText(text, 254)} again`, context)
  else context.print(`${safeText(text, 254)} has no nondeterministic mark`)
}

function requireEmail(text: string): string {
  const parsed = setEmailRequestSchema.safeParse({ email: text })
  if (parsed.success) return parsed.data.email
  throw new AgentGymError({ code: 'usage_invalid', message: `${safeText(text, 254)} is not an email address` })
}

async function operatorSignOut(
  username: string,
  { keepTokens = false }: { keepTokens?: boolean },
  context: CommandContext,
) {
  await change(username, { method: 'POST', what: 'sign-out', json: { tokens: !keepTokens } }, context)
  context.printJson({ username, signed_out: true, tokens: !keepTokens })
  done(`Signed ${safeText(username, 100)} out everywhere`, context)
}

function done(text: string, { terminal, print }: CommandContext): void {
  print(`${terminal.paint.accent(terminal.symbols.ok)} ${text}`)
}
