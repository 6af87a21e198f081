import { join } from 'node:path'
import { AgentGymError, resolveTrainingPlan, shortStudyId, trainingAlgorithms } from '@agentgym/contract'
import type { Importance, PairedInterval } from '@agentgym/runtime'
import type { Command } from 'commander'
import type { CommandContext, MakeAction, Runtime } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { collectSetting, countRange, seedRange, seedText, wholeNumber } from '../option-values.ts'
import { noteMissingWorker } from '../registry/missing-worker.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import {
  CURRENT,
  confirmBest,
  drawnSettings,
  fixedSettings,
  metricText,
  type StudyRun,
  searchSettings,
} from '../tuning/run-study.ts'
import {
  type RemoteStudy,
  type Study,
  type StudyConfirmation,
  StudyFolder,
  type StudyResult,
} from '../tuning/study-folder.ts'
import { defaultParallel, openPlace, remoteStudy, type StudyPlace, trainerOf } from '../tuning/study-place.ts'
import type { StudyTrainer } from '../tuning/study-trainer.ts'
import { blockChanges, tunedBlock, writeTrainingBlock } from '../tuning/training-block.ts'
import { settingText, tuneView } from '../tuning/tune-view.ts'

export function addTuneCommand(program: Command, action: MakeAction): void {
  program
    .command('tune')
    .argument('<TARGET>', 'scenario folder, built-in name, or @scope/name[@range] from the registry')
    .description("search for a scenario's training settings")
    .option('--algorithm <NAME>', `${trainingAlgorithms.join(', ')} (default: the scenario's, else ppo)`)
    .option(
      '--steps <N>',
      "environment steps of a whole run (default: the scenario's)",
      wholeNumber('steps', countRange),
    )
    .option(
      '--budget <N>',
      'environment steps of the search (default: 10 whole runs)',
      wholeNumber('budget', countRange),
    )
    .option('--seed <S>', `${seedText} (default: 1)`, wholeNumber('seed', seedRange))
    .option('--set <KEY=VALUE>', 'setting that is fixed, not searched (repeatable)', collectSetting)
    .option('--metric <NAME>', 'what is maximized on held-out episodes (default: return_mean)')
    .option(
      '--confirm <N>',
      'new seeds to compare the result with the current settings (default: 5)',
      wholeNumber('confirm', { least: 2, greatest: 100 }),
    )
    .option(
      '--parallel <N>',
      'runs at once (default: one a core; remote: one for each that the workers can train at once)',
      wholeNumber('parallel', { least: 1, greatest: 256 }),
    )
    .option('--remote', "train on the server's workers; TARGET is @scope/name[@range]")
    .option('--run-budget <AMOUNT>', 'remote: spending limit of each run, such as 2.50, in the currency of the server')
    .option('--account <NAME>', 'remote: organization that owns the runs (default: your account)')
    .option('-y, --yes', 'remote: accept the price of a paid scenario without prompting')
    .option('--out <DIR>', 'folder of the study (default: tune/NAME)')
    .option('--resume', 'continue an interrupted study, or show a complete one')
    .option('--write', "write the best settings into the scenario's package.json, if they are better beyond noise")
    .action(action(tune))
}

type TuneFlags = {
  algorithm?: string
  steps?: number
  budget?: number
  seed?: number
  set?: Record<string, string>
  metric?: string
  confirm?: number
  parallel?: number
  out?: string
  resume?: boolean
  write?: boolean
  remote?: boolean
  runBudget?: string
  account?: string
  yes?: boolean
}

const remoteOptions = { runBudget: '--run-budget', account: '--account', yes: '--yes' } as const

const REDUCTION = 3
/** A shorter run says nothing of a longer one. */
const LEAST_RUNG_STEPS = 2_000
/** Halvings at most: the first rung is a 27th of a run. */
const MOST_RUNGS = 4
const DEFAULT_RUNS = 10
const DEFAULT_SEEDS = 5

/** `agentgym tune`: successive halving over the settings of a scenario, and a comparison of the best with the current ones. */
export async function tune(target: string, flags: TuneFlags, context: CommandContext): Promise<void> {
  refuseContradictions(flags)
  const runtime = await context.runtime()
  const place = await openPlace(target, flags, { runtime, context })
  const { scenario } = place
  const out = context.resolve(flags.out ?? join('tune', unscopedName(scenario.package.name)))
  const folder = new StudyFolder(out, runtime)
  const release = await runtime.lockRun(out)
  const interrupt = cancelOnInterrupt(context, () => view.stopping())
  const view = tuneView(context)
  let trainer: StudyTrainer | undefined
  try {
    const study = await openStudy(folder, flags, { place, runtime, context })
    trainer = trainerOf(place, { study, folder, runtime, signal: interrupt.signal })
    const run: StudyRun = { study, folder, scenario, runtime, trainer, view, context }
    for (const line of startLines(run, out)) context.print(line)
    if (place.remote) await noteMissingWorker(place.connection, context)
    const { results, best } = await searchSettings(run)
    if (best === null) throw nothingTrained(results)
    const confirmation = best.candidate === CURRENT ? [] : await confirmBest(run, best.candidate)
    view.close()
    await folder.removeCheckpoints()
    const source = place.remote ? '' : place.source
    await report(run, { results, best, confirmation }, { target, source, write: flags.write ?? false })
  } catch (error) {
    view.close()
    throw explained(error, target, flags, context)
  } finally {
    await trainer?.close()
    interrupt.release()
    await release()
  }
}

function refuseContradictions(flags: TuneFlags): void {
  const given = Object.entries(remoteOptions).find(([name]) => flags[name as keyof TuneFlags] !== undefined)
  const clash = (message: string, hint: string) => new AgentGymError({ code: 'usage_invalid', message, hint })
  if (given !== undefined && !flags.remote) {
    throw clash(`${given[1]} needs --remote`, `Add --remote, or remove ${given[1]}.`)
  }
  if (flags.write && flags.remote) {
    const hint = 'Tune the folder of your scenario to change it, or copy the changes that the command shows.'
    throw clash('--write and --remote cannot be combined', hint)
  }
}

type Parts = { place: StudyPlace; runtime: Runtime; context: CommandContext }

/** A new study, or with `--resume` the one in the folder, which keeps its options. */
async function openStudy(folder: StudyFolder, flags: TuneFlags, { place, runtime, context }: Parts): Promise<Study> {
  const { scenario, hash } = place
  const existing = await folder.read()
  const shown = shellQuote(context.displayPath(folder.path))
  if (existing !== null) {
    if (!flags.resume) {
      throw new AgentGymError({
        code: 'usage_invalid',
        message: `${shown} already contains a study`,
        hint: 'Use --resume to continue it, or --out DIR for another folder.',
        data: { path: folder.path },
      })
    }
    if (existing.scenario.hash !== hash) {
      throw new AgentGymError({
        code: 'scenario_mismatch',
        message: `the study in ${shown} is of another build of ${existing.scenario.name}`,
        hint: 'Restore the scenario as it was, or start another study with --out DIR.',
        data: { path: folder.path },
      })
    }
    return existing
  }
  if (flags.resume) {
    throw new AgentGymError({
      code: 'file_not_found',
      message: `no study to resume in ${shown}`,
      hint: 'Remove --resume to start a study, or set its folder with --out.',
      data: { path: folder.path },
    })
  }
  const plan = runtime.resolvePlan(scenario, flags)
  const { steps } = plan.settings
  const least = Math.max(LEAST_RUNG_STEPS, steps / REDUCTION ** (MOST_RUNGS - 1))
  const { name, version } = scenario.package
  const study: Study = {
    format: 1,
    scenario: { name, version, hash },
    algorithm: plan.algorithm,
    steps,
    rungs: runtime.rungsOf({ most: steps, least: Math.floor(least), reduction: REDUCTION }),
    reduction: REDUCTION,
    budget: flags.budget ?? DEFAULT_RUNS * steps,
    seed: flags.seed ?? 1,
    parallel: flags.parallel ?? (await defaultParallel(place)),
    metric: flags.metric ?? 'return_mean',
    fixed: flags.set ?? {},
    confirm: flags.confirm ?? DEFAULT_SEEDS,
  }
  if (place.remote) study.remote = await remoteStudy(place, study, flags, context)
  await folder.begin(study)
  return study
}

function startLines({ study, context }: StudyRun, out: string): string[] {
  const { paint, symbols } = context.terminal
  const { name, version } = study.scenario
  const runs = study.budget / study.steps
  return [
    `${symbols.next} Tuning ${paint.bold(safeText(`${name}@${version}`, 230))} with ${study.algorithm}, ${formatCount(study.budget)} steps (${formatValue(Math.round(runs * 10) / 10)} whole runs), ${study.parallel} at a time, seed ${study.seed}`,
    `  ${paint.dim('Then')} ${study.confirm} ${paint.dim('new seeds of the best and the current settings:')} up to ${formatCount(2 * study.confirm * study.steps)} steps`,
    ...(study.remote ? [`  ${paint.dim('Runs on the server:')} ${safeText(sweepAddress(study.remote, name))}`] : []),
    `  ${paint.dim('Study folder:')} ${safeText(context.displayPath(out))}`,
  ]
}

/** The page that compares the study's runs. */
function sweepAddress({ server, id }: RemoteStudy, scenario: string): string {
  const page = new URL('/runs/sweep', server)
  page.search = String(new URLSearchParams({ scenario, study: shortStudyId(id) }))
  return page.href
}

type Outcome = { results: StudyResult[]; best: StudyResult; confirmation: StudyConfirmation[] }
/** `unproven`: better or worse within the noise; `faster`: no better in the end, but it learns earlier. */
type Verdict = 'current' | 'better' | 'faster' | 'unproven'

async function report(
  run: StudyRun,
  outcome: Outcome,
  { target, source, write }: { target: string; source: string; write: boolean },
): Promise<void> {
  const { study, scenario, runtime, folder, context } = run
  const { best, results, confirmation } = outcome
  const settings = drawnSettings(run, best.candidate)
  const importance = importanceOf(run, results)
  const compared = compare(runtime, confirmation)
  const verdict: Verdict =
    best.candidate === CURRENT
      ? 'current'
      : compared.score.low > 0
        ? 'better'
        : compared.score.mean >= 0 && compared.area.low > 0
          ? 'faster'
          : 'unproven'
  const before = scenario.package.agentgym.training
  const block =
    best.candidate === CURRENT ? before : tunedBlock(before, study.algorithm, { steps: study.steps, ...settings })
  const picture = await folder.writePicture(picturedStudy(run, outcome, importance))
  const recommended = verdict === 'better' || verdict === 'faster'
  const written = write && recommended ? await writeTrainingBlock(source, block, runtime) : null
  context.printJson({
    ...{ event: 'tuned', verdict, candidate: best.candidate, rung: best.rung, score: best.score, settings },
    ...{
      comparison: best.candidate === CURRENT ? null : finiteIntervals(compared),
      importance,
      training: block,
      picture,
    },
    written,
  })
  const lines = [
    ...settingLines(run, outcome, importance),
    ...verdictLines(run, verdict, compared, outcome),
    ...endLines(run, { verdict, write, written, picture, target, changes: blockChanges(before, block) }),
  ]
  for (const line of lines) context.print(line)
}

type Comparison = { score: PairedInterval; area: PairedInterval }

function compare(runtime: Runtime, confirmation: StudyConfirmation[]): Comparison {
  const seeds = [...new Set(confirmation.map(({ seed }) => seed))]
  const pairs = seeds.flatMap((seed) => {
    const of = (arm: string) => confirmation.find((one) => one.seed === seed && one.arm === arm)
    const [best, current] = [of('best'), of('current')]
    return best === undefined || current === undefined ? [] : [{ best, current }]
  })
  const interval = (value: 'score' | 'area') =>
    runtime.pairedInterval(
      pairs.map(({ best }) => best[value]),
      pairs.map(({ current }) => current[value]),
    )
  return { score: interval('score'), area: interval('area') }
}

/** JSON has no infinity. */
function finiteIntervals({ score, area }: Comparison) {
  const finite = ({ mean, low, high, pairs }: PairedInterval) => ({
    ...{ mean, pairs },
    low: Number.isFinite(low) ? low : null,
    high: Number.isFinite(high) ? high : null,
  })
  return { score: finite(score), mean_training_return: finite(area) }
}

/** Of all candidates at the first rung, where most of them are. */
function importanceOf(run: StudyRun, results: StudyResult[]): Importance[] {
  const observations = results.flatMap(({ candidate, rung, score }) =>
    rung !== 0 || score === null || candidate === CURRENT ? [] : [{ settings: drawnSettings(run, candidate), score }],
  )
  return run.runtime.settingImportance(observations)
}

function picturedStudy({ study, runtime }: StudyRun, { results, best }: Outcome, importance: Importance[]): string {
  const candidates = [...new Set(results.map(({ candidate }) => candidate))]
  const curves = candidates.map((candidate) => ({
    candidate,
    points: results
      .filter((result) => result.candidate === candidate)
      .sort((a, b) => a.rung - b.rung)
      .flatMap(({ rung, score }) => (score === null ? [] : [{ steps: study.rungs[rung], score }])),
  }))
  const { name, version } = study.scenario
  return runtime.drawStudy({
    title: `${name}@${version} · ${study.algorithm.toUpperCase()} · ${candidates.length} candidates`,
    metric: study.metric === 'return_mean' ? 'return' : study.metric,
    curves: curves.filter(({ points }) => points.length > 0),
    best: best.candidate,
    current: results.some(({ candidate }) => candidate === CURRENT) ? CURRENT : null,
    importance,
  })
}

/** The searched settings: what the scenario has, what won, and what each explains. */
function settingLines(run: StudyRun, { results, best }: Outcome, importance: Importance[]): string[] {
  const { study, scenario, context } = run
  const { paint, symbols } = context.terminal
  const count = new Set(results.map(({ candidate }) => candidate)).size
  const failed = results.filter(({ score }) => score === null).length
  const found = best.candidate === CURRENT ? 'the current settings' : `#${best.candidate}`
  const head = `${paint.accent(symbols.ok)} Best of ${formatCount(count)} candidates after ${formatCount(study.rungs[best.rung])} steps: ${found}, ${metricText(study)} ${formatValue(best.score)}${failed === 0 ? '' : paint.dim(` (${failed} failed)`)}`
  const current = resolveTrainingPlan(scenario.package.agentgym.training, {
    algorithm: study.algorithm,
    settings: fixedSettings(study),
  }).settings as Record<string, unknown>
  const settings = drawnSettings(run, best.candidate) as Record<string, unknown>
  const space = run.runtime.searchSpaces[study.algorithm]
  const shares = new Map(importance.map(({ setting, share }) => [setting, share]))
  const names = Object.keys(space)
    .filter((name) => !Object.hasOwn(study.fixed, name))
    .sort((a, b) => (shares.get(b) ?? 0) - (shares.get(a) ?? 0))
  const rows = names.map((name) => {
    const share = shares.get(name)
    const now = settingText(current[name])
    return [
      name,
      now === '-' ? 'by default' : now,
      settingText(settings[name] ?? current[name]),
      share === undefined ? '-' : `${Math.round(share * 100)}%`,
    ]
  })
  const columns = [
    { title: '  Setting', shrink: true },
    { title: 'Current', align: 'right' },
    { title: 'Best', align: 'right' },
    { title: 'Explains', align: 'right' },
  ] as const
  const indented = rows.map(([name, ...rest]) => [`  ${name}`, ...rest])
  return [
    head,
    ...renderTable(columns, indented, context.terminal, (text, row, column) =>
      column === 2 && rows[row][1] !== rows[row][2] ? paint.bold(text) : column === 3 ? paint.dim(text) : text,
    ),
    `  ${paint.dim(
      importance.length === 0
        ? 'Too few candidates to say which settings matter.'
        : `Explains: share of the variance of ${formatCount(count)} candidates' ranks after ${formatCount(study.rungs[0])} steps, each setting by itself.`,
    )}`,
  ]
}

function verdictLines(
  { study, context }: StudyRun,
  verdict: Verdict,
  compared: Comparison,
  outcome: Outcome,
): string[] {
  const { paint, symbols } = context.terminal
  if (verdict === 'current')
    return [`${paint.accent(symbols.ok)} No candidate was better than the current settings: keep them`]
  const { score, area } = compared
  const mean = (arm: string) => {
    const scores = outcome.confirmation.filter((one) => one.arm === arm).map((one) => one.score)
    return formatValue(scores.reduce((sum, value) => sum + value, 0) / scores.length)
  }
  const signed = (value: number) => (value > 0 ? `+${formatValue(value)}` : formatValue(value))
  const interval = ({ mean, low, high }: PairedInterval) =>
    `${signed(mean)} (95% interval ${signed(low)} to ${signed(high)})`
  const against = `${metricText(study)} ${mean('best')} against ${mean('current')} on ${score.pairs} new seeds`
  const lines = {
    better: `${paint.accent(symbols.ok)} Better than the current settings: ${against}`,
    faster: `${paint.accent(symbols.ok)} As good in the end, and faster: ${against}`,
    unproven: `${paint.warn(symbols.warning)} Not better than the current settings beyond noise: ${against}`,
  }
  return [
    lines[verdict],
    `  ${paint.dim('Difference at the end')} ${interval(score)}`,
    `  ${paint.dim('Difference of the mean return in training')} ${interval(area)}`,
  ]
}

type Ending = {
  verdict: Verdict
  write: boolean
  written: string | null
  picture: string
  target: string
  changes: ReturnType<typeof blockChanges>
}

function endLines({ study, context, folder }: StudyRun, ending: Ending): string[] {
  const { paint, symbols } = context.terminal
  const { verdict, write, written, picture, target, changes } = ending
  const drew = `${paint.accent(symbols.ok)} Drew the study in ${paint.bold(safeText(context.displayPath(picture)))}`
  if (verdict === 'current') return [drew]
  const out = shellQuote(context.displayPath(folder.path))
  if (verdict === 'unproven') {
    const refused = write ? [`${paint.warn(symbols.warning)} Nothing was written: the current settings stay`] : []
    const budget = `--budget ${2 * study.budget}`
    return [
      drew,
      ...refused,
      `${symbols.next} Search longer: ${paint.accent(`agentgym tune ${shellQuote(target)} ${budget} --out DIR`)}`,
    ]
  }
  const diff = changes.flatMap(({ name, before, after }) => [
    ...(before === undefined ? [] : [`  ${paint.fail(`- ${name}: ${JSON.stringify(before)}`)}`]),
    ...(after === undefined ? [] : [`  ${paint.accent(`+ ${name}: ${JSON.stringify(after)}`)}`]),
  ])
  const shown = written === null ? null : paint.bold(safeText(context.displayPath(written)))
  if (shown !== null) return [drew, `${paint.accent(symbols.ok)} Wrote agentgym.training in ${shown}`, ...diff]
  const command = `agentgym tune ${shellQuote(target)} --out ${out} --resume --write`
  return [
    drew,
    `${symbols.next} Changes of agentgym.training in package.json:`,
    ...diff,
    `${symbols.next} Write them: ${paint.accent(command)}`,
  ]
}

function nothingTrained(results: StudyResult[]): AgentGymError {
  const error = results.find((result) => result.error !== null)?.error
  return new AgentGymError({
    code: 'training_failed',
    message: error ? `no candidate could be trained: ${error}` : 'the budget is too small for a single candidate',
    hint: 'Give a larger --budget, or fix the setting that fails with --set.',
  })
}

/** A study that was stopped continues. */
function explained(error: unknown, target: string, flags: TuneFlags, context: CommandContext): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'training_cancelled') return error
  const out = flags.out === undefined ? '' : ` --out ${shellQuote(context.displayPath(flags.out))}`
  const command = `agentgym tune ${shellQuote(target)}${flags.remote ? ' --remote' : ''}${out} --resume`
  return new AgentGymError(
    {
      code: 'training_cancelled',
      message: 'the study was stopped; what has finished is kept',
      hint: `Continue it: ${command}`,
      data: { resume: command },
    },
    { cause: error },
  )
}
