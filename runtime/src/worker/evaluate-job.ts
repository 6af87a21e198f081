import path from 'node:path'
import { readAgentWithModel } from '@agentgym/agent/engine'
import { sendEvaluation } from '@agentgym/client'
import {
  AgentGymError,
  type EvaluationResultRequest,
  type LeasedEvaluation,
  type SampleEpisode,
} from '@agentgym/contract'
import { checkAgentModel } from '../evaluation/check-agent-model.ts'
import { runtimeSignature } from '../evaluation/runtime-signature.ts'
import { cut, withoutFolders } from './failure-report.ts'
import { type JobContext, releaseLease } from './job-context.ts'
import { inFolder, obtainPackage, obtainScenario } from './obtain-package.ts'
import { playTask } from './play-task.ts'
import { agentFiles } from './tarball.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

type EvaluationResult = Omit<EvaluationResultRequest, 'lease'>

/** As the contract caps them. */
const messageCharacters = 4_000

/** Checks an agent's model, evaluates its tasks and sends the results. */
export async function doEvaluation(job: LeasedEvaluation, context: JobContext): Promise<WorkerEvent> {
  const { lease, stop } = context
  try {
    const result = await inFolder((folder) => evaluateIn(folder, job, context))
    await lease.request((signal) => sendEvaluation(lease.client, job, result, signal))
    const failed = [...result.checks.filter(({ ok }) => !ok), ...result.results.filter(({ error }) => error !== null)]
    return { event: 'finished', ...nameOf(job), ok: failed.length === 0, failed: failed.map(({ id }) => id) }
  } catch (error) {
    if (stop.aborted && !lease.lost.aborted) return releaseLease(context)
    throw error
  }
}

async function evaluateIn(folder: string, job: LeasedEvaluation, context: JobContext): Promise<EvaluationResult> {
  const { lease, stop } = context
  const { agent, scenario: wanted, tasks } = job.evaluation
  const files = { agent: path.join(folder, 'agent'), scenario: path.join(folder, 'scenario') }
  await obtainPackage(lease, agent, files.agent, agentFiles)
  const scenario = wanted === null ? null : await obtainScenario(lease, wanted, files.scenario)
  const signal = AbortSignal.any([stop, lease.lost])
  const vetted = await vetAgent(files.agent, signal)
  const results: EvaluationResult['results'] = []
  let sample: SampleEpisode | null = null
  const onSample = (episode: SampleEpisode) => {
    sample ??= episode
  }
  // A model that failed its checks is not evaluated.
  if (scenario !== null && vetted.ok) {
    const stage = { folder, agent: files.agent, scenario, signal, limits: context.limits, onSample }
    for (const task of tasks) results.push(await playTask(task, stage))
  }
  const checks = vetted.checks.map((check) => ({
    ...check,
    message: cut(withoutFolders(check.message, [folder]), messageCharacters),
  }))
  return { checks, output_hash: vetted.output_hash, results, runtime: runtimeSignature(), sample_episode: sample }
}

type VettedAgent = Pick<EvaluationResult, 'checks' | 'output_hash'> & { ok: boolean }

async function vetAgent(folder: string, signal: AbortSignal): Promise<VettedAgent> {
  let agent: Awaited<ReturnType<typeof readAgentWithModel>>
  try {
    agent = await readAgentWithModel(folder)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return { ok: false, checks: [{ id: 'manifest', ok: false, message: error.message }], output_hash: null }
  }
  return checkAgentModel({ ...agent, signal })
}
