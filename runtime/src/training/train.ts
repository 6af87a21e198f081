import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { agentGymHome } from '@agentgym/agent/engine'
import { AgentGymError, type ResultEvent, type TrainingEvent, type TrainingPlan } from '@agentgym/contract'
import { rememberScenario } from '../evaluation/scenario-store.ts'
import type { OpenedEnvironment } from '../external/opened-environment.ts'
import { NO_TIME_LIMIT } from '../external/space-sizes.ts'
import { type BuiltScenario, identityOf } from '../sandbox/build-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { assertContinues } from './checkpoint.ts'
import { packageAgent } from './package-agent.ts'
import { lockRun, writeAtomically } from './run-folder.ts'
import { type RunTrainingOptions, runTraining } from './run-training.ts'
import { checkpointPath, readSavedRun } from './saved-run.ts'
import type { TrainingJob, TrainingOutcome } from './training-job.ts'
import type { WarmStart } from './warm-start.ts'

export type TrainOptions = {
  /** A scenario, which runs in the sandbox, or an environment of the user's, which stays theirs to close. */
  scenario: BuiltScenario | OpenedEnvironment
  /** Of `resolvePlan`. */
  plan: TrainingPlan
  /** Unsigned 32-bit; decides weights, episodes and sampling. */
  seed: number
  /** Folder of the agent package; the checkpoint lies in `.agentgym/` below it. */
  out: string
  /** Folder of the bundles that this machine keeps; by default `AGENTGYM_HOME`. */
  home?: string
  /** Continue from the checkpoint in `out`, with a plan of `continuedPlan`. */
  resume?: boolean
  /** The agent to start from, if nothing is resumed; with a plan of `warmStartPlan`. */
  start?: WarmStart
  /** Abort ends the run after the iteration under way, with a checkpoint; a second reason is not needed. */
  signal?: AbortSignal
  limits?: Partial<JobLimits>
  learnerPath?: TrainingJob['learnerPath']
  /** Several processes; left out: one. Every machine of a run writes the agent. */
  together?: RunTrainingOptions['together']
  /** Sends what the scenario logs as events; else a notice says that it logs. */
  logs?: boolean
  onEvent(event: TrainingEvent): void
}

/**
 * Trains an agent on a scenario or an environment in a supervised process and writes its package. Failures reject with an AgentGymError;
 * where a checkpoint was written its path is in `data.checkpoint`.
 */
export async function train(options: TrainOptions): Promise<ResultEvent> {
  const { scenario, plan } = options
  if ('external' in scenario && plan.algorithm === 'grpo') assertTimeLimit(scenario)
  const out = resolve(options.out)
  const path = checkpointPath(out)
  const release = await lockRun(out)
  try {
    const checkpoint = options.resume ? await readCheckpoint(out, options) : null
    if (!options.resume) await rm(path, { force: true })
    if (!('external' in scenario)) await rememberScenario(scenario, options.home ?? agentGymHome())
    const outcome = await runTrainer(options, checkpoint, path)
    await packageAgent(out, { outcome, scenario }).catch((error: unknown) => {
      throw withCheckpoint(error, path)
    })
    // After the agent, which counts: on a full disk, a longer run continues from the checkpoint before.
    await writeAtomically(path, outcome.checkpoint).catch((error: unknown) => {
      if (!(error instanceof AgentGymError)) throw error
    })
    const { steps, seconds, evaluation, policy, stepsOfWeights: steps_of_weights } = outcome
    const memory = policy.memory !== undefined
    const ended = { steps, seconds, evaluation, memory, steps_of_weights }
    const result: ResultEvent = { event: 'result', ok: true, agent: out, ...ended }
    options.onEvent(result)
    return result
  } finally {
    await release()
  }
}

/** GRPO keeps room for whole episodes, and waits for the longest of a group. */
function assertTimeLimit({ external, package: { name } }: OpenedEnvironment): void {
  if (external.description.maxSteps < NO_TIME_LIMIT) return
  throw new AgentGymError({
    code: 'config_invalid',
    message: `GRPO plays whole episodes, and ${name} does not say how long one may be`,
    hint: 'Use --algorithm ppo, or give the environment a time limit (gymnasium.wrappers.TimeLimit).',
    data: { field: 'algorithm' },
  })
}

async function runTrainer(
  options: TrainOptions,
  checkpoint: Uint8Array | null,
  path: string,
): Promise<NonNullable<TrainingOutcome>> {
  const { scenario, plan, seed, start, signal, limits, learnerPath, together, logs = false, onEvent } = options
  const outcome = await runTraining({
    scenario: 'external' in scenario ? scenario.external : await scenarioCode(scenario),
    success: scenario.package.agentgym.success,
    ...{ plan, seed, checkpoint, start, limits, learnerPath, together },
    stop: signal,
    onDefaults: (defaults) => onEvent({ event: 'defaults', ...defaults }),
    onNotice: (notice) => onEvent({ event: 'notice', ...notice }),
    ...(logs ? { onLogs: (logs) => onEvent({ event: 'logs', ...logs }) } : {}),
    onProgress: onEvent,
    onEvaluation: (evaluation, { steps }) => onEvent({ event: 'evaluation', steps, evaluation }),
    onCheckpoint: async (bytes, { steps, dropped }) => {
      await writeAtomically(path, bytes)
      onEvent({ event: 'checkpoint', steps, path, ...(dropped === undefined ? {} : { dropped }) })
    },
  }).catch((error: unknown) => {
    throw withCheckpoint(locateFault(error, 'external' in scenario ? undefined : scenario.sourceMap), path)
  })
  if (outcome === null) throw stopped(path)
  return outcome
}

/** The bytes of the checkpoint in `out`, once it is known to continue this run. */
async function readCheckpoint(out: string, { scenario, plan, seed }: TrainOptions): Promise<Uint8Array> {
  const saved = await readSavedRun(out)
  if (saved === null) {
    throw new AgentGymError({
      code: 'file_not_found',
      message: `there is nothing to resume: ${checkpointPath(out)} does not exist`,
      hint: 'Start the run without --resume.',
      data: { path: checkpointPath(out) },
    })
  }
  assertContinues(saved.checkpoint, { scenario: identityOf(scenario), plan, seed }, checkpointPath(out))
  return saved.bytes
}

function withCheckpoint(error: unknown, path: string): unknown {
  if (!(error instanceof AgentGymError) || !existsSync(path)) return error
  const report = error.toReport()
  return new AgentGymError({ ...report, data: { ...report.data, checkpoint: path } }, { cause: error })
}

function stopped(path: string): AgentGymError {
  return new AgentGymError({
    code: 'training_cancelled',
    message: 'the run was stopped; its checkpoint is written',
    hint: 'Continue with --resume.',
    data: { checkpoint: path },
  })
}
