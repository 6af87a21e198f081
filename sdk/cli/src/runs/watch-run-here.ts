import { AgentGymError, formatAmount, type ResultEvent, type Run, scenarioPackageSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { readVersion } from '../packages/publish-package.ts'
import { shortId } from '../registry/find-by-id.ts'
import { safeText } from '../terminal/text.ts'
import { chooseView } from '../training-view/choose-view.ts'
import { runLine } from '../training-view/line-views.ts'
import type { TrainingPlan, TrainingView } from '../training-view/training-view.ts'
import { downloadAgent } from './download-agent.ts'
import { type EndedRun, followRun } from './follow-run.ts'

export type WatchOptions = {
  /** Folder that the agent is written to once there is one; null leaves it on the server. */
  out: string | null
  /** An agent that lies in the folder moves aside. */
  force: boolean
}

/**
 * Shows a run until it ends or the user leaves; what it came to is its result, as after training here, or its error.
 * Leaving changes nothing about the run.
 */
export async function watchRunHere(
  connection: Connection,
  run: Run,
  options: WatchOptions,
  context: CommandContext,
): Promise<void> {
  const interrupt = cancelOnInterrupt(context)
  let view: TrainingView | undefined
  let ended: EndedRun
  try {
    view = await chooseView({ watch: true }, context, interrupt)
    view.start(await planOf(connection, run, options, context))
    ended = await followRun(connection, run, { view, signal: interrupt.signal })
  } catch (error) {
    await view?.close()
    if (!interrupt.signal.aborted) throw stillRunning(error, run)
    return sayDetached(run, context)
  } finally {
    interrupt.release()
  }
  await view.close()
  await finish(connection, ended, { ...options, view }, context)
}

async function planOf(
  connection: Connection,
  run: Run,
  { out }: WatchOptions,
  context: CommandContext,
): Promise<TrainingPlan> {
  const { name, version } = run.scenario
  const manifest = await scenarioManifest(connection, run)
  return {
    scenario: `${name}@${version}`,
    title: manifest?.title ?? name,
    algorithm: safeText(run.algorithm, 20),
    steps: Number(run.settings.steps ?? run.progress?.steps_total ?? 0),
    seed: run.seed,
    out: out === null ? null : context.displayPath(out),
    resume: false,
    success: manifest?.success ?? {},
    settings: run.settings,
    remote: { id: run.id, server: connection.server },
  }
}

/** For the targets beside the figures; a run is worth watching without them. */
async function scenarioManifest(connection: Connection, { scenario }: Run) {
  try {
    const { manifest } = await readVersion(connection, scenario.name, scenario.version)
    return scenarioPackageSchema.safeParse(manifest).data?.agentgym
  } catch (error) {
    if (error instanceof AgentGymError) return undefined
    throw error
  }
}

async function finish(
  connection: Connection,
  { run, completed }: EndedRun,
  { out, force, view }: WatchOptions & { view: TrainingView },
  context: CommandContext,
): Promise<void> {
  if (run.state !== 'completed') throw failureOf(run)
  const evaluation = completed?.evaluation ?? run.evaluation
  // The contract: a completed run has both.
  if (evaluation === null || run.agent === null) throw new Error(`the run ${run.id} is completed without a result`)
  if (out !== null) await fetchTo(out, connection, run, { force, context })
  const result: ResultEvent = {
    event: 'result',
    ok: true,
    agent: out ?? run.agent.tarball,
    steps: completed?.steps ?? run.progress?.steps ?? 0,
    seconds: completed?.seconds ?? run.progress?.seconds ?? 0,
    evaluation,
  }
  view.finish(result, { out: out === null ? null : context.displayPath(out), run })
}

async function fetchTo(
  out: string,
  connection: Connection,
  run: Run,
  options: { force: boolean; context: CommandContext },
): Promise<void> {
  const { context } = options
  try {
    const { movedTo } = await downloadAgent(connection, run, out, options)
    if (movedTo === null) return
    const shown = safeText(context.displayPath(movedTo))
    context.say(`${context.terminal.symbols.next} The agent that was there moved to ${shown}`)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    const { code, message, data } = error
    const hint = `The run is completed and the server keeps its agent: agentgym runs download ${shortId(run.id)} --out DIR.`
    throw new AgentGymError({ code, message, hint, data: { ...data, run: run.id } }, { cause: error })
  }
}

/** What a run ended with, where it is no agent. */
function failureOf(run: Run): AgentGymError {
  const { currency, spent_minor: spent, budget_minor: budget } = run.cost
  const id = shortId(run.id)
  const at = run.checkpoint === null ? '' : `; its last checkpoint is that of iteration ${run.checkpoint.iteration}`
  const data = { run: run.id, state: run.state, spent_minor: spent, currency }
  switch (run.state) {
    case 'budget_exceeded':
      return new AgentGymError({
        code: 'budget_exceeded',
        message: `the run ${id} has used up its budget: ${formatAmount(spent, currency)} of ${formatAmount(budget ?? spent, currency)}${at}`,
        hint: `Go on from there with a higher one: agentgym runs resume ${id} --budget AMOUNT.`,
        data,
      })
    case 'cancelled':
      return new AgentGymError({
        code: 'training_cancelled',
        message: `the run ${id} was cancelled${at}`,
        hint: `agentgym runs show ${id} tells how far it came.`,
        data,
      })
    default: {
      const error = run.error ?? { code: 'training_failed', message: `the run ${id} failed` }
      return new AgentGymError({ ...error, data: { ...error.data, ...data } })
    }
  }
}

/** Whatever ended the watching, the run goes on. */
function stillRunning(error: unknown, run: Run): unknown {
  if (!(error instanceof AgentGymError)) return error
  const { code, message, data } = error
  const id = shortId(run.id)
  const hint = `${error.hint === undefined ? '' : `${error.hint}\n`}The run goes on without you: agentgym runs watch ${id} finds it again.`
  return new AgentGymError({ code, message, hint, data: { ...data, run: run.id } }, { cause: error })
}

function sayDetached(run: Run, context: CommandContext): void {
  context.sayJson(runLine(run, 'detached'))
  for (const line of howToFollow(run, context)) context.say(line)
}

/** Where a run is that goes on without us. */
export function howToFollow(run: Run, { terminal }: CommandContext): string[] {
  const { paint, symbols } = terminal
  const id = shortId(run.id)
  return [
    `${paint.accent(symbols.ok)} The run ${paint.bold(id)} goes on at the server ${paint.dim(`(${run.id})`)}`,
    `${symbols.next} Watch it: ${paint.accent(`agentgym runs watch ${id}`)}; end it: ${paint.accent(`agentgym runs cancel ${id}`)}`,
  ]
}
