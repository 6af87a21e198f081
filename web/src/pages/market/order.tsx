import { formatAmount, type Order } from '@agentgym/contract'
import type { FormFailure, FormValues } from '../../app/form.ts'
import { attempt, optionalFormAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, Command } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Fact } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Amount, Moment, withMoments } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { ProviderLink } from './market-frame.tsx'
import { OnceKey, onceHeader } from './once-key.tsx'

export const orderRoutes = [
  route('get', '/orders/:id', { access: 'account' }, async (visit) => orderPage(visit, await readOrder(visit))),

  route('post', '/orders/:id/cancel', { access: 'account' }, async (visit) => {
    const { id } = visit.params
    const failure = await attempt(() => visit.api.POST('/v1/orders/{id}/cancel', { params: { path: { id } } }))
    if (failure === null) return visit.redirect(`/orders/${id}`)
    const page = <OrderPage order={await readOrder(visit)} failure={failure} />
    return visit.page(page, { ...receiptOf(id), status: failure.status })
  }),

  route('get', '/orders/:id/refund', { access: 'account' }, async (visit) =>
    visit.page(<RefundPage order={await readOrder(visit)} values={visit.form} />, refundFrame),
  ),

  route('post', '/orders/:id/refund', { access: 'account' }, async (visit) => {
    const { form, params } = visit
    const order = await readOrder(visit)
    const failure = await attempt(() =>
      visit.api.POST('/v1/orders/{id}/refunds', {
        params: { path: { id: params.id }, header: onceHeader(visit) },
        body: {
          amount_minor: optionalFormAmount(form, 'amount_minor', order.currency),
          reason: form.get('reason').trim(),
        },
      }),
    )
    if (failure === null) return visit.redirect(`/orders/${params.id}`)
    const page = <RefundPage order={await readOrder(visit)} values={form} failure={failure} />
    return visit.page(page, { ...refundFrame, status: failure.status })
  }),
]

const refundFrame = { title: 'Refund', frame: 'plain', hidden: true } as const
const receiptOf = (id: string) => ({ title: `Order ${id.slice(0, 8)}`, hidden: true })

function orderPage(visit: Visit, order: Order): Response {
  return visit.page(<OrderPage order={order} />, receiptOf(order.id))
}

/** Throws `order_not_found`, the same for others' orders. */
async function readOrder({ api, params: { id } }: Visit): Promise<Order> {
  const { data } = await api.GET('/v1/orders/{id}', { params: { path: { id } } })
  return data
}

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

const tones = {
  awaiting_payment: 'warning',
  paid: 'good',
  cancelled: 'plain',
  expired: 'plain',
  refunded: 'plain',
  charged_back: 'bad',
} as const

const words = {
  awaiting_payment: 'awaits payment',
  paid: 'paid',
  cancelled: 'cancelled',
  expired: 'expired',
  refunded: 'refunded',
  charged_back: 'charged back',
}

export function OrderState({ order: { state, refunded_minor } }: { order: Order }) {
  const part = state === 'paid' && refunded_minor > 0 ? ', part refunded' : ''
  return <Badge tone={tones[state]}>{words[state] + part}</Badge>
}

type RefundPageProps = { order: Order; values: FormValues; failure?: FormFailure | null }

/** Buyers give all of it back; sellers and operators any part. */
export function RefundPage({ order, values, failure = null }: RefundPageProps) {
  const { account } = usePage()
  const left = formatAmount(order.total_minor - order.refunded_minor, order.currency)
  const buys = account !== null && accountsOf(account, 'member').includes(order.buyer)
  const refused = order.state !== 'paid' || (buys && !order.refundable.by_buyer)
  return (
    <div class="checkout">
      <header>
        <p class="checkout-back">
          <a href={`/orders/${order.id}`}>Order {order.id.slice(0, 8)}</a>
        </p>
        <h1>{buys ? 'Give it back' : 'Refund an order'}</h1>
        <p class="lead">
          {order.package} {order.covers}, bought by {order.buyer}. {left} is left of it.
        </p>
      </header>
      {refused && (
        <Notice kind="warning">
          {order.state === 'paid' ? withMoments(order.refundable.why) : `It is ${order.state.replaceAll('_', ' ')}.`}{' '}
          Nothing can be given back here.
        </Notice>
      )}
      {!refused && (
        <Form action={`/orders/${order.id}/refund`} failure={failure} fields={['amount_minor', 'reason']}>
          <OnceKey />
          {!buys && (
            <Field
              label={`Amount, in ${order.currency}`}
              name="amount_minor"
              value={values.get('amount_minor')}
              failure={failure}
              help={`All that is left unless you say how much. With the last of it the licence ends.`}
              maxlength={24}
            />
          )}
          <Field
            label="Reason"
            name="reason"
            value={values.get('reason')}
            failure={failure}
            help="Stands on the receipt, for both sides."
            maxlength={500}
            required
          />
          <Button look="danger">{buys ? `Give it back for ${left}` : 'Refund'}</Button>
          <p class="checkout-note">
            {buys
              ? 'All of it goes back onto the balance that holds what you can spend, and the licence ends.'
              : 'It goes onto the buyer’s balance out of the earnings, with its part of fee and royalty.'}
          </p>
        </Form>
      )}
    </div>
  )
}
