import { AgentGymError, type Balance, formatAmount, type Payment } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { awaitPayment, printPaymentPage } from '../market/await-payment.ts'
import { listPayments, readBalance, readPayment, topUp } from '../market/market-api.ts'
import { orgOption, readAmount } from '../option-values.ts'
import { fieldLines, titleLine } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addBalanceCommands(program: Command, action: MakeAction): void {
  const group = program.command('balance').usage('[COMMAND] [options]').description('show and top up the balance')
  group
    .command('show', { isDefault: true })
    .description('show the balance (the default)')
    .option(...orgOption)
    .action(action(balance))
  group
    .command('top-up')
    .argument('<AMOUNT>', 'such as 25 or 12.50, in the currency of the server')
    .description('add funds through the payment provider')
    .option(...orgOption)
    .option('--no-wait', "print the payment link and don't wait for the payment")
    .option('--test-outcome <OUTCOME>', 'test payment provider only: succeeds, declined, pending or disputed')
    .action(action(balanceTopUp))
}

/** `agentgym balance`: the balance of an account. */
export async function balance({ org }: { org?: string }, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found = await readBalance(connection, org)
  context.printJson(found)
  const { paint, symbols } = context.terminal
  const { currency, available_minor: available, held_minor: held, awaited_minor: awaited } = found
  context.print(titleLine('Balance of', found.account, context.terminal))
  const pairs: [string, string][] = [['available', formatAmount(available, currency)]]
  if (held > 0) pairs.push(['held', `${formatAmount(held, currency)} for runs and hosted calls`])
  if (awaited > 0) pairs.push(['pending', `${formatAmount(awaited, currency)} in unconfirmed top-ups`])
  if (found.training_quota !== null && found.training_quota.limit_minor > 0)
    pairs.push(['free training', quotaText(found.training_quota, currency)])
  if (found.test_money) pairs.push(['note', 'test money: this server takes no real payments'])
  for (const line of fieldLines(pairs, context.terminal)) context.print(line)
  if (context.json) return
  if (awaited > 0) {
    const { payments } = await listPayments(connection, org)
    for (const { state, checkout_url: address } of payments) if (state === 'pending') printPaymentPage(address, context)
  }
  const whose = org === undefined ? '' : ` --org ${shellQuote(org)}`
  context.print(`${symbols.next} Top up: ${paint.accent(`agentgym balance top-up AMOUNT${whose}`)}`)
}

function quotaText(
  { limit_minor: limit, used_minor: used, resets_at: resetsAt }: NonNullable<Balance['training_quota']>,
  currency: string,
): string {
  const left = formatAmount(Math.max(0, limit - used), currency)
  return `${left} of ${formatAmount(limit, currency)} left until ${resetsAt.slice(0, 10)}`
}

export type TopUpFlags = {
  org?: string
  /** False with --no-wait. */
  wait?: boolean
  testOutcome?: string
}

/** `agentgym balance top-up`: adds funds to a balance; waits while the user pays. */
export async function balanceTopUp(text: string, flags: TopUpFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const { currency } = await readBalance(connection, flags.org)
  const amount = readAmount(text, currency, { name: 'AMOUNT', meaning: 'the amount to add' })
  const request = { amount_minor: amount, account: flags.org, test_outcome: flags.testOutcome }
  const payment = await topUp(connection, request)
  if (payment.state === 'pending') return pending(connection, payment, flags, context)
  await printEnded(connection, payment, flags, context)
}

async function pending(
  connection: Connection,
  payment: Payment,
  flags: TopUpFlags,
  context: CommandContext,
): Promise<void> {
  const { paint, symbols } = context.terminal
  context.printJson(payment)
  const read = (signal: AbortSignal) => readPayment(connection, payment.id, signal)
  const hasEnded = ({ state }: Payment) => state !== 'pending'
  const awaited = { checkoutUrl: payment.checkout_url, read, hasEnded }
  if (flags.wait === false) printPaymentPage(payment.checkout_url, context)
  const ended = flags.wait === false ? undefined : await awaitPayment(awaited, context)
  if (ended !== undefined) return printEnded(connection, ended, flags, context)
  const whose = flags.org === undefined ? '' : ` --org ${shellQuote(flags.org)}`
  context.print(`${symbols.next} Check the balance: ${paint.accent(`agentgym balance${whose}`)}`)
}

async function printEnded(
  connection: Connection,
  payment: Payment,
  { org }: TopUpFlags,
  context: CommandContext,
): Promise<void> {
  const amount = formatAmount(payment.amount_minor, payment.currency)
  if (payment.state === 'failed' || payment.state === 'expired') throw notPaid(payment, amount)
  context.printJson(payment)
  const { paint, symbols } = context.terminal
  const { available_minor: available, currency, account } = await readBalance(connection, org)
  const now = paint.bold(formatAmount(available, currency))
  context.print(`${paint.accent(symbols.ok)} Added ${amount}. The balance of ${safeText(account, 60)} is ${now}`)
  context.print(`${symbols.next} Buy something: ${paint.accent('agentgym buy NAME')}`)
}

function notPaid({ id, state, message, provider }: Payment, amount: string): AgentGymError {
  const why = message === null ? '' : `: ${message}`
  return new AgentGymError({
    code: 'payment_declined',
    message: state === 'expired' ? `the payment of ${amount} expired` : `the payment of ${amount} failed${why}`,
    hint: 'Nothing was added to the balance. Try again, or use another payment method.',
    data: { payment: id, state, provider },
  })
}
