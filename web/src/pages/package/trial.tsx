import {
  type AgentCard,
  AgentGymError,
  exampleObservation,
  formatAmount,
  type HostedCall,
  type Offer,
} from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { attempt, type FormFailure, type FormValues } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { formatCount } from '../../format.ts'
import { useIsland, usePage } from '../../layout/page-context.ts'
import { IdempotencyKey, idempotencyHeader } from '../market/idempotency-key.tsx'
import { NothingPublished, PackageFrame, tryAddress } from './package-frame.tsx'
import { type PackageView, packagePath, readPackage, readVersion, type VersionView } from './read-package.ts'
import { viewOfScenario } from './read-play.ts'
import { type Answered, TrialPanel, type TrialRequest } from './trial-answer.tsx'
import { jsonIn, type TrialField, trialFields, trialObservation } from './trial-fields.ts'

const path = '/packages/:scope/:name/try'

/** Error codes about a field. */
const fieldOf = {
  ...{ mask_required: 'action_mask', mask_invalid: 'action_mask', no_legal_action: 'action_mask' },
  observation_invalid: 'observation',
}

export const trialRoutes = [
  route('get', path, { access: 'public' }, (visit) => trialPage(visit, null)),

  // The form of a stranger, who logs in on the way. It shows what was entered, and calls nothing.
  route('get', `${path}/values`, { access: 'account' }, (visit) => trialPage(visit, null, queryValues(visit))),

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

function queryValues({ query }: Visit): FormValues {
  return { get: (name) => query.get(name) ?? '', all: (name) => query.getAll(name) }
}

async function trialPage(
  visit: Visit,
  ask: ((shown: VersionView) => Promise<Outcome>) | null,
  entered: FormValues | null = ask === null ? null : visit.form,
): Promise<Response> {
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
  const named = shown.episode?.view ?? (await viewOfScenario(visit, shown.details))
  const fields = trialFields(shown.details.agent?.spaces.observation ?? [], shown.episode, named)
  return visit.page(
    <PackageFrame view={view} tab="/try">
      <TrialPage view={view} shown={shown} fields={fields} values={entered} failure={failure} answered={answered} />
    </PackageFrame>,
    {
      title: `Try ${page.title ?? page.name}`,
      status: failure?.status,
      hidden: entered !== null || page.taken_down !== null,
    },
  )
}

/**
 * Uses the form's idempotency key, so that reloading the page does not repeat the call. The same form with another
 * observation, after going back in the browser, is a new call.
 */
async function callAgent(visit: Visit, { details, episode }: VersionView): Promise<HostedCall> {
  const { api, form } = visit
  const leaves = details.agent?.spaces.observation ?? []
  const mask = form.get('action_mask').trim() === '' ? undefined : jsonIn(form, 'action_mask')
  const observation = trialObservation(leaves, trialFields(leaves, episode), form)
  // The price shown on the page.
  const shownPrice = Number(form.get('max_price_minor') || '0')
  const maxPrice = Number.isSafeInteger(shownPrice) && shownPrice >= 0 ? shownPrice : 0
  const body = { version: details.version, observation, action_mask: mask, max_price_minor: maxPrice }
  const ask = async (header?: ReturnType<typeof idempotencyHeader>) => {
    const params = { path: packagePath(visit), header }
    const { data } = await api.POST('/v1/packages/{scope}/{name}/calls', { params, body })
    return data
  }
  try {
    return await ask(idempotencyHeader(visit))
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'idempotency_key_reused') return ask()
    throw error
  }
}

type TrialPageProps = {
  view: PackageView
  shown: VersionView
  fields: TrialField[]
  /** Entered values; null if the form shows the example. */
  values: FormValues | null
  failure: FormFailure | null
  answered: Answered | null
}

/** Calls a hosted agent: observation in, action out. Requires an account. */
function TrialPage({ view, shown, fields, values, failure, answered }: TrialPageProps) {
  useIsland('trial')
  const access = callAccess(view)
  const { page, offer } = view
  const { details } = shown
  const request = requestOf(shown, fields, values)
  return (
    <section class="package-section trial" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      {access === 'refused' ? (
        <>
          {failure !== null && <Notice kind="failure">{failure.message}</Notice>}
          <NoTrial view={view} />
        </>
      ) : (
        <>
          <p class="dim">
            {page.name}@{details.version} takes an observation of its scenario and returns an action.{' '}
            {describeCost(access, offer)}
          </p>
          <div class="trial-table" data-trial>
            <div data-part="trial-form">
              <TrialForm view={view} shown={shown} fields={fields} values={values} failure={failure} />
            </div>
            <div data-part="trial-answer" aria-live="polite">
              <TrialPanel answered={answered} request={request} leaves={details.agent?.spaces.action ?? []} />
            </div>
          </div>
        </>
      )}
    </section>
  )
}

/** The call as it is entered, or of the example where that cannot be read. */
function requestOf({ details, episode }: VersionView, fields: TrialField[], values: FormValues | null): TrialRequest {
  const { name, version } = details
  const leaves = details.agent?.spaces.observation ?? []
  const example = { name, version, observation: exampleObservation(leaves, episode), mask: details.agent?.whole_mask }
  if (values === null) return example
  try {
    const mask = values.get('action_mask').trim() === '' ? undefined : jsonIn(values, 'action_mask')
    return { name, version, observation: trialObservation(leaves, fields, values), mask }
  } catch {
    return example
  }
}

/** Strangers fill in the same form, and log in to send it: what they entered is kept. */
function TrialForm({ view, shown, fields, values, failure }: Omit<TrialPageProps, 'answered'>) {
  const { account } = usePage()
  const { page, offer } = view
  const address = tryAddress(page.name)
  const inputs = (
    <>
      <div class={fields.length > 2 ? 'trial-fields' : 'trial-fields trial-wide'}>
        {fields.map((field) => (
          <ObservationField field={field} values={values} failure={failure} />
        ))}
      </div>
      <Mask values={values} failure={failure} whole={shown.details.agent?.whole_mask} />
    </>
  )
  if (account === null)
    return (
      <form class="form form-stack" method="get" action={`${address}/values`} aria-label="Observation">
        {inputs}
        <p class="trial-log-in">
          <Button look="primary">Log in to call</Button>{' '}
          <a href={`/signup?next=${encodeURIComponent(address)}`}>Sign up</a>
        </p>
      </form>
    )
  return (
    <Form
      action={address}
      failure={failure}
      fields={[...fields.map(({ name }) => name), 'action_mask']}
      label="Observation"
    >
      <IdempotencyKey />
      <input type="hidden" name="max_price_minor" value={String(offer?.calls_price_minor ?? 0)} />
      {inputs}
      <Button look="primary">Call agent</Button>
    </Form>
  )
}

type CallAccess = 'own' | 'entitled' | 'trial' | 'refused'

/** Only for the wording: the API decides. */
function callAccess({ offer, member }: PackageView): CallAccess {
  if (member) return 'own'
  if (offer === null) return 'refused'
  if (offer.entitled) return 'entitled'
  return offer.trial_calls > 0 ? 'trial' : 'refused'
}

function describeCost(access: CallAccess, offer: Offer | null): string {
  if (access === 'own' || offer === null) return 'This is your agent: calls are free.'
  const { trial_calls: trial, calls_price_minor: price, price: license } = offer
  const perThousand = price === 0 ? 'Calls are free.' : `Calls cost ${formatAmount(price, license.currency)} per 1,000.`
  const free = `${formatCount(trial, 'free trial call')} per account`
  if (access === 'trial') return `${free}. Failed calls don’t count.`
  return price > 0 && trial > 0 ? `${free}. ${perThousand}` : perThousand
}

type ObservationFieldProps = { field: TrialField; values: FormValues | null; failure: FormFailure | null }

function ObservationField({ field, values, failure }: ObservationFieldProps) {
  const { name, kind, low = null, high = null, options, unit } = field
  const label = unit === undefined ? field.label : `${field.label} (${unit})`
  const value = values === null ? field.value : values.get(name)
  const shared = { label, name, value, failure, required: true }
  if (kind === 'choice') return <Field {...shared} options={options ?? []} />
  if (kind === 'text') return <Field {...shared} required={false} rows={4} />
  if (kind === 'json')
    return <Field {...shared} rows={8} help="The scenario's observation as JSON; boxes may be flat." />
  // Allows decimals; by default, browsers only accept whole numbers.
  return <Field {...shared} type="number" step="any" help={describeBounds(low, high)} />
}

function describeBounds(low: number | null, high: number | null): string | undefined {
  if (low === null && high === null) return undefined
  if (low === null) return `at most ${formatValue(high ?? 0)}`
  return high === null ? `at least ${formatValue(low)}` : `${formatValue(low)} to ${formatValue(high)}`
}

function Mask({ values, failure, whole }: Omit<ObservationFieldProps, 'field'> & { whole: AgentCard['whole_mask'] }) {
  const value = values?.get('action_mask') ?? (whole === undefined ? '' : JSON.stringify(whole))
  return (
    <details class="more" open={value !== '' || failure?.fields.action_mask !== undefined}>
      <summary>Mask actions</summary>
      <Field
        label="Action mask (JSON)"
        name="action_mask"
        value={value}
        rows={2}
        help={
          whole === undefined
            ? 'A list with true for each legal action, such as [true, false]. Leave empty to allow all.'
            : 'True for each legal action. The agent was trained with a mask and needs one.'
        }
        failure={failure}
      />
    </details>
  )
}

/** The seller offers no trial calls. */
function NoTrial({ view: { page, offer } }: { view: PackageView }) {
  return (
    <>
      <Notice kind="info">
        {offer === null
          ? 'This agent is not available.'
          : 'The seller offers no trial calls. Buy the agent to call it here, or see its evaluation.'}
      </Notice>
      <p class="package-actions">
        {offer !== null && (
          <Button look="primary" href={`/buy/${page.name}`}>
            Buy for {formatAmount(offer.price.amount_minor, offer.price.currency)}
          </Button>
        )}
        <Button href={packageAddress(page.name)}>View evaluation</Button>
      </p>
    </>
  )
}
