import { type Run, studyOfNote } from '@agentgym/contract'
import { formatMetric } from '@agentgym/contract/metrics'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { RunState } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { formatCount } from '../../format.ts'
import { type Axis, parallelCoordinates } from '../../pictures/parallel-coordinates.ts'
import { Picture } from '../../pictures/picture.tsx'
import { runName } from './read-run.ts'
import { type SweptSetting, sweptSettings, type Trial } from './sweep-statistics.ts'

/** Runs of a sweep that are read; a page of the API has 100. */
const mostPages = 3
/** More axes cannot be read. */
const mostAxes = 8
/** Fewer trials say nothing about what a setting does. */
const leastTrials = 5

export const sweepRoutes = [
  route('get', '/runs/sweep', { access: 'account' }, async (visit) => {
    const scenario = visit.query.get('scenario')?.trim() ?? ''
    const study = visit.query.get('study') ?? ''
    const runs = scenario === '' ? [] : await readRuns(visit, scenario)
    return visit.page(<SweepPage {...{ scenario, study, runs }} />, {
      title: scenario === '' ? 'Sweep' : `Sweep of ${scenario}`,
      hidden: true,
    })
  }),
]

async function readRuns({ api }: Visit, scenario: string): Promise<Run[]> {
  const runs: Run[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const { data } = await api.GET('/v1/runs', { params: { query: { scenario, cursor, limit: 100 } } })
    runs.push(...data.runs)
    if (data.next_cursor === null) break
    cursor = data.next_cursor
  }
  return runs
}

/** `study`: of `agentgym tune --remote`; empty: all runs are shown. */
type SweepPageProps = { scenario: string; study: string; runs: Run[] }

/** Which settings of a scenario's runs matter: all of them as lines, their importance, and the best run. */
function SweepPage({ scenario, study, runs }: SweepPageProps) {
  const studies = studiesOf(runs)
  const trials = trialsOf(study === '' ? runs : runs.filter(({ note }) => studyOfNote(note) === study))
  const settings = sweptSettings(trials)
  const best = trials.at(0)
  return (
    <div class="workspace">
      <div class="workspace-head">
        <h1>Sweep</h1>
        <Button href="/runs">View all runs</Button>
      </div>
      <form method="get" action="/runs/sweep" class="workspace-filter" aria-label="Choose runs">
        <label class="workspace-filter-text">
          <span class="visually-hidden">Scenario</span>
          <input type="text" name="scenario" value={scenario} placeholder="@scope/scenario" spellcheck={false} />
        </label>
        {(studies.length > 0 || study !== '') && (
          <label>
            <span class="visually-hidden">Study</span>
            <select name="study">
              <option value="">All runs</option>
              {studies.map(({ id, count }) => (
                <option value={id} selected={id === study}>
                  Study {id} ({formatCount(count, 'run')})
                </option>
              ))}
            </select>
          </label>
        )}
        <Button>Show</Button>
      </form>
      {best === undefined ? (
        <EmptyState
          title={scenario === '' ? 'Choose a scenario' : 'No runs with a result yet'}
          command={`agentgym tune ${scenario === '' ? '@scope/scenario' : scenario} --remote`}
        >
          <p>Runs on one scenario appear here with the settings in which they differ, and the best of them.</p>
        </EmptyState>
      ) : (
        <>
          <BestTrial best={best} count={trials.length} />
          {settings.length > 0 && <SweepPicture trials={trials} settings={settings.slice(0, mostAxes)} />}
          {settings.length > 0 && trials.length >= leastTrials && (
            <section class="workspace-section" aria-labelledby="importance">
              <h2 id="importance">Importance</h2>
              <p class="dim">
                How strongly the return depends on each setting alone: rank correlation of numbers, correlation ratio of
                others. Correlation is not cause.
              </p>
              <Table rows={settings} columns={importanceColumns} caption="Importance of settings" />
            </section>
          )}
          <section class="workspace-section" aria-labelledby="trials">
            <h2 id="trials">Runs</h2>
            <Table rows={trials} columns={trialColumns(settings.slice(0, mostAxes))} caption="Runs, best first" />
          </section>
        </>
      )}
    </div>
  )
}

/** Studies of `agentgym tune --remote` that runs belong to, the latest first. */
function studiesOf(runs: Run[]): { id: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { note } of runs) {
    const id = studyOfNote(note)
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return [...counts].map(([id, count]) => ({ id, count }))
}

/** Runs with a return, best first. */
function trialsOf(runs: Run[]): Trial[] {
  return runs
    .flatMap((run) => {
      const score = run.evaluation?.return_mean ?? run.progress?.return_mean ?? null
      return score === null ? [] : [{ run, score, values: { algorithm: run.algorithm, ...run.settings } }]
    })
    .sort((a, b) => b.score - a.score)
}

function BestTrial({ best: { run, score }, count }: { best: Trial; count: number }) {
  return (
    <Metrics>
      <Metric label="Best run" note={run.id.slice(0, 8)}>
        <a href={`/runs/${run.id}`}>{runName(run)}</a>
      </Metric>
      <Metric label="Return" note={run.evaluation === null ? 'last 100 episodes' : 'held-out episodes'}>
        {formatMetric(score)}
      </Metric>
      <Metric label="Runs">{count.toLocaleString('en')}</Metric>
    </Metrics>
  )
}

function SweepPicture({ trials, settings }: { trials: Trial[]; settings: SweptSetting[] }) {
  const scores = trials.map(({ score }) => score)
  const [low, high] = [Math.min(...scores), Math.max(...scores)]
  const axes = [...settings.map(axisOf), { ...numberAxis('return', [low, high]), scale: 'linear' as const }]
  const lines = trials.map(({ score, values }, index) => ({
    values: [...settings.map((setting) => placeOf(setting, values[setting.name] ?? null)), score],
    strength: high === low ? 1 : (score - low) / (high - low),
    best: index === 0,
  }))
  const names = settings.map(({ name }) => name).join(', ')
  return (
    <section class="sweep-picture" aria-label="Parallel coordinates" tabindex={0}>
      <Picture picture={parallelCoordinates(axes, lines, `${trials.length} runs over ${names} and return.`)} />
    </section>
  )
}

function axisOf(setting: SweptSetting): Axis {
  const { name, kind, scale, values } = setting
  if (kind === 'number') return { ...numberAxis(name, values as number[]), scale }
  const labels = values.map((value, at) => ({ at, text: textOf(value) }))
  return { name, scale: 'linear', low: 0, high: values.length - 1, labels }
}

function numberAxis(name: string, values: number[]) {
  const [low, high] = [values[0], values[values.length - 1]]
  return { name, low, high, labels: [low, high].map((at) => ({ at, text: formatMetric(at) })) }
}

function placeOf({ kind, values }: SweptSetting, value: unknown): number {
  if (kind === 'number' && typeof value === 'number') return value
  return values.findIndex((other) => JSON.stringify(other) === JSON.stringify(value))
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 14 ? `${text.slice(0, 13)}…` : text
}

const importanceColumns: Column<SweptSetting>[] = [
  { title: 'Setting', heading: true, cell: ({ name }) => <code>{name}</code> },
  { title: 'Importance', numeric: true, cell: ({ importance }) => formatMetric(importance, 'share') },
  { title: 'Better', cell: ({ direction }) => direction ?? '–' },
]

function trialColumns(settings: SweptSetting[]): Column<Trial>[] {
  return [
    {
      title: 'Run',
      heading: true,
      cell: ({ run }) => (
        <span class="run-name">
          <a href={`/runs/${run.id}`}>{runName(run)}</a>
          <span class="run-name-id">{run.id.slice(0, 8)}</span>
        </span>
      ),
    },
    {
      title: 'Result',
      cell: ({ run, score }) => <Outcome success={run.evaluation?.success} returnMean={score} form="short" />,
    },
    { title: 'State', cell: ({ run }) => <RunState state={run.state} />, wide: true },
    ...settings.map(
      ({ name }): Column<Trial> => ({
        title: name,
        numeric: true,
        wide: true,
        cell: ({ values }) => JSON.stringify(values[name] ?? null),
      }),
    ),
  ]
}
