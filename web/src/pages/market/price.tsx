import type { SetPriceRequest } from '@agentgym/contract'
import { formatAmount, type Price, type PricePage as Prices } from '@agentgym/contract'
import {
  attempt,
  type FormFailure,
  type FormValues,
  formAmount,
  formAmountOrZero,
  invalidField,
  typedAmount,
} from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Table } from '../../components/table.tsx'
import { Price as ShownPrice, Timestamp } from '../../components/values.tsx'
import { packagePath } from '../package/read-package.ts'

export const priceRoutes = [
  route('get', '/packages/:scope/:name/price', { access: 'owner' }, async (visit) =>
    visit.page(<PriceSettings view={await readPrices(visit)} values={null} />, frame),
  ),

  route('post', '/packages/:scope/:name/price', { access: 'owner' }, async (visit) => {
    const { form } = visit
    const path = packagePath(visit)
    const view = await readPrices(visit)
    const failure = await attempt(() =>
      visit.api.PUT('/v1/packages/{scope}/{name}/price', {
        params: { path },
        body: priceRequest(form, view, view.prices.current.currency),
      }),
    )
    if (failure === null) return visit.redirect(`${packageAddress(`${path.scope}/${path.name}`)}/price`)
    return visit.page(<PriceSettings view={view} values={form} failure={failure} />, {
      ...frame,
      status: failure.status,
    })
  }),
]

const frame = { title: 'Price', hidden: true }

async function readPrices(visit: Visit): Promise<PriceView> {
  const params = { path: packagePath(visit) }
  const [prices, page] = await Promise.all([
    visit.api.GET('/v1/packages/{scope}/{name}/price', { params }),
    visit.api.GET('/v1/packages/{scope}/{name}', { params }),
  ])
  return { prices: prices.data, kind: page.data.kind }
}

type PriceView = { prices: Prices; kind: 'scenario' | 'agent' }
type PriceSettingsProps = { view: PriceView; values: FormValues | null; failure?: FormFailure | null }

/** Current, upcoming and past prices of a package, and the form that sets one. */
function PriceSettings({ view, values, failure = null }: PriceSettingsProps) {
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
          Current price: <ShownPrice minor={current.amount_minor} currency={current.currency} kind={current.kind} />
          {current.kind === 'one_time' && ' for all versions of a major'}. Existing buyers keep their license.
        </p>
      </header>
      {(upcoming !== null || later !== null) && <Announced prices={prices} kind={kind} />}
      <PriceForm kind={kind} prices={prices} values={values} failure={failure} />
      <section class="market-part">
        <h2>Price history</h2>
        {history.length === 0 ? <p class="dim">Always free.</p> : <History history={history} />}
      </section>
    </div>
  )
}

function Announced({ prices: { current, upcoming, upcoming_terms: later }, kind }: { prices: Prices; kind: string }) {
  return (
    <Notice kind="warning">
      {upcoming !== null && (
        <p>
          From <Timestamp at={upcoming.effective_at} /> the price is{' '}
          <ShownPrice minor={upcoming.amount_minor} currency={upcoming.currency} kind={upcoming.kind} />. Until then the
          current price applies. Setting another price replaces this change.
        </p>
      )}
      {later !== null && (
        <p>
          From <Timestamp at={later.effective_at} />{' '}
          {kind === 'scenario'
            ? `the royalty is ${later.royalty_basis_points / 100}%.`
            : `1,000 hosted calls cost ${formatAmount(later.calls_price_minor, current.currency)}, and ${later.trial_calls.toLocaleString('en')} calls per account are free.`}
        </p>
      )}
    </Notice>
  )
}

const kindWords = { free: 'Free', one_time: 'License', per_run: 'Training run' }

function History({ history }: { history: Price[] }) {
  return (
    <Table
      caption="Prices, newest first"
      rows={history}
      columns={[
        { title: 'From', heading: true, cell: ({ effective_at: at }) => <Timestamp at={at} /> },
        { title: 'Pricing', cell: ({ kind }) => kindWords[kind] },
        { title: 'Price', numeric: true, cell: (price) => formatAmount(price.amount_minor, price.currency) },
      ]}
    />
  )
}

type PriceFormProps = {
  kind: 'scenario' | 'agent'
  prices: Prices
  /** Entered values; null if the form shows the current ones. */
  values: FormValues | null
  failure: FormFailure | null
}

const kinds = {
  free: 'Free',
  one_time: 'One-time license for all versions of a major',
  per_run: 'Per training run; source stays private',
} as const

function PriceForm({ kind, prices, values, failure }: PriceFormProps) {
  const { current, upcoming } = prices
  const { currency } = current
  const wanted = upcoming ?? current
  const said = (field: string, otherwise: string) => (values === null ? otherwise : values.get(field))
  return (
    <Form
      action={`${packageAddress(prices.package)}/price`}
      failure={failure}
      fields={['kind', 'amount_minor', 'royalty_basis_points', 'trial_calls', 'calls_price_minor', 'terms']}
      label="Price"
    >
      <Field
        label="Pricing"
        name="kind"
        value={said('kind', wanted.kind)}
        failure={failure}
        options={(['free', 'one_time', ...(kind === 'scenario' ? ['per_run' as const] : [])] as const).map((value) => ({
          value,
          label: kinds[value],
        }))}
        required
      />
      <Field
        label={`Price (${currency})`}
        name="amount_minor"
        value={said('amount_minor', wanted.amount_minor === 0 ? '' : typedAmount(wanted.amount_minor, currency))}
        failure={failure}
        help="Leave empty if free. Price cuts apply immediately. Increases take effect after the notice period, or immediately if the package has no users yet."
        maxlength={24}
      />
      <KindFields {...{ kind, prices, said, failure }} />
      <Field
        label="Terms"
        name="terms"
        value={said('terms', prices.terms)}
        failure={failure}
        help="Additional terms for buyers, besides the license in package.json."
        maxlength={10_000}
        rows={6}
      />
      <p>
        <Button look="primary">Save price</Button>
      </p>
    </Form>
  )
}

type KindFieldsProps = Pick<PriceFormProps, 'kind' | 'prices' | 'failure'> & {
  /** Value of a field: as entered, or the current one. */
  said: (field: string, otherwise: string) => string
}

/** Fields for scenarios only, and for agents only. */
function KindFields({ kind, prices, said, failure }: KindFieldsProps) {
  const { currency } = prices.current
  if (kind === 'scenario')
    return (
      <Field
        label="Royalty (%)"
        name="royalty_basis_points"
        value={said('royalty_basis_points', String(royaltyOf(prices) / 100))}
        failure={failure}
        help="Your share of sales of agents that others trained on this scenario."
        maxlength={8}
      />
    )
  return (
    <>
      <Field
        label={`Price per 1,000 hosted calls (${currency})`}
        name="calls_price_minor"
        value={said('calls_price_minor', typedAmount(callsPriceOf(prices), currency))}
        failure={failure}
        help="Billed in addition to the license. 0 if calls are included."
        maxlength={24}
      />
      <Field
        label="Trial calls"
        name="trial_calls"
        value={said('trial_calls', String(trialCallsOf(prices)))}
        failure={failure}
        help="Free hosted calls per account before buying."
        maxlength={7}
      />
    </>
  )
}

/** The form starts from announced values, so that submitting it unchanged changes nothing. */
function royaltyOf({ royalty_basis_points: royalty, upcoming_terms: later }: Prices): number {
  return later?.royalty_basis_points ?? royalty
}

function trialCallsOf({ trial_calls: trial, upcoming_terms: later }: Prices): number {
  return later?.trial_calls ?? trial
}

function callsPriceOf({ calls_price_minor: calls, upcoming_terms: later }: Prices): number {
  return later?.calls_price_minor ?? calls
}

/** The request of the form. Throws `request_invalid` with the invalid field. */
function priceRequest(form: FormValues, { kind: packageKind }: PriceFormKind, currency: string): SetPriceRequest {
  const kind = form.get('kind')
  if (kind !== 'free' && kind !== 'one_time' && kind !== 'per_run')
    throw invalidField('kind', 'choose one of the options')
  const amount = form.get('amount_minor').trim()
  return {
    kind,
    ...(kind === 'free' && amount === '' ? {} : { amount_minor: formAmount(form, 'amount_minor', currency) }),
    terms: form.get('terms'),
    ...(packageKind === 'scenario'
      ? { royalty_basis_points: royaltyIn(form) }
      : {
          calls_price_minor: formAmountOrZero(form, 'calls_price_minor', currency),
          trial_calls: trialIn(form),
        }),
  }
}

type PriceFormKind = Pick<PriceFormProps, 'kind'>

function royaltyIn(form: FormValues): number {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(form.get('royalty_basis_points').trim() || '0')
  if (match === null) throw invalidField('royalty_basis_points', 'enter a percentage such as 10 or 2.5')
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

function trialIn(form: FormValues): number {
  const text = form.get('trial_calls').trim() || '0'
  if (!/^\d{1,7}$/.test(text)) throw invalidField('trial_calls', 'enter a whole number')
  return Number(text)
}
