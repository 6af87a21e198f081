import { formatAmount, type Offer } from '@agentgym/contract'
import { Command } from '../../components/command.tsx'
import { Icon } from '../../components/icon.tsx'

/** What one gets, and what one may do with it. */
export function Rights({ offer }: { offer: Offer }) {
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
export function Evaluation({ verification }: { verification: NonNullable<Offer['verification']> }) {
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
