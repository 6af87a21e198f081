import { formatAmount, type Order } from '@agentgym/contract'
import type { FormFailure, FormValues } from '../../app/form.ts'
import { attempt, optionalFormAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, Command } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Detail } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Amount, Timestamp, withTimestamps } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { IdempotencyKey, idempotencyHeader } from './idempotency-key.tsx'
import { ProviderLink } from './market-frame.tsx'

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
        params: { path: { id: params.id }, header: idempotencyHeader(visit) },
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

/** A printable receipt; before payment, how to pay. */
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
        <Detail label="Order">
          <span class="mono">{order.id}</span>
        </Detail>
        <Detail label="Ordered">
          <Timestamp at={order.created_at} />
        </Detail>
        {order.paid_at !== null && (
          <Detail label="Paid">
            <Timestamp at={order.paid_at} />{' '}
            {order.total_minor > 0 && (order.pay_with === 'balance' ? 'from balance' : 'via payment provider')}
          </Detail>
        )}
        {order.ended_at !== null && (
          <Detail label="Ended">
            <Timestamp at={order.ended_at} />
          </Detail>
        )}
        <Detail label="Seller">{order.seller}</Detail>
        <Detail label="Buyer">
          {order.buyer}
          {order.placed_by !== order.buyer && <span class="dim">, placed by {order.placed_by}</span>}
        </Detail>
        {order.run !== null && (
          <Detail label="Run">
            <a class="mono" href={`/runs/${order.run}`}>
              {order.run}
            </a>
          </Detail>
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

/** Which buttons to show; the API decides what is allowed. */
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
        You won't be charged until you pay at the payment provider. You get the license once the payment is confirmed.
      </p>
      <div class="receipt-actions">
        {order.checkout_url === null ? (
          <Button look="primary" href={`/buy/${order.package}`}>
            Start payment again
          </Button>
        ) : (
          <ProviderLink href={order.checkout_url}>Pay {amount}</ProviderLink>
        )}
        <Button href={`/orders/${order.id}`}>Check again</Button>
        <Form action={`/orders/${order.id}/cancel`} look="inline" failure={failure}>
          <Button look="danger">Cancel order</Button>
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
              {order.price_kind === 'per_run' ? 'One training run' : `License for all ${order.covers} versions`}
            </span>
          </dt>
          <dd>
            <Amount minor={total} currency={currency} />
          </dd>
        </div>
        {order.refunds.map((refund) => (
          <div>
            <dt>
              Refund by {refund.by}, <Timestamp at={refund.created_at} />
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
          <dt>{refunded > 0 ? 'Remaining' : 'Total'}</dt>
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
    return <Notice kind="failure">The payment was charged back and the license was revoked.</Notice>
  if (state !== 'paid' || total === refunded) return null
  return (
    <footer class="receipt-foot">
      {buys && (
        <p class="dim">
          {refundable.by_buyer
            ? `You can return this order. ${withTimestamps(refundable.why)}`
            : `You can't return this order yourself. ${withTimestamps(refundable.why)}`}
        </p>
      )}
      {((buys && refundable.by_buyer) || sells) && (
        <p>
          <Button href={`/orders/${id}/refund`}>{sells ? 'Refund order' : 'Return order'}</Button>
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
  awaiting_payment: 'awaiting payment',
  paid: 'paid',
  cancelled: 'canceled',
  expired: 'expired',
  refunded: 'refunded',
  charged_back: 'charged back',
}

export function OrderState({ order: { state, refunded_minor } }: { order: Order }) {
  const part = state === 'paid' && refunded_minor > 0 ? ', partially refunded' : ''
  return <Badge tone={tones[state]}>{words[state] + part}</Badge>
}

type RefundPageProps = { order: Order; values: FormValues; failure?: FormFailure | null }

/** Buyers return the whole order; sellers and operators refund any part. */
function RefundPage({ order, values, failure = null }: RefundPageProps) {
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
        <h1>{buys ? 'Return order' : 'Refund order'}</h1>
        <p class="lead">
          {order.package} {order.covers}, bought by {order.buyer}. {left} can be refunded.
        </p>
      </header>
      {refused && (
        <Notice kind="warning">
          {order.state === 'paid' ? withTimestamps(order.refundable.why) : `It is ${order.state.replaceAll('_', ' ')}.`}{' '}
          No refund is possible.
        </Notice>
      )}
      {!refused && (
        <Form action={`/orders/${order.id}/refund`} failure={failure} fields={['amount_minor', 'reason']}>
          <IdempotencyKey />
          {!buys && (
            <Field
              label={`Amount (${order.currency})`}
              name="amount_minor"
              value={values.get('amount_minor')}
              failure={failure}
              help={`Leave empty to refund the rest. A full refund revokes the license.`}
              maxlength={24}
            />
          )}
          <Field
            label="Reason"
            name="reason"
            value={values.get('reason')}
            failure={failure}
            help="Shown on the receipt to buyer and seller."
            maxlength={500}
            required
          />
          <Button look="danger">{buys ? `Return for ${left}` : 'Refund'}</Button>
          <p class="checkout-note">
            {buys
              ? 'The full amount is returned to your balance and the license is revoked.'
              : 'The amount goes to the buyer’s balance. It is taken from the earnings, with the matching share of fee and royalty.'}
          </p>
        </Form>
      )}
    </div>
  )
}
