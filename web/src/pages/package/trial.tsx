import { AgentGymError, formatAmount, type HostedCall, type Offer, type SpaceLeaf } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { attempt, type FormFailure, type FormValues } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Figure, Figures } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Table } from '../../components/table.tsx'
import { usePage } from '../../layout/page-context.ts'
import { OnceKey, onceHeader } from '../market/once-key.tsx'
import { NothingPublished, PackageFrame, tryAddress } from './package-frame.tsx'
import { type PackageView, packagePath, readPackage, readVersion, type VersionView } from './read-package.ts'
import { jsonIn, type TrialField, trialFields, trialObservation } from './trial-fields.ts'

const path = '/packages/:scope/:name/try'

/** Codes of a refusal that is about a field. */
const fieldOf = { mask_invalid: 'action_mask', no_legal_action: 'action_mask', observation_invalid: 'observation' }

export const trialRoutes = [
  route('get', path, { access: 'public' }, (visit) => trialPage(visit, null)),

  route('post', path, { access: 'account' }, (visit) =>
    trialPage(visit, async (shown) => {
      const began = performance.now()
      let call: HostedCall | undefined
      const failure = await attempt(async () => {
        call = await callAgent(visit, shown)
      }, fieldOf)
      if (call !== undefined) return { failure, answered: { call, took: performance.now() - began } }
      return { failure, answered: null }
    }),
  ),
]

type Outcome = { failure: FormFailure | null; answered: Answered | null }

async function trialPage(visit: Visit, ask: ((shown: VersionView) => Promise<Outcome>) | null): Promise<Response> {
  const view = await readPackage(visit)
  const { page } = view
  if (page.kind !== 'agent') return visit.redirect(tryAddress(page.name).replace(/\/try$/, ''))
  if (page.latest === null)
    return visit.page(
      <PackageFrame view={view} tab="/try">
        <NothingPublished name={page.name} takenDown={page.taken_down !== null} member={view.member} />
      </PackageFrame>,
      { title: `Try ${page.name}`, hidden: true },
    )
  const shown = await readVersion(visit, page.latest.version)
  const { failure, answered } = ask === null ? { failure: null, answered: null } : await ask(shown)
  const fields = trialFields(shown.details.agent?.spaces.observation ?? [], shown.episode)
  return visit.page(
    <PackageFrame view={view} tab="/try">
      <TrialPage
        view={view}
        shown={shown}
        fields={fields}
        values={ask === null ? null : visit.form}
        failure={failure}
        answered={answered}
      />
    </PackageFrame>,
    {
      title: `Try ${page.title ?? page.name}`,
      status: failure?.status,
      hidden: ask !== null || page.taken_down !== null,
    },
  )
}

/**
 * Under the key of the form that was shown: loaded again, a page asks nothing twice. The same form with another observation,
 * after a step back in the browser, is another call.
 */
async function callAgent(visit: Visit, { details, episode }: VersionView): Promise<HostedCall> {
  const { api, form } = visit
  const leaves = details.agent?.spaces.observation ?? []
  const mask = form.get('action_mask').trim() === '' ? undefined : jsonIn(form, 'action_mask')
  const observation = trialObservation(leaves, trialFields(leaves, episode), form)
  const body = { version: details.version, observation, action_mask: mask }
  const ask = async (header?: ReturnType<typeof onceHeader>) => {
    const params = { path: packagePath(visit), header }
    const { data } = await api.POST('/v1/packages/{scope}/{name}/calls', { params, body })
    return data
  }
  try {
    return await ask(onceHeader(visit))
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'idempotency_key_reused') return ask()
    throw error
  }
}

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
function TrialPage({ view, shown, fields, values = null, failure = null, answered = null }: TrialPageProps) {
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

/** Bars that are read one by one; of more choices the likeliest are shown. */
const mostBars = 12

type Action = HostedCall['action']
type Answered = {
  call: HostedCall
  /** Milliseconds from the form to the answer. */
  took: number
}

const bearers = {
  own: 'Your own: it costs nothing',
  free: 'Free to call',
  bought: 'Yours by purchase',
  trial: 'On trial: it costs nothing',
}

/** What the agent does upon the observation, how sure it is, and who bears the call. */
function TrialAnswer({ answered: { call, took }, leaves }: { answered: Answered; leaves: SpaceLeaf[] }) {
  const { action, label, probabilities } = call
  return (
    <section class="trial-answer" aria-labelledby="answer">
      <h2 id="answer">Answer</h2>
      <p class="trial-action" dir="auto">
        {label ?? shownAction(action)}
      </p>
      {label !== null && typeof action === 'object' && <Parts action={action} />}
      {label === null && isListed(action) && <Parts action={action} />}
      {probabilities !== null && <Bars probabilities={probabilities} chosen={call} leaf={leaves[0]} />}
      <Figures>
        <Figure label="Call">{bearers[call.because]}</Figure>
        {call.trial_calls_left !== null && (
          <Figure label="Left on trial">
            {call.trial_calls_left.toLocaleString('en')} {call.trial_calls_left === 1 ? 'call' : 'calls'}
          </Figure>
        )}
        <Figure label="Model" note={`${Math.max(1, Math.round(took)).toLocaleString('en')} ms with the way there`}>
          {formatValue(call.model_ms)} ms
        </Figure>
        <Figure label="Version">{call.version}</Figure>
      </Figures>
    </section>
  )
}

const isListed = (action: Action) => typeof action === 'object' && action !== null

function shownAction(action: Action): string {
  if (isListed(action)) return Array.isArray(action) ? `${action.length} numbers` : 'Several parts'
  return typeof action === 'string' ? action : String(action)
}

/** Of an action that is not one choice. */
function Parts({ action }: { action: Action }) {
  const parts = Array.isArray(action) ? [...action.entries()] : Object.entries(action as Record<string, Action>)
  return (
    <dl class="trial-parts">
      {parts.map(([name, value]) => (
        <div>
          <dt class="mono">{name}</dt>
          <dd class="mono">{typeof value === 'number' ? formatValue(value) : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

type BarsProps = { probabilities: number[]; chosen: Pick<HostedCall, 'action'>; leaf: SpaceLeaf | undefined }

function Bars({ probabilities, chosen, leaf }: BarsProps) {
  const start = leaf?.start ?? 0
  const choices = probabilities.map((probability, index) => {
    const number = start + index
    return { number, probability, name: leaf?.labels?.[index] ?? String(number) }
  })
  const many = choices.length > mostBars
  if (many) choices.sort((a, b) => b.probability - a.probability)
  return (
    <table class="trial-bars">
      <caption>
        {many
          ? `Probabilities of the ${mostBars} likeliest of ${choices.length} choices`
          : 'Probability of each choice'}
      </caption>
      <tbody>
        {choices.slice(0, mostBars).map(({ number, probability, name }) => (
          <tr class={number === chosen.action ? 'trial-chosen' : undefined}>
            <th scope="row" dir="auto">
              {name}
              {number === chosen.action && <span class="visually-hidden"> (taken)</span>}
            </th>
            <td>
              <svg viewBox="0 0 100 8" width="100%" height="8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="trial-bar-rest" width="100" height="8" />
                <rect class="trial-bar" width={100 * probability} height="8" />
              </svg>
            </td>
            <td class="numeric">{percent(probability)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function percent(probability: number): string {
  if (probability > 0 && probability < 0.001) return '< 0.1%'
  if (probability < 1 && probability > 0.999) return '> 99.9%'
  return `${(100 * probability).toFixed(1)}%`
}
