import type { Transfer } from '../../src/modules/ledger/rules/transfer.ts'

/** Accounts that the purchases of the kill test are between; shared with the process that makes them. */
export type Accounts = { buyers: string[]; sellers: string[]; fees: string; provider: string; currency: string }

export const priceMinor = 100n

/**
 * Purchase `id` as transfers: money comes in and goes to seller and fees, and a second price is held. All of it follows
 * from the id, so that the same purchase can be requested again from its ID. Its last two digits are the transfers'
 * own.
 */
export function purchase(id: string, { buyers, sellers, fees, provider, currency }: Accounts): Transfer[] {
  const number = Number.parseInt(id.slice(0, 6), 16)
  const buyer = buyers[number % buyers.length]
  const seller = sellers[Math.floor(number / buyers.length) % sellers.length]
  const own = (part: number) => `${id.slice(0, -2)}0${part}`
  const move = (part: number, debitAccountId: string, creditAccountId: string, amountMinor: bigint) => ({
    ...{ id: own(part), kind: 'posted' as const, currency, code: 'sale', reference: id },
    ...{ debitAccountId, creditAccountId, amountMinor, linked: true },
  })
  return [
    move(1, provider, buyer, 2n * priceMinor),
    move(2, buyer, seller, priceMinor - 10n),
    move(3, buyer, fees, 10n),
    { ...move(4, buyer, seller, priceMinor), kind: 'pending' },
    { id: own(5), kind: 'post', pendingId: own(4), amountMinor: priceMinor / 2n, code: 'sale', reference: id },
  ]
}
