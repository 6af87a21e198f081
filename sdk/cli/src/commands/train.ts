import { join } from 'node:path'
import {
  AgentGymError,
  type AgentParent,
  continuedNetwork,
  defaultedSettings,
  type ResultEvent,
  resolveTrainingPlan,
  type SuccessCriteria,
  trainingAlgorithms,
} from '@agentgym/contract'
import type { BuiltScenario, OpenedEnvironment, WarmStart } from '@agentgym/runtime'
import type { Command } from 'commander'
import { agentGymHome } from '../account/connection.ts'
import type { CommandContext, MakeAction, Runtime } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { collectSetting, countRange, oneOf, seedList, seedText, targetReturn, wholeNumber } from '../option-values.ts'
import { chooseGpu, type GpuPlace, gpuPlaces } from '../renting/choose-gpu.ts'
import { addRentOptions, type RentFlags } from '../renting/rent-options.ts'
import { type ComparedRun, comparisonLines, groupBySettings, writeCurves } from '../runs/compare-runs.ts'
import { returnCurve } from '../runs/local-report.ts'
import { findLocalRun, RunRecorder, readLocalCurve } from '../runs/local-runs.ts'
import { agentsFolder, obtainAgentFolder } from '../targets/agents.ts'
import { addEnvironmentOptions, type EnvironmentFlags, openEnvironment } from '../targets/environments.ts'
import { findLocalScenario, obtainScenarioFolder } from '../targets/scenarios.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { chooseView } from '../training-view/choose-view.ts'
import { parentText, type TrainingPlan } from '../training-view/run-state.ts'
import type { TrainingView } from '../training-view/training-view.ts'
import { warnOfMissingWalls } from '../walls.ts'
import {
  claimAgentFolder,
  dropEmptyRun,
  forgetRunRequest,
  type RunRequest,
  resumedRequest,
  writeRunRequest,
} from './agent-folder.ts'
import {
  addProcessOptions,
  type ProcessFlags,
  processText,
  refuseWithProcesses,
  togetherOf,
} from './train-processes.ts'
import { type RemoteFlags, trainRemote } from './train-remote.ts'
import { trainRented } from './train-rented.ts'

export function addTrainCommand(program: Command, action: MakeAction): void {
  const command = program
    .command('train')
    .argument('[TARGET]', 'scenario folder, built-in name, or @scope/name[@range] from the registry')
    .description('train an agent on a scenario, or on an environment of your own')
  addProcessOptions(addEnvironmentOptions(command, environmentText))
    .option('--target <RETURN>', 'with --env: mean return to reach on held-out episodes (default: none)', targetReturn)
    .option('--algorithm <NAME>', `${trainingAlgorithms.join(', ')} (default: the scenario's, else ppo)`)
    .option('--steps <N>', "environment steps (default: the scenario's)", wholeNumber('steps', countRange))
    .option('--seed <S>', `${seedText}, or several such as 1..5 or 1,7 (default: ${defaultSeed})`, seedList)
    .option('--out <DIR>', 'output folder of the agent (default: agents/NAME)')
    .option('--set <KEY=VALUE>', 'training setting, such as learning_rate=0.001 (repeatable)', collectSetting)
    .option(
      '--from <AGENT>',
      'start from the weights of an agent: a folder, @scope/name[@range] or the ID of a local run (remote: only a package)',
    )
    .option('--resume', 'resume an interrupted run from its last checkpoint')
    .option('--force', 'start over; an existing agent is moved aside')
    .option('--watch', 'full-screen dashboard; with --remote: follow the run and download the agent')
    .option('--remote', "train on the server's workers; TARGET is @scope/name[@range]")
    .option('--budget <AMOUNT>', 'remote: spending limit, such as 2.50, in the currency of the server')
    .option('--publish <NAME[@VERSION]>', 'remote: publish the agent when the run completes')
    .option('--summary <TEXT>', 'with --publish: one sentence for lists (needed for a new package)')
    .option('--private', 'with --publish: visible to members of the account only (new packages)')
    .option('--account <NAME>', 'remote: organization that owns the run (default: your account)')
    .option('--note <TEXT>', 'remote: note shown in lists of runs')
    .option(
      '--trajectories <N>',
      'remote: sample trajectories every N iterations',
      wholeNumber('trajectories', { least: 1, greatest: 1_000_000 }),
    )
    .option(
      '--workers <N>',
      'remote: train on N workers at once, which share the environments (default: 1)',
      wholeNumber('workers', { least: 1, greatest: 64 }),
    )
    .option('-y, --yes', 'remote: accept the price of a paid scenario and of a rented GPU without prompting')
    .option('--gpu <WHERE>', `train on a GPU: ${gpuPlaces.join(', ')}`, (text) => oneOf('gpu', text, gpuPlaces))
  addRentOptions(command).action(action(train))
}

const environmentText =
  'train on a process of yours: gymnasium:ID, python:MODULE:FUNCTION, openenv:URL, or the http:// or ws:// address of a server of the vector protocol'

export type TrainFlags = Omit<RemoteFlags, 'seed'> &
  RentFlags &
  EnvironmentFlags &
  ProcessFlags & {
    target?: number
    seed?: number[]
    resume?: boolean
    remote?: boolean
    gpu?: GpuPlace
  }

const defaultSeed = 1
const remoteOptions = [
  'budget',
  'publish',
  'summary',
  'private',
  'note',
  'account',
  'trajectories',
  'workers',
  'yes',
] as const

/**
 * `agentgym train`: trains an agent on a scenario in the sandbox, or on a process of the user's, and writes it as a package.
 */
export async function train(target: string | undefined, flags: TrainFlags, context: CommandContext): Promise<void> {
  refuseContradictions(flags, context)
  if (flags.env === undefined) return trainOnScenario(requireTarget(target), flags, context)
  refuseScenarioOptions(target, flags)
  const success: SuccessCriteria = flags.target === undefined ? {} : { return_mean: flags.target }
  const environment = await openEnvironment(flags.env, flags, success, context)
  try {
    await trainOn(environment, `--env ${shellQuote(flags.env)}`, flags, context)
  } finally {
    await environment.close()
  }
}

async function trainOnScenario(target: string, flags: TrainFlags, context: CommandContext): Promise<void> {
  if (flags.gpu !== undefined) return trainOnGpu(target, flags.gpu, flags, context)
  if (flags.remote) return trainRemote(target, { ...flags, seed: flags.seed?.[0] }, context)
  const runtime = await context.runtime()
  // Both wait for another program: esbuild, and one behind the walls.
  const [scenario] = await Promise.all([
    obtainScenarioFolder(target, context).then(runtime.loadScenario),
    warnOfMissingWalls(context),
  ])
  const local = (await findLocalScenario(target, context)) !== undefined
  // A run goes on with the version that it began with.
  const exact = local ? target : `${scenario.package.name}@${scenario.package.version}`
  await trainOn(scenario, shellQuote(exact), flags, context)
}

/** On a GPU of this machine, a rented one, or the server's. */
async function trainOnGpu(target: string, place: GpuPlace, flags: TrainFlags, context: CommandContext): Promise<void> {
  const { gpu, ...others } = flags
  const chosen = await chooseGpu(place, flags, context)
  const remote = { ...others, seed: flags.seed?.[0] }
  if (chosen.at === 'provider') return trainRented(target, remote, chosen, context)
  const { symbols } = context.terminal
  if (chosen.at === 'server') {
    context.print(`${symbols.next} GPU: a worker of the server`)
    return trainRemote(target, { ...remote, watch: true, needsGpu: true }, context)
  }
  context.print(`${symbols.next} GPU: ${safeText(chosen.gpu, 80)} of this machine`)
  return trainOnScenario(target, others, context)
}

/** `again` names the scenario or the environment in the command that resumes the run. */
async function trainOn(
  scenario: TrainJob['scenario'],
  again: string,
  flags: TrainFlags,
  context: CommandContext,
): Promise<void> {
  if (flags.watch && !(context.terminal.live && context.io.stdin.isTTY)) {
    context.print(`${context.terminal.symbols.warning} --watch needs a terminal; showing plain progress`)
  }
  const runtime = await context.runtime()
  const out = context.resolve(flags.out ?? join(agentsFolder, runtime.packageNameOf(scenario.package.name)))
  const from = flags.from === undefined ? undefined : await obtainAgentFolder(flags.from, context)
  const start = from === undefined ? undefined : await runtime.readWarmStart(from)
  const job = { again, flags, context, runtime, scenario, from, start }
  const [seed = defaultSeed, ...moreSeeds] = flags.seed ?? []
  if (moreSeeds.length > 0) return trainSeeds(job, [seed, ...moreSeeds], out)
  if (flags.resume) {
    const saved = await runtime.readSavedRun(out)
    const request = await resumedRequest(out, { ...flags, seed: flags.seed?.[0] }, saved?.checkpoint ?? null, context)
    if (saved !== null) {
      const plan = runtime.continuedPlan(saved, scenario, { ...request, processes: flags.processes })
      await trainOne(job, { request, plan, out, resume: true, parent: saved.checkpoint.parent })
      return
    }
    const start = request.from === undefined ? undefined : await runtime.readWarmStart(request.from)
    await trainOne({ ...job, start }, plannedRun({ ...job, start }, request, out))
    return
  }
  const run = newRun(job, seed, out)
  await claimFolder(out, job)
  await trainOne(job, run)
}

type TrainJob = {
  again: string
  flags: TrainFlags
  context: CommandContext
  runtime: Runtime
  scenario: BuiltScenario | OpenedEnvironment
  /** Folder of the agent to start from, and what it contains. */
  from: string | undefined
  start: WarmStart | undefined
}

type PlannedRun = {
  request: RunRequest
  plan: ReturnType<Runtime['resolvePlan']>
  out: string
  resume: boolean
  parent?: AgentParent
}

function newRun(job: TrainJob, seed: number, out: string): PlannedRun {
  const { algorithm, steps, set = {} } = job.flags
  return plannedRun(job, { algorithm, steps, seed, set, from: job.from }, out)
}

function plannedRun({ runtime, scenario, start, flags }: TrainJob, request: RunRequest, out: string): PlannedRun {
  const asked = { ...request, processes: flags.processes }
  const plan =
    start === undefined ? runtime.resolvePlan(scenario, asked) : runtime.warmStartPlan(scenario, asked, start)
  return { request, plan, out, resume: false, parent: start?.parent }
}

/** The same run with several seeds, one after the other; then all of them as a table and as a picture. */
async function trainSeeds(job: TrainJob, seeds: number[], out: string): Promise<void> {
  const { context } = job
  const runs = seeds.map((seed) => newRun(job, seed, `${out}-seed-${seed}`))
  // All folders first: none of them is refused after hours of training.
  for (const run of runs) await claimFolder(run.out, job)
  const done: ComparedRun[] = []
  for (const run of runs) {
    const recorded = await findLocalRun(context.io, await trainOne(job, run))
    if (recorded === null) continue
    done.push({ ...recorded, curve: returnCurve(await readLocalCurve(context.io, recorded.id)) })
  }
  const groups = groupBySettings(done)
  const picture = `${out}-seeds.svg`
  await writeCurves(groups, picture, context)
  context.printJson({ event: 'seeds', returns: groups[0]?.returns ?? null, picture })
  for (const line of comparisonLines(done, context.terminal)) context.print(line)
  const { paint, symbols } = context.terminal
  const shown = safeText(context.displayPath(picture))
  context.print(`${paint.accent(symbols.ok)} Drew the learning curves in ${paint.bold(shown)}`)
}

/** Trains and records one run; resolves to the ID of its record. */
async function trainOne(job: TrainJob, { request, plan, out, resume, parent }: PlannedRun): Promise<string> {
  const { flags, context, runtime, scenario, start } = job
  const { name, version, agentgym } = scenario.package
  const { algorithm, settings } = plan
  const shown: TrainingPlan = {
    scenario: `${name}@${version}`,
    title: agentgym.title,
    algorithm,
    steps: settings.steps,
    seed: request.seed,
    out: context.displayPath(out),
    resume,
    success: agentgym.success,
    settings,
    ...(parent === undefined ? {} : { parent: parentText(parent) }),
  }
  await writeRunRequest(out, request)
  const recorder = await RunRecorder.start(context.io, { ...shown, agent: out })
  let view: TrainingView | undefined
  const interrupt = cancelOnInterrupt(context, () => view?.stopping())
  let closed: Promise<void> | undefined
  let result: ResultEvent
  try {
    view = await chooseView({ watch: flags.watch ?? false }, context, interrupt)
    view.start({ ...shown, defaults: resume ? [] : defaultsOf(request, job) })
    result = await runtime.train({
      scenario,
      plan,
      seed: request.seed,
      out,
      home: agentGymHome(context.io),
      resume,
      start,
      signal: interrupt.signal,
      together: togetherOf(flags),
      logs: context.verbose,
      onEvent: (event) => {
        recorder.event(event)
        view?.event(event)
      },
    })
  } catch (error) {
    closed = view?.close()
    await closed
    await recorder.failed(error)
    await dropEmptyRun(out, context)
    throw explainCheckpoint(error, job, out)
  } finally {
    interrupt.release()
    if (!closed) await view?.close()
  }
  await forgetRunRequest(out)
  await recorder.completed(result)
  warnOfRecord(recorder, context)
  view.finish(result, { out: context.displayPath(result.agent) })
  if (!result.ok) context.exitCode = 1
  return recorder.id
}

/** A run that starts from an agent has its network, which is no default. */
function defaultsOf({ algorithm, steps, set }: RunRequest, { scenario, start }: TrainJob): string[] {
  const { training } = scenario.package.agentgym
  if (start === undefined) return defaultedSettings(training, { algorithm, steps, settings: set })
  const chosen = resolveTrainingPlan({}, { algorithm: algorithm ?? start.algorithm }).algorithm
  const network = continuedNetwork(chosen, start.policy)
  return defaultedSettings(training, { algorithm: chosen, steps, settings: { ...network, ...set } })
}

function warnOfRecord({ problem }: RunRecorder, { print, terminal }: CommandContext): void {
  if (problem === undefined) return
  const reason = problem instanceof Error ? problem.message : String(problem)
  print(`${terminal.symbols.warning} This run is missing from agentgym runs list: ${safeText(reason)}`)
}

function requireTarget(target: string | undefined): string {
  if (target !== undefined) return target
  throw new AgentGymError({
    code: 'usage_invalid',
    message: 'train needs a scenario, or an environment of yours',
    hint: 'Name a scenario, such as agentgym train cart-pole, or use --env gymnasium:CartPole-v1.',
  })
}

/** What is the scenario's, or the server's, where an environment of the user's is trained on. */
function refuseScenarioOptions(target: string | undefined, flags: TrainFlags): void {
  if (target === undefined && !flags.remote) return
  throw new AgentGymError({
    code: 'usage_invalid',
    message:
      target === undefined
        ? '--env and --remote cannot be combined'
        : `--env and the scenario ${shellQuote(target)} cannot be combined`,
    hint: target === undefined ? 'Workers cannot reach your process: train here.' : 'Remove one of them.',
  })
}

function refuseContradictions(flags: TrainFlags, context: CommandContext): void {
  const clash = (message: string, hint: string) => new AgentGymError({ code: 'usage_invalid', message, hint })
  refuseGpuContradictions(flags, clash)
  const remoteOnly = remoteOptions.find((name) => flags[name] !== undefined)
  if (remoteOnly !== undefined && !flags.remote && flags.gpu === undefined) {
    throw clash(`--${remoteOnly} needs --remote`, `Add --remote, or remove --${remoteOnly}.`)
  }
  refuseWithProcesses(flags)
  togetherOf(flags)
  if (flags.target !== undefined && flags.env === undefined) {
    throw clash('--target needs --env', "A scenario's own success criteria are in its package.json.")
  }
  if (flags.resume && flags.remote) {
    throw clash('--resume and --remote cannot be combined', 'Resume a remote run with agentgym runs resume ID.')
  }
  if ((flags.seed?.length ?? 1) > 1 && (flags.remote || flags.resume)) {
    const other = flags.remote ? 'remote' : 'resume'
    const hint = flags.remote ? 'Start one remote run for each seed.' : 'Resume one run at a time, with --out FOLDER.'
    throw clash(`several seeds and --${other} cannot be combined`, hint)
  }
  if (flags.remote && !flags.watch && (flags.out !== undefined || flags.force)) {
    const name = flags.out === undefined ? 'force' : 'out'
    throw clash(`--${name} needs --watch for a remote run`, 'Add --watch to download the agent when the run completes.')
  }
  if (flags.watch && context.json && !flags.remote) {
    throw clash('--watch and --json cannot be combined', 'Remove one of them.')
  }
  if (flags.resume && flags.from !== undefined) {
    throw clash('--resume and --from cannot be combined', 'A resumed run has its own weights: remove one of them.')
  }
  if (flags.resume && flags.force) {
    throw clash('--resume and --force cannot be combined', 'Remove one of them.')
  }
  if (flags.steps !== undefined && flags.set?.steps !== undefined) {
    throw clash('--steps and --set steps= cannot be combined', 'Remove one of them.')
  }
}

function refuseGpuContradictions(flags: TrainFlags, clash: (message: string, hint: string) => AgentGymError): void {
  const rentOnly = Object.keys(flags).find((name) => /^gpu./.test(name))
  if (flags.gpu === undefined && rentOnly !== undefined) {
    const option = `--${rentOnly.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    throw clash(`${option} needs --gpu`, `Add --gpu auto, or remove ${option}.`)
  }
  if (flags.gpu === undefined) return
  const hint = '--gpu chooses where to train. Remove one of them.'
  if (flags.remote) throw clash('--gpu and --remote cannot be combined', hint)
  if (flags.env !== undefined) throw clash('--gpu and --env cannot be combined', hint)
  if (flags.gpu !== 'local' && (flags.processes !== undefined || flags.rendezvous !== undefined))
    throw clash('--gpu and several processes cannot be combined', 'A rented machine trains in one process.')
  if (flags.resume && flags.gpu !== 'local')
    throw clash(
      '--resume and --gpu cannot be combined',
      'For a paused run: agentgym runs resume ID, then agentgym gpus rent ID.',
    )
  if ((flags.seed?.length ?? 1) > 1 && flags.gpu !== 'local')
    throw clash('several seeds and --gpu cannot be combined', 'Start one run for each seed.')
}

async function claimFolder(out: string, { flags, context, runtime }: TrainJob): Promise<void> {
  const { movedTo } = await claimAgentFolder(
    out,
    {
      force: flags.force ?? false,
      checkpoint: runtime.checkpointPath(out),
    },
    context,
  )
  if (movedTo)
    context.print(
      `${context.terminal.symbols.next} Moved the existing agent to ${safeText(context.displayPath(movedTo))}`,
    )
}

/** Failures of the scenario, which a resumed run would repeat. With a corrected scenario, it would be another run. */
const repeated: readonly string[] = [
  'scenario_invalid',
  'scenario_threw',
  'scenario_nondeterministic',
  'reward_not_finite',
  'observation_invalid',
  'metrics_invalid',
  'mask_invalid',
  'no_legal_action',
  'training_diverged',
]

/** Adds the checkpoint to the hint of a failure, and the command to resume, if that can help. */
function explainCheckpoint(error: unknown, { again, scenario, flags, context }: TrainJob, out: string): unknown {
  if (!(error instanceof AgentGymError) || typeof error.data.checkpoint !== 'string') return error
  const several = (flags.seed?.length ?? 1) > 1
  const outOption = flags.out === undefined && !several ? '' : ` --out ${shellQuote(context.displayPath(out))}`
  const command = `agentgym train ${again}${outOption}${processText(flags)} --resume`
  const cancelled = error.code === 'training_cancelled'
  const checkpoint = `Checkpoint: ${context.displayPath(error.data.checkpoint)}.`
  // A scenario that was corrected is another one; an environment of the user's goes on as what it was.
  const canResume = 'external' in scenario || !repeated.includes(error.code)
  const hint = canResume
    ? `${checkpoint} Resume: ${command}`
    : `${checkpoint} Resuming would end in the same way: train with what you have changed, and --force.`
  return new AgentGymError(
    {
      code: error.code,
      message: error.message,
      hint: cancelled || error.hint === undefined ? hint : `${error.hint}\n${hint}`,
      data: { ...error.data, ...(canResume ? { resume: command } : {}) },
    },
    { cause: error },
  )
}
