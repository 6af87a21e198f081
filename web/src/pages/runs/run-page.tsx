import type { EvaluationJob, ProgressEvent, Run } from '@agentgym/contract'
import { LineChart } from '../../components/line-chart.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { RunState } from '../../components/run-state.tsx'
import { Time } from '../../components/time.tsx'
import { useIsland } from '../../layout/page-context.ts'
import type { ReadRun } from './read-run.ts'
import type { RefusedForm } from './refused-form.ts'
import { RunActions } from './run-actions.tsx'
import { RunBars, RunFigures } from './run-figures.tsx'
import { RunLog } from './run-log.tsx'
import { RunOutcome } from './run-outcome.tsx'
import { seriesOf } from './series-of.ts'

type RunPageProps = {
  read: ReadRun
  /** An evaluation that the address names. */
  asked?: EvaluationJob | null
  refused?: RefusedForm | null
  refreshing?: boolean
}

/** One run of training. With scripts it goes on by itself; without, a link has the browser reload it. */
export function RunPage({ read, asked = null, refused = null, refreshing = false }: RunPageProps) {
  useIsland('run-live')
  const { run, points, target } = read
  const goesOn = run.state === 'queued' || run.state === 'running'
  const acted = refused?.form === 'act' ? refused : null
  return (
    <div class="run" data-run={run.id} data-run-live={goesOn ? 'yes' : undefined} data-run-event={run.last_event}>
      <div class="run-head" data-part="head">
        <RunHead run={run} />
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
      <LineChart
        title="Mean return"
        unit="environment steps"
        size="large"
        level={2}
        live="return_mean"
        target={target === null ? undefined : { value: target, name: 'success at' }}
        series={[{ name: 'Mean return', points: seriesOf(points, ({ return_mean }) => return_mean) }]}
      />
      <div class="run-summary" data-part="summary">
        <RunFigures run={run} />
        <RunBars run={run} />
      </div>
      <div data-part="actions">
        <RunActions run={run} failure={acted?.failure ?? null} typedBudget={acted?.values.get('budget_minor')} />
      </div>
      {goesOn && <SmallCharts points={points} />}
      <div data-part="outcome">
        <RunOutcome run={run} checkpoints={read.checkpoints} asked={asked} refused={refused} />
      </div>
      {!goesOn && <SmallCharts points={points} />}
      <div data-part="log">
        <RunLog log={read.log} run={run} />
      </div>
      <RunSettings run={run} />
    </div>
  )
}

function RunHead({ run }: { run: Run }) {
  return (
    <>
      <p class="run-state">
        <RunState state={run.state} />
        {run.cancel_requested && run.state === 'running' && <span class="dim">stopping, with a checkpoint</span>}
        {run.state === 'queued' && <span class="dim">{aheadWords(run.ahead)}</span>}
        {run.worker !== null && run.state === 'running' && <span class="dim">on {run.worker}</span>}
      </p>
      <h1>{run.note ?? `Training on ${run.scenario.name}`}</h1>
      <p class="run-facts">
        <a class="mono" href={packageAddress(run.scenario.name)}>
          {run.scenario.name}@{run.scenario.version}
        </a>
        <span>{run.algorithm.toUpperCase()}</span>
        <span>seed {run.seed}</span>
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
      {run.error !== null && (
        <Notice kind="failure">
          {run.error.message} {run.error.hint} <code>{run.error.code}</code>
        </Notice>
      )}
    </>
  )
}

function aheadWords(ahead: number | null): string {
  if (ahead === null || ahead === 0) return 'next in the queue'
  return ahead === 1 ? '1 run is ahead' : `${ahead} runs are ahead`
}

type Curve = { live: string; title: string; value: (point: ProgressEvent) => number | null }

/** In this order; one that the algorithm has not is left out once the run has figures. */
const curves: Curve[] = [
  { live: 'steps_per_second', title: 'Throughput, steps a second', value: (point) => point.steps_per_second },
  { live: 'length_mean', title: 'Mean episode length', value: (point) => point.length_mean },
  { live: 'policy_loss', title: 'Policy loss', value: ({ learner }) => learner.policy_loss },
  { live: 'value_loss', title: 'Value loss', value: ({ learner }) => learner.value_loss },
  { live: 'entropy', title: 'Entropy', value: ({ learner }) => learner.entropy },
  { live: 'approximate_kl', title: 'Approximate KL', value: ({ learner }) => learner.approximate_kl },
]

function SmallCharts({ points }: { points: ProgressEvent[] }) {
  return (
    <section class="run-charts" aria-label="How it learns">
      {curves
        .filter(({ value }) => points.length === 0 || points.some((point) => value(point) !== null))
        .map(({ live, title, value }) => (
          <LineChart
            title={title}
            unit="environment steps"
            live={live}
            series={[{ name: title, points: seriesOf(points, value) }]}
          />
        ))}
    </section>
  )
}

function RunSettings({ run }: { run: Run }) {
  return (
    <details class="run-settings">
      <summary>
        <h2>Settings</h2>
      </summary>
      <dl>
        {Object.entries(run.settings).map(([name, value]) => (
          <div>
            <dt class="mono">{name}</dt>
            <dd class="mono">{JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
