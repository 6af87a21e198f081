import {
  AgentGymError,
  type Evaluation,
  type EvaluationResultRequest,
  type VerificationStatement,
} from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { Schema, VersionCheck } from '../../core/database/schema.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'
import type { Attempt, JobBody, JobHandler, LeasedAttempt } from '../../core/queue/job-handler.ts'
import { maxAttempts } from '../../core/queue/job-queue.ts'
import { type OpenedObject, openLeased } from '../../core/queue/leased-object.ts'
import type { Services } from '../../core/services.ts'
import { oweRefundsOfFailure } from '../moderation/index.ts'
import { decideVersion, keepSampleEpisode, lockPackage } from '../packages/index.ts'
import { canonicalJson, signingKey } from './signing-keys.ts'
import {
  type EvaluatedAgent,
  findEvaluation,
  judgeVerification,
  type PublishedTarball,
  type ScenarioVersion,
  type Subject,
  subjectOf,
  tasksOf,
  type Verdict,
} from './verification-subject.ts'

/** The jobs that run an agent: to verify its version, or because a user requested an evaluation. */
export function evaluateJobs(services: Services): JobHandler {
  return {
    kind: 'evaluate',
    describe: (query, attempt) => describe(services, query, attempt),
    exhausted: (query, id) => failExhausted(services, query, id),
  }
}

async function describe(
  { config }: Services,
  query: Transaction<Schema>,
  { id, lease }: LeasedAttempt,
): Promise<JobBody | undefined> {
  const evaluation = await findEvaluation(query, id)
  if (evaluation === undefined || evaluation.ended_at !== null) return undefined
  const subject = await subjectOf(query, evaluation)
  if (subject === undefined) return undefined
  await query.updateTable('evaluations').set({ state: 'running' }).where('id', '=', id).execute()
  const { agent, scenario } = subject
  const tarball = (what: 'agent' | 'scenario', { name, version, integrity }: PublishedTarball) => ({
    ...{ name, version, integrity },
    tarball_url: `${config.publicUrl}/v1/jobs/${id}/evaluation/${what}?${new URLSearchParams({ lease })}`,
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

type EvaluationRow = Selectable<EvaluationTable>
type Result = Omit<EvaluationResultRequest, 'lease'>

/**
 * Accepts a worker's result, once. A requested evaluation stores the metrics. A verification also decides the version:
 * published if the model held, rejected if not; its claim's result is recorded, and signed if the claim is true. All of
 * it happens in the transaction that ends the job. Throws `lease_lost`, and `request_invalid` if the result's tasks are
 * not the job's.
 */
export async function finishEvaluation(services: Services, attempt: Attempt, result: Result): Promise<void> {
  const { queue } = services
  await services.database.transaction(async (query) => {
    await queue.complete(query, attempt)
    const evaluation = await findEvaluation(query, attempt.id)
    const subject = evaluation && (await subjectOf(query, evaluation))
    if (evaluation === undefined || subject === undefined)
      throw new Error(`the evaluation ${attempt.id} has no subject`)
    requireTasks(result, tasksOf(evaluation, subject))
    if (evaluation.purpose === 'verification') return finishVerification(services, query, evaluation, subject, result)
    const [requested] = result.results
    const fault = result.checks.find(({ ok }) => !ok)
    const error =
      requested?.error ??
      (requested === undefined ? failure(fault?.message ?? 'The worker reported no results.') : null)
    return endEvaluation(query, evaluation.id, requested?.evaluation ?? null, error)
  })
}

/** Ends an evaluation that exhausted its attempts without a result. */
export async function failExhausted(services: Services, query: Transaction<Schema>, id: string): Promise<void> {
  const message = `The evaluation had no result after ${maxAttempts} attempts: the agent or its scenario may run out of memory or time.`
  const evaluation = await findEvaluation(query, id)
  if (evaluation === undefined || evaluation.ended_at !== null) return
  const subject = await subjectOf(query, evaluation)
  await endEvaluation(query, id, null, failure(message))
  if (evaluation.purpose !== 'verification' || subject === undefined) return
  const checks = [{ id: 'checker_failed', ok: false, message }]
  const verdict: Verdict = { state: 'failed', published: false, message }
  await decide(services, query, subject.agent, verdict, checks)
  await record(services, query, evaluation, subject, verdict, {})
}

/** A model that fails its checks is not played: then there are no results. Otherwise each task has one, in order. */
function requireTasks({ checks, results }: Result, tasks: ReturnType<typeof tasksOf>): void {
  if (results.length === 0 && (tasks.length === 0 || checks.some(({ ok }) => !ok))) return
  const same =
    results.length === tasks.length &&
    tasks.every(({ id, episodes, seed }, i) => {
      const { evaluation, error, id: given } = results[i]
      if (given !== id || (evaluation === null) === (error === null)) return false
      return evaluation === null || (evaluation.episodes === episodes && evaluation.seed === seed)
    })
  if (same) return
  throw new AgentGymError({
    code: 'request_invalid',
    message: `The result is not for the tasks of the job: ${tasks.map(({ id }) => id).join(', ') || 'none'}.`,
    data: { field: 'results' },
  })
}

async function finishVerification(
  services: Services,
  query: Transaction<Schema>,
  evaluation: EvaluationRow,
  subject: Subject,
  result: Result,
): Promise<void> {
  const { agent, scenario } = subject
  if (agent.manifest === null) throw new Error(`${agent.name} is verified without a manifest`)
  const verdict = judgeVerification(agent.manifest, scenario, result)
  const heldOut = result.results.find(({ id }) => id === 'held_out')
  const error = verdict.state === 'failed' ? (heldOut?.error ?? failure(verdict.message)) : null
  await endEvaluation(query, evaluation.id, heldOut?.evaluation ?? null, error)
  await decide(services, query, agent, verdict, result.checks)
  await record(services, query, evaluation, subject, verdict, result.runtime)
  // Observations from a private scenario are for its members only, even if the agent is visible to others.
  if (verdict.published && scenario?.open && agent.version_id !== null && result.sample_episode)
    await keepSampleEpisode(query, agent.version_id, result.sample_episode)
}

async function endEvaluation(
  query: Transaction<Schema>,
  id: string,
  evaluation: Evaluation | null,
  error: Result['results'][number]['error'],
): Promise<void> {
  await query
    .updateTable('evaluations')
    .set({
      state: error === null ? 'completed' : 'failed',
      evaluation: evaluation === null ? null : JSON.stringify(evaluation),
      error: error === null ? null : JSON.stringify(error),
      ended_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

/** Publishes or rejects the version, if that is still undecided. */
async function decide(
  { database }: Services,
  query: Transaction<Schema>,
  agent: EvaluatedAgent,
  { published }: Verdict,
  checks: VersionCheck[],
): Promise<void> {
  const { version_id: id, packageId, name, version, intendedTag } = agent
  if (id === null || packageId === null) return
  await lockPackage(database, query, name)
  const { state } = await query.selectFrom('versions').select('state').where('id', '=', id).executeTakeFirstOrThrow()
  if (state !== 'checking') return
  await decideVersion(query, { id, package_id: packageId, version, intended_tag: intendedTag, name }, published, checks)
}

async function record(
  services: Services,
  query: Transaction<Schema>,
  evaluation: EvaluationRow,
  { agent, scenario }: Subject,
  verdict: Verdict,
  runtime: Record<string, string>,
): Promise<void> {
  if (evaluation.version_id === null) return
  const signed =
    verdict.state === 'verified' && scenario !== null
      ? await signVerdict(services, query, { agent, scenario }, verdict, runtime)
      : null
  await query
    .insertInto('verifications')
    .values({
      evaluation_id: evaluation.id,
      version_id: evaluation.version_id,
      scenario_version_id: scenario?.versionId ?? null,
      state: verdict.state,
      message: verdict.state === 'verified' ? null : verdict.message.slice(0, 4_000),
      return_mean: verdict.state === 'verified' ? verdict.heldOut.return_mean : null,
      statement: signed?.statement ?? null,
      signature: signed?.signature ?? null,
      key_id: signed?.keyId ?? null,
    })
    .execute()
  const { packageId, name, version } = agent
  if (packageId === null || (verdict.state !== 'mismatch' && verdict.state !== 'failed')) return
  const { version_id: versionId, id: evaluationId } = evaluation
  const { message } = verdict
  await oweRefundsOfFailure(query, { evaluationId, versionId, packageId, name, version, message })
}

async function signVerdict(
  services: Services,
  query: Transaction<Schema>,
  { agent, scenario }: { agent: EvaluatedAgent; scenario: ScenarioVersion },
  { claim, heldOut, outputHash }: Extract<Verdict, { state: 'verified' }>,
  runtime: Record<string, string>,
): Promise<{ statement: string; signature: string; keyId: string }> {
  const key = await signingKey(query, services)
  const fields: VerificationStatement = {
    type: 'agentgym-verification-1',
    server: services.config.publicUrl,
    key_id: key.id,
    agent: {
      name: agent.name,
      version: agent.version,
      integrity: agent.integrity,
      model_hash: agent.manifest?.model_hash ?? '',
    },
    scenario: {
      name: scenario.name,
      version: scenario.version,
      hash: scenario.hash,
      integrity: scenario.integrity,
    },
    claim,
    held_out: heldOut,
    output_hash: outputHash,
    runtime,
    verified_at: new Date().toISOString(),
  }
  const statement = canonicalJson(fields)
  return { statement, signature: key.sign(statement), keyId: key.id }
}

function failure(message: string): NonNullable<Result['results'][number]['error']> {
  return { code: 'worker_failed', message: message.slice(0, 4_000) }
}
