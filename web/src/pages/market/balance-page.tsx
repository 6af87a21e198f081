import type { Balance, Payment, paymentListSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Field } from '../../components/field.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { Form } from '../../components/form.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { Amount } from './amount.tsx'
import { MarketFrame } from './market-frame.tsx'
import { OlderLink } from './older-link.tsx'
import { OnceKey } from './once-key.tsx'
import { OrderLink } from './orders-page.tsx'
import { PaymentState } from './payment-page.tsx'

type BalancePageProps = {
  balance: Balance
  payments: z.infer<typeof paymentListSchema>
  account: string
  /** What was typed, or what is lacking. */
  amount: string
  /** Where to go on after a top-up. */
  next: string
  failure?: FormFailure | null
  once?: string
}

export function BalancePage({ balance, payments, account, amount, next, failure = null, once }: BalancePageProps) {
  const { currency } = balance
  return (
    <MarketFrame title="Balance" path="/balance" account={account} needs="member">
      <Figures>
        <Figure label="Available">
          <Amount minor={balance.available_minor} currency={currency} />
        </Figure>
        {balance.held_minor > 0 && (
          <Figure label="Held" note="for runs that have not trained yet">
            <Amount minor={balance.held_minor} currency={currency} />
          </Figure>
        )}
        {balance.awaited_minor > 0 && (
          <Figure label="Awaited" note="not confirmed by the provider">
            <Amount minor={balance.awaited_minor} currency={currency} />
          </Figure>
        )}
      </Figures>
      <section class="market-part">
        <h2>Top up</h2>
        <Form action="/balance/top-ups" failure={failure} fields={['amount_minor']}>
          <OnceKey once={once} />
          <input type="hidden" name="account" value={account} />
          <input type="hidden" name="next" value={next} />
          <Field
            label={`Amount, in ${currency}`}
            name="amount_minor"
            value={amount}
            failure={failure}
            help="You pay at the payment provider; it is here once the provider confirms it."
            maxlength={24}
            required
          />
          <p>
            <Button look="primary">Top up</Button>
          </p>
        </Form>
      </section>
      <section class="market-part">
        <h2>Payments</h2>
        <Payments payments={payments.payments} />
        <OlderLink path="/balance" account={account} cursor={payments.next_cursor} />
      </section>
    </MarketFrame>
  )
}

function Payments({ payments }: { payments: Payment[] }) {
  if (payments.length === 0)
    return (
      <EmptyState title="No payments yet" command="agentgym balance top-up 20">
        Top-ups, and orders that were paid at the provider, stand here.
      </EmptyState>
    )
  return (
    <Table
      caption="Payments"
      rows={payments}
      columns={[
        {
          title: 'Payment',
          heading: true,
          cell: ({ id }) => (
            <a class="mono" href={`/payments/${id}`}>
              {id.slice(0, 8)}
            </a>
          ),
        },
        {
          title: 'For',
          cell: ({ order }) =>
            order === null ? (
              'top-up'
            ) : (
              <>
                order <OrderLink id={order} />
              </>
            ),
        },
        { title: 'State', cell: (payment) => <PaymentState payment={payment} /> },
        { title: 'When', wide: true, cell: ({ created_at: at }) => <Time at={at} /> },
        { title: 'Amount', numeric: true, cell: (one) => <Amount minor={one.amount_minor} currency={one.currency} /> },
      ]}
    />
  )
}
