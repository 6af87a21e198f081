import { formatAmount } from '@agentgym/contract'
import type { Services } from '../../core/services.ts'

/** Mails whoever placed an order that its price is back on the balance, and why. */
export async function tellBuyer(
  { database, mail, config }: Pick<Services, 'database' | 'mail' | 'config'>,
  orderId: string,
  { amountMinor, currency, reason }: { amountMinor: number; currency: string; reason: string },
): Promise<void> {
  const row = await database.query
    .selectFrom('orders')
    .innerJoin('packages', 'packages.id', 'orders.package_id')
    .innerJoin('accounts', 'accounts.id', 'orders.placed_by')
    .select(['packages.name', 'accounts.email', 'accounts.username'])
    .where('orders.id', '=', orderId)
    .executeTakeFirst()
  if (row?.email == null) return
  const amount = formatAmount(amountMinor, currency)
  await mail.send({
    to: row.email,
    subject: `${amount} for ${row.name} is back on the balance`,
    text: [
      `Hello ${row.username},`,
      `${amount} that was paid for ${row.name} is back on the balance it was paid from or for. The reason:`,
      reason,
      `What was bought can no longer be installed. The order: ${orderId}`,
      config.publicUrl,
    ].join('\n\n'),
  })
}
