import { type Balance, formatAmount, type Payment, type paymentListSchema } from '@agentgym/contract'
import type { z } from 'zod'
import { attempt, type FormFailure, formAmount, typedAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { Table } from '../../components/table.tsx'
import { Amount, Time, Timestamp } from '../../components/values.tsx'
import { accountField } from '../../session/accounts.ts'
import { localPath } from '../../session/same-site.ts'
import { IdempotencyKey, idempotencyHeader, repeatedKey } from './idempotency-key.tsx'
import { accountAddress, MarketFrame, OlderLink, ProviderLink } from './market-frame.tsx'
import { OrderLink } from './orders.tsx'

export const balanceRoutes = [
  route('get', '/balance', { access: 'account' }, (visit) => {
    const { query, host } = visit
    const lacking = query.get('amount') ?? ''
    return balancePage(visit, {
      account: query.get('account') ?? '',
      cursor: query.get('cursor') ?? undefined,
      amount: /^[1-9]\d{0,14}$/.test(lacking) ? typedAmount(Number(lacking), host.currency) : '',
      next: localPath(query.get('next')),
    })
  }),

  route('post', '/balance/top-ups', { access: 'account' }, async (visit) => {
    const { form, host } = visit
    const account = form.get('account')
    const next = localPath(form.get('next'))
    let payment: Payment | undefined
    const failure = await attempt(async () => {
      const { data } = await visit.api.POST('/v1/top-ups', {
        params: { header: idempotencyHeader(visit) },
        body: { amount_minor: formAmount(form, 'amount_minor', host.currency), account: accountField(account) },
      })
      payment = data
    })
    if (payment !== undefined) {
      const on = next === '/' ? '' : `?next=${encodeURIComponent(next)}`
      return visit.redirect(`/payments/${payment.id}${on}`)
    }
    return balancePage(visit, { account, amount: form.get('amount_minor'), next, failure })
  }),

  route('get', '/payments/:id', { access: 'account' }, async (visit) => {
    const { data } = await visit.api.GET('/v1/payments/{id}', { params: { path: { id: visit.params.id } } })
    const account = data.account === visit.account?.username ? '' : data.account
    const next = localPath(visit.query.get('next'))
    return visit.page(<PaymentPage payment={data} account={account} next={next} />, { title: 'Payment', hidden: true })
  }),
]

type BalanceView = { account: string; cursor?: string; amount: string; next: string; failure?: FormFailure | null }

async function balancePage(
  visit: Visit,
  { account, cursor, amount, next, failure = null }: BalanceView,
): Promise<Response> {
  const query = { account: accountField(account) }
  const [balance, payments] = await Promise.all([
    visit.api.GET('/v1/balance', { params: { query } }),
    visit.api.GET('/v1/payments', { params: { query: { ...query, cursor } } }),
  ])
  const page = (
    <BalancePage
      balance={balance.data}
      payments={payments.data}
      {...{ account, amount, next, failure }}
      idempotencyKey={repeatedKey(visit, failure)}
    />
  )
  return visit.page(page, { title: 'Balance', hidden: true, status: failure?.status })
}

type BalancePageProps = {
  balance: Balance
  payments: z.infer<typeof paymentListSchema>
  account: string
  /** The entered amount, or the missing one. */
  amount: string
  /** Where to continue after a top-up. */
  next: string
  failure?: FormFailure | null
  idempotencyKey?: string
}

function BalancePage({ balance, payments, account, amount, next, failure = null, idempotencyKey }: BalancePageProps) {
  const { currency, training_quota: quota } = balance
  return (
    <MarketFrame title="Balance" path="/balance" account={account} needs="member">
      <Metrics>
        <Metric label="Available">
          <Amount minor={balance.available_minor} currency={currency} />
        </Metric>
        {balance.held_minor > 0 && (
          <Metric label="Held" note="reserved for runs and hosted calls">
            <Amount minor={balance.held_minor} currency={currency} />
          </Metric>
        )}
        {quota !== null && quota.limit_minor > 0 && (
          <Metric label="Free training left" note={`of ${formatAmount(quota.limit_minor, currency)} a month`}>
            <Amount minor={Math.max(0, quota.limit_minor - quota.used_minor)} currency={currency} />
          </Metric>
        )}
        {balance.awaited_minor > 0 && (
          <Metric label="Pending" note="not confirmed by the provider">
            <Amount minor={balance.awaited_minor} currency={currency} />
          </Metric>
        )}
      </Metrics>
      <section class="market-part">
        <h2>Top up</h2>
        <Form action="/balance/top-ups" failure={failure} fields={['amount_minor']}>
          <IdempotencyKey idempotencyKey={idempotencyKey} />
          <input type="hidden" name="account" value={account} />
          <input type="hidden" name="next" value={next} />
          <Field
            label={`Amount (${currency})`}
            name="amount_minor"
            value={amount}
            failure={failure}
            help="You pay at the payment provider. The balance updates once the payment is confirmed."
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
        Top-ups and payments for orders appear here.
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
              'Top-up'
            ) : (
              <>
                Order <OrderLink id={order} />
              </>
            ),
        },
        { title: 'State', cell: (payment) => <PaymentState payment={payment} /> },
        { title: 'Created', wide: true, cell: ({ created_at: at }) => <Time at={at} /> },
        { title: 'Amount', numeric: true, cell: (one) => <Amount minor={one.amount_minor} currency={one.currency} /> },
      ]}
    />
  )
}

const tones = { pending: 'warning', succeeded: 'good', failed: 'bad', expired: 'plain', disputed: 'bad' } as const
const words = {
  pending: 'pending',
  succeeded: 'paid',
  failed: 'failed',
  expired: 'expired',
  disputed: 'disputed',
}

function PaymentState({ payment: { state } }: { payment: Payment }) {
  return <Badge tone={tones[state]}>{words[state]}</Badge>
}

type PaymentPageProps = {
  payment: Payment
  /** The account whose balance page to return to; empty for the visitor's own. */
  account: string
  /** Path of the checkout that led here; `/` if none. */
  next: string
}

/** State of a top-up, with the link to pay. */
function PaymentPage({ payment, account, next }: PaymentPageProps) {
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
          <dd>{purpose === 'top_up' ? `Balance of ${payment.account}` : `Order of ${payment.account}`}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Timestamp at={payment.created_at} />
          </dd>
        </div>
        {payment.ended_at !== null && (
          <div>
            <dt>Ended</dt>
            <dd>
              <Timestamp at={payment.ended_at} />
            </dd>
          </div>
        )}
      </dl>
      <p class="receipt-actions">
        {state === 'pending' && checkout !== null && <ProviderLink href={checkout}>Pay {amount}</ProviderLink>}
        {state === 'pending' && <Button href={here(payment, next)}>Check again</Button>}
        {next !== '/' && (
          <Button href={next} look={state === 'succeeded' ? 'primary' : 'quiet'}>
            Continue checkout
          </Button>
        )}
        {order !== null && <Button href={`/orders/${order}`}>View order</Button>}
        <Button href={accountAddress('/balance', account)}>View balance</Button>
      </p>
    </article>
  )
}

function here({ id }: Payment, next: string): string {
  return next === '/' ? `/payments/${id}` : `/payments/${id}?next=${encodeURIComponent(next)}`
}
