import type { Services } from '../../core/services.ts'
import { paymentProvider } from './open-provider.ts'
import { findPayout } from './payouts.store.ts'
import { lockPayout, settlePayout } from './settle-payout.ts'

/**
 * Asks the provider to make a payout that has been written down, and keeps what became of it. May be called again at any
 * time and by several at once: the provider makes it once, and it is settled once. Throws `payment_provider_unavailable`.
 */
export async function sendPayout(services: Services, id: string): Promise<void> {
  const { database } = services
  const payout = await findPayout(database.query, id)
  const provider = await paymentProvider(services)
  if (payout?.state !== 'pending' || payout.provider !== provider.name) return
  const news = await provider.sendPayout({
    id,
    amountMinor: payout.amount_minor,
    currency: payout.currency,
    providerAccount: payout.provider_account,
    createdAt: payout.created_at,
    refusals: payout.refusals,
  })
  if (news === null) return
  await database.transaction(async (query) => {
    const held = await lockPayout(query, id)
    if (held !== undefined) await settlePayout(services, query, held, news)
  })
}
