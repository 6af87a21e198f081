import { AgentGymError, type EvaluationResultRequest } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { Attempt, JobBody, JobHandler, LeasedAttempt } from '../../core/queue/job-handler.ts'
import { maxAttempts } from '../../core/queue/job-queue.ts'
import { type OpenedObject, openLeased } from '../../core/queue/leased-object.ts'
import { installationOwner } from '../../core/queue/worker-place.ts'
import type { Services } from '../../core/services.ts'
import { keepSampleEpisode } from '../packages/index.ts'
import { concludeVerification, decide, endEvaluation, failure } from './conclude-evaluation.ts'
import { recordRun } from './evaluation-runs.ts'
import { findEvaluation, type PublishedTarball, type Subject, subjectOf, tasksOf } from './verification-subject.ts'
import { isHeldBack } from './worker-holds.ts'
import { outcomeOf } from './worker-outcome.ts'

/** The jobs that run an agent: to verify its version, or because a user requested an evaluation. */
export function evaluateJobs(services: Services): JobHandler {
  return {
    kind: 'evaluate',
    describe: (query, attempt) => describe(services, query, attempt),
    admits: async (worker) => !(await isHeldBack(services.database.query, worker)),
    exhausted: (query, id) => failExhausted(services, query, id),
  }
}

async function describe(
  { config }: Services,
  query: Transaction<Schema>,
  { id }: LeasedAttempt,
): Promise<JobBody | undefined> {
  const evaluation = await findEvaluation(query, id)
  if (evaluation === undefined || evaluation.ended_at !== null) return undefined
  const subject = await subjectOf(query, evaluation)
  if (subject === undefined) return undefined
  await query.updateTable('evaluations').set({ state: 'running' }).where('id', '=', id).execute()
  const { agent, scenario } = subject
  const tarball = (what: 'agent' | 'scenario', { name, version, integrity }: PublishedTarball) => ({
    ...{ name, version, integrity },
    tarball_url: `${config.publicUrl}/v1/jobs/${id}/evaluation/${what}`,
  })
  return {
    kind: 'evaluate',
    traceparent: evaluation.traceparent,
    evaluation: {
      purpose: evaluation.purpose,
      agent: tarball('agent', agent),
      scenario: scenario === null ? null : { ...tarball('scenario', scenario), hash: scenario.hash },
      tasks: tasksOf(evaluation, subject),
    },
  }
}

/** The tarball of a leased evaluation's agent or scenario. Throws `lease_lost`. */
export function openEvaluationTarball(
  services: Services,
  id: string,
  lease: string,
  what: 'agent' | 'scenario',
): Promise<OpenedObject> {
  const { query } = services.database
  return openLeased(services, { kind: 'evaluate', id, lease }, async () => {
    const evaluation = await findEvaluation(query, id)
    return (evaluation && (await subjectOf(query, evaluation))?.[what])?.objectKey
  })
}

type Result = Omit<EvaluationResultRequest, 'lease'>

/**
 * Accepts a worker's result, once. A requested evaluation stores the metrics. A verification publishes the version, or
 * rejects it if the model fails its checks, records the run, and decides by all recorded runs. All of it happens in the
 * transaction that ends the job. `owner` is the account of the worker's token. Throws `lease_lost`, and
 * `request_invalid` if the result's tasks are not the job's.
 */
export async function finishEvaluation(
  services: Services,
  attempt: Attempt,
  result: Result,
  owner: string = installationOwner,
): Promise<void> {
  const { queue } = services
  await services.database.transaction(async (query) => {
    await queue.complete(query, attempt)
    const evaluation = await findEvaluation(query, attempt.id)
    const subject = evaluation && (await subjectOf(query, evaluation))
    if (evaluation === undefined || subject === undefined)
      throw new Error(`the evaluation ${attempt.id} has no subject`)
    requireTasks(result, tasksOf(evaluation, subject))
    if (evaluation.purpose === 'verification') {
      const agent = await acceptRun(services, query, subject, attempt, result, owner)
      return concludeVerification(services, query, evaluation, { ...subject, agent })
    }
    const [requested] = result.results
    const fault = result.checks.find(({ ok }) => !ok)
    const error =
      requested?.error ??
      (requested === undefined ? failure(fault?.message ?? 'The worker reported no results.') : null)
    return endEvaluation(query, evaluation.id, requested?.evaluation ?? null, error)
  })
}

/** Records the run, and publishes the version if its model passes. Resolves to the updated agent. */
async function acceptRun(
  services: Services,
  query: Transaction<Schema>,
  { agent, scenario }: Subject,
  { id: evaluationId, workerId }: Attempt,
  result: Result,
  owner: string,
): Promise<Subject['agent']> {
  if (agent.manifest === null || agent.version_id === null) throw new Error(`${agent.name} has no version to verify`)
  const { runtime, sample_episode: sample, ...report } = result
  const outcome = outcomeOf(agent.manifest, report)
  await recordRun(query, { evaluationId, workerId, owner, runtime, outcome, report })
  if (outcome.kind === 'refused') return agent
  if (agent.state === 'checking') await decide(services, query, agent, true, result.checks)
  // Only members may see observations from a private scenario, even if the agent is visible to others. Only from the
  // claimed evaluation, because the held-out episodes are secret.
  const [claim] = result.results
  if (sample && scenario?.open && claim?.id === 'claim' && claim.evaluation !== null)
    await keepSampleEpisode(query, agent.version_id, sample)
  return { ...agent, state: agent.state === 'checking' ? 'published' : agent.state }
}

/**
 * Ends an evaluation that exhausted its attempts without a result, because machines failed or the agent crashes them. A
 * version that no worker has run before is rejected; any other verification is inconclusive.
 */
export async function failExhausted(services: Services, query: Transaction<Schema>, id: string): Promise<void> {
  const message = `The evaluation did not finish in ${maxAttempts} attempts. The agent or its scenario may run out of memory or time.`
  const evaluation = await findEvaluation(query, id)
  if (evaluation === undefined || evaluation.ended_at !== null) return
  const subject = await subjectOf(query, evaluation)
  if (evaluation.purpose !== 'verification' || subject === undefined)
    return endEvaluation(query, id, null, failure(message))
  await concludeVerification(services, query, evaluation, subject, { final: true, lost: message })
}

/** A model that fails its checks is not run and has no results. Otherwise each task has one, in order. */
function requireTasks({ checks, results }: Result, tasks: ReturnType<typeof tasksOf>): void {
  if (results.length === 0 && (tasks.length === 0 || checks.some(({ ok }) => !ok))) return
  const same =
    results.length === tasks.length &&
    tasks.every(({ id, episodes, seed }, i) => {
      const { evaluation, error, id: given, episode_returns: returns } = results[i]
      if (given !== id || (evaluation === null) === (error === null)) return false
      if (returns != null && returns.length !== episodes) return false
      return evaluation === null || (evaluation.episodes === episodes && evaluation.seed === seed)
    })
  if (same) return
  throw new AgentGymError({
    code: 'request_invalid',
    message: `The result is not for the tasks of the job: ${tasks.map(({ id }) => id).join(', ') || 'none'}.`,
    data: { field: 'results' },
  })
}
