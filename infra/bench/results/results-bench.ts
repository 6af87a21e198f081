import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Evaluation, ProgressEvent } from '@agentgym/contract'
import { type BuiltScenario, loadScenario, resolvePlan, train } from '@agentgym/runtime'
import { choiceRules, playScripted, scenarioCode, spacesOf } from '@agentgym/runtime/benchmarks'
import type { Figure } from '../figure.ts'
import { type FinishedRun, keepFinishedRun, readFinishedRuns } from './finished-runs.ts'
import { resultsPage, runsOf } from './results-page.ts'
import { scenarioTable, withTable } from './scenario-table.ts'
import { interquartileMean } from './statistics.ts'
import { type Experiment, plugins, readSuite, seeds } from './suite.ts'

const page = fileURLToPath(new URL('../../../docs/results.md', import.meta.url))

type Options = {
  /** Ids of experiments; empty: all. */
  only: string[]
  /** Nothing is trained. */
  pageOnly: boolean
  /** Only the first so many seeds are trained. */
  seeds: number
  /** Writes the table of each scenario's README as well. */
  readmes: boolean
  say: (line: string) => void
}

/**
 * Trains the suite with default settings and with those of the scenarios, and writes docs/results.md. Finished runs are kept in
 * finished-runs.jsonl: the command can be interrupted, and continues where it was. A run is repeated if its scenario or a
 * default has changed.
 */
export async function resultsBenchmark(
  folder: string,
  { only, pageOnly, seeds: count, readmes, say }: Options,
): Promise<Figure[]> {
  const suite = await readSuite()
  const unknown = only.filter((name) => suite.every(({ id }) => id !== name))
  if (unknown.length > 0) throw new Error(`no experiment ${unknown.join(', ')}; there are ${idsOf(suite)}`)
  const experiments = suite.filter(({ id }) => only.length === 0 || only.includes(id))
  for (const experiment of pageOnly ? [] : experiments) {
    // One after the other, and the page after each: the first rows can be read while the last ones train.
    for (const seed of seeds.slice(0, count)) await runOnce(experiment, seed, folder, say)
    await writePage(suite)
  }
  await writePage(suite)
  if (readmes) await writeReadmes(new Set(experiments.map(({ scenario }) => scenario)), suite, say)
  return (await readFinishedRuns()).length === 0 ? [] : figures(experiments)
}

const idsOf = (suite: Experiment[]) => suite.map(({ id }) => id).join(', ')

async function runOnce(experiment: Experiment, seed: number, folder: string, say: (line: string) => void) {
  const { id, steps, set = {}, metric } = experiment
  const scenario = await scenarioOf(experiment)
  const plan = resolvePlan(scenario, { steps, set })
  const configuration = await digestOf(scenario, plan)
  const finished = await readFinishedRuns()
  if (finished.some((run) => run.experiment === id && run.seed === seed && run.configuration === configuration)) return
  say(`${id}, seed ${seed}, ${steps} steps …`)
  let first: ProgressEvent | undefined
  let chosen: FinishedRun['chosen'] = {}
  const result = await train({
    ...{ scenario, plan, seed },
    out: join(folder, `${id}-${seed}`),
    onEvent: (event) => {
      if (event.event === 'defaults') chosen = event.settings
      if (event.event === 'progress' && event.return_mean !== null) first ??= event
    },
  })
  const score = measured(metric, result.evaluation)
  const success = result.evaluation.success.ok === true
  const untrained = first === undefined ? score : measured(metric, first)
  const names = Object.keys(scenario.package.agentgym.success)
  const criteria = Object.fromEntries(names.map((name) => [name, measured(name, result.evaluation)]))
  const run = { experiment: id, seed, configuration, score, untrained, success, criteria, chosen }
  await keepFinishedRun({ ...run, steps: result.steps, seconds: Math.round(result.seconds) })
  say(`  ${metric} ${score.toFixed(2)}, ${Math.round(result.seconds)} s`)
}

/** As it is, or as if its author had set nothing. */
async function scenarioOf({ scenario: name, tuned }: Experiment): Promise<BuiltScenario> {
  const scenario = await loadScenario(`${plugins}${name}`)
  if (tuned === true) return scenario
  const { agentgym } = scenario.package
  return { ...scenario, package: { ...scenario.package, agentgym: { ...agentgym, training: {} } } }
}

/** For JSON: leaves out a setting that says what runs did before there was one, or leaves it to the rules. */
function withoutEffect(name: string, value: unknown): unknown {
  return name === 'entropy_coefficient_schedule' && value !== 'linear' ? undefined : value
}

/**
 * Of all that decides a run, the rules included that choose settings by the scenario. The same on every machine: numbers of
 * threads change the last bits at most.
 */
async function digestOf(scenario: BuiltScenario, plan: ReturnType<typeof resolvePlan>): Promise<string> {
  // Where and how a run computes, which does not change what it learns.
  const { rollout_workers, learner_threads, checkpoint_every, ...others } = plan.settings
  const { learner_device, rollout_provider, ...settings } = others
  const rules = choiceRules(spacesOf(await scenarioCode(scenario)).observation, plan)
  return createHash('sha256')
    .update(JSON.stringify({ hash: scenario.hash, algorithm: plan.algorithm, settings, rules }, withoutEffect))
    .digest('hex')
}

function measured(name: string, of: Pick<Evaluation, 'metrics'> & { return_mean: number | null }): number {
  const value = name === 'return_mean' ? of.return_mean : of.metrics[name]
  if (value === null || value === undefined) throw new Error(`no ${name} was measured`)
  return value
}

async function writePage(suite: Experiment[]): Promise<void> {
  await writeFile(page, resultsPage(suite, seeds, await readFinishedRuns()))
}

/** The table of results in each scenario's README, which has what players without training reach besides. */
async function writeReadmes(names: Set<string>, suite: Experiment[], say: (line: string) => void): Promise<void> {
  const runs = await readFinishedRuns()
  for (const name of names) {
    say(`${name}/README.md …`)
    const scenario = await loadScenario(`${plugins}${name}`)
    const trained = suite.filter((experiment) => experiment.scenario === name)
    const table = scenarioTable({
      success: scenario.package.agentgym.success,
      players: playScripted(await scenarioCode(scenario)),
      trained: trained.map((experiment) => ({ experiment, runs: runsOf(experiment, runs, seeds) })),
      seeds: seeds.length,
    })
    const path = `${plugins}${name}/README.md`
    await writeFile(path, withTable(await readFile(path, 'utf8'), table))
  }
}

async function figures(experiments: Experiment[]): Promise<Figure[]> {
  const runs = await readFinishedRuns()
  return experiments.flatMap((experiment) => {
    const { id, metric, target } = experiment
    const scores = runsOf(experiment, runs, seeds).map(({ score }) => score)
    if (scores.length === 0) return []
    const what = `${id}: interquartile mean of ${scores.length} seeds`
    return [{ id: id.replaceAll('-', '_'), what, value: interquartileMean(scores), unit: metric, bar: target }]
  })
}
