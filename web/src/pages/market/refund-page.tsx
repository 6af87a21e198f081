import { formatAmount, type Order } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import type { FormValues } from '../../app/form-values.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from './accounts-of.ts'
import { withMoments } from './moment.tsx'
import { OnceKey } from './once-key.tsx'

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
