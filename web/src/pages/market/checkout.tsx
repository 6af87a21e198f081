import { formatAmount, type Offer, type Order } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button, Command } from '../../components/controls.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { Notice } from '../../components/messages.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Amount } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountField, accountsOf } from '../../session/accounts.ts'
import { packagePath } from '../package/read-package.ts'
import { IdempotencyKey, idempotencyHeader, repeatedKey } from './idempotency-key.tsx'
import { AccountChoice, accountAddress, TestMoney } from './market-frame.tsx'

export const checkoutRoutes = [
  route('get', '/buy/:scope/:name', { access: 'account' }, async (visit) => {
    const request = { range: visit.query.get('range') ?? '', account: visit.query.get('account') ?? '' }
    const offer = await readOffer(visit, request)
    return visit.page(<CheckoutPage offer={offer} {...request} />, { ...frame, title: `Buy ${offer.package}` })
  }),

  route('post', '/buy/:scope/:name', { access: 'account' }, async (visit) => {
    const { form } = visit
    const request = { range: form.get('range'), account: form.get('account') }
    let order: Order | undefined
    const failure = await attempt(async () => {
      order = await placeOrder(visit, request.account)
    })
    if (order !== undefined) return visit.redirect(`/orders/${order.id}`)
    // The current offer, whose price may differ from the refused one.
    const offer = await readOffer(visit, request)
    const sent = { payWith: payWith(visit), failure, idempotencyKey: repeatedKey(visit, failure) }
    const page = <CheckoutPage offer={offer} {...request} {...sent} />
    return visit.page(page, { ...frame, title: `Buy ${offer.package}`, status: failure?.status })
  }),
]

const frame = { frame: 'plain', hidden: true } as const

type OfferRequest = { range: string; account: string }

async function readOffer(visit: Visit, { range, account }: OfferRequest): Promise<Offer> {
  const query = { range: range === '' ? undefined : range, account: accountField(account) }
  const { data } = await visit.api.GET('/v1/packages/{scope}/{name}/offer', {
    params: { path: packagePath(visit), query },
  })
  return data
}

/** Buys the version at the price that was shown. */
async function placeOrder(visit: Visit, account: string): Promise<Order | undefined> {
  const { form } = visit
  const { scope, name } = packagePath(visit)
  const version = form.get('version')
  const priceId = form.get('price_id')
  const { data } = await visit.api.POST('/v1/orders', {
    params: { header: idempotencyHeader(visit) },
    body: {
      package: `${scope}/${name}`,
      range: version === '' ? undefined : version,
      expected_price: {
        id: priceId === '' ? undefined : priceId,
        amount_minor: Number(form.get('price_minor') || '-1'),
      },
      pay_with: payWith(visit),
      account: accountField(account),
    },
  })
  return data
}

function payWith({ form }: Visit): 'balance' | 'provider' {
  return form.get('pay_with') === 'provider' ? 'provider' : 'balance'
}

type PayWith = 'balance' | 'provider'

type CheckoutPageProps = {
  offer: Offer
  /** As in the URL; the offer has the resolved version. */
  range: string
  /** Organisation to buy for; empty for the visitor. */
  account: string
  payWith?: PayWith
  failure?: FormFailure | null
  /** Of the failed form. */
  idempotencyKey?: string
}

/** One column: the total, what you get, its terms, and one button. */
export function CheckoutPage({ offer, range, account, payWith, failure = null, idempotencyKey }: CheckoutPageProps) {
  const { title, price } = offer
  const buyable = price.kind === 'one_time' && !offer.entitled
  return (
    <div class="checkout">
      <header>
        <p class="checkout-back">
          <a href={packageAddress(offer.package)}>{offer.package}</a>
        </p>
        <h1 dir="auto">{title ?? offer.package.split('/')[1]}</h1>
        <p class="dim">
          <span class="mono">{offer.version}</span> · {offer.kind} · sold by {offer.seller}
        </p>
      </header>
      <AccountChoice
        path={`/buy/${offer.package}`}
        account={account}
        needs="member"
        label="Buy for"
        query={range === '' ? {} : { range }}
      />
      {buyable ? (
        <>
          <TestMoney />
          <Total offer={offer} />
          <Rights offer={offer} />
          {offer.verification !== null && <Evaluation verification={offer.verification} />}
          <Payment
            offer={offer}
            range={range}
            account={account}
            payWith={payWith}
            failure={failure}
            idempotencyKey={idempotencyKey}
          />
        </>
      ) : (
        <NothingToBuy offer={offer} account={account} />
      )}
    </div>
  )
}

function Total({ offer: { covers, kind, price, total_minor, upcoming } }: { offer: Offer }) {
  return (
    <section class="bill" aria-label="Total">
      <dl>
        <div>
          <dt>
            All {covers} versions of this {kind}
          </dt>
          <dd>
            <Amount minor={price.amount_minor} currency={price.currency} />
          </dd>
        </div>
        <div class="bill-total">
          <dt>Total</dt>
          <dd>
            <Amount minor={total_minor} currency={price.currency} />
          </dd>
        </div>
      </dl>
      {upcoming !== null && upcoming.kind === 'one_time' && (
        <p class="dim">
          From {upcoming.effective_at.slice(0, 10)} the price is{' '}
          {formatAmount(upcoming.amount_minor, upcoming.currency)}.
        </p>
      )}
    </section>
  )
}

function Payment({ offer, range, account, payWith, failure = null, idempotencyKey }: CheckoutPageProps) {
  const { price, total_minor: total, balance_minor: balance } = offer
  const lacking = Math.max(0, total - (balance ?? 0))
  const chosen = lacking > 0 ? 'provider' : (payWith ?? 'balance')
  const here = accountAddress(`/buy/${offer.package}`, account, range === '' ? {} : { range })
  return (
    <Form action={`/buy/${offer.package}`} failure={failure} label="Payment">
      <IdempotencyKey idempotencyKey={idempotencyKey} />
      <input type="hidden" name="account" value={account} />
      <input type="hidden" name="range" value={range} />
      <input type="hidden" name="version" value={offer.version} />
      <input type="hidden" name="price_id" value={price.id} />
      <input type="hidden" name="price_minor" value={String(total)} />
      <fieldset class="choices">
        <legend>Payment method</legend>
        <label class="choice">
          <input type="radio" name="pay_with" value="balance" checked={chosen === 'balance'} disabled={lacking > 0} />
          <span>
            {account === '' ? 'Your balance' : `Balance of ${account}`}
            <span class="choice-note">
              {lacking > 0 ? (
                <>
                  {formatAmount(balance ?? 0, price.currency)} available, {formatAmount(lacking, price.currency)} short
                </>
              ) : (
                <>
                  {formatAmount(balance ?? 0, price.currency)} now,{' '}
                  {formatAmount((balance ?? 0) - total, price.currency)} after this purchase
                </>
              )}
            </span>
          </span>
        </label>
        <label class="choice">
          <input type="radio" name="pay_with" value="provider" checked={chosen === 'provider'} />
          <span>
            Payment provider
            <span class="choice-note">
              Pay by card or another method. You get the license once the payment is confirmed.
            </span>
          </span>
        </label>
      </fieldset>
      {lacking > 0 && (
        <p class="checkout-note">
          <a href={accountAddress('/balance', account, { amount: String(lacking), next: here })}>Top up your balance</a>{' '}
          to pay from it.
        </p>
      )}
      <Button look="primary">Buy for {formatAmount(total, price.currency)}</Button>
      <p class="checkout-note">Full refund within 14 days if unused: no downloads, runs or hosted calls.</p>
    </Form>
  )
}

/** What the buyer gets, and the terms. */
function Rights({ offer }: { offer: Offer }) {
  const { covers, kind, license, terms, calls_price_minor: calls, trial_calls: trial, price } = offer
  return (
    <section class="rights" aria-labelledby="rights">
      <h2 id="rights">What you get</h2>
      <ul class="checked">
        <li>
          <Icon name="check" size={14} />
          <span>
            All <span class="mono">{covers}</span> versions, including future ones
          </span>
        </li>
        <li>
          <Icon name="check" size={14} />
          <span>
            {kind === 'agent'
              ? 'The model files, to run on your own machines'
              : 'The source, to train on your machines and on this server'}
          </span>
        </li>
        {calls > 0 && (
          <li>
            <Icon name="info" size={14} />
            <span>
              Hosted calls are billed separately: {formatAmount(calls, price.currency)} per 1,000
              {trial > 0 && `; the first ${trial.toLocaleString('en')} are free`}
            </span>
          </li>
        )}
      </ul>
      <h2>License terms</h2>
      <p>
        License <span class="mono">{license ?? 'not specified'}</span>
        {terms === '' ? '. No additional terms.' : ', plus the seller’s terms:'}
      </p>
      {terms !== '' && (
        <section class="terms" dir="auto" tabindex={0} aria-label="Seller’s terms">
          {terms}
        </section>
      )}
    </section>
  )
}

/** Whether the agent is verified. */
function Evaluation({ verification }: { verification: NonNullable<Offer['verification']> }) {
  const { state, return_mean: mean, outcome, command } = verification
  const verified = state === 'verified'
  return (
    <section class="rights" aria-labelledby="evaluation">
      <h2 id="evaluation">Evaluation</h2>
      <p class={verified ? 'vouched' : 'vouched vouched-not'}>
        <Icon name={verified ? 'badge-check' : 'triangle-alert'} />
        <span>
          {verified
            ? 'Verified: re-run by this marketplace on held-out seeds and signed'
            : `Not verified (${state.replaceAll('_', ' ')}): results are the seller’s own`}
        </span>
      </p>
      {mean !== null && (
        <p>
          <Outcome success={outcome ?? undefined} returnMean={mean} />
        </p>
      )}
      <p class="dim">Verify it yourself</p>
      <Command text={command} />
    </section>
  )
}

/** For a package that is free, owned already, or paid for per run. */
function NothingToBuy({ offer, account }: { offer: Offer; account: string }) {
  const { price, kind } = offer
  const { account: visitor } = usePage()
  const own = visitor !== null && accountsOf(visitor, 'viewer').includes(offer.seller)
  if (price.kind === 'per_run' && !own)
    return (
      <>
        <Notice kind="info">
          Runs on this server only, for {formatAmount(price.amount_minor, price.currency)} per training run. The price
          is reserved when a run is queued and charged when training starts.
        </Notice>
        <p>
          <Button look="primary" href={`/runs/new?scenario=${encodeURIComponent(offer.package)}`}>
            Train on this server
          </Button>
        </p>
      </>
    )
  return (
    <>
      <Notice kind={price.kind === 'free' ? 'info' : 'success'}>{said(offer, own, account)}</Notice>
      <Command text={`agentgym install ${offer.package}`} />
      <p class="checkout-actions">
        {kind === 'scenario' && (
          <Button look="primary" href={`/runs/new?scenario=${encodeURIComponent(offer.package)}`}>
            Train on this server
          </Button>
        )}
        <Button href={packageAddress(offer.package)}>View package</Button>
        {price.kind !== 'free' && !own && <Button href={accountAddress('/licences', account)}>View licenses</Button>}
      </p>
    </>
  )
}

function said({ price, covers, seller }: Offer, own: boolean, account: string): string {
  if (price.kind === 'free') return 'This package is free.'
  if (own) return `This package belongs to ${seller}. Members don’t need a license.`
  return `${account === '' ? 'You already own' : `${account} already owns`} all ${covers} versions.`
}
