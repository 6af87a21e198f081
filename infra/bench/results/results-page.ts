import type { FinishedRun } from './finished-runs.ts'
import { type Interval, interquartileMean, stratifiedBootstrap } from './statistics.ts'
import type { Experiment } from './suite.ts'

/** docs/results.md: what the finished runs reached, and which are missing. */
export function resultsPage(
  suite: readonly Experiment[],
  seeds: readonly number[],
  runs: readonly FinishedRun[],
): string {
  const rows = suite.map((experiment) => {
    const own = runs.filter((run) => run.experiment === experiment.id && seeds.includes(run.seed))
    return { experiment, runs: own.toSorted((a, b) => a.seed - b.seed) }
  })
  const plain = rows.filter(({ experiment }) => experiment.set === undefined)
  const compared = rows.filter(({ experiment }) => experiment.set !== undefined)
  return `${[
    ...introduction(seeds.length),
    ...table(plain, seeds.length),
    '',
    ...overall(plain, seeds.length),
    '',
    '## Networks compared',
    '',
    'The same steps and seeds with one setting changed.',
    '',
    ...comparison(compared, rows),
    '',
    ...closing,
  ].join('\n')}\n`
}

type Row = { experiment: Experiment; runs: FinishedRun[] }

const introduction = (seeds: number) => [
  '# Results',
  '',
  'What PPO reaches with nothing set but the number of steps: the `training` block of each scenario is removed. Written by',
  '`npm run bench -- results`, which trains what is missing and can be interrupted.',
  '',
  `The score is the mean over 100 held-out episodes that decided nothing. Of ${seeds} seeds, the table has the interquartile mean`,
  'and its 95% bootstrap interval (Agarwal et al. 2021), and on how many seeds all targets of the scenario are met. Untrained',
  'is the score of the first training episodes.',
  '',
]

function table(rows: Row[], seeds: number): string[] {
  return [
    '| Scenario | Steps | γ · λ | Untrained | Score | Target | Met | Published |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.map(({ experiment, runs }) => {
      const { scenario, metric, steps, target, published } = experiment
      const name = metric === 'return_mean' ? scenario : `${scenario}, ${metric}`
      const other = published === undefined ? '' : `${minus(published.score)} at ${count(published.steps)}`
      return `| ${[name, count(steps), discount(runs), untrained(runs), scoreText(runs, seeds), minus(target), met(runs), other].join(' | ')} |`
    }),
  ]
}

/** Progress from the untrained policy (0) to the target (1), over all scenarios. */
function overall(rows: Row[], seeds: number): string[] {
  const complete = rows.filter(({ runs }) => runs.length === seeds)
  if (complete.length === 0) return []
  const strata = complete.map(({ experiment, runs }) => {
    const from = mean(runs.map((run) => run.untrained))
    return runs.map(({ score }) => (score - from) / (experiment.target - from))
  })
  const scores = `${interquartileMean(strata.flat()).toFixed(2)} ${intervalText(stratifiedBootstrap(strata), 2)}`
  return [
    `Over these ${complete.length} scenarios, with 0 for the untrained policy and 1 for the target, the interquartile mean of all`,
    `seeds is **${scores}**, its interval from a bootstrap stratified by scenario.`,
  ]
}

function comparison(rows: Row[], all: Row[]): string[] {
  return [
    '| Scenario | Steps | By default | Changed | With the change |',
    '|---|---:|---:|---|---:|',
    ...rows.map(({ experiment, runs }) => {
      const { scenario, steps, set = {} } = experiment
      const base = all.find((row) => row.experiment.id === scenario)?.runs ?? []
      const changed = Object.entries(set).map(([name, value]) => `\`${name}=${value}\``)
      const seeds = Math.max(runs.length, base.length)
      return `| ${scenario} | ${count(steps)} | ${scoreText(base, seeds)} | ${changed.join(', ')} | ${scoreText(runs, seeds)} |`
    }),
  ]
}

const closing = [
  '## Sources and limits',
  '',
  '- Published: [RL-Zoo’s benchmark](https://github.com/DLR-RM/rl-baselines3-zoo/blob/master/benchmark.md), PPO, one run each with',
  '  settings tuned for the task, on Gymnasium’s environments (LunarLander-v2). MinAtar publishes learning curves over 5,000,000',
  '  frames and no numbers, so breakout has none here.',
  '- Steps are those that 5 seeds of all scenarios can be trained for on two cores. Boards are slow: 200,000 steps of breakout or',
  '  snake with convolutions take about two minutes on a core that has nothing else to do, and snake needs millions.',
  '- `agentgym train` takes the `training` block of a scenario, which is tuned, and more steps where they are needed.',
]

function scoreText(runs: FinishedRun[], seeds: number): string {
  if (runs.length === 0) return 'not run'
  const scores = runs.map(({ score }) => score)
  const digits = Math.max(...scores.map(Math.abs)) < 2 ? 2 : Math.max(...scores.map(Math.abs)) < 50 ? 1 : 0
  const partial = runs.length < seeds ? `, ${runs.length} of ${seeds} seeds` : ''
  return `${minus(interquartileMean(scores).toFixed(digits))} ${intervalText(stratifiedBootstrap([scores]), digits)}${partial}`
}

function intervalText({ low, high }: Interval, digits: number): string {
  return `(${minus(low.toFixed(digits))} to ${minus(high.toFixed(digits))})`
}

function met(runs: FinishedRun[]): string {
  return runs.length === 0 ? '' : `${runs.filter(({ success }) => success).length} of ${runs.length}`
}

function untrained(runs: FinishedRun[]): string {
  if (runs.length === 0) return ''
  const value = mean(runs.map((run) => run.untrained))
  return minus(value.toFixed(Math.abs(value) < 2 ? 2 : 0))
}

/** What the seeds chose; they agree unless a scenario is at the edge of two cases. */
function discount(runs: FinishedRun[]): string {
  const chosen = runs.map(({ chosen: { gamma, gae_lambda } }) => `${gamma} · ${gae_lambda}`)
  return [...new Set(chosen)].join(' or ')
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** With a minus sign instead of a hyphen. */
function minus(value: number | string): string {
  return String(value).replace('-', '−')
}
