import { AgentGymError, formatAmount, type ResultEvent, type Run, scenarioPackageSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { readVersion } from '../packages/publish-package.ts'
import { shortId } from '../registry/find-by-id.ts'
import { noteMissingWorker } from '../registry/missing-worker.ts'
import { safeText } from '../terminal/text.ts'
import { chooseView } from '../training-view/choose-view.ts'
import { runLine } from '../training-view/line-views.ts'
import { parentText, type TrainingPlan } from '../training-view/run-state.ts'
import type { TrainingView } from '../training-view/training-view.ts'
import { downloadAgent } from './download-agent.ts'
import { type EndedRun, followRun } from './follow-run.ts'

export type WatchOptions = {
  /** Folder to write the agent to when the run completes; null leaves it on the server. */
  out: string | null
  /** Moves an existing agent in the folder aside. */
  force: boolean
  /** A worker was started for it. Default: notes if none is connected. */
  hasWorker?: boolean
  /** Ends the watching with its reason. */
  signal?: AbortSignal
}

/**
 * Shows a run until it ends or the user detaches, then its result, as after local training, or its error. Detaching does
 * not affect the run.
 */
export async function watchRunHere(
  connection: Connection,
  run: Run,
  options: WatchOptions,
  context: CommandContext,
): Promise<void> {
  if (run.state === 'queued' && !options.hasWorker) await noteMissingWorker(connection, context)
  const interrupt = cancelOnInterrupt(context)
  let view: TrainingView | undefined
  let ended: EndedRun
  try {
    view = await chooseView({ watch: true }, context, interrupt)
    view.start(await planOf(connection, run, options, context))
    const signal = AbortSignal.any([interrupt.signal, ...(options.signal === undefined ? [] : [options.signal])])
    ended = await followRun(connection, run, { view, signal })
  } catch (error) {
    await view?.close()
    if (options.signal?.aborted) throw options.signal.reason
    if (!interrupt.signal.aborted) throw stillRunning(error, run)
    return printDetached(run, context)
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
    ...(run.parent ? { parent: parentText(run.parent) } : {}),
    remote: { id: run.id, server: connection.server },
  }
}

/** For the targets, which are optional: a run can be watched without them. */
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
    context.print(`${context.terminal.symbols.next} Moved the existing agent to ${shown}`)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    const { code, message, data } = error
    const hint = `The run is complete. Download the agent again: agentgym runs download ${shortId(run.id)} --out DIR`
    throw new AgentGymError({ code, message, hint, data: { ...data, run: run.id } }, { cause: error })
  }
}

/** The error of a run that did not complete. */
export function failureOf(run: Run): AgentGymError {
  const { currency, spent_minor: spent, budget_minor: budget } = run.cost
  const id = shortId(run.id)
  const at = run.checkpoint === null ? '' : `; last checkpoint: iteration ${run.checkpoint.iteration}`
  const data = { run: run.id, state: run.state, spent_minor: spent, currency }
  switch (run.state) {
    case 'budget_exceeded':
      return new AgentGymError({
        code: 'budget_exceeded',
        message: `run ${id} used up its budget: ${formatAmount(spent, currency)} of ${formatAmount(budget ?? spent, currency)}${at}`,
        hint: `Resume it with a higher budget: agentgym runs resume ${id} --budget AMOUNT`,
        data,
      })
    case 'paused':
      return new AgentGymError({
        code: 'training_cancelled',
        message: `run ${id} is paused${at}`,
        hint: `Resume it: agentgym runs resume ${id}`,
        data,
      })
    case 'cancelled':
      return new AgentGymError({
        code: 'training_cancelled',
        message: `run ${id} was canceled${at}`,
        hint: `Details: agentgym runs show ${id}`,
        data,
      })
    default: {
      const error = run.error ?? { code: 'training_failed', message: `run ${id} failed` }
      return new AgentGymError({ ...error, data: { ...error.data, ...data } })
    }
  }
}

/** The run continues, whatever stopped the watching. */
function stillRunning(error: unknown, run: Run): unknown {
  if (!(error instanceof AgentGymError)) return error
  const { code, message, data } = error
  const id = shortId(run.id)
  const hint = `${error.hint === undefined ? '' : `${error.hint}\n`}The run continues on the server. Watch it again: agentgym runs watch ${id}`
  return new AgentGymError({ code, message, hint, data: { ...data, run: run.id } }, { cause: error })
}

function printDetached(run: Run, context: CommandContext): void {
  context.printJson(runLine(run, 'detached'))
  for (const line of howToFollow(run, context)) context.print(line)
}

/** How to find a run that continues on the server. */
export function howToFollow(run: Run, { terminal }: CommandContext): string[] {
  const { paint, symbols } = terminal
  const id = shortId(run.id)
  return [
    `${paint.accent(symbols.ok)} Run ${paint.bold(id)} continues on the server ${paint.dim(`(${run.id})`)}`,
    `${symbols.next} Watch: ${paint.accent(`agentgym runs watch ${id}`)}; cancel: ${paint.accent(`agentgym runs cancel ${id}`)}`,
  ]
}
