import {
  type Earnings,
  type EarningsDays,
  type EarningsEntry,
  formatAmount,
  type Payout,
  type payoutDestinationSchema,
} from '@agentgym/contract'
import type { z } from 'zod'
import { attempt, type FormFailure, optionalFormAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Table } from '../../components/table.tsx'
import { Amount, Time } from '../../components/values.tsx'
import { accountField } from '../../session/accounts.ts'
import { IdempotencyKey, idempotencyHeader, repeatedKey } from './idempotency-key.tsx'
import { accountAddress, MarketFrame, OlderLink, ProviderLink } from './market-frame.tsx'
import { OrderLink } from './orders.tsx'

export const earningsRoutes = [
  route('get', '/earnings', { access: 'account' }, async (visit) => {
    const account = visit.query.get('account') ?? ''
    const view = await readEarnings(visit, account, visit.query.get('cursor') ?? undefined)
    return visit.page(<EarningsPage account={account} {...view} />, frame)
  }),

  route('post', '/earnings/payouts', { access: 'account' }, async (visit) => {
    const { form, host } = visit
    const account = form.get('account')
    const failure = await attempt(() =>
      visit.api.POST('/v1/payouts', {
        params: { header: idempotencyHeader(visit) },
        body: {
          amount_minor: optionalFormAmount(form, 'amount_minor', host.currency),
          account: accountField(account),
        },
      }),
    )
    if (failure === null) return visit.redirect(accountAddress('/earnings', account))
    return failedPage(visit, { account, failed: 'payout', failure, amount: form.get('amount_minor') })
  }),

  /**
   * Shown on a page, because the provider's setup link is issued only once and our forms may not redirect to other
   * hosts.
   */
  route('post', '/earnings/destination', { access: 'account' }, async (visit) => {
    const account = visit.form.get('account')
    let destination: EarningsView['destination'] | undefined
    const failure = await attempt(async () => {
      const { data } = await visit.api.PUT('/v1/payout-destination', { body: { account: accountField(account) } })
      destination = data
    })
    if (failure !== null) return failedPage(visit, { account, failed: 'destination', failure })
    if (destination === undefined || destination.ready) return visit.redirect(accountAddress('/earnings', account))
    const view = await readEarnings(visit, account)
    return visit.page(<EarningsPage account={account} {...view} destination={destination} />, frame)
  }),
]

const frame = { title: 'Earnings', hidden: true }

type Failed = { account: string; failed: 'payout' | 'destination'; failure: FormFailure; amount?: string }

async function failedPage(visit: Visit, { account, failure, ...failed }: Failed): Promise<Response> {
  const view = await readEarnings(visit, account)
  const page = (
    <EarningsPage
      account={account}
      {...view}
      {...failed}
      failure={failure}
      idempotencyKey={repeatedKey(visit, failure)}
    />
  )
  return visit.page(page, { ...frame, status: failure.status })
}

async function readEarnings({ api }: Visit, account: string, cursor?: string): Promise<EarningsView> {
  const query = { account: accountField(account) }
  const [earnings, earned, entries, payouts, destination] = await Promise.all([
    api.GET('/v1/earnings', { params: { query } }),
    api.GET('/v1/earnings/days', { params: { query } }),
    api.GET('/v1/earnings/entries', { params: { query: { ...query, cursor, limit: 50 } } }),
    api.GET('/v1/payouts', { params: { query: { ...query, limit: 20 } } }),
    api.GET('/v1/payout-destination', { params: { query } }),
  ])
  return {
    earnings: earnings.data,
    earned: earned.data,
    entries: entries.data.entries,
    next: entries.data.next_cursor,
    payouts: payouts.data.payouts,
    destination: destination.data,
  }
}

export type EarningsView = {
  earnings: Earnings
  earned: EarningsDays
  entries: EarningsEntry[]
  next: string | null
  payouts: PayoutPartProps['payouts']
  destination: PayoutPartProps['destination']
}

type EarningsPageProps = EarningsView &
  Pick<PayoutPartProps, 'account' | 'amount' | 'failure' | 'failed' | 'idempotencyKey'>

export function EarningsPage({ account, ...view }: EarningsPageProps) {
  const { earnings, earned, entries, next, payouts, destination, amount, failure, failed, idempotencyKey } = view
  const { currency } = earnings
  const nothing = entries.length === 0 && earnings.sales_minor + earnings.royalties_earned_minor === 0
  return (
    <MarketFrame title="Earnings" path="/earnings" account={account} needs="admin">
      <Metrics>
        <Metric label="Available to pay out">
          <Amount minor={earnings.cleared_minor} currency={currency} />
        </Metric>
        <Metric label="On hold" note="recent sales, not cleared yet">
          <Amount minor={earnings.held_minor} currency={currency} />
        </Metric>
        {earnings.debt_minor > 0 && (
          <Metric label="Owed" note="from chargebacks; repaid from future sales">
            <Amount minor={earnings.debt_minor} currency={currency} />
          </Metric>
        )}
      </Metrics>
      {nothing ? <NothingEarned /> : <Earned earnings={earnings} earned={earned} />}
      <PayoutPart {...{ account, earnings, destination, payouts, amount, failure, failed, idempotencyKey }} />
      {!nothing && (
        <section class="market-part">
          <div class="section-head">
            <h2>Entries</h2>
            <a href={accountAddress('/v1/earnings.csv', account)}>Download CSV</a>
          </div>
          <Entries entries={entries} />
          <OlderLink path="/earnings" account={account} cursor={next} />
        </section>
      )}
    </MarketFrame>
  )
}

function Earned({ earnings, earned }: Pick<EarningsView, 'earnings' | 'earned'>) {
  return (
    <>
      <section class="market-part">
        <h2>Sales in the last {earned.days.length} days</h2>
        <SalesChart earned={earned} />
      </section>
      <section class="market-part">
        <h2>All time</h2>
        <Sums earnings={earnings} />
      </section>
    </>
  )
}

/** From sales to the balance; lines of zero are left out. */
function Sums({ earnings }: { earnings: Earnings }) {
  const { currency } = earnings
  const lines: [label: string, minor: number][] = [
    ['Sales', earnings.sales_minor],
    ['Marketplace fees', -earnings.fees_minor],
    ['Royalties to scenario authors', -earnings.royalties_paid_minor],
    ['Royalties from agents trained on your scenarios', earnings.royalties_earned_minor],
    ['Refunds', -earnings.refunds_minor],
    ['Paid out', -earnings.paid_out_minor],
  ]
  return (
    <div class="bill">
      <dl>
        {lines
          .filter(([label, minor]) => minor !== 0 || label === 'Sales')
          .map(([label, minor]) => (
            <div>
              <dt>{label}</dt>
              <dd>
                <Amount minor={minor} currency={currency} />
              </dd>
            </div>
          ))}
        <div class="bill-total">
          <dt>{earnings.debt_minor > 0 ? 'Balance after debt' : 'Balance'}</dt>
          <dd>
            <Amount minor={earnings.balance_minor - earnings.debt_minor} currency={currency} />
          </dd>
        </div>
      </dl>
    </div>
  )
}

function NothingEarned() {
  return (
    <EmptyState title="No earnings yet" command="agentgym price @you/package 25">
      Sales, royalties, refunds and payouts appear here.
      <Button href="/publish">Publish a package</Button>
    </EmptyState>
  )
}

function Entries({ entries }: { entries: EarningsEntry[] }) {
  if (entries.length === 0) return <p class="dim">No more entries.</p>
  return (
    <Table
      caption="Entries"
      rows={entries}
      columns={[
        {
          title: 'Day',
          heading: true,
          cell: ({ at }) => (
            <time datetime={at} title={`${at.slice(0, 16).replace('T', ' ')} UTC`}>
              {at.slice(0, 10)}
            </time>
          ),
        },
        {
          title: 'Entry',
          cell: ({ kind, order }) => (
            <>
              {kind.replaceAll('_', ' ')} {order !== null && <OrderLink id={order} />}
            </>
          ),
        },
        {
          title: 'Package',
          wide: true,
          cell: ({ package: name }) => (name === null ? '' : <a href={packageAddress(name)}>{name}</a>),
        },
        { title: 'Gross', numeric: true, wide: true, cell: (one) => orNothing(one.gross_minor, one.currency) },
        { title: 'Fee', numeric: true, wide: true, cell: (one) => orNothing(one.fee_minor, one.currency) },
        { title: 'Royalty', numeric: true, wide: true, cell: (one) => orNothing(one.royalty_minor, one.currency) },
        { title: 'Net', numeric: true, cell: (one) => <Amount minor={one.net_minor} currency={one.currency} /> },
      ]}
    />
  )
}

function orNothing(minor: number, currency: string) {
  return minor === 0 ? <span class="dim">–</span> : <Amount minor={minor} currency={currency} />
}

type PayoutPartProps = {
  account: string
  earnings: Earnings
  destination: z.infer<typeof payoutDestinationSchema>
  /** The newest. */
  payouts: Payout[]
  /** As entered. */
  amount?: string
  failure?: FormFailure | null
  idempotencyKey?: string
  /** Which form failed. */
  failed?: 'payout' | 'destination'
}

const payoutTones = { pending: 'warning', paid: 'good', failed: 'bad' } as const

/** Payouts: where they go, and requesting one. */
function PayoutPart(props: PayoutPartProps) {
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
            { title: 'Requested', heading: true, cell: ({ created_at: at }) => <Time at={at} /> },
            {
              title: 'State',
              cell: ({ state, message }) => (
                <>
                  <Badge tone={payoutTones[state]}>{state === 'pending' ? 'in transit' : state}</Badge>{' '}
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

function PayoutForm({ account, earnings, amount, failure = null, failed, idempotencyKey }: PayoutPartProps) {
  const { cleared_minor: cleared, currency } = earnings
  const mine = failed === 'payout' ? failure : null
  if (cleared === 0 && mine === null)
    return <p class="dim">Nothing to pay out yet. Earnings become available after the hold period.</p>
  return (
    <Form action="/earnings/payouts" failure={mine} fields={['amount_minor']}>
      <IdempotencyKey idempotencyKey={idempotencyKey} />
      <input type="hidden" name="account" value={account} />
      <Field
        label={`Amount (${currency})`}
        name="amount_minor"
        value={amount}
        failure={mine}
        help={`Leave empty to pay out everything available: ${formatAmount(cleared, currency)}.`}
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
          Your account at the payment provider is incomplete. The provider asks for your identity and bank details; this
          site never sees them.
        </Notice>
      )}
      {form === null && <p class="dim">Payouts go to your account at the payment provider. It isn't set up yet.</p>}
      <Form action="/earnings/destination" look="inline" failure={failed === 'destination' ? failure : null}>
        <input type="hidden" name="account" value={account} />
        {form === null ? (
          <Button look="primary">Set up payouts</Button>
        ) : (
          <>
            <ProviderLink href={form}>Complete setup</ProviderLink>
            <Button>Check again</Button>
          </>
        )}
      </Form>
    </>
  )
}

const chartHeight = 120
const step = 10
const bar = 7

/** Daily sales as bars, and as a table on demand. */
function SalesChart({ earned: { days, currency } }: { earned: EarningsDays }) {
  const most = Math.max(...days.map(({ sales_minor: sales }) => sales))
  const orders = days.reduce((sum, day) => sum + day.orders, 0)
  const total = days.reduce((sum, { sales_minor: sales }) => sum + sales, 0)
  const [first, last] = [days.at(0)?.day ?? '', days.at(-1)?.day ?? '']
  const said = `${formatAmount(total, currency)} in ${orders} ${orders === 1 ? 'order' : 'orders'} from ${first} to ${last}`
  if (most === 0) return <p class="dim">No sales in the last {days.length} days.</p>
  return (
    <figure class="sales-chart">
      <figcaption>
        <span>{said}</span>
        <span class="dim">peak {formatAmount(most, currency)} per day</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length * step} ${chartHeight}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Sales by day: ${said}`}
      >
        {days.map(({ day, sales_minor: sales }, index) => {
          const tall = Math.max(sales === 0 ? 1 : 2, Math.round((sales / most) * chartHeight))
          return (
            <rect
              class={sales === 0 ? 'sales-chart-none' : 'sales-chart-day'}
              x={index * step}
              y={chartHeight - tall}
              width={bar}
              height={tall}
            >
              <title>{`${day}: ${formatAmount(sales, currency)}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="sales-chart-ends" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </p>
      <details class="sales-chart-table">
        <summary>View as table</summary>
        <Table
          caption="Sales by day"
          rows={days.filter((day) => day.orders > 0 || day.sales_minor !== 0 || day.net_minor !== 0).reverse()}
          columns={[
            { title: 'Day', heading: true, cell: ({ day }) => <time datetime={day}>{day}</time> },
            { title: 'Orders', numeric: true, cell: (day) => day.orders },
            { title: 'Sales', numeric: true, cell: (day) => <Amount minor={day.sales_minor} currency={currency} /> },
            { title: 'Earned', numeric: true, cell: (day) => <Amount minor={day.net_minor} currency={currency} /> },
          ]}
        />
      </details>
    </figure>
  )
}
