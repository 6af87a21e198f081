import type { FinishedRun } from './finished-runs.ts'
import { type Interval, interquartileMean, stratifiedBootstrap } from './statistics.ts'
import type { Experiment } from './suite.ts'

/** docs/results.md: what the finished runs reached, and which are missing. */
export function resultsPage(
  suite: readonly Experiment[],
  seeds: readonly number[],
  runs: readonly FinishedRun[],
): string {
  const rows = suite.map((experiment) => ({ experiment, runs: runsOf(experiment, runs, seeds) }))
  const plain = rows.filter(({ experiment: { set, tuned } }) => set === undefined && tuned === undefined)
  const tuned = rows.filter(({ experiment }) => experiment.tuned)
  const compared = rows.filter(({ experiment }) => experiment.set !== undefined)
  return `${[
    ...introduction(seeds.length),
    ...table(plain, seeds.length),
    '',
    ...overall(plain, seeds.length),
    '',
    '## Beside tuned settings',
    '',
    'The same with the `training` block of the scenario, which its author tuned. Share of tuned is what nothing set reaches on the way',
    'from the untrained policy (0%) to the tuned one (100%). Steps differ where the block asks for more.',
    '',
    ...besideTuned(tuned, rows, seeds.length),
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

export type Row = { experiment: Experiment; runs: FinishedRun[] }

/** Of these seeds, in their order; not those of an experiment that had other steps then. */
export function runsOf(experiment: Experiment, runs: readonly FinishedRun[], seeds: readonly number[]): FinishedRun[] {
  const { id, steps, tuned = false } = experiment
  // Only whole rollouts are played. A training block may end a run early.
  const least = tuned ? 1 : 0.9 * steps
  const own = runs.filter((run) => run.experiment === id && seeds.includes(run.seed))
  return own.filter((run) => run.steps <= 1.1 * steps && run.steps >= least).toSorted((a, b) => a.seed - b.seed)
}

const introduction = (seeds: number) => [
  '# Results',
  '',
  'What PPO reaches with nothing set but the number of steps: the `training` block of each scenario is removed. Written by',
  '`npm run bench -- results`, which trains what is missing and can be interrupted. Every folder of `plugins/` is in it.',
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

/** From here on, nothing set counts as good as tuned. */
const WITHIN = 0.9

function besideTuned(tuned: Row[], all: Row[], seeds: number): string[] {
  const shares = tuned.map((row) => {
    const plain = all.find(({ experiment }) => experiment.id === row.experiment.scenario)
    const share = plain === undefined || plain.runs.length === 0 || row.runs.length === 0 ? null : shareOf(plain, row)
    return { row, plain, share }
  })
  const known = shares.filter(({ share }) => share !== null)
  const below = known.filter(({ share }) => (share ?? 0) < WITHIN).map(({ row }) => row.experiment.scenario)
  return [
    '| Scenario | Nothing set | at steps | Tuned | at steps | Share of tuned |',
    '|---|---:|---:|---:|---:|---:|',
    ...shares.map(({ row, plain, share }) => {
      const { scenario, steps } = row.experiment
      const percent = share === null ? '' : `${minus((100 * share).toFixed(0))}%`
      const [own, ownSteps] = [scoreText(plain?.runs ?? [], seeds), count(plain?.experiment.steps ?? 0)]
      return `| ${[scenario, own, ownSteps, scoreText(row.runs, seeds), count(steps), percent].join(' | ')} |`
    }),
    '',
    `Within 10% of tuned: ${known.length - below.length} of ${known.length} that were run with both${below.length === 0 ? '.' : `; not ${below.join(', ')}.`}`,
  ]
}

function shareOf(plain: Row, tuned: Row): number {
  const from = mean(plain.runs.map((run) => run.untrained))
  const reached = ({ runs }: Row) => interquartileMean(runs.map(({ score }) => score)) - from
  return reached(plain) / reached(tuned)
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
  '- Steps are those that 5 seeds of all scenarios can be trained for on two cores. Boards are slow, and snake needs millions:',
  '  [experiments.md](experiments.md#boards) has its curve.',
  '- `agentgym train` takes the `training` block of a scenario, which is tuned, and more steps where they are needed.',
]

/** Interquartile mean and interval. */
export function scoreText(runs: FinishedRun[], seeds: number, none = 'not run'): string {
  if (runs.length === 0) return none
  const scores = runs.map(({ score }) => score)
  const digits = digitsOf(scores)
  const partial = runs.length < seeds ? `, ${runs.length} of ${seeds} seeds` : ''
  return `${minus(interquartileMean(scores).toFixed(digits))} ${intervalText(stratifiedBootstrap([scores]), digits)}${partial}`
}

/** Decimals that a score of this size is printed with. */
export function digitsOf(scores: number[]): number {
  const largest = Math.max(...scores.map(Math.abs))
  return largest < 2 ? 2 : largest < 50 ? 1 : 0
}

function intervalText({ low, high }: Interval, digits: number): string {
  return `(${minus(low.toFixed(digits))} to ${minus(high.toFixed(digits))})`
}

/** Seeds that met all criteria. */
export function met(runs: FinishedRun[]): string {
  return runs.length === 0 ? '' : `${runs.filter(({ success }) => success).length} of ${runs.length}`
}

function untrained(runs: FinishedRun[]): string {
  if (runs.length === 0) return ''
  const value = mean(runs.map((run) => run.untrained))
  return minus(value.toFixed(Math.abs(value) < 2 ? 2 : 0))
}

/** What the seeds chose; they agree unless a scenario is at the edge of two cases. */
function discount(runs: FinishedRun[]): string {
  const chosen = runs.map(({ chosen: { gamma = '', gae_lambda = '' } }) => `${gamma} · ${gae_lambda}`)
  return [...new Set(chosen)].join(' or ')
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** With a minus sign instead of a hyphen. */
export function minus(value: number | string): string {
  return String(value).replace('-', '−')
}
