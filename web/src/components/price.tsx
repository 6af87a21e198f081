import { formatAmount, type ListedPackage } from '@agentgym/contract'
import { usePage } from '../layout/page-context.ts'

type PriceProps = {
  /** Minor units (cents); 0 is free. */
  minor: number
  /** The server's own unless told. */
  currency?: string
  kind?: ListedPackage['price_kind']
}

export function Price({ minor, currency, kind }: PriceProps) {
  const { host } = usePage()
  if (minor === 0 || kind === 'free') return <span class="price price-free">Free</span>
  return (
    <span class="price">
      {formatAmount(minor, currency ?? host.currency)}
      {kind === 'per_run' && <span class="price-per"> a run</span>}
    </span>
  )
}
