import { formatAmount, type Payment } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Notice } from '../../components/notice.tsx'
import { accountAddress } from './market-frame.tsx'
import { Moment } from './moment.tsx'
import { ProviderLink } from './provider-link.tsx'

const tones = { pending: 'warning', succeeded: 'good', failed: 'bad', expired: 'plain', disputed: 'bad' } as const
const words = {
  pending: 'awaits the provider',
  succeeded: 'paid',
  failed: 'failed',
  expired: 'expired',
  disputed: 'taken back',
}

export function PaymentState({ payment: { state } }: { payment: Payment }) {
  return <Badge tone={tones[state]}>{words[state]}</Badge>
}

type PaymentPageProps = {
  payment: Payment
  /** Whose balance page to go back to; empty for the visitor's own. */
  account: string
  /** A path of this site where somebody was about to buy; `/` for nowhere. */
  next: string
}

/** Where a top-up stands, and where to pay it. */
export function PaymentPage({ payment, account, next }: PaymentPageProps) {
  const { state, amount_minor, currency, checkout_url: checkout, purpose, order, message } = payment
  const amount = formatAmount(amount_minor, currency)
  return (
    <article class="receipt">
      <header class="receipt-head">
        <h1>
          {purpose === 'top_up' ? 'Top-up of' : 'Payment of'} {amount}
        </h1>
        <PaymentState payment={payment} />
      </header>
      {message !== null && state !== 'succeeded' && <Notice kind="failure">{message}</Notice>}
      <dl class="receipt-facts">
        <div>
          <dt>Payment</dt>
          <dd class="mono">{payment.id}</dd>
        </div>
        <div>
          <dt>For</dt>
          <dd>{purpose === 'top_up' ? `the balance of ${payment.account}` : `an order of ${payment.account}`}</dd>
        </div>
        <div>
          <dt>Begun</dt>
          <dd>
            <Moment at={payment.created_at} />
          </dd>
        </div>
        {payment.ended_at !== null && (
          <div>
            <dt>Ended</dt>
            <dd>
              <Moment at={payment.ended_at} />
            </dd>
          </div>
        )}
      </dl>
      <p class="receipt-actions">
        {state === 'pending' && checkout !== null && (
          <ProviderLink href={checkout}>Pay {amount} at the provider</ProviderLink>
        )}
        {state === 'pending' && <Button href={here(payment, next)}>I have paid: look again</Button>}
        {next !== '/' && (
          <Button href={next} look={state === 'succeeded' ? 'primary' : 'quiet'}>
            Go on with your purchase
          </Button>
        )}
        {order !== null && <Button href={`/orders/${order}`}>To the order</Button>}
        <Button href={accountAddress('/balance', account)}>To the balance</Button>
      </p>
    </article>
  )
}

function here({ id }: Payment, next: string): string {
  return next === '/' ? `/payments/${id}` : `/payments/${id}?next=${encodeURIComponent(next)}`
}
