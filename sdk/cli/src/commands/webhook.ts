import {
  createdWebhookSchema,
  eventTypeSchema,
  type Webhook,
  type WebhookDelivery,
  webhookDeliveryListSchema,
  webhookDeliverySchema,
  webhookListSchema,
  webhookSchema,
  webhookSecretSchema,
} from '@agentgym/contract'
import type { Command } from 'commander'
import { z } from 'zod'
import { type Connection, findConnection } from '../account/connection.ts'
import { asManager } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { collect, oneOf, orgOption } from '../option-values.ts'
import { callApi } from '../registry/call-api.ts'
import { findById, shortId } from '../registry/find-by-id.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText } from '../terminal/text.ts'

const idArgument = ['<ID>', 'webhook ID, or its first 4 or more characters'] as const

export function addWebhookCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('webhook')
    .usage('[COMMAND] [options]')
    .description(
      'post signed messages about an account to a server; takes the password from a prompt or AGENTGYM_PASSWORD',
    )
  const add = (name: string, description: string) => group.command(name).description(description)
  group
    .command('list', { isDefault: true })
    .description('list webhooks (the default)')
    .option(...orgOption)
    .action(action(webhookList))
  add('create', 'create a webhook and print its signing secret, once')
    .argument('<URL>', 'a public https address')
    .option('--type <TYPE>', 'send this type of event; repeat for others (default: all)', collect)
    .option('--description <TEXT>', 'what it is for', '')
    .option(...orgOption)
    .action(action(webhookCreate))
  add('deliveries', 'list deliveries, with the status of their last attempt')
    .argument(...idArgument)
    .option(...orgOption)
    .action(action(webhookDeliveries))
  add('resend', 'send a delivery again, under the same message ID')
    .argument(...idArgument)
    .argument('<DELIVERY>', 'delivery ID, or its first 4 or more characters')
    .option(...orgOption)
    .action(action(webhookResend))
  for (const [name, description] of [
    ['test', 'send a test message'],
    ['rotate', 'make a new secret; the previous one is valid for 24 hours'],
    ['enable', 'enable a webhook that was disabled'],
    ['disable', 'disable a webhook'],
    ['delete', 'delete a webhook and its log'],
  ] as const)
    add(name, description)
      .argument(...idArgument)
      .option(...orgOption)
      .action(action((id: string, flags: Flags, context: CommandContext) => webhookAct(name, id, flags, context)))
}

type Flags = { org?: string }
type Headers = Record<string, string>
type Work<Value> = (connection: Connection, headers: Headers) => Promise<Value>

/** Runs with a login that may manage the account. */
async function managing<Value>(context: CommandContext, work: Work<Value>): Promise<Value> {
  return asManager(await findConnection(context), work, context)
}

async function readWebhooks(connection: Connection, { org }: Flags, headers: Headers): Promise<Webhook[]> {
  const query = { account: org }
  return (await callApi(connection, { path: '/v1/webhooks', query, headers, answer: webhookListSchema })).webhooks
}

/** The path of a webhook by its ID, or the beginning of it. */
async function webhookPath(connection: Connection, text: string, flags: Flags, headers: Headers): Promise<string> {
  const { id } = await findById(text, {
    noun: 'webhook',
    listCommand: 'agentgym webhook list',
    missing: 'webhook_not_found',
    read: async (id) => ({ id }),
    page: async () => ({ found: await readWebhooks(connection, flags, headers), next: null }),
  })
  return `/v1/webhooks/${id}`
}

async function webhookList(flags: Flags, context: CommandContext): Promise<void> {
  const webhooks = await managing(context, (connection, headers) => readWebhooks(connection, flags, headers))
  context.printJson({ webhooks })
  if (context.json) return
  const { paint, symbols } = context.terminal
  if (webhooks.length === 0) {
    context.print('No webhooks.')
    context.print(`${symbols.next} Create one: ${paint.accent('agentgym webhook create https://…')}`)
    return
  }
  const columns = [{ title: 'Webhook' }, { title: 'URL', shrink: true }, { title: 'State' }, { title: 'Types' }]
  const rows = webhooks.map((webhook) => [
    shortId(webhook.id),
    safeText(webhook.url, 2_000),
    stateOf(webhook),
    webhook.types?.join(', ') ?? 'all',
  ])
  for (const line of renderTable(columns, rows, context.terminal)) context.print(line)
}

function stateOf({ disabled, failing_since }: Webhook): string {
  return disabled !== null ? 'disabled' : failing_since !== null ? 'failing' : 'enabled'
}

type CreateFlags = Flags & { type?: string[]; description: string }

async function webhookCreate(url: string, flags: CreateFlags, context: CommandContext): Promise<void> {
  const types = (flags.type ?? []).map((type) => oneOf('type', type, eventTypeSchema.options))
  const json = { url, description: flags.description, types: types.length === 0 ? null : types, account: flags.org }
  const made = await managing(context, (connection, headers) =>
    callApi(connection, { method: 'POST', path: '/v1/webhooks', json, headers, answer: createdWebhookSchema }),
  )
  context.printJson(made)
  const { paint, symbols } = context.terminal
  context.print(`${paint.accent(symbols.ok)} Created webhook ${paint.bold(shortId(made.id))}`)
  context.print(`Signing secret, shown once: ${made.secret}`)
  context.print(`${symbols.next} Test it: ${paint.accent(`agentgym webhook test ${shortId(made.id)}`)}`)
}

async function webhookDeliveries(id: string, flags: Flags, context: CommandContext): Promise<void> {
  const { deliveries } = await managing(context, async (connection, headers) => {
    const path = `${await webhookPath(connection, id, flags, headers)}/deliveries`
    return callApi(connection, { path, query: { limit: 50 }, headers, answer: webhookDeliveryListSchema })
  })
  context.printJson({ deliveries })
  if (context.json) return
  if (deliveries.length === 0) return context.print('No deliveries.')
  const columns = [
    { title: 'Delivery' },
    { title: 'Type' },
    { title: 'State' },
    { title: 'Attempts', align: 'right' as const },
    { title: 'Last response', shrink: true },
  ]
  const rows = deliveries.map(({ id, type, state, attempts }) => [
    shortId(id),
    type,
    state,
    String(attempts.length),
    lastResponse(attempts),
  ])
  for (const line of renderTable(columns, rows, context.terminal)) context.print(line)
}

function lastResponse(attempts: WebhookDelivery['attempts']): string {
  const last = attempts.at(-1)
  return last === undefined ? '' : safeText([last.status, last.error].filter((part) => part !== null).join(' '), 300)
}

async function webhookResend(id: string, text: string, flags: Flags, context: CommandContext): Promise<void> {
  const resent = await managing(context, async (connection, headers) => {
    const base = `${await webhookPath(connection, id, flags, headers)}/deliveries`
    const delivery = await findById(text, {
      noun: 'delivery',
      listCommand: 'agentgym webhook deliveries',
      missing: 'webhook_delivery_not_found',
      read: async (id) => ({ id }),
      page: async (cursor) => {
        const query = { limit: 100, cursor }
        const page = await callApi(connection, { path: base, query, headers, answer: webhookDeliveryListSchema })
        return { found: page.deliveries.map(({ id }) => ({ id })), next: page.next_cursor }
      },
    })
    const path = `${base}/${delivery.id}/resend`
    return callApi(connection, { method: 'POST', path, json: {}, headers, answer: webhookDeliverySchema })
  })
  context.printJson(resent)
  const { paint, symbols } = context.terminal
  context.print(`${paint.accent(symbols.ok)} ${resent.type} is sent again within seconds`)
}

type Act = 'test' | 'rotate' | 'enable' | 'disable' | 'delete'

async function webhookAct(act: Act, id: string, flags: Flags, context: CommandContext): Promise<void> {
  const result = await managing(context, async (connection, headers) => {
    const path = await webhookPath(connection, id, flags, headers)
    if (act === 'rotate')
      return callApi(connection, {
        method: 'POST',
        path: `${path}/secret`,
        json: {},
        headers,
        answer: webhookSecretSchema,
      })
    if (act === 'test')
      return callApi(connection, {
        method: 'POST',
        path: `${path}/test`,
        json: {},
        headers,
        answer: webhookDeliverySchema,
      })
    if (act === 'delete') {
      await callApi(connection, { method: 'DELETE', path, headers, answer: z.undefined() })
      return { ok: true }
    }
    const json = { enabled: act === 'enable' }
    return callApi(connection, { method: 'PUT', path, json, headers, answer: webhookSchema })
  })
  context.printJson(result)
  const { paint, symbols } = context.terminal
  context.print(`${paint.accent(symbols.ok)} ${doneWords[act]} ${paint.bold(id)}`)
  if ('secret' in result) context.print(`Signing secret, shown once: ${result.secret}`)
}

const doneWords: Record<Act, string> = {
  test: 'A test message is sent within seconds to webhook',
  rotate: 'New secret for webhook',
  enable: 'Enabled webhook',
  disable: 'Disabled webhook',
  delete: 'Deleted webhook',
}
