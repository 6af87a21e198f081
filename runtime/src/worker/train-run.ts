import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { downloadCheckpoint, isRefusedByProxy, sendOutcome } from '@agentgym/client'
import {
  AgentGymError,
  evaluationSchema,
  type LeasedTraining,
  type Outcome,
  resolveTrainingPlan,
  type TrainingPlan,
} from '@agentgym/contract'
import { writeTarball } from '@agentgym/contract/tarball'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { decodeCheckpoint, settingsOf } from '../training/checkpoint.ts'
import { packageAgent } from '../training/package-agent.ts'
import { resolveAutomatic } from '../training/settings.ts'
import type { TrainingOutcome } from '../training/training-job.ts'
import { readWarmStart, type WarmStart } from '../training/warm-start.ts'
import { publicReport } from './failure-report.ts'
import { failAttempt, isGangFailure, trainAsMember } from './gang.ts'
import { type JobContext, type RunBegin, releaseLease } from './job-context.ts'
import { inFolder, obtainPackage, obtainScenario } from './obtain-package.ts'
import { RunMeter } from './run-meter.ts'
import { RunOutbox } from './run-outbox.ts'
import { RunUploads } from './run-uploads.ts'
import { isLost, isRefused, isTransient } from './server-requests.ts'
import { type RunContext, SupervisedRun } from './supervised-run.ts'
import { agentFiles } from './tarball.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

const transferLimitMs = 10 * 60_000

/**
 * Trains an agent: goes on from the run's checkpoint, reports as it goes, and ends the run as completed (with the agent's
 * tarball), failed, cancelled or out of budget; when stopped, releases the run with a checkpoint. Throws what is no
 * fault of the run: `lease_lost`, `integrity_mismatch`, a server that cannot be reached, a bug.
 */
export async function trainRun(job: LeasedTraining, context: JobContext): Promise<WorkerEvent> {
  const { lease, usage, onEvent } = context
  const meter = new RunMeter(job.run.budget)
  const name = nameOf(job)
  const uploads = new RunUploads(lease)
  const outbox = new RunOutbox({
    ...{ lease, uploads, meter, usage },
    onCheckpoint: (checkpoint) => onEvent({ event: 'checkpoint', ...checkpoint, ...name }),
  })
  try {
    return await inFolder((folder) => runTrainer(job, { ...context, meter, uploads, outbox, folder }))
  } catch (error) {
    if (lease.lost.aborted) throw error
    if (isGangFailure(job, error)) return failAttempt(error, context, () => outbox.drain())
    if (!isRunFailure(error)) throw error
    // What it came to before it failed is worth having; where the server refused that, the failure is what counts.
    await outbox.drain().catch((refused: unknown) => {
      if (!isRunFailure(refused)) throw refused
    })
    return endRun(job, { ...context, meter }, { state: 'failed', error: publicReport(error) })
  } finally {
    outbox.close()
  }
}

/** Whether a failure is the run's own and ends it; any other ends this attempt only, and the run is retried. */
function isRunFailure(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError) || error.code === 'integrity_mismatch') return false
  return !isLost(error) && !isRefused(error) && !isTransient(error) && !isRefusedByProxy(error)
}

async function runTrainer(job: LeasedTraining, context: RunContext): Promise<WorkerEvent> {
  const { outbox } = context
  const begin = await obtainRun(job, context)
  const { scenario } = begin
  if (job.run.gang && job.run.gang.rank > 0) return trainAsMember(job, context, begin)
  const run = new SupervisedRun(job, context, begin)
  const outcome = await run.train().catch((error: unknown) => {
    // Who trains on a hosted scenario has no right to its code.
    throw locateFault(error, scenario.sourceMap, { frames: false })
  })
  if (outcome !== null) return completeRun(job, context, { scenario, outcome })
  await outbox.drain()
  const reason = run.stopReason
  if (reason === 'release') return releaseLease(context, { meteredMs: context.meter.meteredMs })
  return endRun(job, context, { state: stateOf[reason] })
}

/** What a run begins or continues with. */
async function obtainRun(job: LeasedTraining, context: RunContext): Promise<RunBegin> {
  const { lease, folder } = context
  const { scenario: wanted, checkpoint: from } = job.run
  const scenario = await obtainScenario(lease, wanted, path.join(folder, 'scenario'))
  const checkpoint =
    from === null
      ? null
      : await lease.request((signal) => downloadCheckpoint(lease.client, job, from, signal), {
          limitMs: transferLimitMs,
        })
  const start = checkpoint === null ? await obtainStart(job, context) : null
  return { scenario, plan: planOf(job, checkpoint), checkpoint, start }
}

const stateOf = { cancel: 'cancelled', budget: 'budget_exceeded', pause: 'paused' } as const

/**
 * The agent that the run starts from, which may come from anyone: the tarball has the job's integrity, the model passes the
 * structural walk, and its hash is the one that the server fixed when the run was submitted.
 */
async function obtainStart(
  { run: { from } }: LeasedTraining,
  { lease, folder }: RunContext,
): Promise<WarmStart | null> {
  if (from === null) return null
  const parent = path.join(folder, 'parent')
  await obtainPackage(lease, from, parent, agentFiles)
  const start = await readWarmStart(parent)
  const { name, version, model_hash: hash } = start.parent
  if (name === from.name && version === from.version && hash === from.model_hash) return start
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball of ${from.name}@${from.version} contains ${name}@${version} with the model ${hash.slice(0, 12)}, and the job needs ${from.model_hash.slice(0, 12)}.`,
    hint: 'Tell the operator of the server: its record of the version does not match the tarball.',
    data: { agent: from.name, version: from.version, expected: from.model_hash, actual: hash },
  })
}

/** As submitted. A resumed run goes on as it began: what its first machine chose, and defaults that have changed since. */
function planOf({ run }: LeasedTraining, checkpoint: Uint8Array | null): TrainingPlan {
  if (checkpoint !== null) {
    const { plan } = decodeCheckpoint(checkpoint, 'of the run')
    return { ...plan, settings: settingsOf(plan) } as TrainingPlan
  }
  return resolveAutomatic(resolveTrainingPlan({}, { algorithm: run.algorithm, settings: run.settings }))
}

type TrainedRun = { scenario: BuiltScenario; outcome: NonNullable<TrainingOutcome> }

async function completeRun(job: LeasedTraining, context: RunContext, trained: TrainedRun): Promise<WorkerEvent> {
  const { uploads, outbox, folder } = context
  const { outcome } = trained
  outbox.dropCheckpoint()
  await outbox.drain()
  const { publish } = job.run
  const agent = path.join(folder, 'agent')
  await packageAgent(agent, { ...trained, ...publish })
  const tarball = await packAgent(agent)
  const integrity = await uploads.agent(tarball.bytes)
  if (integrity !== tarball.integrity) throw damaged(tarball.integrity, integrity)
  const evaluation = evaluationSchema.parse(outcome.evaluation)
  const { steps, seconds } = outcome
  return endRun(job, context, { state: 'completed', steps, seconds, evaluation, agent: { integrity } })
}

/** As npm would pack it: the files that its package.json lists. */
async function packAgent(folder: string) {
  const { files } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { files: string[] }
  const paths = ['package.json', ...[...files].sort()]
  return writeTarball(
    await Promise.all(paths.map(async (file) => ({ path: file, bytes: await readFile(path.join(folder, file)) }))),
  )
}

async function endRun(
  job: LeasedTraining,
  { lease, meter }: Pick<RunContext, 'lease' | 'meter'>,
  outcome: Outcome,
): Promise<WorkerEvent> {
  const { meteredMs } = meter
  await lease.request((signal) => sendOutcome(lease.client, job, { meteredMs, outcome }, signal))
  const error = outcome.state === 'failed' ? { error: outcome.error } : {}
  return { event: 'ended', ...nameOf(job), state: outcome.state, ...error }
}

function damaged(expected: string, actual: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `The agent arrived damaged: the server has ${actual} instead of ${expected}.`,
    data: { expected, actual },
  })
}
