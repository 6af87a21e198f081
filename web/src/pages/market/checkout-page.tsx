import { formatAmount, type Offer } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Form } from '../../components/form.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Amount } from './amount.tsx'
import { Evaluation, Rights } from './checkout-terms.tsx'
import { AccountChoice, accountAddress } from './market-frame.tsx'
import { NothingToBuy } from './nothing-to-buy.tsx'
import { OnceKey } from './once-key.tsx'

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
