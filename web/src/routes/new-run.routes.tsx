import { AgentGymError, formatAmount, type ServerStatus } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountsOf } from '../pages/market/accounts-of.ts'
import { optionalFormAmount } from '../pages/market/form-amount.ts'
import { onceAgain, onceHeader } from '../pages/market/once-key.tsx'
import { NewRunPage, type NewRunValues, newRunFields } from '../pages/runs/new-run-page.tsx'
import { findRun } from '../pages/runs/read-run.ts'
import { readSettings, writeSettings } from '../pages/runs/settings-text.ts'

export const newRunRoutes = [
  route('get', '/runs/new', { access: 'account' }, async (visit) => {
    const values = valuesFrom((name) => visit.query.get(name) ?? '')
    const like = visit.query.get('like')
    return showForm(visit, like === null ? values : await likeRun(visit, values, like))
  }),

  route('post', '/runs/new', { access: 'account' }, async (visit) => {
    const values = valuesFrom((name) => visit.form.get(name).trim())
    let id = ''
    const failure = await attempt(async () => {
      const body = requestOf(visit, values)
      const { data } = await visit.api.POST('/v1/runs', { params: { header: onceHeader(visit) }, body })
      id = data?.id ?? ''
    })
    return failure === null ? visit.redirect(`/runs/${id}`) : showForm(visit, values, failure)
  }),
]

function valuesFrom(read: (name: string) => string): NewRunValues {
  return Object.fromEntries(newRunFields.map((name) => [name, read(name)])) as NewRunValues
}

async function showForm(visit: Visit, values: NewRunValues, failure: FormFailure | null = null): Promise<Response> {
  const [status, price] = await Promise.all([visit.api.GET('/v1/status'), priceOfRun(visit, values.scenario)])
  return visit.page(
    <NewRunPage
      values={{
        ...values,
        expected_price: price === null ? '' : `${scenarioName(values.scenario)} ${price}`,
      }}
      accounts={visit.account === null ? [] : accountsOf(visit.account, 'member')}
      machines={(status.data as ServerStatus | undefined) ?? null}
      failure={failure}
      once={onceAgain(visit, failure)}
      priceWords={
        price === null
          ? null
          : `The scenario is paid for by the run: this one costs ${formatAmount(price, visit.host.currency)}, taken once training begins.`
      }
    />,
    { title: 'Start a run', status: failure?.status, hidden: true },
  )
}

/** In minor units; null where a run of it costs nothing but the machine. */
async function priceOfRun({ api }: Visit, scenario: string): Promise<number | null> {
  const [scope, name] = scenarioName(scenario).split('/')
  if (!scope.startsWith('@') || !name) return null
  try {
    const { data } = await api.GET('/v1/packages/{scope}/{name}', { params: { path: { scope, name } } })
    return data?.price_kind === 'per_run' ? data.price_minor : null
  } catch (error) {
    if (error instanceof AgentGymError) return null
    throw error
  }
}

/** `@acme/maze@^1` is of `@acme/maze`. */
function scenarioName(scenario: string): string {
  const at = scenario.indexOf('@', 1)
  return at === -1 ? scenario : scenario.slice(0, at)
}

/** With the settings of a run that was before. */
async function likeRun(visit: Visit, values: NewRunValues, id: string): Promise<NewRunValues> {
  const run = await findRun(visit, id)
  const { steps, ...settings } = run.settings
  return {
    ...values,
    algorithm: run.algorithm,
    steps: String(steps ?? ''),
    seed: String(run.seed),
    settings: writeSettings(settings),
    account: run.owner,
  }
}

/** What the API is asked for. Throws `request_invalid` where a field cannot be read. */
function requestOf({ form, host }: Visit, values: NewRunValues) {
  const whole = (text: string) => (text === '' ? undefined : Number(text))
  const [pricedName, price] = values.expected_price.split(' ')
  return {
    scenario: values.scenario,
    algorithm: values.algorithm || undefined,
    steps: whole(values.steps),
    seed: whole(values.seed) ?? 1,
    settings: readSettings(values.settings),
    budget_minor: optionalFormAmount(form, 'budget_minor', host.currency),
    expected_price: price && pricedName === scenarioName(values.scenario) ? { amount_minor: Number(price) } : undefined,
    publish:
      values.publish === ''
        ? undefined
        : { name: values.publish, visibility: values.visibility === 'private' ? ('private' as const) : undefined },
    trajectories_every: 0,
    account: values.account || undefined,
    note: values.note || undefined,
  }
}
