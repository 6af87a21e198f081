import { formatAmount, type Order } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Command } from '../../components/command.tsx'
import { Fact } from '../../components/fact.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from './accounts-of.ts'
import { Amount } from './amount.tsx'
import { Moment, withMoments } from './moment.tsx'
import { OrderState } from './order-state.tsx'
import { ProviderLink } from './provider-link.tsx'

/** A receipt that prints; before it is paid, the way to pay. */
export function OrderPage({ order, failure = null }: { order: Order; failure?: FormFailure | null }) {
  const sides = useSides(order)
  return (
    <article class="receipt">
      <header class="receipt-head">
        <div>
          <p class="receipt-issuer">AgentGym</p>
          <h1>{order.paid_at === null ? 'Order' : 'Receipt'}</h1>
        </div>
        <OrderState order={order} />
      </header>
      {order.state === 'awaiting_payment' && <Awaiting order={order} failure={failure} />}
      <dl class="receipt-facts">
        <Fact label="Order">
          <span class="mono">{order.id}</span>
        </Fact>
        <Fact label="Ordered">
          <Moment at={order.created_at} />
        </Fact>
        {order.paid_at !== null && (
          <Fact label="Paid">
            <Moment at={order.paid_at} />{' '}
            {order.total_minor > 0 &&
              (order.pay_with === 'balance' ? 'from the balance' : 'through the payment provider')}
          </Fact>
        )}
        {order.ended_at !== null && (
          <Fact label="Ended">
            <Moment at={order.ended_at} />
          </Fact>
        )}
        <Fact label="Seller">{order.seller}</Fact>
        <Fact label="Buyer">
          {order.buyer}
          {order.placed_by !== order.buyer && <span class="dim">, ordered by {order.placed_by}</span>}
        </Fact>
        {order.run !== null && (
          <Fact label="Run">
            <a class="mono" href={`/runs/${order.run}`}>
              {order.run}
            </a>
          </Fact>
        )}
      </dl>
      <Lines order={order} />
      {order.state === 'paid' && sides.buys && order.price_kind === 'one_time' && (
        <div class="receipt-next">
          <p class="package-label">Install</p>
          <Command text={`agentgym install ${order.package}`} />
        </div>
      )}
      <Actions order={order} sides={sides} />
    </article>
  )
}

type Sides = { buys: boolean; sells: boolean }

/** Which buttons are of use to whoever looks; the API decides. */
function useSides({ buyer, seller }: Order): Sides {
  const { account } = usePage()
  if (account === null) return { buys: false, sells: false }
  const buys = accountsOf(account, 'member').includes(buyer)
  return { buys, sells: accountsOf(account, 'admin').includes(seller) || (account.operator && !buys) }
}

function Awaiting({ order, failure }: { order: Order; failure: FormFailure | null }) {
  const amount = formatAmount(order.total_minor, order.currency)
  return (
    <section class="receipt-pay" aria-label="Payment">
      <p>
        Nothing is charged until you pay at the payment provider. The licence is yours once it confirms the payment.
      </p>
      <div class="receipt-actions">
        {order.checkout_url === null ? (
          <Button look="primary" href={`/buy/${order.package}`}>
            Ask again where to pay
          </Button>
        ) : (
          <ProviderLink href={order.checkout_url}>Pay {amount} at the provider</ProviderLink>
        )}
        <Button href={`/orders/${order.id}`}>I have paid: look again</Button>
        <Form action={`/orders/${order.id}/cancel`} look="inline" failure={failure}>
          <Button look="danger">Cancel the order</Button>
        </Form>
      </div>
    </section>
  )
}

function Lines({ order }: { order: Order }) {
  const { currency, refunded_minor: refunded, total_minor: total } = order
  return (
    <section class="bill" aria-label="Amounts">
      <dl>
        <div>
          <dt>
            <a href={packageAddress(order.package)}>{order.package}</a> <span class="mono">{order.version}</span>
            <span class="bill-note">
              {order.price_kind === 'per_run' ? 'One training run' : `Licence for every version ${order.covers}`}
            </span>
          </dt>
          <dd>
            <Amount minor={total} currency={currency} />
          </dd>
        </div>
        {order.refunds.map((refund) => (
          <div>
            <dt>
              Refund by {refund.by}, <Moment at={refund.created_at} />
              <span class="bill-note" dir="auto">
                {refund.reason}
              </span>
            </dt>
            <dd>
              <Amount minor={-refund.amount_minor} currency={currency} />
            </dd>
          </div>
        ))}
        <div class="bill-total">
          <dt>{refunded > 0 ? 'Left of it' : 'Total'}</dt>
          <dd>
            <Amount minor={total - refunded} currency={currency} />
          </dd>
        </div>
      </dl>
    </section>
  )
}

function Actions({ order, sides: { buys, sells } }: { order: Order; sides: Sides }) {
  const { state, refundable, total_minor: total, refunded_minor: refunded, id } = order
  if (state === 'charged_back')
    return <Notice kind="failure">The payment was taken back, and the licence with it.</Notice>
  if (state !== 'paid' || total === refunded) return null
  return (
    <footer class="receipt-foot">
      {buys && (
        <p class="dim">
          {refundable.by_buyer
            ? `You can give it back. ${withMoments(refundable.why)}`
            : `You cannot give it back by yourself. ${withMoments(refundable.why)}`}
        </p>
      )}
      {((buys && refundable.by_buyer) || sells) && (
        <p>
          <Button href={`/orders/${id}/refund`}>{sells ? 'Refund it' : 'Give it back'}</Button>
        </p>
      )}
    </footer>
  )
}
