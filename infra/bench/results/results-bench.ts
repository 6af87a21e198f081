import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Evaluation, ProgressEvent } from '@agentgym/contract'
import { type BuiltScenario, loadScenario, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from '../figure.ts'
import { type FinishedRun, keepFinishedRun, readFinishedRuns } from './finished-runs.ts'
import { resultsPage } from './results-page.ts'
import { interquartileMean } from './statistics.ts'
import { type Experiment, seeds, suite } from './suite.ts'

const page = fileURLToPath(new URL('../../../docs/results.md', import.meta.url))

/**
 * Trains the suite with default settings and writes docs/results.md. Finished runs are kept in finished-runs.jsonl: the
 * command can be interrupted, and continues where it was. A run is repeated if its scenario or a default has changed.
 * `only` names experiments; empty: all. With `pageOnly` nothing is trained.
 */
export async function resultsBenchmark(
  folder: string,
  { only, pageOnly, say }: { only: string[]; pageOnly: boolean; say: (line: string) => void },
): Promise<Figure[]> {
  const experiments = suite.filter(({ id }) => only.length === 0 || only.includes(id))
  for (const experiment of pageOnly ? [] : experiments) {
    // One after the other, and the page after each: the first rows can be read while the last ones train.
    for (const seed of seeds) await runOnce(experiment, seed, folder, say)
    await writePage()
  }
  await writePage()
  return (await readFinishedRuns()).length === 0 ? [] : figures(experiments)
}

async function runOnce(experiment: Experiment, seed: number, folder: string, say: (line: string) => void) {
  const { id, scenario: name, steps, set = {} } = experiment
  const scenario = await untuned(name)
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
  const score = scoreOf(experiment, result.evaluation)
  const success = result.evaluation.success.ok === true
  const untrained = first === undefined ? score : scoreOf(experiment, first)
  const run = { experiment: id, seed, configuration, score, untrained, success, chosen }
  await keepFinishedRun({ ...run, steps: result.steps, seconds: Math.round(result.seconds) })
  say(`  ${experiment.metric} ${score.toFixed(2)}, ${Math.round(result.seconds)} s`)
}

/** The scenario as if its author had set nothing. */
async function untuned(name: string): Promise<BuiltScenario> {
  const scenario = await loadScenario(fileURLToPath(new URL(`../../../plugins/${name}`, import.meta.url)))
  const { agentgym } = scenario.package
  return { ...scenario, package: { ...scenario.package, agentgym: { ...agentgym, training: {} } } }
}

const chosenDefaults = fileURLToPath(new URL('../../../runtime/src/training/chosen-defaults.ts', import.meta.url))

/**
 * Of all that decides a run, the code included that chooses settings by the scenario. The same on every machine: numbers of
 * threads change the last bits at most.
 */
async function digestOf({ hash }: BuiltScenario, plan: ReturnType<typeof resolvePlan>): Promise<string> {
  const { rollout_workers, learner_threads, checkpoint_every, ...settings } = plan.settings
  return createHash('sha256')
    .update(JSON.stringify({ hash, algorithm: plan.algorithm, settings }))
    .update(await readFile(chosenDefaults))
    .digest('hex')
}

function scoreOf({ metric }: Experiment, of: Pick<Evaluation, 'metrics'> & { return_mean: number | null }): number {
  const score = metric === 'return_mean' ? of.return_mean : of.metrics[metric]
  if (score === null || score === undefined) throw new Error(`no ${metric} was measured`)
  return score
}

async function writePage(): Promise<void> {
  await writeFile(page, resultsPage(suite, seeds, await readFinishedRuns()))
}

async function figures(experiments: Experiment[]): Promise<Figure[]> {
  const runs = await readFinishedRuns()
  return experiments.flatMap(({ id, metric, target }) => {
    const scores = runs.filter(({ experiment }) => experiment === id).map(({ score }) => score)
    if (scores.length === 0) return []
    const what = `${id}: interquartile mean of ${scores.length} seeds`
    return [{ id: id.replaceAll('-', '_'), what, value: interquartileMean(scores), unit: metric, bar: target }]
  })
}
