import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import {
  AgentGymError,
  type AgentManifest,
  type PpoSettings,
  type ResultEvent,
  type TrainingEvent,
} from '@agentgym/contract'
import { rememberScenario } from '../evaluation/scenario-store.ts'
import { threadEnvironment } from '../evaluation/thread-environment.ts'
import { type BuiltScenario, identityOf } from '../sandbox/build-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { superviseJob } from '../sandbox/supervisor.ts'
import { writeAtomically } from './atomic-write.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { lockRun } from './run-lock.ts'
import type { TrainingJob, TrainingMessage, TrainingOutcome } from './training-job.ts'
import { writeAgent } from './write-agent.ts'

export type TrainOptions = {
  scenario: BuiltScenario
  settings: PpoSettings
  /** Unsigned 32-bit; decides weights, episodes and sampling. */
  seed: number
  /** Folder of the agent package; the checkpoint lies in `.agentgym/` below it. */
  out: string
  /** Go on from the checkpoint in `out`; its settings and seed must be the same. */
  resume?: boolean
  /** Abort ends the run after the iteration under way, with a checkpoint; a second reason is not needed. */
  signal?: AbortSignal
  limits?: Partial<JobLimits>
  learnerPath?: TrainingJob['learnerPath']
  onEvent(event: TrainingEvent): void
}

export function checkpointPath(out: string): string {
  return join(out, '.agentgym', 'checkpoint.safetensors')
}

/**
 * Trains an agent on a scenario in a supervised process and writes its package. Failures reject with an AgentGymError;
 * where a checkpoint was written its path is in `data.checkpoint`.
 */
export async function train(options: TrainOptions): Promise<ResultEvent> {
  const { scenario } = options
  const out = resolve(options.out)
  const path = checkpointPath(out)
  const release = await lockRun(out)
  try {
    const checkpoint = options.resume ? await readCheckpoint(path, options) : null
    if (!options.resume) await rm(path, { force: true })
    await rememberScenario(scenario)
    return await finish(options, out, await runTrainer(options, checkpoint, path))
  } finally {
    await release()
  }
}

async function runTrainer(
  options: TrainOptions,
  checkpoint: Uint8Array | null,
  path: string,
): Promise<NonNullable<TrainingOutcome>> {
  const { scenario, settings, seed } = options
  const { success } = scenario.package.agentgym
  const identity = identityOf(scenario)
  const job: TrainingJob = {
    scenario: await scenarioCode(scenario),
    success,
    settings,
    seed,
    checkpoint,
    learnerPath: options.learnerPath ?? 'auto',
  }
  const outcome = (await superviseJob({
    entry: new URL('./training.process.ts', import.meta.url),
    job,
    identity,
    limits: options.limits,
    stop: options.signal,
    environment: threadEnvironment(),
    onMessage: (message) => handle(message as TrainingMessage, path, options.onEvent),
  }).catch((error: unknown) => {
    throw withCheckpoint(error, path)
  })) as TrainingOutcome
  if (outcome === null) throw stopped(path)
  return outcome
}

async function handle(message: TrainingMessage, path: string, onEvent: TrainOptions['onEvent']): Promise<void> {
  switch (message.type) {
    case 'progress':
      return onEvent(message.event)
    case 'evaluation':
      return onEvent({ event: 'evaluation', steps: message.steps, evaluation: message.evaluation })
    case 'checkpoint':
      await writeAtomically(path, message.bytes)
      return onEvent({ event: 'checkpoint', steps: message.steps, path })
  }
}

async function finish(options: TrainOptions, out: string, outcome: NonNullable<TrainingOutcome>): Promise<ResultEvent> {
  const { scenario, settings, seed } = options
  const manifest: Omit<AgentManifest, 'model_hash'> = {
    format: 1,
    scenario: {
      ...identityOf(scenario),
      observation: outcome.description.observation,
      action: outcome.description.action,
      success: scenario.package.agentgym.success,
    },
    policy: outcome.policy,
    algorithm: 'ppo',
    settings,
    seed,
    steps: outcome.stepsOfWeights,
    evaluation: outcome.evaluation,
    runtime: runtimeVersions(),
  }
  const { model, curve, seconds, steps, evaluation } = outcome
  await writeAgent(out, { manifest, model, scenario: scenario.package, curve, seconds })
  const result: ResultEvent = { event: 'result', ok: true, agent: out, steps, seconds, evaluation }
  options.onEvent(result)
  return result
}

/** The checkpoint's bytes, once it is known to continue this very run. */
async function readCheckpoint(path: string, { scenario, settings, seed }: TrainOptions): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new AgentGymError(
      {
        code: 'file_not_found',
        message: `there is nothing to resume: ${path} cannot be read`,
        hint: 'Start the run without --resume.',
        data: { path },
      },
      { cause },
    )
  })
  const checkpoint = decodeCheckpoint(bytes, path)
  if (checkpoint.scenarioHash !== scenario.hash) {
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `checkpoint ${path} belongs to another build of ${scenario.package.name}: hash ${checkpoint.scenarioHash.slice(0, 12)}, not ${scenario.hash.slice(0, 12)}`,
      hint: 'Go back to the scenario as it was, or start the run anew without --resume.',
      data: { path },
    })
  }
  const changed = changedSettings(checkpoint.settings, settings)
  if (checkpoint.seed !== seed) changed.push('seed')
  if (changed.length > 0) {
    throw new AgentGymError({
      code: 'checkpoint_invalid',
      message: `checkpoint ${path} was written with other settings: ${changed.join(', ')}`,
      hint: 'Resume with the same settings and seed, or start the run anew without --resume.',
      data: { path, field: changed[0], fields: changed },
    })
  }
  return new Uint8Array(bytes)
}

function changedSettings(before: PpoSettings, now: PpoSettings): string[] {
  return Object.keys(now).filter(
    (name) => JSON.stringify(before[name as keyof PpoSettings]) !== JSON.stringify(now[name as keyof PpoSettings]),
  )
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
    hint: 'Go on with the same command and --resume.',
    data: { checkpoint: path },
  })
}

const require = createRequire(import.meta.url)

/** What an evaluation's last bits may depend on. */
function runtimeVersions(): Record<string, string> {
  const version = (name: string): string => (require(`${name}/package.json`) as { version: string }).version
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    onnxruntime: version('onnxruntime-node'),
    platform: `${process.platform}-${process.arch}`,
  }
}
