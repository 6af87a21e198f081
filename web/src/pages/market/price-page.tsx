import { formatAmount, type Price, type PricePage as Prices } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import type { FormValues } from '../../app/form-values.ts'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Price as ShownPrice } from '../../components/price.tsx'
import { Table } from '../../components/table.tsx'
import { Moment } from './moment.tsx'
import { PriceForm } from './price-form.tsx'

export type PriceView = { prices: Prices; kind: 'scenario' | 'agent' }
type PricePageProps = { view: PriceView; values: FormValues | null; failure?: FormFailure | null }

/** What a package costs, will cost and has cost, and the seller's form that changes it. */
export function PricePage({ view, values, failure = null }: PricePageProps) {
  const { prices, kind } = view
  const { history, upcoming, upcoming_terms: later, current } = prices
  return (
    <div class="market">
      <header>
        <p class="checkout-back">
          <a href={packageAddress(prices.package)}>{prices.package}</a>
        </p>
        <h1>Price</h1>
        <p class="lead">
          It costs <ShownPrice minor={current.amount_minor} currency={current.currency} kind={current.kind} />
          {current.kind === 'one_time' && ' for all versions of a major'}. Whoever has bought it keeps what they have.
        </p>
      </header>
      {(upcoming !== null || later !== null) && <Announced prices={prices} kind={kind} />}
      <PriceForm kind={kind} prices={prices} values={values} failure={failure} />
      <section class="market-part">
        <h2>What it has cost</h2>
        {history.length === 0 ? <p class="dim">No price was ever set: it is free.</p> : <History history={history} />}
      </section>
    </div>
  )
}

function Announced({ prices: { current, upcoming, upcoming_terms: later }, kind }: { prices: Prices; kind: string }) {
  return (
    <Notice kind="warning">
      {upcoming !== null && (
        <p>
          From <Moment at={upcoming.effective_at} /> it costs{' '}
          <ShownPrice minor={upcoming.amount_minor} currency={upcoming.currency} kind={upcoming.kind} />. Until then
          everybody buys at the price of today. Another price takes the place of this one.
        </p>
      )}
      {later !== null && (
        <p>
          From <Moment at={later.effective_at} />{' '}
          {kind === 'scenario'
            ? `the royalty is ${later.royalty_basis_points / 100}%.`
            : `1,000 hosted calls cost ${formatAmount(later.calls_price_minor, current.currency)}.`}
        </p>
      )}
    </Notice>
  )
}

const words = { free: 'Free', one_time: 'A licence', per_run: 'Each run' }

function History({ history }: { history: Price[] }) {
  return (
    <Table
      caption="Prices, newest first"
      rows={history}
      columns={[
        { title: 'From', heading: true, cell: ({ effective_at: at }) => <Moment at={at} /> },
        { title: 'For', cell: ({ kind }) => words[kind] },
        { title: 'Price', numeric: true, cell: (price) => formatAmount(price.amount_minor, price.currency) },
      ]}
    />
  )
}
