import { formatAmount, type Offer } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import type { FormValues } from '../../app/form-values.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Table } from '../../components/table.tsx'
import { usePage } from '../../layout/page-context.ts'
import { OnceKey } from '../market/once-key.tsx'
import type { PackageView, VersionView } from './read-package.ts'
import { type Answered, TrialAnswer } from './trial-answer.tsx'
import type { TrialField } from './trial-fields.ts'

type TrialPageProps = {
  view: PackageView
  shown: VersionView
  fields: TrialField[]
  /** What was typed; null where the form shows its example. */
  values?: FormValues | null
  failure?: FormFailure | null
  answered?: Answered | null
}

/** Calls an agent from the page: an observation in, the action out. Only those who are logged in call. */
export function TrialPage({ view, shown, fields, values = null, failure = null, answered = null }: TrialPageProps) {
  const { account } = usePage()
  const { page, offer } = view
  const standing = standingOf(view)
  return (
    <section class="package-section trial" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <p class="dim">
        {page.name}@{shown.details.version} gets an observation of its scenario and says what it would do. A worker of
        this server runs the model.
      </p>
      {answered !== null && shown.details.agent !== null && (
        <TrialAnswer answered={answered} leaves={shown.details.agent.spaces.action} />
      )}
      {standing === 'refused' ? (
        <>
          {failure !== null && <Notice kind="failure">{failure.message}</Notice>}
          <NoTrial view={view} />
        </>
      ) : account === null ? (
        <ForStrangers view={view} fields={fields} />
      ) : (
        <Form
          action={tryAddress(page.name)}
          failure={failure}
          fields={[...fields.map(({ name }) => name), 'action_mask']}
          label="Observation"
        >
          <OnceKey />
          <p class="dim">{costWords(standing, offer)}</p>
          <div class={fields.length > 2 ? 'trial-fields' : 'trial-fields trial-wide'}>
            {fields.map((field) => (
              <ObservationField field={field} values={values} failure={failure} />
            ))}
          </div>
          <Mask values={values} failure={failure} />
          <Button look="primary">Ask the agent</Button>
        </Form>
      )}
    </section>
  )
}

export function tryAddress(name: string): string {
  return `${packageAddress(name)}/try`
}

type Standing = 'own' | 'entitled' | 'trial' | 'refused'

/** Only what to say: the API decides. */
function standingOf({ offer, member }: PackageView): Standing {
  if (member) return 'own'
  if (offer === null) return 'refused'
  if (offer.entitled) return 'entitled'
  return offer.trial_calls > 0 ? 'trial' : 'refused'
}

function costWords(standing: Standing, offer: Offer | null): string {
  if (standing === 'own' || offer === null) return 'It is yours: calls cost you nothing.'
  const { trial_calls: trial, calls_price_minor: price, price: licence } = offer
  const perThousand = price === 0 ? 'Calls cost nothing.' : `1,000 calls cost ${formatAmount(price, licence.currency)}.`
  const free = `${trial.toLocaleString('en')} ${trial === 1 ? 'call is' : 'calls are'} free to each account`
  if (standing === 'trial') return `${free} before it buys. A call that fails takes none of them.`
  return price > 0 && trial > 0 ? `${free}. After that ${perThousand}` : perThousand
}

type ObservationFieldProps = { field: TrialField; values: FormValues | null; failure: FormFailure | null }

function ObservationField({ field, values, failure }: ObservationFieldProps) {
  const { name, label, kind, low = null, high = null, options } = field
  const value = values === null ? field.value : values.get(name)
  const shared = { label, name, value, failure, required: true }
  if (kind === 'choice') return <Field {...shared} options={options ?? []} />
  if (kind === 'text') return <Field {...shared} required={false} rows={4} />
  if (kind === 'json')
    return <Field {...shared} rows={8} help="As the scenario's observe gives it; boxes may be flat." />
  // A number with any digits behind the point; browsers hold `step` against whole ones.
  return <Field {...shared} type="number" step="any" help={boundsWords(low, high)} />
}

function boundsWords(low: number | null, high: number | null): string | undefined {
  if (low === null && high === null) return undefined
  if (low === null) return `at most ${high}`
  return high === null ? `at least ${low}` : `${low} to ${high}`
}

function Mask({ values, failure }: Omit<ObservationFieldProps, 'field'>) {
  const value = values?.get('action_mask') ?? ''
  return (
    <details class="more" open={value !== '' || failure?.fields.action_mask !== undefined}>
      <summary>Leave actions out</summary>
      <Field
        label="Action mask, as JSON"
        name="action_mask"
        value={value}
        rows={2}
        help="true for each choice that is legal, false for the others: [true, false]. Left empty, all are."
        failure={failure}
      />
    </details>
  )
}

/** What it would be, and the way in. */
function ForStrangers({ view: { page, offer }, fields }: Pick<TrialPageProps, 'view' | 'fields'>) {
  const address = tryAddress(page.name)
  const cost = costWords(offer?.entitled ? 'entitled' : 'trial', offer)
  return (
    <>
      <p>
        <Button look="primary" href={`/login?next=${encodeURIComponent(address)}`}>
          Log in to try it
        </Button>{' '}
        <a href={`/signup?next=${encodeURIComponent(address)}`}>Sign up</a>
      </p>
      <p class="dim">{cost}</p>
      <Table
        caption="What it is asked"
        rows={fields}
        columns={[
          { title: 'Field', heading: true, cell: ({ label }) => label },
          { title: 'For example', cell: ({ value, options }) => exampleWords(value, options) },
          { title: 'Values', wide: true, cell: ({ low = null, high = null }) => boundsWords(low, high) ?? '' },
        ]}
      />
    </>
  )
}

function exampleWords(value: string, options: TrialField['options']): string {
  const label = options?.find((option) => option.value === value)?.label ?? value
  return label.length > 200 ? `${label.slice(0, 200)}…` : label
}

/** Its seller gives no calls before a purchase. */
function NoTrial({ view: { page, offer } }: { view: PackageView }) {
  return (
    <>
      <Notice kind="info">
        {offer === null
          ? 'It cannot be had now, so it is not called.'
          : 'Its seller gives no calls on trial. Whoever has bought it calls it here; what it does on held-out episodes, its evaluation shows.'}
      </Notice>
      <p class="package-actions">
        {offer !== null && (
          <Button look="primary" href={`/buy/${page.name}`}>
            Buy for {formatAmount(offer.price.amount_minor, offer.price.currency)}
          </Button>
        )}
        <Button href={packageAddress(page.name)}>See its evaluation</Button>
      </p>
    </>
  )
}
