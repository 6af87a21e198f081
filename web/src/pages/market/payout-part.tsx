import { type Earnings, formatAmount, type Payout, type payoutDestinationSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { FormFailure } from '../../app/form-failure.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { Amount } from './amount.tsx'
import { OnceKey } from './once-key.tsx'
import { ProviderLink } from './provider-link.tsx'

export type PayoutPartProps = {
  account: string
  earnings: Earnings
  destination: z.infer<typeof payoutDestinationSchema>
  /** The newest. */
  payouts: Payout[]
  /** As it was typed. */
  amount?: string
  failure?: FormFailure | null
  once?: string
  /** Which form failed. */
  failed?: 'payout' | 'destination'
}

const tones = { pending: 'warning', paid: 'good', failed: 'bad' } as const

/** Where earnings go, and sending them there. */
export function PayoutPart(props: PayoutPartProps) {
  const { payouts } = props
  return (
    <section class="market-part">
      <h2>Payouts</h2>
      {props.destination.ready ? <PayoutForm {...props} /> : <Destination {...props} />}
      {payouts.length > 0 && (
        <Table
          caption="Payouts"
          rows={payouts}
          columns={[
            { title: 'When', heading: true, cell: ({ created_at: at }) => <Time at={at} /> },
            {
              title: 'State',
              cell: ({ state, message }) => (
                <>
                  <Badge tone={tones[state]}>{state === 'pending' ? 'under way' : state}</Badge>{' '}
                  {state === 'failed' && message !== null && <span class="dim">{message}</span>}
                </>
              ),
            },
            { title: 'Payout', wide: true, cell: ({ id }) => <span class="mono">{id.slice(0, 8)}</span> },
            {
              title: 'Amount',
              numeric: true,
              cell: (one) => <Amount minor={one.amount_minor} currency={one.currency} />,
            },
          ]}
        />
      )}
    </section>
  )
}

function PayoutForm({ account, earnings, amount, failure = null, failed, once }: PayoutPartProps) {
  const { cleared_minor: cleared, currency } = earnings
  const mine = failed === 'payout' ? failure : null
  if (cleared === 0 && mine === null)
    return <p class="dim">Nothing has cleared yet: earnings can be paid out once they are older than the hold.</p>
  return (
    <Form action="/earnings/payouts" failure={mine} fields={['amount_minor']}>
      <OnceKey once={once} />
      <input type="hidden" name="account" value={account} />
      <Field
        label={`Amount, in ${currency}`}
        name="amount_minor"
        value={amount}
        failure={mine}
        help={`All that has cleared, ${formatAmount(cleared, currency)}, unless you say how much.`}
        maxlength={24}
      />
      <p>
        <Button look="primary">Pay out</Button>
      </p>
    </Form>
  )
}

function Destination({ account, destination, failure = null, failed }: PayoutPartProps) {
  const { onboarding_url: form } = destination
  return (
    <>
      {form !== null && (
        <Notice kind="info">
          Your account at the payment provider is not complete. Its form asks for who you are and where the money goes;
          we never see either.
        </Notice>
      )}
      {form === null && (
        <p class="dim">
          Earnings are paid out to an account that the payment provider keeps for you. It is not set up yet.
        </p>
      )}
      <Form action="/earnings/destination" look="inline" failure={failed === 'destination' ? failure : null}>
        <input type="hidden" name="account" value={account} />
        {form === null ? (
          <Button look="primary">Set up payouts</Button>
        ) : (
          <>
            <ProviderLink href={form}>Complete it at the provider</ProviderLink>
            <Button>I have: look again</Button>
          </>
        )}
      </Form>
    </>
  )
}
