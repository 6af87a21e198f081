import {
  AgentGymError,
  formatAmount,
  type SpendCap,
  spendCapListSchema,
  spendCapSchema,
  tokenListSchema,
} from '@agentgym/contract'
import type { Command } from 'commander'
import { z } from 'zod'
import { type Connection, findConnection } from '../account/connection.ts'
import { asManager } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { readBalance } from '../market/market-api.ts'
import { oneOf, orgOption, readAmount } from '../option-values.ts'
import { callApi } from '../registry/call-api.ts'
import { findById, shortId } from '../registry/find-by-id.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addSpendCapCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('spend-cap')
    .usage('[COMMAND] [options]')
    .description('limit what an account or a token may spend')
  group
    .command('list', { isDefault: true })
    .description('list spending caps and what has been spent (the default)')
    .option(...orgOption)
    .action(action(spendCaps))
  group
    .command('set')
    .argument('<AMOUNT>', 'spending limit; 0 blocks all spending')
    .description('set a spending cap; takes the password from a prompt or AGENTGYM_PASSWORD')
    .requiredOption('--period <PERIOD>', 'day, month, total, or calls for the price of 1,000 hosted calls')
    .option('--token <TOKEN>', 'token ID or name (default: the whole account)')
    .option(...orgOption)
    .action(action(spendCapSet))
  group
    .command('remove')
    .argument('<CAP>', 'cap ID, or its first 4 or more characters')
    .description('remove a spending cap; takes the password from a prompt or AGENTGYM_PASSWORD')
    .option(...orgOption)
    .action(action(spendCapRemove))
}

const periods = spendCapSchema.shape.period.options
const periodWords = { day: 'per day', month: 'per month', total: 'in total', calls: 'per 1,000 calls' }

/** `agentgym spend-cap`: the spending caps of an account and its tokens, and what has been spent. */
export async function spendCaps({ org }: { org?: string }, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const caps = await listCaps(connection, org)
  context.printJson({ caps })
  if (context.json) return
  const { paint, symbols } = context.terminal
  if (caps.length === 0) {
    context.print('No spending caps.')
    context.print(`${symbols.next} Set one: ${paint.accent('agentgym spend-cap set AMOUNT --period month')}`)
    return
  }
  for (const line of capLines(caps, context)) context.print(line)
  context.print(`${symbols.next} Remove one: ${paint.accent(`agentgym spend-cap remove ${shortId(caps[0].id)}`)}`)
}

function capLines(caps: readonly SpendCap[], { terminal }: CommandContext): string[] {
  const columns = [
    { title: 'Cap' },
    { title: 'Of', shrink: true },
    { title: 'Limit', align: 'right' as const },
    { title: 'Period' },
    { title: 'Spent', align: 'right' as const },
  ]
  const rows = caps.map((cap) => [
    shortId(cap.id),
    safeText(cap.token === null ? cap.account : `token ${cap.token.name}`, 100),
    formatAmount(cap.amount_minor, cap.currency),
    periodWords[cap.period],
    cap.period === 'calls' ? '' : formatAmount(cap.spent_minor, cap.currency),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

type SpendCapFlags = { org?: string; period: string; token?: string }

/** `agentgym spend-cap set`: sets a limit for the account or a token. Asks for the password. */
export async function spendCapSet(text: string, flags: SpendCapFlags, context: CommandContext): Promise<void> {
  const period = oneOf('period', flags.period, periods)
  const connection = await findConnection(context)
  const { currency } = await readBalance(connection, flags.org)
  const word = { name: 'AMOUNT', meaning: 'the spending limit' }
  const nothing = /^0+(\.0+)?$/.test(text.trim())
  const amount_minor = nothing ? 0 : readAmount(text, currency, word)
  const cap = await asManager(
    connection,
    async (manager, headers) => {
      const token_id = flags.token === undefined ? undefined : await tokenId(manager, flags.token, headers)
      return putCap(manager, { period, amount_minor, account: flags.org, token_id }, headers)
    },
    context,
  )
  context.printJson(cap)
  const { paint, symbols } = context.terminal
  const who = safeText(cap.token === null ? cap.account : `The token ${cap.token.name}`, 100)
  const most = `${formatAmount(cap.amount_minor, currency)} ${periodWords[cap.period]}`
  context.print(`${paint.accent(symbols.ok)} ${paint.bold(who)} may spend up to ${most}`)
  const whose = flags.org === undefined ? '' : ` --org ${shellQuote(flags.org)}`
  context.print(`${symbols.next} Show the caps: ${paint.accent(`agentgym spend-cap${whose}`)}`)
}

/** A token by name or ID. */
async function tokenId(connection: Connection, text: string, headers: Record<string, string>): Promise<string> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text
  const { tokens } = await callApi(connection, { path: '/v1/tokens', headers, answer: tokenListSchema })
  const named = tokens.filter(({ name }) => name === text)
  if (named.length === 1) return named[0].id
  const shown = JSON.stringify(text.slice(0, 100))
  throw new AgentGymError({
    code: 'usage_invalid',
    message: named.length === 0 ? `no token named ${shown}` : `${named.length} tokens are named ${shown}`,
    hint:
      named.length === 0
        ? 'Create one with agentgym token create.'
        : `Use its ID: ${named.map(({ id }) => id).join(', ')}.`,
    data: { field: 'token' },
  })
}

/** `agentgym spend-cap remove`: removes a cap. */
export async function spendCapRemove(text: string, { org }: { org?: string }, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const caps = await listCaps(connection, org)
  const cap = await findById(text, {
    noun: 'cap',
    listCommand: 'agentgym spend-cap',
    missing: 'spend_cap_not_found',
    read: async (id) => ({ id }),
    page: async () => ({ found: caps.map(({ id }) => ({ id })), next: null }),
  })
  await asManager(connection, (manager, headers) => removeCap(manager, cap.id, headers), context)
  context.printJson({ ok: true, id: cap.id })
  const { paint, symbols } = context.terminal
  context.print(`${paint.accent(symbols.ok)} Removed cap ${paint.bold(shortId(cap.id))}`)
}

async function listCaps(connection: Connection, account?: string): Promise<SpendCap[]> {
  const { caps } = await callApi(connection, { path: '/v1/spend-caps', query: { account }, answer: spendCapListSchema })
  return caps
}

type NewCap = { token_id?: string; period: string; amount_minor: number; account?: string }
type Headers = Record<string, string>

/** Sets a cap, or changes the one of the same account, token and period. */
function putCap(connection: Connection, json: NewCap, headers: Headers): Promise<SpendCap> {
  return callApi(connection, { method: 'PUT', path: '/v1/spend-caps', json, headers, answer: spendCapSchema })
}

async function removeCap(connection: Connection, id: string, headers: Headers): Promise<void> {
  const path = `/v1/spend-caps/${encodeURIComponent(id)}`
  // 204: no body.
  await callApi(connection, { method: 'DELETE', path, headers, answer: z.undefined() })
}
