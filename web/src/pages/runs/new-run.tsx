import {
  AgentGymError,
  formatAmount,
  parseSettings,
  type ServerStatus,
  type StartRunRequest,
  trainingAlgorithms,
} from '@agentgym/contract'
import { attempt, type FormFailure, invalidField, optionalFormAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { withHint } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { IdempotencyKey, idempotencyHeader, repeatedKey } from '../market/idempotency-key.tsx'
import { findRun } from './read-run.ts'

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
      const { data } = await visit.api.POST('/v1/runs', { params: { header: idempotencyHeader(visit) }, body })
      id = data.id
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
      machines={status.data}
      failure={failure}
      idempotencyKey={repeatedKey(visit, failure)}
      priceNote={
        price === null
          ? null
          : `This scenario costs ${formatAmount(price, visit.host.currency)} per run, charged when training starts.`
      }
    />,
    { title: 'New training run', status: failure?.status, hidden: true },
  )
}

/** Price per run in minor units; null if there is none. */
async function priceOfRun({ api }: Visit, scenario: string): Promise<number | null> {
  const [scope, name] = scenarioName(scenario).split('/')
  if (!scope.startsWith('@') || !name) return null
  try {
    const { data } = await api.GET('/v1/packages/{scope}/{name}', { params: { path: { scope, name } } })
    return data.price_kind === 'per_run' ? data.price_minor : null
  } catch (error) {
    if (error instanceof AgentGymError) return null
    throw error
  }
}

/** The package name of `@acme/maze@^1` is `@acme/maze`. */
function scenarioName(scenario: string): string {
  const at = scenario.indexOf('@', 1)
  return at === -1 ? scenario : scenario.slice(0, at)
}

/** Prefilled with the settings of an earlier run. */
async function likeRun(visit: Visit, values: NewRunValues, id: string): Promise<NewRunValues> {
  const run = await findRun(visit, id)
  const { steps, ...settings } = run.settings
  return {
    ...values,
    from: run.parent ? `${run.parent.name}@${run.parent.version}` : '',
    algorithm: run.algorithm,
    steps: String(steps ?? ''),
    workers: run.workers !== undefined && run.workers > 1 ? String(run.workers) : '',
    gpus: run.gpu ? String(run.gpu.count) : '',
    gpu_memory: run.gpu?.memory_bytes ? String(run.gpu.memory_bytes / 1e9) : '',
    seed: String(run.seed),
    settings: writeSettings(settings),
    account: run.owner,
  }
}

/** The API request. Throws `request_invalid` for an invalid field. */
function requestOf({ form, host }: Visit, values: NewRunValues) {
  const whole = (text: string) => (text === '' ? undefined : Number(text))
  const [pricedName, price] = values.expected_price.split(' ')
  return {
    scenario: values.scenario,
    from: values.from || undefined,
    algorithm: values.algorithm || undefined,
    steps: whole(values.steps),
    seed: whole(values.seed) ?? 1,
    settings: readSettings(values.settings),
    workers: whole(values.workers),
    gpu: gpuOf(values),
    budget_minor: optionalFormAmount(form, 'budget_minor', host.currency),
    expected_price: price && pricedName === scenarioName(values.scenario) ? { amount_minor: Number(price) } : undefined,
    publish:
      values.publish === ''
        ? undefined
        : {
            name: values.publish,
            visibility: values.visibility === 'private' ? ('private' as const) : undefined,
            summary: values.summary || undefined,
          },
    trajectories_every: 0,
    account: values.account || undefined,
    note: values.note || undefined,
  }
}

/** What the run needs of a worker's GPUs; undefined: what its settings need. Throws `request_invalid` for an invalid field. */
function gpuOf({ gpus, gpu_memory: memory }: Pick<NewRunValues, 'gpus' | 'gpu_memory'>): StartRunRequest['gpu'] {
  const amount = (field: string, text: string, most: number) => {
    const value = Number(text)
    if (value > 0 && value <= most) return value
    throw invalidField(field, `enter a number above 0, and at most ${most.toLocaleString('en-US')}`)
  }
  const needed = {
    count: gpus === '' || gpus === '0' ? undefined : amount('gpus', gpus, 64),
    memory_gb: memory === '' ? undefined : amount('gpu_memory', memory, 10_000),
  }
  if (needed.count === undefined && needed.memory_gb === undefined) return undefined
  if (gpus === '0') throw invalidField('gpu_memory', 'the run asks for no GPU: leave the memory empty')
  return needed
}

/** All fields as entered. */
type NewRunValues = Record<(typeof newRunFields)[number], string>
const newRunFields = [
  'scenario',
  'from',
  'algorithm',
  'steps',
  'seed',
  'settings',
  'workers',
  'gpus',
  'gpu_memory',
  'budget_minor',
  'publish',
  'summary',
  'visibility',
  'account',
  'note',
  'expected_price',
] as const

type NewRunPageProps = {
  values: NewRunValues
  accounts: string[]
  machines: Parameters<typeof describeMachines>[0] | null
  failure?: FormFailure | null
  /** Price per run of the scenario, if it has one. */
  priceNote: string | null
  idempotencyKey?: string
}

/** Starts a run. Empty fields use the scenario's values. */
function NewRunPage({ values, accounts, machines, failure = null, priceNote, idempotencyKey }: NewRunPageProps) {
  const { host } = usePage()
  return (
    <div class="workspace workspace-narrow">
      <h1>New training run</h1>
      <p class="lead">
        {machines === null || machines.workers.length === 0
          ? 'No worker is connected. The run will wait for one.'
          : describeMachines(machines, host.currency)}
      </p>
      <Form action="/runs/new" failure={failure} fields={[...newRunFields]}>
        <IdempotencyKey idempotencyKey={idempotencyKey} />
        <input type="hidden" name="expected_price" value={values.expected_price} />
        <Field
          label="Scenario"
          name="scenario"
          required
          value={values.scenario}
          help="@scope/name, optionally with @version or a range."
          failure={failure}
        />
        <Field
          label="Steps"
          name="steps"
          type="number"
          min="1"
          value={values.steps}
          help="Total environment steps. Default: the scenario's own."
          failure={failure}
        />
        <Field
          label={`Budget (${host.currency})`}
          name="budget_minor"
          value={values.budget_minor}
          help="At the limit, the run stops with a checkpoint and can be resumed. Required if workers have a price: after your free training, it is held on your balance, and the unused part is released."
          failure={failure}
        />
        <Field
          label="Publish agent as"
          name="publish"
          value={values.publish}
          help="@scope/name. Publishes the agent when the run completes. Default: not published."
          failure={failure}
        />
        <Field
          label="Agent summary"
          name="summary"
          value={values.summary}
          help="One sentence on what the agent does. Needed to publish under a new name."
          failure={failure}
          maxlength={280}
        />
        <MoreSettings values={values} accounts={accounts} machines={machines} failure={failure} />
        {priceNote !== null && <Notice kind="info">{priceNote}</Notice>}
        <Button look="primary">Start run</Button>
      </Form>
    </div>
  )
}

type MoreSettingsProps = Pick<NewRunPageProps, 'values' | 'accounts' | 'machines' | 'failure'>

function MoreSettings({ values, accounts, machines, failure }: MoreSettingsProps) {
  const changed = ['from', 'algorithm', 'seed', 'settings', 'workers', 'gpus', 'gpu_memory', 'note'] as const
  const open = changed.some((field) => values[field] !== '' || failure?.fields[field] !== undefined)
  return (
    <details class="more" open={open}>
      <summary>More options</summary>
      <div class="more-fields">
        {accounts.length > 1 && (
          <Field
            label="Account"
            name="account"
            required
            value={values.account}
            options={accounts.map((account) => ({ value: account, label: account }))}
            failure={failure}
          />
        )}
        <Field
          label="Start from agent"
          name="from"
          value={values.from}
          help="@scope/name, optionally with @version or a range: the run starts from its weights. Default: random weights."
          failure={failure}
        />
        <Field
          label="Algorithm"
          name="algorithm"
          value={values.algorithm}
          options={[
            { value: '', label: 'Default' },
            ...trainingAlgorithms.map((algorithm) => ({ value: algorithm, label: algorithm.toUpperCase() })),
          ]}
          failure={failure}
        />
        <Field label="Seed" name="seed" type="number" min="0" value={values.seed} help="Default: 1" failure={failure} />
        <Field
          label="Settings"
          name="settings"
          rows={4}
          value={values.settings}
          help="One per line, as for agentgym train --set, such as learning_rate=0.001."
          failure={failure}
        />
        <Field
          label="Workers"
          name="workers"
          type="number"
          min="1"
          max="64"
          value={values.workers}
          help="They share the environments of a PPO, A2C or GRPO run, and start together once all are free. Default: 1"
          failure={failure}
        />
        <GpuFields values={values} machines={machines} failure={failure} />
        <Field
          label="Agent visibility"
          name="visibility"
          value={values.visibility}
          options={[
            { value: '', label: 'Public' },
            { value: 'private', label: 'Private' },
          ]}
          failure={failure}
        />
        <Field
          label="Note"
          name="note"
          maxlength={200}
          value={values.note}
          help="Shown as the run's name."
          failure={failure}
        />
      </div>
    </details>
  )
}

function GpuFields({ values, machines, failure }: Omit<MoreSettingsProps, 'accounts'>) {
  return (
    <>
      <Field
        label="GPUs"
        name="gpus"
        type="number"
        min="0"
        max="64"
        value={values.gpus}
        help={`${describeGpus(machines)} The run has its GPUs to itself. Default: none, unless a setting needs one.`}
        failure={failure}
      />
      <Field
        label="Memory per GPU (GB)"
        name="gpu_memory"
        type="number"
        min="1"
        step="any"
        value={values.gpu_memory}
        help="The least that each GPU must have."
        failure={failure}
      />
    </>
  )
}

/** The current state of the queue: `1 of 2 workers is idle, 3 runs wait; an hour costs €12.00.` */
export function describeMachines({ workers, queue }: ServerStatus, currency: string): string {
  const there = workers.filter(({ state }) => state !== 'silent')
  const idle = there.filter(({ state }) => state === 'idle').length
  const prices = there.map(({ price_minor_per_hour }) => price_minor_per_hour)
  const waiting = queue.train.queued === 0 ? 'no runs queued' : `${queue.train.queued} queued`
  const machines = `${idle} of ${there.length} ${there.length === 1 ? 'worker' : 'workers'} idle, ${waiting}.`
  if (prices.length === 0) return 'No worker is connected. The run will wait for one.'
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  if (high === 0) return `${machines} Training is free on this server.`
  const cost =
    low === high ? formatAmount(low, currency) : `${formatAmount(low, currency)} to ${formatAmount(high, currency)}`
  return `${machines} Training costs ${cost} per hour.`
}

/** `Connected workers have 2 × NVIDIA H200 (141 GB).` Workers whose GPUs no library can use count as without. */
export function describeGpus(status: ServerStatus | null): string {
  const found = new Map<string, number>()
  for (const { state, cuda, gpus } of status?.workers ?? []) {
    if (state === 'silent' || !cuda) continue
    for (const { name, memory_bytes } of gpus) {
      const gpu = `${name} (${Math.round(memory_bytes / 1e9)} GB)`
      found.set(gpu, (found.get(gpu) ?? 0) + 1)
    }
  }
  if (found.size === 0)
    return 'No connected worker has a GPU: a run that needs one waits, at no cost, until one connects.'
  const list = [...found].map(([gpu, count]) => (count === 1 ? gpu : `${count} × ${gpu}`))
  return `Connected workers have ${list.join(', ')}.`
}

type Settings = NonNullable<StartRunRequest['settings']>

/** One setting per line, as for `agentgym train --set`. Throws `request_invalid` for an invalid line. */
export function readSettings(text: string): Settings {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  try {
    return parseSettings(lines)
  } catch (error) {
    if (error instanceof AgentGymError) throw invalidField('settings', withHint(error))
    throw error
  }
}

export function writeSettings(settings: Record<string, unknown>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
}
