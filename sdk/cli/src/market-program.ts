import type { Command } from 'commander'
import type { ContextOf } from './command-context.ts'
import { percent, wholeNumber } from './command-line-numbers.ts'

const orgOption = ['--org <NAME>', 'organisation that it is about (by default you)'] as const
const orderArgument = 'id of an order, or its first 4 or more characters'

/** Groups that do something without one of their commands, and what. */
export const defaultCommands: Record<string, string | undefined> = {
  balance: 'show',
  orders: 'list',
  earnings: 'show',
  'spend-cap': 'list',
}

/** The commands that buy and sell. */
export function addMarketCommands(program: Command, contextOf: ContextOf): void {
  addBuying(program, contextOf)
  addOrders(program, contextOf)
  addSelling(program, contextOf)
  addSpendCaps(program, contextOf)
}

function addBuying(program: Command, contextOf: ContextOf): void {
  program
    .command('buy')
    .argument('<NAME>', '@scope/name[@range, tag or version]')
    .description('buy a scenario or an agent: shows what it costs and gives, asks, and pays from the balance')
    .option('--org <NAME>', 'buy for this organisation, from its balance')
    .option('--max <AMOUNT>', 'buy nothing that costs more')
    .option('-y, --yes', 'do not ask; the price is still the one that is shown')
    .option('--checkout', 'pay at the payment provider instead of from the balance')
    .action(async (name, options, command: Command) => {
      const { buy } = await import('./commands/buy.ts')
      await buy(name, options, contextOf(command))
    })
  const balance = program
    .command('balance')
    .usage('[COMMAND] [options]')
    .description('show what can be spent, and top it up')
  balance
    .command('show', { isDefault: true })
    .description('show what can be spent (the default)')
    .option(...orgOption)
    .action(async (options, command: Command) => {
      const { balance: show } = await import('./commands/balance.ts')
      await show(options, contextOf(command))
    })
  balance
    .command('top-up')
    .argument('<AMOUNT>', "such as 25 or 12.50, in the server's currency")
    .description('add money from the payment provider')
    .option(...orgOption)
    .option('--no-wait', 'print where to pay, and do not wait for it')
    .option(
      '--test-outcome <OUTCOME>',
      'of the provider `test`, whose money is play money: succeeds, declined, pending or disputed',
    )
    .action(async (amount, options, command: Command) => {
      const { balanceTopUp } = await import('./commands/balance.ts')
      await balanceTopUp(amount, options, contextOf(command))
    })
}

function addOrders(program: Command, contextOf: ContextOf): void {
  const orders = program
    .command('orders')
    .usage('[COMMAND] [options]')
    .description('show what was bought and sold, and give money back')
  orders
    .command('list', { isDefault: true })
    .description('list what you bought, newest first (the default)')
    .option('--sales', 'what others bought from you')
    .option('--state <STATE>', 'awaiting_payment, paid, cancelled, expired, refunded or charged_back')
    .option('--package <NAME>', 'of this package: @scope/name')
    .option(...orgOption)
    .option('--limit <N>', 'orders a page (default: 20)', wholeNumber('limit', { least: 1, greatest: 100 }))
    .option('--cursor <CURSOR>', 'the next page, as the one before it names it')
    .action(async (options, command: Command) => {
      const { orders: list } = await import('./commands/orders.ts')
      await list(options, contextOf(command))
    })
  orders
    .command('show')
    .argument('<ORDER>', orderArgument)
    .description('show an order: what it covers, what was paid and given back')
    .action(async (order, _, command: Command) => {
      const { ordersShow } = await import('./commands/orders.ts')
      await ordersShow(order, contextOf(command))
    })
  orders
    .command('refund')
    .argument('<ORDER>', orderArgument)
    .description('give it back: sellers at any time, buyers within 14 days what they have not used')
    .requiredOption('--reason <TEXT>', 'why; buyer and seller read it')
    .option('--amount <AMOUNT>', 'a part of it; sellers only (by default all that is left)')
    .action(async (order, options, command: Command) => {
      const { ordersRefund } = await import('./commands/orders.ts')
      await ordersRefund(order, options, contextOf(command))
    })
  orders
    .command('cancel')
    .argument('<ORDER>', orderArgument)
    .description('give up an order that awaits its payment')
    .action(async (order, _, command: Command) => {
      const { ordersCancel } = await import('./commands/orders.ts')
      await ordersCancel(order, contextOf(command))
    })
}

function addSelling(program: Command, contextOf: ContextOf): void {
  program
    .command('price')
    .argument('<NAME>', '@scope/name')
    .argument('[AMOUNT]', '12.50, free, or 0.50/run for a scenario that is trained on here alone')
    .description('show what a package costs, or set it; a raise holds after the notice period')
    .option('--royalty <PERCENT>', 'a scenario: your part of every sale of an agent trained on it', percent('royalty'))
    .option(
      '--trial <CALLS>',
      'an agent: hosted calls that each account may make before it buys',
      wholeNumber('trial', { least: 0, greatest: 100_000 }),
    )
    .option('--calls <AMOUNT>', 'an agent: the price of 1,000 hosted calls, or free')
    .option('--terms <FILE>', 'a text that says what a buyer may do with it')
    .option('-y, --yes', 'raise it without asking')
    .action(async (name, amount, options, command: Command) => {
      const { price } = await import('./commands/price.ts')
      await price(name, amount, options, contextOf(command))
    })
  const earnings = program
    .command('earnings')
    .usage('[COMMAND] [options]')
    .description('show what sales and royalties came to, and have it paid out')
  earnings
    .command('show', { isDefault: true })
    .description('show sales, fees, royalties and what may be paid out (the default)')
    .option(...orgOption)
    .option('--csv <FILE>', 'write every entry to a file; - for stdout')
    .action(async (options, command: Command) => {
      const { earnings: show } = await import('./commands/earnings.ts')
      await show(options, contextOf(command))
    })
  earnings
    .command('payout')
    .argument('[AMOUNT]', 'by default all that has cleared')
    .description('have what has cleared paid out')
    .option(...orgOption)
    .action(async (amount, options, command: Command) => {
      const { earningsPayout } = await import('./commands/earnings.ts')
      await earningsPayout(amount, options, contextOf(command))
    })
  earnings
    .command('set-up')
    .description('say where payouts go to, at the payment provider')
    .option(...orgOption)
    .action(async (options, command: Command) => {
      const { earningsSetUp } = await import('./commands/earnings.ts')
      await earningsSetUp(options, contextOf(command))
    })
}

function addSpendCaps(program: Command, contextOf: ContextOf): void {
  const caps = program
    .command('spend-cap')
    .usage('[COMMAND] [options]')
    .description('cap what the account, or one of its tokens, may spend')
  caps
    .command('list', { isDefault: true })
    .description('list the caps, and what of them is spent (the default)')
    .option(...orgOption)
    .action(async (options, command: Command) => {
      const { spendCaps } = await import('./commands/spend-cap.ts')
      await spendCaps(options, contextOf(command))
    })
  caps
    .command('set')
    .argument('<AMOUNT>', 'the most that may be spent; 0 for nothing at all')
    .description('set a cap, or change the one of the same period; asks for the password, or takes AGENTGYM_PASSWORD')
    .requiredOption('--period <PERIOD>', 'day, month or total')
    .option('--token <TOKEN>', "a token's id or name (by default the whole account)")
    .option(...orgOption)
    .action(async (amount, options, command: Command) => {
      const { spendCapSet } = await import('./commands/spend-cap.ts')
      await spendCapSet(amount, options, contextOf(command))
    })
  caps
    .command('remove')
    .argument('<CAP>', 'id of a cap, or its first 4 or more characters')
    .description('take a cap off; asks for the password, or takes AGENTGYM_PASSWORD')
    .option(...orgOption)
    .action(async (cap, options, command: Command) => {
      const { spendCapRemove } = await import('./commands/spend-cap.ts')
      await spendCapRemove(cap, options, contextOf(command))
    })
}
