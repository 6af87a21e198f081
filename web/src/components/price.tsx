import { formatAmount } from '@agentgym/contract'
import { usePage } from '../layout/page-context.ts'

/** An amount in the minor units of `currency` (cents), the server's own unless told; 0 is free. */
export function Price({ minor, currency }: { minor: number; currency?: string }) {
  const { host } = usePage()
  if (minor === 0) return <span class="price price-free">Free</span>
  return <span class="price">{formatAmount(minor, currency ?? host.currency)}</span>
}
