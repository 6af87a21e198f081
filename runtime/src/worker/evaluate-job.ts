import path from 'node:path'
import { sendEvaluation } from '@agentgym/client'
import { AgentGymError, type EvaluationResultRequest, type LeasedEvaluation } from '@agentgym/contract'
import { evaluateAgent } from '../evaluation/evaluate-agent.ts'
import { giveBack, type JobContext } from './job-context.ts'
import { inFolder, obtainPackage, obtainScenario } from './obtain-package.ts'
import { publicReport } from './public-report.ts'
import { agentFiles } from './unpack-package.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

type EvaluationResult = Omit<EvaluationResultRequest, 'lease'>

/** Checks an agent's model, plays its tasks and hands in what became of them. */
export async function doEvaluation(job: LeasedEvaluation, context: JobContext): Promise<WorkerEvent> {
  const { lease, stop } = context
  try {
    const result = await inFolder((folder) => evaluateIn(folder, job, context))
    await lease.request((signal) => sendEvaluation(lease.client, job, result, signal))
    const failed = [...result.checks.filter(({ ok }) => !ok), ...result.results.filter(({ error }) => error !== null)]
    return { event: 'finished', ...nameOf(job), ok: failed.length === 0, failed: failed.map(({ id }) => id) }
  } catch (error) {
    if (stop.aborted && !lease.lost.aborted) return giveBack(context)
    throw error
  }
}

async function evaluateIn(folder: string, job: LeasedEvaluation, context: JobContext): Promise<EvaluationResult> {
  const { lease, stop, limits } = context
  const { agent, scenario: wanted, tasks } = job.evaluation
  const agentFolder = path.join(folder, 'agent')
  await obtainPackage(lease, agent, agentFolder, agentFiles)
  const scenario = wanted === null ? null : await obtainScenario(lease, wanted, path.join(folder, 'scenario'))
  const signal = AbortSignal.any([stop, lease.lost])
  const results: EvaluationResult['results'] = []
  for (const { id, episodes, seed } of tasks) {
    if (scenario === null) break
    try {
      const evaluation = await evaluateAgent({
        agent: agentFolder,
        scenario,
        episodes,
        seed,
        signal,
        limits,
      })
      results.push({ id, evaluation, error: null })
    } catch (error) {
      if (signal.aborted || !(error instanceof AgentGymError)) throw error
      results.push({ id, evaluation: null, error: publicReport(error, [folder]) })
    }
  }
  return { checks: [], output_hash: null, results, runtime: {} }
}
