import {
  AgentGymError,
  resolveTrainingPlan,
  type ScenarioPackage,
  settingValue,
  type TrainingPlan,
} from '@agentgym/contract'
import type { CommandContext, Runtime } from '../command-context.ts'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'
import type { Study, StudyConfirmation, StudyFolder, StudyResult } from './study-folder.ts'
import type { StudyTrainer } from './study-trainer.ts'
import { settingsText, type TuneState, type TuneView } from './tune-view.ts'

/** The scenario's own settings, as they are: every other candidate is drawn. */
export const CURRENT = 0

export type StudyRun = {
  study: Study
  folder: StudyFolder
  scenario: { package: ScenarioPackage }
  runtime: Runtime
  trainer: StudyTrainer
  view: TuneView
  context: CommandContext
}

/** Settings that candidate `candidate` has besides the scenario's and the fixed ones; none for the current ones. */
export function drawnSettings({ study, runtime }: Pick<StudyRun, 'study' | 'runtime'>, candidate: number) {
  if (candidate === CURRENT) return {}
  const { algorithm, seed, fixed, rungs } = study
  const space = runtime.searchSpaces[algorithm]
  return runtime.drawSettings(space, { seed, candidate, fixed: Object.keys(fixed), mostSamples: rungs[0] })
}

/** What `--set` gave. */
export function fixedSettings({ fixed }: Study): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fixed).map(([name, text]) => [name, settingValue(name, text)]))
}

/** How a candidate trains. `extra` wins over everything. */
function planOf(run: Pick<StudyRun, 'study' | 'runtime' | 'scenario'>, candidate: number, extra: object): TrainingPlan {
  const { study, scenario } = run
  // One thread each: jobs run side by side, and the same bits come out on a machine with other cores.
  const threads = { rollout_workers: 1, learner_threads: 1 }
  return resolveTrainingPlan(scenario.package.agentgym.training, {
    algorithm: study.algorithm,
    steps: study.steps,
    settings: { ...fixedSettings(study), ...drawnSettings(run, candidate), ...threads, ...extra },
  })
}

/** Successive halving over the study's budget. Jobs that the folder has results of are not run again. */
export async function searchSettings(run: StudyRun): Promise<{ results: StudyResult[]; best: StudyResult | null }> {
  const { study, folder, runtime, view } = run
  const known = await folder.results()
  const finished: StudyResult[] = [...known]
  const running = new Map<string, number>()
  let done = 0
  const state = () => stateOf(run, finished, { phase: 'search', done, running, total: study.budget })
  const asha = new runtime.Asha({ rungs: study.rungs, reduction: study.reduction, budget: study.budget })
  await runtime.runStudy(asha, study.parallel, async (job, index) => {
    const before = known.find((result) => result.job === index)
    if (before !== undefined) {
      if (before.candidate !== job.candidate || before.rung !== job.rung) throw otherStudy(folder.path)
      done += job.steps - job.from
      return before
    }
    const label = `#${job.candidate} at ${formatCount(job.steps)} steps`
    const onProgress = (steps: number) => {
      running.set(label, Math.max(0, steps - job.from))
      view.update(state())
    }
    const { result, checkpoint } = await trainJob(run, job, index, onProgress)
    await folder.addResult(result, checkpoint)
    running.delete(label)
    done += job.steps - job.from
    finished.push(result)
    run.context.printJson({ event: 'candidate', ...result, steps: job.steps })
    const now = state()
    const best = now.rungs[job.rung].best
    const text = result.score === null ? `failed: ${safeText(result.error ?? '', 120)}` : formatValue(result.score)
    view.finished(
      `${label}: ${metricText(study)} ${text}${best === null ? '' : ` (best here ${formatValue(best)})`}`,
      now,
    )
    return result
  })
  const best = asha.best()
  const found = best && finished.find(({ candidate, rung }) => candidate === best.candidate && rung === best.rung)
  return { results: finished.sort((a, b) => a.job - b.job), best: found ?? null }
}

/** Failures of a candidate's settings; a failure of the scenario or the machine ends the study. */
export const candidatesOwn: readonly string[] = ['training_diverged', 'config_invalid', 'scenario_out_of_memory']

async function trainJob(
  run: StudyRun,
  job: { candidate: number; rung: number; from: number; steps: number },
  index: number,
  onProgress: (steps: number) => void,
): Promise<{ result: StudyResult; checkpoint: Uint8Array | null }> {
  const { study } = run
  const { candidate, rung } = job
  const place = { job: index, candidate, rung }
  try {
    const plan = planOf(run, candidate, { evaluate_every: 0, stop_at_success: false, checkpoint_every: 0 })
    const trained = await run.trainer.candidate({ ...job, plan, onProgress })
    const score = scoreOf(study, trained.evaluation)
    const result = { ...place, score, tie: trained.meanReturn ?? score ?? 0, error: score === null ? 'no score' : null }
    return { result, checkpoint: trained.checkpoint }
  } catch (error) {
    if (!(error instanceof AgentGymError) || !candidatesOwn.includes(error.code)) throw error
    if (candidate === CURRENT && error.code === 'config_invalid') throw error
    return { result: { ...place, score: null, tie: 0, error: `${error.code}: ${error.message}` }, checkpoint: null }
  }
}

type Evaluated = { return_mean: number | null; metrics: Record<string, number> }

function scoreOf({ metric }: Study, evaluation: Evaluated): number | null {
  if (metric === 'return_mean') return evaluation.return_mean
  if (Object.hasOwn(evaluation.metrics, metric)) return evaluation.metrics[metric]
  throw new AgentGymError({
    code: 'config_invalid',
    message: `the scenario reports no metric ${JSON.stringify(metric)}`,
    hint: `Use return_mean${Object.keys(evaluation.metrics)
      .map((name) => `, ${name}`)
      .join('')}.`,
    data: { field: 'metric' },
  })
}

export function metricText({ metric }: Study): string {
  return metric === 'return_mean' ? 'return' : safeText(metric, 40)
}

/** The winner and the current settings, each trained whole with every seed of the confirmation, which the search never saw. */
export async function confirmBest(run: StudyRun, candidate: number): Promise<StudyConfirmation[]> {
  const { study, folder, trainer, view } = run
  const results = await folder.results()
  const done = (await folder.confirmations()).filter((one) => one.arm === 'current' || one.candidate === candidate)
  const wanted = confirmationSeeds(study).flatMap((seed) =>
    (['current', 'best'] as const).map((arm) => ({ arm, seed, candidate: arm === 'best' ? candidate : CURRENT })),
  )
  const left = wanted.filter((one) => !done.some(({ arm, seed }) => arm === one.arm && seed === one.seed))
  const running = new Map<string, number>()
  const total = wanted.length * study.steps
  const state = () => stateOf(run, results, { phase: 'confirm', done: done.length * study.steps, running, total })
  const train = async (one: (typeof wanted)[number]) => {
    const label = `${one.arm} ${one.seed}`
    const trained = await trainer.whole({
      ...one,
      plan: planOf(run, one.candidate, { stop_at_success: false }),
      onProgress: (steps) => {
        running.set(label, steps)
        view.update(state())
      },
    })
    const score = scoreOf(study, trained.evaluation)
    if (score === null) return
    const confirmation = { ...one, score, area: trained.meanReturn ?? score }
    await folder.addConfirmation(confirmation)
    running.delete(label)
    done.push(confirmation)
    run.context.printJson({ event: 'confirmation', ...confirmation })
    const arm = one.arm === 'best' ? `best settings (#${one.candidate})` : 'current settings'
    view.finished(`${arm}, seed ${one.seed}: ${metricText(study)} ${formatValue(score)}`, state())
  }
  await Promise.all(
    Array.from({ length: study.parallel }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await train(next)
    }),
  )
  return done
}

/** Seeds that the search does not use. */
function confirmationSeeds({ seed, confirm }: Study): number[] {
  return Array.from({ length: confirm }, (_, i) => (seed + 1_000_003 * (i + 1)) % 2 ** 32)
}

function stateOf(
  run: StudyRun,
  results: readonly StudyResult[],
  progress: Pick<TuneState, 'phase' | 'done' | 'running' | 'total'>,
): TuneState {
  const rungs = run.study.rungs.map((steps, rung) => {
    const scores = results.filter((result) => result.rung === rung).map(({ score }) => score)
    const known = scores.filter((score) => score !== null)
    return { steps, candidates: scores.length, best: known.length === 0 ? null : Math.max(...known), rung }
  })
  const highest = rungs.findLast(({ best }) => best !== null)
  const leader = results.find(({ rung, score }) => rung === highest?.rung && score === highest?.best)
  if (leader === undefined) return { ...progress, rungs, best: null }
  const settings = settingsText(drawnSettings(run, leader.candidate))
  return { ...progress, rungs, best: `#${leader.candidate}, ${settings === '' ? 'the current settings' : settings}` }
}

function otherStudy(path: string): AgentGymError {
  return new AgentGymError({
    code: 'checkpoint_invalid',
    message: `the results in ${path} belong to another study than study.json`,
    hint: 'Start another one with --out FOLDER.',
    data: { path },
  })
}
