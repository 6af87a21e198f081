import { join, resolve } from 'node:path'
import { AgentGymError, type ResultEvent } from '@agentgym/contract'
import type { CommandContext, Runtime } from '../command-context.ts'
import { cancelOnInterrupt, type Interrupt } from '../interrupts.ts'
import { unscopedName } from '../targets/built-in-scenarios.ts'
import { obtainScenarioFolder } from '../targets/obtain-scenario.ts'
import { agentsFolder } from '../targets/resolve-agent.ts'
import { displayPath } from '../terminal/display-path.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { jsonView } from '../training-view/json-view.ts'
import { liveView } from '../training-view/live-view.ts'
import { plainView } from '../training-view/plain-view.ts'
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

export type TrainFlags = {
  algorithm?: string
  steps?: number
  seed?: number
  out?: string
  set?: Record<string, string>
  resume?: boolean
  force?: boolean
  watch?: boolean
}

const defaultSeed = 1

/** `agentgym train`: trains an agent on a scenario in the sandbox and writes it as a package. */
export async function train(target: string, flags: TrainFlags, context: CommandContext): Promise<void> {
  refuseContradictions(flags, context)
  const runtime = await context.runtime()
  const scenario = await runtime.loadScenario(await obtainScenarioFolder(target, context))
  const { name, version, agentgym } = scenario.package
  const out = resolve(flags.out ?? join(agentsFolder, unscopedName(name)))
  const request: RunRequest = flags.resume
    ? await resumedRequest(out, flags)
    : { algorithm: flags.algorithm, steps: flags.steps, seed: flags.seed ?? defaultSeed, set: flags.set ?? {} }
  const plan = runtime.resolvePlan(scenario, request)
  const { algorithm, settings } = plan
  const shown: TrainingPlan = {
    scenario: `${name}@${version}`,
    title: agentgym.title,
    algorithm,
    steps: settings.steps,
    seed: request.seed,
    out: displayPath(out),
    resume: flags.resume ?? false,
    success: agentgym.success,
    settings,
  }
  if (!flags.resume) await startFolder(out, request, flags, context, runtime)

  let view: TrainingView | undefined
  const interrupt = cancelOnInterrupt(() => view?.stopping())
  let closed: Promise<void> | undefined
  let result: ResultEvent
  try {
    view = await chooseView(flags, context, interrupt)
    view.start(shown)
    result = await runtime.train({
      scenario,
      plan,
      seed: request.seed,
      out,
      resume: flags.resume,
      signal: interrupt.signal,
      onEvent: (event) => view?.event(event),
    })
  } catch (error) {
    closed = view?.close()
    await closed
    await dropEmptyRun(out)
    throw explainCheckpoint(error, target, flags, out)
  } finally {
    interrupt.release()
    if (!closed) await view?.close()
  }
  await forgetRunRequest(out)
  view.finish(result)
  if (!result.ok) process.exitCode = 1
}

function refuseContradictions(flags: TrainFlags, context: CommandContext): void {
  const clash = (message: string, hint: string) => new AgentGymError({ code: 'usage_invalid', message, hint })
  if (flags.watch && context.json) {
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
  const { movedTo } = await claimAgentFolder(out, {
    force: flags.force ?? false,
    checkpoint: runtime.checkpointPath(out),
  })
  if (movedTo)
    context.say(`${context.terminal.symbols.next} The agent that was there moved to ${safeText(displayPath(movedTo))}`)
  await writeRunRequest(out, request)
}

async function chooseView(flags: TrainFlags, context: CommandContext, interrupt: Interrupt): Promise<TrainingView> {
  const { terminal, verbose, stdout } = context
  if (context.json) return jsonView((line) => stdout.write(`${line}\n`))
  if (terminal.live && flags.watch && process.stdin.isTTY) {
    // Ink and React are loaded for those who watch only.
    const { dashboardView } = await import('../training-view/dashboard-view.ts')
    return dashboardView({ terminal, verbose, stream: stdout, onInterrupt: interrupt.interrupt })
  }
  if (flags.watch) context.say(`${terminal.symbols.warning} --watch needs a terminal; plain progress follows`)
  if (terminal.live) return liveView({ terminal, verbose, stream: stdout })
  return plainView({ terminal, verbose, write: context.say, now: () => performance.now() })
}

/** A failure that left a checkpoint, with where it lies and the command that goes on from it. */
function explainCheckpoint(error: unknown, target: string, flags: TrainFlags, out: string): unknown {
  if (!(error instanceof AgentGymError) || typeof error.data.checkpoint !== 'string') return error
  const place = flags.out === undefined ? '' : ` --out ${shellQuote(displayPath(out))}`
  const command = `agentgym train ${shellQuote(target)}${place} --resume`
  const cancelled = error.code === 'training_cancelled'
  const hint = `The checkpoint lies in ${displayPath(error.data.checkpoint)}. Go on from it: ${command}`
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
