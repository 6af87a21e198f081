import { join } from 'node:path'
import { AgentGymError, type ResultEvent } from '@agentgym/contract'
import { agentGymHome } from '../account/agentgym-home.ts'
import type { CommandContext, Runtime } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { unscopedName } from '../targets/built-in-scenarios.ts'
import { obtainScenarioFolder } from '../targets/obtain-scenario.ts'
import { agentsFolder } from '../targets/resolve-agent.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { chooseView } from '../training-view/choose-view.ts'
import type { TrainingPlan } from '../training-view/training-plan.ts'
import type { TrainingView } from '../training-view/training-view.ts'
import {
  claimAgentFolder,
  dropEmptyRun,
  forgetRunRequest,
  type RunRequest,
  resumedRequest,
  writeRunRequest,
} from './agent-folder.ts'
import { type RemoteFlags, trainRemote } from './train-remote.ts'

export type TrainFlags = RemoteFlags & { resume?: boolean; remote?: boolean }

const defaultSeed = 1
const remoteOptions = ['budget', 'publish', 'private', 'note', 'account', 'trajectories', 'yes'] as const

/** `agentgym train`: trains an agent on a scenario in the sandbox and writes it as a package. */
export async function train(target: string, flags: TrainFlags, context: CommandContext): Promise<void> {
  refuseContradictions(flags, context)
  if (flags.remote) return trainRemote(target, flags, context)
  if (flags.watch && !(context.terminal.live && context.io.stdin.isTTY)) {
    context.say(`${context.terminal.symbols.warning} --watch needs a terminal; plain progress follows`)
  }
  const runtime = await context.runtime()
  const scenario = await runtime.loadScenario(await obtainScenarioFolder(target, context))
  const { name, version, agentgym } = scenario.package
  const out = context.resolve(flags.out ?? join(agentsFolder, unscopedName(name)))
  const request: RunRequest = flags.resume
    ? await resumedRequest(out, flags, context)
    : { algorithm: flags.algorithm, steps: flags.steps, seed: flags.seed ?? defaultSeed, set: flags.set ?? {} }
  const plan = runtime.resolvePlan(scenario, request)
  const { algorithm, settings } = plan
  const shown: TrainingPlan = {
    scenario: `${name}@${version}`,
    title: agentgym.title,
    algorithm,
    steps: settings.steps,
    seed: request.seed,
    out: context.displayPath(out),
    resume: flags.resume ?? false,
    success: agentgym.success,
    settings,
  }
  if (!flags.resume) await startFolder(out, request, flags, context, runtime)

  let view: TrainingView | undefined
  const interrupt = cancelOnInterrupt(context, () => view?.stopping())
  let closed: Promise<void> | undefined
  let result: ResultEvent
  try {
    view = await chooseView({ watch: flags.watch ?? false }, context, interrupt)
    view.start(shown)
    result = await runtime.train({
      scenario,
      plan,
      seed: request.seed,
      out,
      home: agentGymHome(context.io),
      resume: flags.resume,
      signal: interrupt.signal,
      onEvent: (event) => view?.event(event),
    })
  } catch (error) {
    closed = view?.close()
    await closed
    await dropEmptyRun(out, context)
    throw explainCheckpoint(error, { target, flags, out }, context)
  } finally {
    interrupt.release()
    if (!closed) await view?.close()
  }
  await forgetRunRequest(out)
  view.finish(result, { out: context.displayPath(result.agent) })
  if (!result.ok) context.exitCode = 1
}

function refuseContradictions(flags: TrainFlags, context: CommandContext): void {
  const clash = (message: string, hint: string) => new AgentGymError({ code: 'usage_invalid', message, hint })
  const remoteOnly = remoteOptions.find((name) => flags[name] !== undefined)
  if (remoteOnly !== undefined && !flags.remote) {
    throw clash(
      `--${remoteOnly} is for training on the server's machines`,
      `Add --remote, or leave --${remoteOnly} out.`,
    )
  }
  if (flags.resume && flags.remote) {
    throw clash('--resume goes on with a run of this machine', 'A run on the server: agentgym runs resume ID.')
  }
  if (flags.remote && !flags.watch && (flags.out !== undefined || flags.force)) {
    const name = flags.out === undefined ? 'force' : 'out'
    throw clash(`--${name} is about the folder that the agent comes to, and nobody waits for it`, 'Add --watch.')
  }
  if (flags.watch && context.json && !flags.remote) {
    throw clash('--watch draws for a person and --json prints for a program', 'Leave one of the two out.')
  }
  if (flags.resume && flags.force) {
    throw clash('--resume goes on with a run and --force starts one anew', 'Leave one of the two out.')
  }
  if (flags.steps !== undefined && flags.set?.steps !== undefined) {
    throw clash('the steps are given twice, by --steps and by --set steps=', 'Leave one of the two out.')
  }
}

async function startFolder(
  out: string,
  request: RunRequest,
  flags: TrainFlags,
  context: CommandContext,
  runtime: Runtime,
): Promise<void> {
  const { movedTo } = await claimAgentFolder(
    out,
    {
      force: flags.force ?? false,
      checkpoint: runtime.checkpointPath(out),
    },
    context,
  )
  if (movedTo)
    context.say(
      `${context.terminal.symbols.next} The agent that was there moved to ${safeText(context.displayPath(movedTo))}`,
    )
  await writeRunRequest(out, request)
}

/** A failure that left a checkpoint, with where it lies and the command that goes on from it. */
function explainCheckpoint(
  error: unknown,
  { target, flags, out }: { target: string; flags: TrainFlags; out: string },
  context: CommandContext,
): unknown {
  if (!(error instanceof AgentGymError) || typeof error.data.checkpoint !== 'string') return error
  const place = flags.out === undefined ? '' : ` --out ${shellQuote(context.displayPath(out))}`
  const command = `agentgym train ${shellQuote(target)}${place} --resume`
  const cancelled = error.code === 'training_cancelled'
  const hint = `The checkpoint lies in ${context.displayPath(error.data.checkpoint)}. Go on from it: ${command}`
  return new AgentGymError(
    {
      code: error.code,
      message: error.message,
      hint: cancelled || error.hint === undefined ? hint : `${error.hint}\n${hint}`,
      data: { ...error.data, resume: command },
    },
    { cause: error },
  )
}
