import { formatAmount, type Offer } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { Command } from '../../components/command.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from './accounts-of.ts'
import { accountAddress } from './market-frame.tsx'

/** It is there already, costs nothing, or is paid for with each run. */
export function NothingToBuy({ offer, account }: { offer: Offer; account: string }) {
  const { price, kind } = offer
  const { account: visitor } = usePage()
  const own = visitor !== null && accountsOf(visitor, 'viewer').includes(offer.seller)
  if (price.kind === 'per_run' && !own)
    return (
      <>
        <Notice kind="info">
          It runs on this server only, and is paid for with each run: {formatAmount(price.amount_minor, price.currency)}
          . The price is held when a run is queued, and taken when it trains.
        </Notice>
        <p>
          <Button look="primary" href={`/runs/new?scenario=${encodeURIComponent(offer.package)}`}>
            Train on this server
          </Button>
        </p>
      </>
    )
  return (
    <>
      <Notice kind={price.kind === 'free' ? 'info' : 'success'}>{said(offer, own, account)}</Notice>
      <Command text={`agentgym install ${offer.package}`} />
      <p class="checkout-actions">
        {kind === 'scenario' && (
          <Button look="primary" href={`/runs/new?scenario=${encodeURIComponent(offer.package)}`}>
            Train on this server
          </Button>
        )}
        <Button href={packageAddress(offer.package)}>Go to its page</Button>
        {price.kind !== 'free' && !own && <Button href={accountAddress('/licences', account)}>Licences</Button>}
      </p>
    </>
  )
}

function said({ price, covers, seller }: Offer, own: boolean, account: string): string {
  if (price.kind === 'free') return 'It costs nothing: there is nothing to buy.'
  if (own) return `It belongs to ${seller}: its members use it as it is.`
  return `${account === '' ? 'You have it' : `${account} has it`} already: every version ${covers}.`
}
