import { formatAmount } from '@agentgym/contract'

type AmountProps = { minor: number; currency: string }

/** A sum of money; unlike a price, nothing is `0.00`. */
export function Amount({ minor, currency }: AmountProps) {
  return <span class="price">{formatAmount(minor, currency)}</span>
}
