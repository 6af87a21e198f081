import { AgentGymError, type EvaluationJob, formatAmount, type Run } from '@agentgym/contract'
import { formatMetric } from '@agentgym/contract/metrics'
import { attempt, type FormFailure, formAmount, optionalFormAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { RunState } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Metric, Metrics, ProgressBar } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Time } from '../../components/values.tsx'
import { formatDuration, withHint } from '../../format.ts'
import { useIsland } from '../../layout/page-context.ts'
import { isRunId, type ReadRun, type RefusedForm, readRun, runName } from './read-run.ts'
import { publishFieldOf, RunOutcome } from './run-agent.tsx'
import { MainChart, RunPanels } from './run-charts.tsx'
import { RunEpisodesPart, readShown, type SampledEpisodes } from './run-episodes.tsx'
import { RunLog } from './run-log.tsx'
import { RunResult, RunSettings } from './run-result.tsx'
import { RunSharingPart } from './run-sharing.tsx'

const runPath = '/runs/:id{[0-9a-f-]+}'
const account = { access: 'account' } as const

export const runRoutes = [
  route('get', runPath, account, (visit) => showRun(visit)),

  route('post', `${runPath}/cancel`, account, async (visit) => {
    const path = { params: { path: { id: visit.params.id } } }
    const failure = await attempt(() => visit.api.POST('/v1/runs/{id}/cancel', path))
    return afterAct(visit, failure)
  }),

  route('post', `${runPath}/resume`, account, async (visit) => {
    const { id } = visit.params
    const failure = await attempt(async () => {
      const paused = visit.form.get('paused') !== ''
      const budget = paused ? undefined : formAmount(visit.form, 'budget_minor', visit.host.currency)
      await visit.api.POST('/v1/runs/{id}/resume', { params: { path: { id } }, body: { budget_minor: budget } })
    })
    return afterAct(visit, failure)
  }),

  route('post', `${runPath}/pause`, account, async (visit) => {
    const path = { params: { path: { id: visit.params.id } } }
    const failure = await attempt(() => visit.api.POST('/v1/runs/{id}/pause', path))
    return afterAct(visit, failure)
  }),
]

function afterAct(visit: Visit, failure: FormFailure | null): Response | Promise<Response> {
  if (failure === null) return visit.redirect(`/runs/${visit.params.id}`)
  return showRun(visit, { form: 'act', failure, values: visit.form })
}

/** Who else may look at a run. */
export const shareRoutes = [
  route('post', `${runPath}/share`, account, async (visit) => {
    const path = { params: { path: { id: visit.params.id } } }
    let link: string | undefined
    const failure = await attempt(async () => {
      switch (visit.form.get('action')) {
        case 'link':
          link = (await visit.api.POST('/v1/runs/{id}/link', path)).data.url
          return
        case 'revoke':
          await visit.api.DELETE('/v1/runs/{id}/link', path)
          return
        default:
          await visit.api.PUT('/v1/runs/{id}/sharing', {
            ...path,
            body: { public: visit.form.get('action') === 'publish' },
          })
      }
    })
    if (failure !== null) return showRun(visit, { form: 'share', failure, values: visit.form })
    return link === undefined ? visit.redirect(`/runs/${visit.params.id}#share`) : showRun(visit, null, link)
  }),
]

/** Actions on the agent of a completed run. */
export const runAgentRoutes = [
  route('post', `${runPath}/publish`, { access: 'account' }, async (visit) => {
    const failure = await publish(visit)
    if (failure === null) return visit.redirect(`/runs/${visit.params.id}?published=yes#agent`)
    return showRun(visit, { form: 'publish', failure, values: visit.form })
  }),

  route('post', `${runPath}/evaluate`, { access: 'account' }, async (visit) => {
    const { id } = visit.params
    let evaluation = ''
    const failure = await attempt(async () => {
      const body = { episodes: Number(visit.form.get('episodes')), seed: Number(visit.form.get('seed')) }
      const { data } = await visit.api.POST('/v1/runs/{id}/evaluations', { params: { path: { id } }, body })
      evaluation = data.id
    })
    if (failure === null) return visit.redirect(`/runs/${id}?evaluation=${evaluation}#agent`)
    return showRun(visit, { form: 'evaluate', failure, values: visit.form })
  }),
]

/** Publishes the agent, then sets its price. Repeating the form publishes nothing twice and retries the price. */
async function publish({ api, form, host, params: { id } }: Visit): Promise<FormFailure | null> {
  const filled = (field: string) => form.get(field).trim() || undefined
  const visibility = filled('visibility')
  let published: string | undefined
  const failure = await attempt(async () => {
    // Checked before publishing: the amount must be valid.
    const amount = optionalFormAmount(form, 'amount_minor', host.currency)
    const { data } = await api.POST('/v1/runs/{id}/publish', {
      params: { path: { id } },
      // The API rejects invalid visibilities.
      body: {
        name: form.get('name').trim(),
        version: filled('version'),
        visibility: visibility as 'public' | undefined,
        summary: filled('summary'),
      },
    })
    published = data.name
    if (amount === undefined || published === undefined) return
    const [scope, name] = published.split('/')
    const body = { kind: 'one_time' as const, amount_minor: amount }
    await api.PUT('/v1/packages/{scope}/{name}/price', { params: { path: { scope, name } }, body })
  }, publishFieldOf)
  if (failure === null || published === undefined) return failure
  return {
    ...failure,
    fields: 'name' in failure.fields ? { amount_minor: failure.fields.name } : failure.fields,
    message: `${published} was published, but its price could not be set. ${failure.message ?? ''}`.trim(),
  }
}

/** The page of a run, with the refused form. Throws `run_not_found`. */
async function showRun(visit: Visit, refused: RefusedForm | null = null, link?: string): Promise<Response> {
  if (!isRunId(visit.params.id)) throw new AgentGymError({ code: 'run_not_found', message: 'Run not found.' })
  const [read, requested, episodes] = await Promise.all([
    readRun(visit, visit.params.id),
    readRequested(visit),
    readEpisodes(visit),
  ])
  const unattended = read.run.state === 'queued' && !(await hasWorker(visit))
  const refreshing =
    visit.query.get('refresh') === '10' && (read.run.state === 'queued' || read.run.state === 'running')
  const justPublished = visit.query.get('published') === 'yes'
  const response = visit.page(
    <RunPage
      read={read}
      requested={requested}
      {...{ episodes, refused, refreshing, unattended, justPublished, link }}
    />,
    {
      title: `${runName(read.run)} on ${read.run.scenario.name}`,
      status: refused?.failure.status,
      hidden: true,
    },
  )
  // For browsers without JavaScript.
  if (refreshing) response.headers.set('refresh', '10')
  return response
}

async function readEpisodes({ api, params: { id }, query }: Visit): Promise<SampledEpisodes> {
  const { data } = await api.GET('/v1/runs/{id}/episodes', { params: { path: { id } } })
  return readShown(data.episodes, query.get('episode'), (iteration) =>
    api.GET('/v1/runs/{id}/episodes/{iteration}', { params: { path: { id, iteration } } }),
  )
}

/** Whether a worker is connected that could take the run. */
async function hasWorker({ api }: Visit): Promise<boolean> {
  const { data } = await api.GET('/v1/status')
  return data.workers.some(({ state }) => state !== 'silent')
}

/** The evaluation in the URL, if it belongs to this run. */
async function readRequested({ api, params, query }: Visit): Promise<EvaluationJob | null> {
  const id = query.get('evaluation') ?? ''
  if (!isRunId(id)) return null
  try {
    const { data } = await api.GET('/v1/evaluations/{id}', { params: { path: { id } } })
    return data.run === params.id ? data : null
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'evaluation_not_found') return null
    throw error
  }
}

type RunPageProps = {
  read: ReadRun
  episodes: SampledEpisodes
  /** An evaluation from the URL. */
  requested?: EvaluationJob | null
  refused?: RefusedForm | null
  refreshing?: boolean
  /** It is queued, and no worker is connected. */
  unattended?: boolean
  justPublished?: boolean
  /** Just created; its address is shown once. */
  link?: string
}

/** A training run, updated live. Without JavaScript, a link reloads the page every 10 seconds. */
function RunPage(props: RunPageProps) {
  const { read, episodes, requested = null, refused = null, refreshing = false } = props
  const { unattended = false, justPublished = false, link } = props
  const shared = refused?.form === 'share' ? refused.failure : null
  useIsland('run-live')
  const { run } = read
  const goesOn = run.state === 'queued' || run.state === 'running'
  const charted = { ...read, live: true }
  const panels = <RunPanels read={charted} exports={`/v1/runs/${run.id}`} />
  const acted = refused?.form === 'act' ? refused : null
  return (
    <div class="run" data-run={run.id} data-run-live={goesOn ? 'yes' : undefined} data-run-event={run.last_event}>
      <div class="run-head" data-part="head">
        <RunHead read={read} unattended={unattended} />
      </div>
      {goesOn && (
        <noscript>
          <p class="run-refresh">
            {refreshing ? (
              <a href={`/runs/${run.id}`}>Stop reloading every 10 seconds</a>
            ) : (
              <a href={`/runs/${run.id}?refresh=10`}>Reload every 10 seconds</a>
            )}
          </p>
        </noscript>
      )}
      <p class="visually-hidden" role="status" data-run-status />
      <MainChart read={charted} />
      <div class="run-summary" data-part="summary">
        <RunMetrics run={run} />
        <RunBars run={run} />
      </div>
      <div data-part="actions">
        <RunActions run={run} failure={acted?.failure ?? null} typedBudget={acted?.values.get('budget_minor')} />
      </div>
      <RunEpisodesPart
        episodes={episodes}
        address={`/runs/${run.id}`}
        source={`/v1/runs/${run.id}/episodes`}
        coming={goesOn && run.settings.evaluate_every !== 0}
      />
      {goesOn && panels}
      <div data-part="outcome">
        <RunOutcome read={read} requested={requested} refused={refused} justPublished={justPublished} />
      </div>
      {!goesOn && panels}
      <div data-part="log">
        <RunLog log={read.log} run={run} />
      </div>
      <RunSettings settings={run.settings} />
      {read.sharing !== null && <RunSharingPart id={run.id} sharing={read.sharing} link={link} failure={shared} />}
    </div>
  )
}

function RunHead({ read: { run, evaluations }, unattended }: { read: ReadRun; unattended: boolean }) {
  return (
    <>
      <p class="run-state">
        <RunState state={run.state} />
        {run.cancel_requested && run.state === 'running' && <span class="dim">canceling: saving a checkpoint</span>}
        {run.state === 'queued' && <span class="dim">{waiting(run, unattended)}</span>}
        {run.worker !== null && run.state === 'running' && <span class="dim">on {run.worker}</span>}
        {run.gpu_usage && <span class="dim">{gpuUsage(run.gpu_usage)}</span>}
      </p>
      <h1>{runName(run)}</h1>
      <RunResult run={run} evaluations={evaluations} />
      <p class="run-facts">
        <a class="mono" href={packageAddress(run.scenario.name)}>
          {run.scenario.name}@{run.scenario.version}
        </a>
        {run.parent && (
          <span>
            from{' '}
            <a class="mono" href={packageAddress(run.parent.name)}>
              {run.parent.name}@{run.parent.version}
            </a>
          </span>
        )}
        {run.note !== null && (
          <span>
            {run.algorithm.toUpperCase()}, seed {run.seed}
          </span>
        )}
        <span>
          by <a href={`/@${run.created_by}`}>{run.created_by}</a>
          {run.owner !== run.created_by && (
            <>
              {' for '}
              <a href={`/@${run.owner}`}>{run.owner}</a>
            </>
          )}
        </span>
        <Time at={run.created_at} />
      </p>
      {run.unserved && <Notice kind="warning">{run.unserved}</Notice>}
      {run.error !== null && (
        <Notice kind="failure">
          {withHint(run.error)} <code>{run.error.code}</code>
        </Notice>
      )}
    </>
  )
}

function waiting({ unserved, ahead }: Run, unattended: boolean): string {
  if (unattended) return 'no worker is connected'
  return unserved ? 'its workers or GPU are not connected' : queuePosition(ahead)
}

/** `GPU 91% busy, 40% of its memory`; empty if the worker does not say. */
function gpuUsage({ busy, memory }: NonNullable<Run['gpu_usage']>): string {
  const percent = (share: number) => `${Math.round(share * 100)}%`
  const parts = [
    ...(busy === null ? [] : [`${percent(busy)} busy`]),
    ...(memory === null ? [] : [`${percent(memory)} of its memory in use`]),
  ]
  return parts.length === 0 ? '' : `GPU ${parts.join(', ')}`
}

function queuePosition(ahead: number | null): string {
  if (ahead === null || ahead === 0) return 'next in queue'
  return ahead === 1 ? '1 run ahead' : `${ahead} runs ahead`
}

type RunActionsProps = { run: Run; failure: FormFailure | null; typedBudget?: string }

/** Actions that fit the run's state. */
function RunActions({ run, failure, typedBudget }: RunActionsProps) {
  const goesOn = run.state === 'queued' || run.state === 'running'
  const again = new URLSearchParams({ scenario: `${run.scenario.name}@${run.scenario.version}`, like: run.id })
  return (
    <div class="run-actions">
      {run.state === 'budget_exceeded' && (
        <Form action={`/runs/${run.id}/resume`} look="inline" failure={failure} fields={['budget_minor']}>
          <Field
            label={`New total budget (${run.cost.currency})`}
            name="budget_minor"
            required
            value={typedBudget}
            failure={failure}
          />
          <Button look="primary">Resume run</Button>
        </Form>
      )}
      {run.state === 'paused' && (
        <Form action={`/runs/${run.id}/resume`} look="inline" failure={failure}>
          <input type="hidden" name="paused" value="yes" />
          <Button look="primary">Resume run</Button>
        </Form>
      )}
      {goesOn && !run.cancel_requested && (
        <Form action={`/runs/${run.id}/pause`} look="inline" failure={failure}>
          <Button>Pause run</Button>
        </Form>
      )}
      {goesOn && !run.cancel_requested && (
        <Form action={`/runs/${run.id}/cancel`} look="inline" failure={failure}>
          <Button look="danger">Cancel run</Button>
        </Form>
      )}
      {!goesOn && <Button href={`/runs/new?${again}`}>Run again</Button>}
      <Button href={`/runs/compare?ids=${run.id}`}>Compare</Button>
    </div>
  )
}

/** The server warns at this share of the budget. */
const budgetMark = 0.75

/** Return, steps, throughput, time and episodes. */
function RunMetrics({ run }: { run: Run }) {
  const { progress, state } = run
  return (
    <Metrics>
      <Metric label="Mean return" note="last 100 episodes">
        <span data-metric="return_mean">{formatOptional(progress?.return_mean)}</span>
      </Metric>
      <Metric
        label="Steps"
        note={progress === null ? 'not started' : `of ${progress.steps_total.toLocaleString('en')}`}
      >
        <span data-metric="steps">{(progress?.steps ?? 0).toLocaleString('en')}</span>
      </Metric>
      <Metric label="Throughput" note="steps/s">
        <span data-metric="steps_per_second">{formatOptional(progress?.steps_per_second)}</span>
      </Metric>
      <Metric label={state === 'running' ? 'Time left' : 'Training time'} note={timeNote(run)}>
        <span data-metric={state === 'running' ? 'time_left' : undefined}>{timeOf(run)}</span>
      </Metric>
      <Metric label="Episodes">
        <span data-metric="episodes_total">{(progress?.episodes_total ?? 0).toLocaleString('en')}</span>
      </Metric>
    </Metrics>
  )
}

function formatOptional(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : formatMetric(value)
}

function timeOf({ state, progress }: Run): string {
  if (progress === null) return '–'
  if (state !== 'running') return formatDuration(progress.seconds)
  const left = progress.steps_total - progress.steps
  return progress.steps_per_second > 0 ? formatDuration(left / progress.steps_per_second) : '–'
}

function timeNote({ state, progress }: Run): string | undefined {
  if (state !== 'running') return undefined
  return progress === null ? 'starting' : 'at this pace'
}

/** Progress and budget. */
function RunBars({ run: { progress, cost, state } }: { run: Run }) {
  const trained = progress === null ? 0 : progress.steps / progress.steps_total
  const done = state === 'completed' ? 1 : trained
  const amount = (minor: number) => formatAmount(minor, cost.currency)
  const { spent_minor, budget_minor } = cost
  const spent = budget_minor === null ? 0 : spent_minor / budget_minor
  return (
    <div class="run-bars">
      <div>
        <p class="run-bar-head">
          <span>Training</span>
          <span class="mono">{state === 'completed' ? 'Finished' : `${Math.floor(done * 100)}%`}</span>
        </p>
        <ProgressBar
          share={done}
          label={state === 'completed' ? 'Training is finished' : `${Math.floor(done * 100)}% of steps completed`}
        />
        {state === 'completed' && trained < 1 && progress !== null && (
          <p class="run-bar-note">
            All targets were met after {progress.steps.toLocaleString('en')} of{' '}
            {progress.steps_total.toLocaleString('en')} steps.
          </p>
        )}
      </div>
      <div>
        <p class="run-bar-head">
          <span>Budget</span>
          <span class="mono">
            {amount(spent_minor)}
            {budget_minor === null ? ' spent' : ` of ${amount(budget_minor)}`}
          </span>
        </p>
        {budget_minor === null ? (
          <p class="run-bar-note">No limit</p>
        ) : (
          <>
            <ProgressBar
              share={spent}
              mark={budgetMark}
              tone={spent >= budgetMark ? 'warning' : 'plain'}
              label={`${amount(spent_minor)} of ${amount(budget_minor)} spent`}
            />
            <p class="run-bar-note">{budgetNote(spent, state)}</p>
          </>
        )}
      </div>
    </div>
  )
}

function budgetNote(spent: number, state: Run['state']): string {
  if (state === 'budget_exceeded') return 'Budget used up. Raise it to resume from the last checkpoint.'
  if (spent >= budgetMark) return 'Over 75% spent. At the limit, the run stops with a checkpoint.'
  return 'Warning at 75%. At the limit, the run stops with a checkpoint.'
}
