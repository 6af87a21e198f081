import { AgentGymError, formatAmount, type HostedCall, type Offer, type SpaceLeaf } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { attempt, type FormFailure, type FormValues } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Table } from '../../components/table.tsx'
import { formatLatency } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { IdempotencyKey, idempotencyHeader } from '../market/idempotency-key.tsx'
import { NothingPublished, PackageFrame, tryAddress } from './package-frame.tsx'
import { type PackageView, packagePath, readPackage, readVersion, type VersionView } from './read-package.ts'
import { jsonIn, type TrialField, trialFields, trialObservation } from './trial-fields.ts'

const path = '/packages/:scope/:name/try'

/** Error codes about a field. */
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
  values?: FormValues | null
  failure?: FormFailure | null
  answered?: Answered | null
}

/** Calls a hosted agent: observation in, action out. Requires an account. */
function TrialPage({ view, shown, fields, values = null, failure = null, answered = null }: TrialPageProps) {
  const { account } = usePage()
  const { page, offer } = view
  const access = callAccess(view)
  return (
    <section class="package-section trial" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <p class="dim">
        {page.name}@{shown.details.version} takes an observation of its scenario and returns an action. The model runs
        on a worker of this server.
      </p>
      {answered !== null && shown.details.agent !== null && (
        <TrialAnswer answered={answered} leaves={shown.details.agent.spaces.action} />
      )}
      {access === 'refused' ? (
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
          <IdempotencyKey />
          <input type="hidden" name="max_price_minor" value={String(offer?.calls_price_minor ?? 0)} />
          <p class="dim">{describeCost(access, offer)}</p>
          <div class={fields.length > 2 ? 'trial-fields' : 'trial-fields trial-wide'}>
            {fields.map((field) => (
              <ObservationField field={field} values={values} failure={failure} />
            ))}
          </div>
          <Mask values={values} failure={failure} />
          <Button look="primary">Call agent</Button>
        </Form>
      )}
    </section>
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
  const free = `${trial.toLocaleString('en')} free trial ${trial === 1 ? 'call' : 'calls'} per account`
  if (access === 'trial') return `${free}. Failed calls don’t count.`
  return price > 0 && trial > 0 ? `${free}. ${perThousand}` : perThousand
}

type ObservationFieldProps = { field: TrialField; values: FormValues | null; failure: FormFailure | null }

function ObservationField({ field, values, failure }: ObservationFieldProps) {
  const { name, label, kind, low = null, high = null, options } = field
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

function Mask({ values, failure }: Omit<ObservationFieldProps, 'field'>) {
  const value = values?.get('action_mask') ?? ''
  return (
    <details class="more" open={value !== '' || failure?.fields.action_mask !== undefined}>
      <summary>Mask actions</summary>
      <Field
        label="Action mask (JSON)"
        name="action_mask"
        value={value}
        rows={2}
        help="A list with true for each legal action, such as [true, false]. Leave empty to allow all."
        failure={failure}
      />
    </details>
  )
}

/** For anonymous visitors: the inputs of a call, and how to log in. */
function ForStrangers({ view: { page, offer }, fields }: Pick<TrialPageProps, 'view' | 'fields'>) {
  const address = tryAddress(page.name)
  const cost = describeCost(offer?.entitled ? 'entitled' : 'trial', offer)
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
        caption="Observation fields"
        rows={fields}
        columns={[
          { title: 'Field', heading: true, cell: ({ label }) => label },
          { title: 'Example', cell: ({ value, options }) => describeExample(value, options) },
          { title: 'Values', wide: true, cell: ({ low = null, high = null }) => describeBounds(low, high) ?? '' },
        ]}
      />
    </>
  )
}

function describeExample(value: string, options: TrialField['options']): string {
  const label = options?.find((option) => option.value === value)?.label ?? value
  return label.length > 200 ? `${label.slice(0, 200)}…` : label
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

/** Maximum number of bars; with more choices, the most likely are shown. */
const mostBars = 12

type Action = HostedCall['action']
type Answered = {
  call: HostedCall
  /** Total time in milliseconds. */
  took: number
}

const bearers = {
  own: 'Free (your agent)',
  free: 'Free',
  bought: 'License',
  trial: 'Free trial call',
}

/** The agent's action, its probabilities, and how the call was billed. */
function TrialAnswer({ answered: { call, took }, leaves }: { answered: Answered; leaves: SpaceLeaf[] }) {
  const { action, label, probabilities } = call
  return (
    <section class="trial-answer" aria-labelledby="answer">
      <h2 id="answer">Action</h2>
      <p class="trial-action" dir="auto">
        {toolCall(label, action) ?? label ?? shownAction(action)}
      </p>
      {label !== null && typeof action === 'object' && toolCall(label, action) === null && <Parts action={action} />}
      {label === null && isListed(action) && <Parts action={action} />}
      {probabilities !== null && <Bars probabilities={probabilities} chosen={call} leaf={leaves[0]} />}
      <Metrics>
        <Metric label="Billing">{bearers[call.because]}</Metric>
        {call.trial_calls_left !== null && (
          <Metric label="Trial calls left">
            {call.trial_calls_left.toLocaleString('en')} {call.trial_calls_left === 1 ? 'call' : 'calls'}
          </Metric>
        )}
        <Metric label="Model" note={`${formatLatency(took)} total`}>
          {formatValue(call.model_ms)} ms
        </Metric>
        <Metric label="Version">{call.version}</Metric>
      </Metrics>
    </section>
  )
}

const isListed = (action: Action) => typeof action === 'object' && action !== null

function shownAction(action: Action): string {
  if (isListed(action)) return Array.isArray(action) ? `${action.length} numbers` : 'Several parts'
  return typeof action === 'string' ? action : String(action)
}

/** `refund(order: A-17, percent: 50)` of a tool with arguments; null for anything else. */
function toolCall(label: string | null, action: Action): string | null {
  if (label === null || typeof action !== 'object' || action === null || !Object.hasOwn(action, label)) return null
  const given = (action as Record<string, Action>)[label]
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null
  const shown = (value: Action) => (typeof value === 'number' ? formatValue(value) : String(value))
  return `${label}(${Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : shown(value)}`)
    .join(', ')})`
}

/** For an action that is not discrete. */
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
        {many ? `Probabilities of the ${mostBars} most likely of ${choices.length} actions` : 'Action probabilities'}
      </caption>
      <tbody>
        {choices.slice(0, mostBars).map(({ number, probability, name }) => (
          <tr class={number === chosen.action ? 'trial-chosen' : undefined}>
            <th scope="row" dir="auto">
              {name}
              {number === chosen.action && <span class="visually-hidden"> (chosen)</span>}
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
