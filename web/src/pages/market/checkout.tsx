import { formatAmount, type Offer, type Order } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button, Command } from '../../components/controls.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Amount } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountField, accountsOf } from '../../session/accounts.ts'
import { packagePath } from '../package/read-package.ts'
import { AccountChoice, accountAddress } from './market-frame.tsx'
import { OnceKey, onceAgain, onceHeader } from './once-key.tsx'

export const checkoutRoutes = [
  route('get', '/buy/:scope/:name', { access: 'account' }, async (visit) => {
    const asked = { range: visit.query.get('range') ?? '', account: visit.query.get('account') ?? '' }
    const offer = await readOffer(visit, asked)
    return visit.page(<CheckoutPage offer={offer} {...asked} />, { ...frame, title: `Buy ${offer.package}` })
  }),

  route('post', '/buy/:scope/:name', { access: 'account' }, async (visit) => {
    const { form } = visit
    const asked = { range: form.get('range'), account: form.get('account') }
    let order: Order | undefined
    const failure = await attempt(async () => {
      order = await placeOrder(visit, asked.account)
    })
    if (order !== undefined) return visit.redirect(`/orders/${order.id}`)
    // What holds now, which may be another price than the one that was refused.
    const offer = await readOffer(visit, asked)
    const sent = { payWith: payWith(visit), failure, once: onceAgain(visit, failure) }
    const page = <CheckoutPage offer={offer} {...asked} {...sent} />
    return visit.page(page, { ...frame, title: `Buy ${offer.package}`, status: failure?.status })
  }),
]

const frame = { frame: 'plain', hidden: true } as const

type Asked = { range: string; account: string }

async function readOffer(visit: Visit, { range, account }: Asked): Promise<Offer> {
  const query = { range: range === '' ? undefined : range, account: accountField(account) }
  const { data } = await visit.api.GET('/v1/packages/{scope}/{name}/offer', {
    params: { path: packagePath(visit), query },
  })
  return data
}

/** The version and the price are those that were shown. */
async function placeOrder(visit: Visit, account: string): Promise<Order | undefined> {
  const { form } = visit
  const { scope, name } = packagePath(visit)
  const version = form.get('version')
  const priceId = form.get('price_id')
  const { data } = await visit.api.POST('/v1/orders', {
    params: { header: onceHeader(visit) },
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
  /** As the address has it; the offer names the version that it came to. */
  range: string
  /** Organisation to buy for; empty for the visitor. */
  account: string
  payWith?: PayWith
  failure?: FormFailure | null
  /** Of the form that failed on its way. */
  once?: string
}

/** One column: what one gets, what one may do with it, one total, one button. */
export function CheckoutPage({ offer, range, account, payWith, failure = null, once }: CheckoutPageProps) {
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
          <Total offer={offer} />
          <Rights offer={offer} />
          {offer.verification !== null && <Evaluation verification={offer.verification} />}
          <Payment offer={offer} range={range} account={account} payWith={payWith} failure={failure} once={once} />
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
            Every version {covers} of this {kind}
          </dt>
          <dd>
            <Amount minor={price.amount_minor} currency={price.currency} />
          </dd>
        </div>
        <div class="bill-total">
          <dt>Total, all in</dt>
          <dd>
            <Amount minor={total_minor} currency={price.currency} />
          </dd>
        </div>
      </dl>
      {upcoming !== null && upcoming.kind === 'one_time' && (
        <p class="dim">
          From {upcoming.effective_at.slice(0, 10)} it costs {formatAmount(upcoming.amount_minor, upcoming.currency)}.
        </p>
      )}
    </section>
  )
}

function Payment({ offer, range, account, payWith, failure = null, once }: CheckoutPageProps) {
  const { price, total_minor: total, balance_minor: balance } = offer
  const lacking = Math.max(0, total - (balance ?? 0))
  const chosen = lacking > 0 ? 'provider' : (payWith ?? 'balance')
  const here = accountAddress(`/buy/${offer.package}`, account, range === '' ? {} : { range })
  return (
    <Form action={`/buy/${offer.package}`} failure={failure} label="Payment">
      <OnceKey once={once} />
      <input type="hidden" name="account" value={account} />
      <input type="hidden" name="range" value={range} />
      <input type="hidden" name="version" value={offer.version} />
      <input type="hidden" name="price_id" value={price.id} />
      <input type="hidden" name="price_minor" value={String(total)} />
      <fieldset class="choices">
        <legend>Pay</legend>
        <label class="choice">
          <input type="radio" name="pay_with" value="balance" checked={chosen === 'balance'} disabled={lacking > 0} />
          <span>
            {account === '' ? 'From your balance' : `From the balance of ${account}`}
            <span class="choice-note">
              {lacking > 0 ? (
                <>
                  It has {formatAmount(balance ?? 0, price.currency)}, {formatAmount(lacking, price.currency)} too
                  little.
                </>
              ) : (
                <>
                  {formatAmount(balance ?? 0, price.currency)} now,{' '}
                  {formatAmount((balance ?? 0) - total, price.currency)} afterwards
                </>
              )}
            </span>
          </span>
        </label>
        <label class="choice">
          <input type="radio" name="pay_with" value="provider" checked={chosen === 'provider'} />
          <span>
            At the payment provider
            <span class="choice-note">By card or as it offers. The licence is yours once it confirms the payment.</span>
          </span>
        </label>
      </fieldset>
      {lacking > 0 && (
        <p class="checkout-note">
          <a href={accountAddress('/balance', account, { amount: String(lacking), next: here })}>Top the balance up</a>{' '}
          and come back here.
        </p>
      )}
      <Button look="primary">Buy for {formatAmount(total, price.currency)}</Button>
      <p class="checkout-note">
        You can give it back within 14 days for all of its price, as long as you have not used it: no download, no run,
        no hosted call.
      </p>
    </Form>
  )
}

/** What one gets, and what one may do with it. */
function Rights({ offer }: { offer: Offer }) {
  const { covers, kind, license, terms, calls_price_minor: calls, trial_calls: trial, price } = offer
  return (
    <section class="rights" aria-labelledby="rights">
      <h2 id="rights">What you get</h2>
      <ul class="checked">
        <li>
          <Icon name="check" size={14} />
          <span>
            Every version <span class="mono">{covers}</span>, those that are yet to come among them
          </span>
        </li>
        <li>
          <Icon name="check" size={14} />
          <span>
            {kind === 'agent'
              ? 'The policy’s files, to run on your machines'
              : 'Its files, to train on your machines and on this server'}
          </span>
        </li>
        {calls > 0 && (
          <li>
            <Icon name="info" size={14} />
            <span>
              Calls cost {formatAmount(calls, price.currency)} for 1,000 beside it
              {trial > 0 && `; the first ${trial.toLocaleString('en')} are free`}
            </span>
          </li>
        )}
      </ul>
      <h2>What you may do with it</h2>
      <p>
        Licence <span class="mono">{license ?? 'none named'}</span>
        {terms === '' ? ', and no further terms.' : ', and the seller’s terms:'}
      </p>
      {terms !== '' && (
        <section class="terms" dir="auto" tabindex={0} aria-label="Terms of the seller">
          {terms}
        </section>
      )}
    </section>
  )
}

/** Who vouches for an agent. */
function Evaluation({ verification }: { verification: NonNullable<Offer['verification']> }) {
  const { state, return_mean: mean, command } = verification
  const verified = state === 'verified'
  return (
    <section class="rights" aria-labelledby="evaluation">
      <h2 id="evaluation">Evaluation</h2>
      <p class={verified ? 'vouched' : 'vouched vouched-not'}>
        <Icon name={verified ? 'badge-check' : 'triangle-alert'} />
        <span>
          {verified
            ? 'Run again by this marketplace on held-out seeds, and signed'
            : `Not verified (${state.replaceAll('_', ' ')}): its figures are the seller’s own`}
          {mean !== null && (
            <>
              ; mean return <span class="mono">{shownReturn(mean)}</span>
            </>
          )}
        </span>
      </p>
      <p class="dim">Run it again yourself</p>
      <Command text={command} />
    </section>
  )
}

const figures = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })

function shownReturn(mean: number): string {
  return figures.format(mean)
}

/** It is there already, costs nothing, or is paid for with each run. */
function NothingToBuy({ offer, account }: { offer: Offer; account: string }) {
  const { price, kind } = offer
  const { account: visitor } = usePage()
  const own = visitor !== null && accountsOf(visitor, 'viewer').includes(offer.seller)
  if (price.kind === 'per_run' && !own)
    return (
      <>
        <Notice kind="info">
          It runs on this server only, and is paid for with each run: {formatAmount(price.amount_minor, price.currency)}
          . The price is held when a run is queued, and taken when it trains.
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
        <Button href={packageAddress(offer.package)}>Go to its page</Button>
        {price.kind !== 'free' && !own && <Button href={accountAddress('/licences', account)}>Licences</Button>}
      </p>
    </>
  )
}

function said({ price, covers, seller }: Offer, own: boolean, account: string): string {
  if (price.kind === 'free') return 'It costs nothing: there is nothing to buy.'
  if (own) return `It belongs to ${seller}: its members use it as it is.`
  return `${account === '' ? 'You have it' : `${account} has it`} already: every version ${covers}.`
}
