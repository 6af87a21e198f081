import type { Earnings, EarningsDays, EarningsEntry } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Table } from '../../components/table.tsx'
import { Amount } from './amount.tsx'
import { accountAddress, MarketFrame } from './market-frame.tsx'
import { OlderLink } from './older-link.tsx'
import { OrderLink } from './orders-page.tsx'
import { PayoutPart, type PayoutPartProps } from './payout-part.tsx'
import { SalesChart } from './sales-chart.tsx'

export type EarningsView = {
  earnings: Earnings
  earned: EarningsDays
  entries: EarningsEntry[]
  next: string | null
  payouts: PayoutPartProps['payouts']
  destination: PayoutPartProps['destination']
}

type EarningsPageProps = EarningsView & Pick<PayoutPartProps, 'account' | 'amount' | 'failure' | 'failed' | 'once'>

export function EarningsPage({ account, ...view }: EarningsPageProps) {
  const { earnings, earned, entries, next, payouts, destination, amount, failure, failed, once } = view
  const { currency } = earnings
  const nothing = entries.length === 0 && earnings.sales_minor + earnings.royalties_earned_minor === 0
  return (
    <MarketFrame title="Earnings" path="/earnings" account={account} needs="admin">
      <Figures>
        <Figure label="May be paid out">
          <Amount minor={earnings.cleared_minor} currency={currency} />
        </Figure>
        <Figure label="Held" note="younger than the hold">
          <Amount minor={earnings.held_minor} currency={currency} />
        </Figure>
        {earnings.debt_minor > 0 && (
          <Figure label="Owed" note="after chargebacks; sales repay it first">
            <Amount minor={earnings.debt_minor} currency={currency} />
          </Figure>
        )}
      </Figures>
      {nothing ? <NothingEarned /> : <Earned earnings={earnings} earned={earned} />}
      <PayoutPart {...{ account, earnings, destination, payouts, amount, failure, failed, once }} />
      {!nothing && (
        <section class="market-part">
          <div class="section-head">
            <h2>Entries</h2>
            <a href={accountAddress('/v1/earnings.csv', account)}>All as CSV</a>
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
        <h2>Sales of the last {earned.days.length} days</h2>
        <SalesChart earned={earned} />
      </section>
      <section class="market-part">
        <h2>In all</h2>
        <Sums earnings={earnings} />
      </section>
    </>
  )
}

/** From sales to what is there: each line that is something. */
function Sums({ earnings }: { earnings: Earnings }) {
  const { currency } = earnings
  const lines: [label: string, minor: number][] = [
    ['Sales', earnings.sales_minor],
    ['Fees of this marketplace', -earnings.fees_minor],
    ['Royalties to authors of scenarios', -earnings.royalties_paid_minor],
    ['Royalties of agents trained on yours', earnings.royalties_earned_minor],
    ['Given back', -earnings.refunds_minor],
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
          <dt>{earnings.debt_minor > 0 ? 'What is there, less what is owed' : 'What is there'}</dt>
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
    <EmptyState title="Nothing earned yet" command="agentgym price @you/package 25">
      Sales, royalties, refunds and payouts stand here, each with what came of it.
      <Button href="/publish">Publish a package</Button>
    </EmptyState>
  )
}

function Entries({ entries }: { entries: EarningsEntry[] }) {
  if (entries.length === 0) return <p class="dim">There are no older ones.</p>
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
