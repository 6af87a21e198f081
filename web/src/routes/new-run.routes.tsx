import { randomUUID } from 'node:crypto'
import { AgentGymError, formatAmount, parseAmount, type ServerStatus } from '@agentgym/contract'
import { fieldFailure } from '../app/field-failure.ts'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountsOf } from '../pages/market/accounts-of.ts'
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
    const body = requestOf(values, visit.host.currency)
    const failure =
      'fields' in body
        ? body
        : await attempt(async () => {
            const headers = { 'idempotency-key': values.idempotency_key || randomUUID() }
            const { data } = await visit.api.POST('/v1/runs', { params: { header: headers }, body })
            id = data?.id ?? ''
          })
    if (failure === null) return visit.redirect(`/runs/${id}`)
    // Its key goes with what was asked for: what is sent next may be something else.
    return showForm(visit, { ...values, idempotency_key: '' }, failure)
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
        idempotency_key: values.idempotency_key || randomUUID(),
        expected_price: price === null ? '' : `${scenarioName(values.scenario)} ${price}`,
      }}
      accounts={visit.account === null ? [] : accountsOf(visit.account, 'member')}
      machines={(status.data as ServerStatus | undefined) ?? null}
      failure={failure}
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

/** What the API is asked for; or why that cannot be. */
function requestOf(values: NewRunValues, currency: string) {
  const settings = readSettings(values.settings)
  if ('problem' in settings) return fieldFailure('settings', settings.problem)
  const budget = values.budget_minor === '' ? null : parseAmount(values.budget_minor, currency)
  if (budget !== null && 'problem' in budget) return fieldFailure('budget_minor', budget.problem)
  const whole = (text: string) => (text === '' ? undefined : Number(text))
  const [pricedName, price] = values.expected_price.split(' ')
  return {
    scenario: values.scenario,
    algorithm: values.algorithm || undefined,
    steps: whole(values.steps),
    seed: whole(values.seed) ?? 1,
    settings: settings.settings,
    budget_minor: budget?.minor,
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
