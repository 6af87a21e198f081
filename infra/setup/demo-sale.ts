// One agent changes hands: what its builder asks for it, what its buyer gets, and where the money went.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleText } from 'node:util'
import {
  type Balance,
  balanceSchema,
  type Earnings,
  earningsSchema,
  evaluationSchema,
  formatAmount,
  type Order,
  orderListSchema,
  verificationSchema,
  verificationStatementSchema,
} from '@agentgym/contract'
import { z } from 'zod'
import { ask, type Person, run, sayCommand } from './demo-people.ts'

const price = '25'
const funds = '40'

export type Sale = { order: Order; balance: Balance; seller: Earnings; author: Earnings; trajectories: string }

/** The seller sets a price before the package has users, so it applies immediately. */
export async function offerForSale(seller: Person, name: string): Promise<void> {
  // Trained agents come without a license: the seller's terms say what buyers may do.
  writeFileSync(
    join(seller.folder, 'terms.txt'),
    'You may use this agent in your own products. You may not resell it.\n',
  )
  await run(seller, ['price', name, price, '--trial', '100', '--terms', 'terms.txt', '--yes'])
}

/** Refused, bought, installed, and played: what comes out is what the service has signed, bit for bit. */
export async function buyAndPlay(
  { author, seller, buyer }: { author: Person; seller: Person; buyer: Person },
  name: string,
): Promise<Sale> {
  await run(buyer, ['install', name], 1)
  await run(buyer, ['balance', 'top-up', funds])
  await run(buyer, ['buy', name, '--yes'])
  await run(buyer, ['buy', name, '--yes'])
  await run(buyer, ['agent', 'install', name])
  const trajectories = await playAsSigned(buyer, name)
  const [{ orders }, balance, sellers, authors] = await Promise.all([
    ask(buyer, ['orders', '--package', name], orderListSchema),
    ask(buyer, ['balance'], balanceSchema),
    ask(seller, ['earnings'], earningsSchema),
    ask(author, ['earnings'], earningsSchema),
  ])
  return { order: orders[0], balance, seller: sellers, author: authors, trajectories }
}

const pageSchema = z.object({ verification: verificationSchema })

async function playAsSigned(buyer: Person, name: string): Promise<string> {
  const { verification } = await ask(buyer, ['info', name], pageSchema)
  const { claim } = verificationStatementSchema.parse(JSON.parse(verification.signed?.statement ?? 'null'))
  const words = ['eval', name, '--episodes', `${claim.episodes}`, '--seed', `${claim.seed}`]
  sayCommand(buyer, words)
  const played = await ask(buyer, words, evaluationSchema)
  if (played.trajectory_hash !== claim.trajectory_hash) {
    throw new Error(`${name} plays ${played.trajectory_hash}, and the service signed ${claim.trajectory_hash}`)
  }
  console.log(
    `${styleText('green', '✓')} ${claim.episodes} episodes, trajectories ${claim.trajectory_hash.slice(0, 16)}…: those that the service signed`,
  )
  return played.trajectory_hash
}

/** Who has what now. */
export function printSale({ order, balance, seller, author, trajectories }: Sale): void {
  const { currency } = order
  const amount = (minor: number) => formatAmount(minor, currency)
  console.log(`${styleText('bold', `${order.package} ${order.covers}`)}: sold for ${amount(order.total_minor)}`)
  const rows = [
    ['order', `${order.id}, ${order.state}`],
    [order.buyer, `may install every version ${order.covers}; ${amount(balance.available_minor)} left on the balance`],
    [seller.account, `earned ${amount(seller.balance_minor)}`],
    ['fee', `${amount(seller.fees_minor)} to the service`],
    ['royalty', `${amount(author.royalties_earned_minor)} to the author of the scenario`],
    ['played', `trajectories ${trajectories.slice(0, 16)}…, as verified`],
  ]
  for (const [name, value] of rows) console.log(`  ${styleText('dim', name.padEnd(7))}  ${value}`)
  console.log()
}
